//! The MCP servers that a toolset brings. An import asks in this order:
//!
//! 1. [`DeclaredServers::check`] keeps the rules of a registration, and tells every fault.
//! 2. [`DeclaredServers::find`] and [`DeclaredServers::read`] see what there is, in the import's own batch.
//! 3. [`DeclaredServers::plan`] decides what is added, changed and removed. A dry run ends here.
//! 4. [`ServerPlan::place`] puts the decisions into the import's placement, so that one batch writes everything.
//! 5. [`ServerPlan::finish`] stops what is gone, and discovers what is new. No server that is down spoils an import.
//!
//! Disabling, enabling and uninstalling begin with [`PresentServers`], and go on with 4 and 5.

mod exported;
mod merged;
mod present;
mod store;

pub use exported::exported;
pub use present::PresentServers;

use super::MAX_SERVERS;
use super::bundled_files::BundledFiles;
use super::given::ServerIn;
use super::server::{McpServer, ServerSettings, Transport, stdio_place};
use super::stdio::has_no_value;
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::ids::{ServerId, ToolsetId, UpstreamId, WorkspaceId};
use crate::outgoing::{check_url, credentials_in};
use crate::registry::credential::{self, Credential};
use crate::registry::{self, HeaderValue, Placement, ToolReading};
use crate::time::Timestamp;
use crate::upstreams::{self, Refreshed, UpstreamPlan, UpstreamSettings, UpstreamStatus, read_upstreams};
use merged::{keep_seals, merged};
use std::collections::{BTreeMap, BTreeSet};
use store::Surroundings;
use worker::console_warn;

/// A fault of a server in a bundle, or a warning about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerNote {
    pub server: String,
    /// The place among the bundle's servers. None for a server that the bundle does not declare.
    pub index: Option<usize>,
    /// A JSON pointer into the server's declaration, such as `/env/API_KEY`.
    pub path: String,
    pub message: String,
}

/// The servers of a bundle that keep the rules, as they would be stored.
pub struct DeclaredServers {
    toolset: ToolsetId,
    servers: Vec<DeclaredServer>,
}

struct DeclaredServer {
    index: usize,
    id: ServerId,
    settings: ServerSettings,
}

impl DeclaredServer {
    fn note(&self, path: &str, message: impl Into<String>) -> ServerNote {
        let (server, index) = (self.id.to_string(), Some(self.index));
        ServerNote { server, index, path: path.to_owned(), message: message.into() }
    }
}

impl DeclaredServers {
    /// Checks the servers as a registration does. Returns those that are fine, and every fault of the others. `files` are
    /// those of the bundle.
    pub fn check(
        scope: &Scope,
        toolset: &ToolsetId,
        files: Option<&BundledFiles>,
        given: Vec<ServerIn>,
    ) -> Result<(Self, Vec<ServerNote>)> {
        let mut declared = Self { toolset: toolset.clone(), servers: Vec::new() };
        let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
        for (index, given) in given.into_iter().enumerate() {
            let server = given.id.clone();
            let mut fault = |path: &str, message: &str| {
                let (server, path, message) = (server.clone(), path.to_owned(), message.to_owned());
                faults.push(ServerNote { server, index: Some(index), path, message });
            };
            if !seen.insert(given.id.clone()) {
                fault("/id", "is there twice");
            }
            if given.id == toolset.as_str() {
                fault("/id", "is the id of the toolset itself: toolsets and MCP servers share their ids");
            }
            if given.cwd.as_ref().is_some_and(|it| !is_folder(files, it)) {
                fault("/cwd", "is no folder of the bundle");
            }
            match given.check(scope) {
                Ok((id, mut settings)) => {
                    settings.toolset_id = Some(toolset.to_string());
                    let hash = files.filter(|_| settings.own.process.is_some()).map(|it| it.hash().to_owned());
                    settings.own.files = hash;
                    declared.servers.push(DeclaredServer { index, id, settings });
                }
                Err(Error::Invalid(problems)) => problems.iter().for_each(|it| fault(&it.path, &it.message)),
                Err(other) => return Err(other),
            }
        }
        Ok((declared, faults))
    }

    /// Selects everything that the plan depends on, for [`Self::read`].
    pub fn find(&self, workspace: &WorkspaceId) -> [Statement; 3] {
        let names = self.servers.iter().map(|it| it.id.as_str()).collect::<Vec<_>>();
        // A server may have the id that the toolset wants.
        let all = names.iter().copied().chain([self.toolset.as_str()]).collect::<Vec<_>>();
        let credentials = self.servers.iter().flat_map(|it| it.settings.credentials()).collect::<BTreeSet<_>>();
        [
            upstreams::find_of_toolset::<ServerSettings>(workspace, self.toolset.as_str(), &all),
            registry::find_tools_of_toolset_servers(workspace, self.toolset.as_str()),
            store::find_surroundings(workspace, self.toolset.as_str(), &names, &credentials),
        ]
    }

