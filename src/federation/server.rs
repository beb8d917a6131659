//! An MCP server: what an admin has set, and how a server is shown.

use crate::registry::{HeaderValue, Risk};
use crate::text_enum::{TextEnum, text_enum};
use crate::time::Timestamp;
use crate::upstreams::{MASK, Upstream, UpstreamStatus, UpstreamWarning};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

text_enum! {
    /// How an MCP server is reached.
    Transport {
        /// Requests over HTTP. The client finds out which revisions the server speaks.
        StreamableHttp = "streamable-http",
        /// The older transport, with one stream of events for all answers.
        Sse = "sse",
        /// A process, which the MCP host of the deployment runs.
        Stdio = "stdio",
    }
}

/// What an admin has set.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSettings {
    pub transport: Transport,
    /// None for stdio.
    pub url: Option<String>,
    /// As they are stored: literal values are sealed for `url`.
    pub headers: BTreeMap<String, HeaderValue>,
    pub enabled: bool,
    pub auto_accept: bool,
    /// The toolset that brought the server. None, if an admin registered it.
    pub toolset_id: Option<String>,
    /// Whether the server is off only because its toolset is disabled: it comes back with its toolset.
    pub paused: bool,
    pub own: OwnSettings,
}

/// The settings that only MCP servers have, as the column `server` holds them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OwnSettings {
    pub requires_approval: bool,
    pub risk_level: Risk,
    /// For stdio alone.
    pub process: Option<Process>,
    /// The list of the toolset's files, by its hash ([`BundledFiles`](super::BundledFiles)). A process finds these files in
    /// its home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
    /// What an admin has changed of a toolset's server. An upgrade of the toolset leaves it as the admin wants it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub by_admin: BTreeSet<AdminSetting>,
}

text_enum! {
    /// A setting that is about what a server may do, and not about what the server is.
    AdminSetting {
        Enabled = "enabled",
        RequiresApproval = "requires_approval",
        RiskLevel = "risk_level",
        AutoAccept = "auto_accept",
        AllowedHosts = "allowed_hosts",
    }
}

/// The process of a stdio server.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Process {
    pub command: String,
    pub args: Vec<String>,
    /// As they are stored: literal values are sealed for the server.
    pub env: BTreeMap<String, HeaderValue>,
    pub cwd: Option<String>,
    /// The hosts that the process may reach.
    pub allowed_hosts: Vec<String>,
}

pub type McpServer = Upstream<ServerSettings>;

/// The place that the environment of a stdio server is sealed for, and that credentials are lent to.
pub fn stdio_place(id: &str) -> String {
    format!("stdio:{id}")
}

impl ServerSettings {
    /// The settings of [`AdminSetting`] that differ.
    pub fn differing(&self, other: &Self) -> BTreeSet<AdminSetting> {
        let is_same = |setting: &AdminSetting| match setting {
            AdminSetting::Enabled => self.enabled == other.enabled,
            AdminSetting::RequiresApproval => self.own.requires_approval == other.own.requires_approval,
            AdminSetting::RiskLevel => self.own.risk_level == other.own.risk_level,
            AdminSetting::AutoAccept => self.auto_accept == other.auto_accept,
            AdminSetting::AllowedHosts => self.allowed_hosts() == other.allowed_hosts(),
        };
        AdminSetting::ALL.iter().copied().filter(|it| !is_same(it)).collect()
    }

    fn allowed_hosts(&self) -> &[String] {
        self.own.process.as_ref().map_or(&[], |it| &it.allowed_hosts)
    }

    /// The place that the session with the server is sealed for.
    pub fn place(&self, id: &str) -> String {
        self.url.clone().unwrap_or_else(|| stdio_place(id))
    }
}

