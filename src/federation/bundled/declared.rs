//! The servers that a bundle declares: checked by the rules of a registration, and compared with what there is.

use super::ServerNote;
use super::merged::{keep_seals, merged};
use super::plan::ServerPlan;
use super::store::{self, Surroundings};
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::{Error, Result};
use crate::federation::MAX_SERVERS;
use crate::federation::bundled_files::BundledFiles;
use crate::federation::given::ServerIn;
use crate::federation::server::{McpServer, ServerSettings, Transport, stdio_place};
use crate::federation::stdio::has_no_value;
use crate::ids::{ServerId, ToolsetId, WorkspaceId};
use crate::outgoing::{check_url, credentials_in};
use crate::registry::credential::Credential;
use crate::registry::{self, HeaderValue, ToolReading};
use crate::upstreams::{self, UpstreamSettings, read_upstreams};
use std::collections::BTreeSet;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::federation::bundled::fixture::remote;
    use crate::ids::UpstreamId;
    use crate::time::Timestamp;
    use crate::upstreams::Upstream;

    fn server(id: &str, toolset: Option<&str>) -> McpServer {
        let settings = ServerSettings { toolset_id: toolset.map(str::to_owned), ..remote() };
        Upstream::new(UpstreamId::new(id, ':').unwrap(), settings, Timestamp::from_millis(0).unwrap())
    }

    fn clashes(ids: &[&str], others: u32) -> Vec<(Option<usize>, String, String)> {
        let declared = |(index, id): (usize, &&str)| DeclaredServer {
            index,
            id: ServerId::parse(id).unwrap(),
            settings: remote(),
        };
        let declared = DeclaredServers {
            toolset: ToolsetId::parse("kit").unwrap(),
            servers: ids.iter().enumerate().map(declared).collect(),
        };
        let around =
            Surroundings { toolsets: vec!["other".into()], former: vec!["gone".into()], undefined: Vec::new(), others };
        let found = declared.clashes(&[server("free", None), server("theirs", Some("other"))], &around);
        found.into_iter().map(|it| (it.index, it.path, it.message)).collect()
    }

    #[test]
    fn ids_that_are_taken_are_told() {
        assert_eq!(clashes(&["own", "new"], 0), []);
        let found = clashes(&["new", "other", "free", "theirs", "gone"], 0);
        let expected = [
            (1, "is the id of a toolset:"),
            (2, "that an admin has registered"),
            (3, "of an MCP server of the toolset other"),
            (4, "was the id of a toolset"),
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((index, path, message), (at, part)) in found.iter().zip(expected) {
            assert!((*index, path.as_str()) == (Some(at), "/id") && message.contains(part), "{index:?}: {message}");
        }
    }

    #[test]
    fn a_workspace_has_only_so_many_servers() {
        assert_eq!(clashes(&["a", "b"], 198), []);
        let found = clashes(&["a", "b", "c"], 199);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0 == Some(1) && found[0].2.contains("one more than the 200"), "{found:?}");
    }

    #[test]
    fn a_process_starts_in_a_folder_of_the_bundle() {
        let files = BundledFiles::new([("servers/a.py", "1", 1)]);
        for cwd in [".", "./", "servers", "servers/"] {
            assert!(is_folder(files.as_ref(), cwd), "{cwd}");
        }
        for cwd in ["server", "servers/a.py", ".."] {
            assert!(!is_folder(files.as_ref(), cwd), "{cwd}");
        }
        assert!(is_folder(None, ".") && !is_folder(None, "a"));
    }
}