    /// What the statements of [`Self::find`] have selected.
    pub fn read(&self, [servers, tools, around]: &[Rows; 3]) -> Result<ServersAround> {
        let (own, others) = read_upstreams::<ServerSettings>(servers)?
            .into_iter()
            .partition(|it| it.settings.toolset_id.as_deref() == Some(self.toolset.as_str()));
        Ok(ServersAround {
            own,
            others,
            tools: registry::read_readings(tools)?,
            around: store::read_surroundings(around)?,
        })
    }

    /// Decides about every server. Returns every fault, which an import must not ignore. `toolset_is_enabled` says whether
    /// the toolset is, or will be, enabled.
    pub fn plan(
        self,
        scope: &Scope,
        present: ServersAround,
        toolset_is_enabled: bool,
    ) -> Result<(ServerPlan, Vec<ServerNote>)> {
        let sealer = scope.app().settings().sealer.as_ref();
        let ServersAround { own, others, tools, around } = present;
        let faults = self.clashes(&others, &around);
        let mut plan = ServerPlan::new(scope.app().now(), tools)?;
        for it in &self.servers {
            plan.indices.insert(it.id.to_string(), it.index);
            plan.warnings.extend(without_value(scope, it));
            let before = own.iter().find(|own| own.name() == it.id.as_str());
            let mut settings = it.settings.clone();
            if let Some(before) = before {
                keep_seals(sealer, it.id.as_str(), &before.settings, &mut settings);
            }
            plan.put(&it.id, before, merged(before.map(|it| &it.settings), settings, toolset_is_enabled));
        }
        for gone in own.iter().filter(|own| !self.servers.iter().any(|it| it.id.as_str() == own.name())) {
            plan.remove(gone);
        }
        let description = format!("Named by the toolset {}", self.toolset);
        let credential =
            |id: &String| Credential { id: id.clone(), description: description.clone(), created_at: plan.now };
        plan.credentials = around.undefined.iter().map(credential).collect();
        Ok((plan, faults))
    }

    /// The servers whose ids are taken, and those that are too many.
    fn clashes(&self, others: &[McpServer], around: &Surroundings) -> Vec<ServerNote> {
        let mut faults = Vec::new();
        for (position, it) in self.servers.iter().enumerate() {
            let name = it.id.as_str();
            if let Some(other) = others.iter().find(|other| other.name() == name) {
                faults.push(it.note("/id", clash_with(other)));
            } else if around.toolsets.iter().any(|it| it == name) {
                faults.push(it.note("/id", "is the id of a toolset: toolsets and MCP servers share their ids"));
            } else if around.former.iter().any(|it| it == name) {
                faults
                    .push(it.note("/id", "was the id of a toolset, whose tools are still recorded: choose another id"));
            }
            if around.others as usize + position == MAX_SERVERS as usize {
                let message = format!("is one more than the {MAX_SERVERS} MCP servers that a workspace can have");
                faults.push(it.note("", message));
            }
        }
        faults
    }
}

fn clash_with(other: &McpServer) -> String {
    match &other.settings.toolset_id {
        Some(toolset) => format!("is the id of an MCP server of the toolset {toolset}: choose another id"),
        None => {
            "is the id of an MCP server that an admin has registered: choose another id, or delete that server".into()
        }
    }
}

/// Whether a process can start there. The home of a process is the root of the bundle.
fn is_folder(files: Option<&BundledFiles>, cwd: &str) -> bool {
    cwd.split('/').all(|it| it.is_empty() || it == ".") || files.is_some_and(|it| it.has_folder(cwd))
}

/// What an import finds.
pub struct ServersAround {
    /// Servers of the toolset.
    own: Vec<McpServer>,
    /// Servers of others that have an id which the bundle wants.
    others: Vec<McpServer>,
    /// The tools of the toolset's servers.
    tools: Vec<ToolReading>,
    around: Surroundings,
}

impl ServersAround {
    /// Whether an MCP server has this id, so that no toolset can have it.
    pub fn has_server(&self, id: &ToolsetId) -> bool {
        self.own.iter().chain(&self.others).any(|it| it.name() == id.as_str())
    }
}