/// An MCP server in the change log and in backups: what an admin has set. In the change log the values of headers and
/// environment are masked; in backups the literal ones are sealed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = McpServerRecord)]
pub struct ServerRecord {
    #[schema(example = "time")]
    pub id: String,
    pub transport: Transport,
    pub url: Option<String>,
    #[schema(value_type = Object)]
    pub headers: BTreeMap<String, HeaderValue>,
    pub command: Option<String>,
    pub args: Vec<String>,
    #[schema(value_type = Object)]
    pub env: BTreeMap<String, HeaderValue>,
    pub cwd: Option<String>,
    pub allowed_hosts: Vec<String>,
    pub enabled: bool,
    pub requires_approval: bool,
    pub risk_level: Risk,
    pub auto_accept: bool,
    pub toolset_id: Option<String>,
    /// Whether the server is off only because its toolset is disabled.
    #[serde(default)]
    #[schema(required = false)]
    pub paused: bool,
    /// The hash of the list of the toolset's files.
    #[serde(default)]
    pub files: Option<String>,
    /// What an admin has changed of a toolset's server.
    #[serde(default)]
    #[schema(required = false)]
    pub by_admin: BTreeSet<AdminSetting>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// An MCP server as responses show it.
#[derive(Serialize, ToSchema)]
#[schema(as = McpServerOut)]
pub struct ServerOut {
    #[schema(example = "time")]
    id: String,
    /// The toolset that brought the server. Null, if an admin registered it.
    toolset_id: Option<String>,
    transport: Transport,
    url: Option<String>,
    /// The names of the headers. Their values are never shown.
    #[schema(example = json!({"Authorization": "***"}))]
    headers: BTreeMap<String, &'static str>,
    command: Option<String>,
    args: Vec<String>,
    /// The names of the variables. Their values are never shown.
    #[schema(example = json!({"API_KEY": "***"}))]
    env: BTreeMap<String, &'static str>,
    cwd: Option<String>,
    enabled: bool,
    /// Whether each call of the server's tools needs an approval.
    requires_approval: bool,
    /// The risk of the server's tools.
    risk_level: Risk,
    auto_accept: bool,
    /// The hosts that a stdio server may reach.
    allowed_hosts: Vec<String>,
    status: UpstreamStatus,
    /// The revision of MCP that client and server have agreed on. Null until the server has answered.
    #[schema(example = "2025-11-25")]
    protocol_version: Option<String>,
    /// The server's name and version, in its own words.
    #[schema(value_type = Option<Object>)]
    server_info: Option<Value>,
    /// How many active tools the server has.
    tools: u32,
    /// How many definitions wait for an admin.
    held_back: u32,
    /// When the server was last discovered with success.
    #[schema(value_type = Option<String>, format = DateTime)]
    discovered_at: Option<Timestamp>,
    /// When Pegboard asks the server again.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    last_error: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<McpServer> for ServerOut {
    fn from(server: McpServer) -> Self {
        let McpServer { id, settings, findings, .. } = server;
        let known = findings.connection.as_deref().and_then(|it| serde_json::from_str::<Value>(it).ok());
        let known = |field: &str| known.as_ref().and_then(|it| it.get(field)).cloned();
        let masked = |values: BTreeMap<String, HeaderValue>| values.into_keys().map(|it| (it, MASK)).collect();
        let process = settings.own.process;
        let (command, args, env, cwd, allowed_hosts) = match process {
            Some(it) => (Some(it.command), it.args, it.env, it.cwd, it.allowed_hosts),
            None => (None, Vec::new(), BTreeMap::new(), None, Vec::new()),
        };
        Self {
            id: id.name().to_owned(),
            toolset_id: settings.toolset_id,
            transport: settings.transport,
            url: settings.url,
            headers: masked(settings.headers),
            command,
            args,
            env: masked(env),
            cwd,
            enabled: settings.enabled,
            requires_approval: settings.own.requires_approval,
            risk_level: settings.own.risk_level,
            auto_accept: settings.auto_accept,
            allowed_hosts,
            status: findings.status,
            protocol_version: known("revision").and_then(|it| it.as_str().map(str::to_owned)),
            server_info: known("server_info"),
            tools: server.tools,
            held_back: server.held_back,
            discovered_at: findings.discovered_at,
            expires_at: findings.expires_at,
            last_error: findings.last_error,
            created_at: server.created_at,
        }
    }
}

/// An MCP server with its tools, and everything that was left out.
#[derive(Serialize, ToSchema)]
#[schema(as = McpServerDetails)]
pub struct ServerDetails {
    #[serde(flatten)]
    pub server: ServerOut,
    /// The active tools, sorted by id.
    pub tool_ids: Vec<String>,
    pub warnings: Vec<UpstreamWarning>,
}
