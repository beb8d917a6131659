//! MCP servers as a kind of upstream.

use super::listing;
use super::peer::{self, Listed};
use super::server::{McpServer, OwnSettings, ServerRecord, ServerSettings, Transport};
use super::{MAX_SERVERS, stdio};
use crate::cache;
use crate::callers::{Level, Scope};
use crate::error::{Error, Result};
use crate::hex;
use crate::ids::{SERVER_SEPARATOR, WorkspaceId};
use crate::registry::{Source, Tool};
use crate::settings::Settings;
use crate::text_enum::TextEnum;
use crate::upstreams::{
    DEFAULT_TIMEOUT_SECONDS, FRESH_SECONDS, Look, Seen, SettingsColumns, Sight, UpstreamSettings, credentials_of,
};
use serde_json::json;
use sha2::{Digest, Sha256};

/// The level that a caller of an MCP server's tools needs.
pub const LEVEL: Level = Level::User;

/// The word in the column `kind`. The transport follows in the column `server`.
const KIND: &str = "mcp";

impl UpstreamSettings for ServerSettings {
    const SOURCE: Source = Source::Mcp;
    const SEPARATOR: char = SERVER_SEPARATOR;
    const NOUN: &'static str = "MCP server";
    const SUBJECT: &'static str = "mcp_server";
    const INVALID_EVENT: &'static str = "mcp_server_invalid";
    const SETS_POLICY: bool = true;
    const MAX: u32 = MAX_SERVERS;

    type Record = ServerRecord;

    fn read(columns: SettingsColumns) -> Result<Self> {
        let broken = || Error::Internal("the settings of an MCP server cannot be read".to_owned());
        let server = columns.server.ok_or_else(broken)?;
        let own = serde_json::from_str::<OwnSettings>(&server).map_err(|_| broken())?;
        let transport = serde_json::from_str::<TransportColumn>(&server).map_err(|_| broken())?.transport;
        Ok(Self {
            transport: Transport::parse(&transport).ok_or_else(broken)?,
            url: columns.url,
            headers: columns.headers,
            enabled: columns.enabled,
            auto_accept: columns.auto_accept,
            toolset_id: columns.toolset_id,
            paused: columns.paused,
            own,
        })
    }

    fn columns(&self) -> SettingsColumns {
        let mut server = json!(self.own);
        server["transport"] = json!(self.transport);
        SettingsColumns {
            kind: KIND.to_owned(),
            url: self.url.clone(),
            slow: false,
            timeout_seconds: None,
            headers: self.headers.clone(),
            enabled: self.enabled,
            auto_accept: self.auto_accept,
            include: None,
            server: Some(server.to_string()),
            toolset_id: self.toolset_id.clone(),
            paused: self.paused,
        }
    }

    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn accepts_all(&self) -> bool {
        self.auto_accept
    }

    fn credentials(&self) -> Vec<String> {
        let mut credentials = credentials_of(&self.headers);
        credentials.extend(self.own.process.iter().flat_map(|it| credentials_of(&it.env)));
        credentials
    }

    fn place_of_credentials(&self) -> &'static str {
        if self.transport == Transport::Stdio { "/env" } else { "/headers" }
    }

    fn timeout_seconds(&self, _: &Settings) -> u32 {
        DEFAULT_TIMEOUT_SECONDS
    }

    fn is_same_server(&self, after: &Self) -> bool {
        // Other files of its toolset make a process another program.
        let files = |it: &Self| it.own.process.as_ref().and(it.own.files.clone());
        let address = |it: &Self| {
            (it.transport, it.url.clone(), it.headers.clone(), it.own.process.clone(), files(it), it.enabled)
        };
        address(self) == address(after)
    }

    fn with_policy(&self, tool: &Tool) -> Option<Tool> {
        let (risk_level, requires_approval) = (self.own.risk_level, self.own.requires_approval);
        let has_policy = (tool.risk_level, tool.requires_approval, tool.required_permission)
            == (risk_level, requires_approval, LEVEL);
        (!has_policy).then(|| Tool { risk_level, requires_approval, required_permission: LEVEL, ..tool.clone() })
    }

    async fn look(scope: &Scope, server: &McpServer, sight: Sight) -> Seen {
        let key = key(scope.workspace(), server.name());
        let cached = match sight {
            Sight::Cached => cache::get(scope.app(), &key).await,
            Sight::Fresh => None,
        };
        if let Some(text) = cached {
            return look_at(server, &text).into();
        }
        match peer::list(scope, server).await {
            Ok(Listed { text, connection, fresh_seconds }) => {
                cache::put(scope.app(), &key, &text, FRESH_SECONDS).await;
                Seen { look: look_at(server, &text), connection, fresh_seconds }
            }
            Err((failure, connection)) => Seen { look: Look::Failed(failure), connection, fresh_seconds: None },
        }
    }

    async fn forget(scope: &Scope, server: &McpServer) {
        cache::delete(scope.app(), &key(scope.workspace(), server.name())).await;
        match server.settings.transport {
            Transport::Stdio => stdio::stop(scope, server.name()).await,
            Transport::StreamableHttp | Transport::Sse => peer::end_session(scope, server).await,
        }
    }
}

#[derive(serde::Deserialize)]
struct TransportColumn {
    transport: String,
}

/// The key in the cache.
fn key(workspace: &WorkspaceId, id: &str) -> String {
    format!("mcp_tools:{workspace}:{id}")
}

/// What the server offers by this list of tools.
fn look_at(server: &McpServer, text: &str) -> Look {
    let fingerprint = hex::encode(&Sha256::digest(text));
    if server.findings.fingerprint.as_ref() == Some(&fingerprint) {
        return Look::Unchanged(fingerprint);
    }
    Look::Offered(listing::read(server, text), fingerprint)
}