/// A warning for each credential that a declaration names and that has no value here. The server stays as it is stored, and
/// is not asked before all of them have one.
fn without_value(scope: &Scope, declared: &DeclaredServer) -> Vec<ServerNote> {
    let settings = &declared.settings;
    let (field, values, place) = match (settings.transport, &settings.url, &settings.own.process) {
        (Transport::Stdio, _, Some(process)) => ("env", &process.env, stdio_place(declared.id.as_str())),
        (_, Some(url), _) => {
            let Ok(url) = check_url(url, scope.app().url_rules()) else { return Vec::new() };
            ("headers", &settings.headers, url.host())
        }
        _ => return Vec::new(),
    };
    let named = |value: &HeaderValue| credentials_in(value.plain().unwrap_or_default()).map(str::to_owned).collect();
    let mut notes = Vec::new();
    for (key, value) in values {
        let named: BTreeSet<String> = named(value);
        for it in named.iter().filter(|it| scope.app().credential(scope.workspace(), it, &place).is_none()) {
            notes.push(declared.note(&format!("/{field}/{key}"), has_no_value(it, &place)));
        }
    }
    notes
}

/// What happens to the servers of a toolset.
pub struct ServerPlan {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    pub warnings: Vec<ServerNote>,
    now: Timestamp,
    plan: UpstreamPlan<ServerSettings>,
    tools: Vec<ToolReading>,
    /// Credentials that the servers name, and that nobody has defined.
    credentials: Vec<Credential>,
    /// The places of the servers in the bundle.
    indices: BTreeMap<String, usize>,
}

impl ServerPlan {
    fn new(now: Timestamp, tools: Vec<ToolReading>) -> Result<Self> {
        Ok(Self {
            added: Vec::new(),
            changed: Vec::new(),
            removed: Vec::new(),
            warnings: Vec::new(),
            now,
            plan: UpstreamPlan::new(now)?,
            tools,
            credentials: Vec::new(),
            indices: BTreeMap::new(),
        })
    }

    fn put(&mut self, id: &ServerId, before: Option<&McpServer>, settings: ServerSettings) {
        match before {
            Some(before) => self.change(before, settings),
            None => {
                self.plan.add(UpstreamId::from(id), settings);
                self.added.push(id.to_string());
            }
        }
    }

    fn change(&mut self, before: &McpServer, settings: ServerSettings) {
        if self.plan.change(before, settings) {
            self.changed.push(before.name().to_owned());
        }
    }

    fn remove(&mut self, server: &McpServer) {
        self.plan.remove(server);
        self.removed.push(server.name().to_owned());
    }

    /// Adds the servers, their tools, the credentials that nobody has defined, and the rows of the change log to a
    /// placement. The placement is overtaken if one of the servers was changed since it was read.
    pub fn place(&self, scope: &Scope, placement: &mut Placement) -> Result<()> {
        credential::define(placement, scope.workspace(), &self.credentials)?;
        self.plan.place(scope, &self.tools, placement)
    }

    /// After the batch: stops the processes and ends the sessions of servers that are gone or off, and discovers those that
    /// are new or changed. Returns a warning for each server that was not discovered.
    pub async fn finish(self, scope: &Scope) -> Vec<ServerNote> {
        let Self { plan, indices, warnings, .. } = self;
        match plan.finish(scope).await {
            Ok(refreshed) => refreshed.into_iter().filter_map(|it| undiscovered(it, &indices, &warnings)).collect(),
            Err(cause) => {
                console_warn!("the servers of a toolset were not discovered: {cause:?}");
                Vec::new()
            }
        }
    }
}

/// A warning about a server that was not discovered, unless it has been told before that a credential has no value.
fn undiscovered(refreshed: Refreshed, indices: &BTreeMap<String, usize>, told: &[ServerNote]) -> Option<ServerNote> {
    let is_told = told.iter().any(|it| it.server == refreshed.name);
    if refreshed.status == UpstreamStatus::Ok || is_told {
        return None;
    }
    let index = indices.get(&refreshed.name).copied();
    let message = refreshed.error.unwrap_or_else(|| "The MCP server was not discovered".to_owned());
    Some(ServerNote { server: refreshed.name, index, path: String::new(), message })
}

#[cfg(test)]
pub mod fixture {
    use crate::federation::server::{OwnSettings, Process, ServerSettings, Transport};
    use crate::registry::Risk;
    use std::collections::{BTreeMap, BTreeSet};

    /// A stdio server.
    pub fn process() -> ServerSettings {
        let process = Process {
            command: "python3".into(),
            args: vec!["main.py".into()],
            env: BTreeMap::new(),
            cwd: None,
            allowed_hosts: Vec::new(),
        };
        let remote = remote();
        let own = OwnSettings { process: Some(process), ..remote.own };
        ServerSettings { transport: Transport::Stdio, url: None, own, ..remote }
    }

    /// A remote server.
    pub fn remote() -> ServerSettings {
        ServerSettings {
            transport: Transport::StreamableHttp,
            url: Some("https://a.example/mcp".into()),
            headers: BTreeMap::new(),
            enabled: true,
            auto_accept: false,
            toolset_id: Some("kit".into()),
            paused: false,
            own: OwnSettings {
                requires_approval: true,
                risk_level: Risk::Medium,
                process: None,
                files: None,
                by_admin: BTreeSet::new(),
            },
        }
    }
}
