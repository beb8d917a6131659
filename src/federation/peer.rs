//! Asks MCP servers: reaches them by their transport, and keeps what the client remembers of them.

use super::server::{McpServer, ServerSettings, Transport};
use super::stdio;
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::UpstreamId;
use crate::mcp_client::{
    self, ClientFailure, FailureCause, McpPeer, McpTransport, PeerAnswer, PeerMemory, ToolCall, tells_unknown_tool,
};
use crate::mcp_protocol::CallToolResult;
use crate::outgoing::Route;
use crate::registry::{HeaderValue, Server, StoredHeaders, Tool};
use crate::seal::Sealer;
use crate::upstreams::{self, DISCOVERY_SECONDS, LookFailure, SettingsColumns, UpstreamSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;
use worker::console_warn;

/// How long a discovery waits for a stdio server, which may have to be started.
const STDIO_DISCOVERY_SECONDS: u32 = 30;

/// The list of a server's tools.
pub struct Listed {
    /// A JSON array of the tools, each to the letter.
    pub text: String,
    /// What is to be remembered of the server.
    pub connection: Option<String>,
    /// For how many seconds the server says that the list is good.
    pub fresh_seconds: Option<u32>,
}

/// Asks a server for its tools. A failure comes with what is to be remembered of the server all the same.
pub async fn list(scope: &Scope, server: &McpServer) -> std::result::Result<Listed, (LookFailure, Option<String>)> {
    let seconds = match server.settings.transport {
        Transport::Stdio => STDIO_DISCOVERY_SECONDS,
        Transport::StreamableHttp | Transport::Sse => DISCOVERY_SECONDS,
    };
    let time = Duration::from_secs(seconds.into());
    let place = server.settings.place(server.name());
    let memory = server.findings.connection.as_deref().and_then(|it| opened(scope, it, &place));
    let asked = ask(scope, server.name(), &server.settings, memory, async |peer, memory| {
        mcp_client::list_tools(peer, memory, time).await
    });
    let (answer, reached) = asked
        .await
        .map_err(|reason| (LookFailure::Unreachable(format!("The MCP server was not asked: {reason}")), None))?;
    let connection = answer.memory.and_then(|it| sealed(scope, it, &place));
    match answer.outcome {
        Ok(listing) => {
            let tools = listing.tools.iter().map(|it| it.get()).collect::<Vec<_>>().join(",");
            // Many servers send 0 without meaning it. Every use would then ask the server again, and start stdio servers.
            let named = listing.ttl_ms.filter(|it| *it > 0);
            let fresh_seconds = named.map(|it| u32::try_from(it / 1_000).unwrap_or(u32::MAX));
            Ok(Listed { text: reached.scrub(format!("[{tools}]")), connection, fresh_seconds })
        }
        Err(failure) => {
            let told = reached.scrub(format!("The MCP server {}", failure.cause));
            Err((look_failure(&failure.cause, told), connection))
        }
    }
}

fn look_failure(cause: &FailureCause, told: String) -> LookFailure {
    match cause {
        FailureCause::Unusable(_)
        | FailureCause::Unreachable(_)
        | FailureCause::BrokenOff(_)
        | FailureCause::TimedOut
        | FailureCause::Refused { status: 502..=504, .. } => LookFailure::Unreachable(told),
        FailureCause::TooLarge(_)
        | FailureCause::NotText
        | FailureCause::Refused { .. }
        | FailureCause::Protocol(_)
        | FailureCause::InputRequired(_)
        | FailureCause::Rpc(_) => LookFailure::Invalid(told),
    }
}

/// What came of a call.
pub enum ServerAnswer {
    Result(CallToolResult),
    Failed(ClientFailure),
    /// The server was not asked. The reason may be shown to every caller.
    NotAsked(String),
}

/// Calls a tool, under its name on the server. Never runs a call twice.
pub async fn call(
    scope: &Scope,
    tool: &Tool,
    name: &str,
    arguments: &Map<String, Value>,
    time: Duration,
) -> Result<ServerAnswer> {
    // A tool without its server is not active, so a call gets here only if the server was deleted this moment.
    let (Some(id), Some(upstream)) = (tool.upstream_id(), &tool.upstream) else {
        return Ok(ServerAnswer::NotAsked("its MCP server is not registered any more".to_owned()));
    };
    let settings = ServerSettings::read(SettingsColumns {
        kind: String::new(),
        url: upstream.url.clone(),
        slow: false,
        timeout_seconds: None,
        headers: upstream.headers.clone(),
        enabled: upstream.enabled,
        auto_accept: false,
        include: None,
        server: upstream.server.as_ref().map(|it| it.get().to_owned()),
        toolset_id: upstream.toolset_id.clone(),
        paused: false,
    })?;
    let place = settings.place(id.name());
    let memory = upstream.connection.as_ref().and_then(|it| opened(scope, it.get(), &place));
    let schema = serde_json::from_str::<Value>(&tool.parameters_schema).unwrap_or_default();
    let before = memory.clone();
    let asked = ask(scope, id.name(), &settings, memory, async |peer, memory| {
        mcp_client::call_tool(peer, memory, ToolCall { name, arguments, schema: &schema }, time).await
    });
    let (answer, reached) = match asked.await {
        Ok(asked) => asked,
        Err(reason) => return Ok(ServerAnswer::NotAsked(reason)),
    };
    if answer.memory != before
        && let Some(memory) = answer.memory
    {
        remember(scope, &id, upstream.revision, memory, &place).await;
    }
    let answered = match answer.outcome {
        Ok(result) => ServerAnswer::Result(scrubbed(&reached, result)),
        Err(failure) => ServerAnswer::Failed(failure.scrubbed(|it| reached.scrub(it))),
    };
    if answered.tells_unknown_tool() {
        upstreams::note_unknown_tool(scope, tool).await?;
    }
    Ok(answered)
}

impl ServerAnswer {
    /// Whether the server says that it has no such tool: its list has changed.
    fn tells_unknown_tool(&self) -> bool {
        match self {
            Self::Result(result) => result.is_error && tells_unknown_tool(&result.content),
            Self::Failed(failure) => failure.is_unknown_tool(),
            Self::NotAsked(_) => false,
        }
    }
}

/// The result without the secrets of the request.
fn scrubbed(reached: &Server, result: CallToolResult) -> CallToolResult {
    CallToolResult {
        content: reached.scrub(result.content),
        structured_content: result.structured_content.map(|it| reached.scrub(it)),
        ..result
    }
}

/// Ends the session with a server that has been deleted.
pub async fn end_session(scope: &Scope, server: &McpServer) {
    let place = server.settings.place(server.name());
    let memory = server.findings.connection.as_deref().and_then(|it| opened(scope, it, &place));
    let Some(memory) = memory.filter(|it| it.session.is_some()) else { return };
    // Nobody waits for the outcome: the server ends the session by itself sooner or later.
    let _ = ask(scope, server.name(), &server.settings, None, async |peer, _| {
        mcp_client::end_session(peer, memory.clone()).await;
        PeerAnswer { outcome: Ok(()), memory: None }
    })
    .await;
}

/// Reaches the server, and asks it. Returns the answer, and the server with the secrets that were sent to it. Fails with
/// the reason, if the server cannot be asked, in words that may be shown to every caller.
async fn ask<T>(
    scope: &Scope,
    id: &str,
    settings: &ServerSettings,
    memory: Option<PeerMemory>,
    question: impl AsyncFn(&McpPeer<'_>, Option<PeerMemory>) -> PeerAnswer<T>,
) -> std::result::Result<(PeerAnswer<T>, Server), String> {
    let transport = match settings.transport {
        Transport::StreamableHttp => McpTransport::StreamableHttp,
        Transport::Sse => McpTransport::Sse,
        Transport::Stdio => {
            let process = settings.own.process.as_ref().ok_or("it has no command")?;
            return stdio::ask(scope, id, settings, process, memory, question).await;
        }
    };
    let url = settings.url.as_deref().ok_or("it has no URL")?;
    let server = Server::of(scope, url, &[StoredHeaders { values: &settings.headers, url }])?;
    let peer = McpPeer {
        url: &server.url,
        headers: &server.headers,
        transport,
        route: Route::Network,
        turn: scope.memory_turn(),
    };
    let answer = question(&peer, memory).await;
    Ok((answer, server))
}

/// Keeps what is to be remembered of the server. The call has its answer already, so a failure is only logged.
async fn remember(scope: &Scope, id: &UpstreamId, revision: u32, memory: PeerMemory, place: &str) {
    let Some(connection) = sealed(scope, memory, place) else { return };
    let put = upstreams::put_connection::<ServerSettings>(scope.workspace(), id, revision, &connection);
    if let Err(cause) = scope.write([put]).await {
        console_warn!("the connection of {} was not kept: {cause:?}", id.name());
    }
}

/// What is remembered of a server, as the database holds it.
#[derive(Deserialize, Serialize)]
struct StoredMemory {
    #[serde(flatten)]
    memory: PeerMemory,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed_session: Option<HeaderValue>,
}

const SESSION: &str = "Mcp-Session-Id";

/// The memory as JSON, with the session sealed. Without a key to seal it, the session is not kept.
fn sealed(scope: &Scope, memory: PeerMemory, place: &str) -> Option<String> {
    seal_with(scope.app().settings().sealer.as_ref(), memory, place)
}

fn seal_with(sealer: Option<&Sealer>, mut memory: PeerMemory, place: &str) -> Option<String> {
    let session = memory.session.take().map(HeaderValue::Plain);
    let sealed = session.zip(sealer).map(|(it, sealer)| it.sealed(sealer, SESSION, place));
    let sealed_session = sealed.transpose().ok()?.filter(|it| it.plain().is_none());
    serde_json::to_string(&StoredMemory { memory, sealed_session }).ok()
}

/// The memory that the JSON holds. None, if the JSON cannot be read: then the server is met for the first time again.
fn opened(scope: &Scope, json: &str, place: &str) -> Option<PeerMemory> {
    open_with(scope.app().settings().sealer.as_ref(), json, place)
}

fn open_with(sealer: Option<&Sealer>, json: &str, place: &str) -> Option<PeerMemory> {
    let StoredMemory { memory, sealed_session } = serde_json::from_str(json).ok()?;
    let session = sealed_session.and_then(|it| it.open(sealer, SESSION, place));
    Some(PeerMemory { session, ..memory })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp_client::PeerEra;

    fn memory(session: Option<&str>) -> PeerMemory {
        let session = session.map(str::to_owned);
        PeerMemory { era: PeerEra::Legacy, revision: "2025-11-25".into(), session, server_info: None }
    }

    #[test]
    fn a_session_is_kept_sealed_for_its_server() {
        let (sealer, place) = (Sealer::new("k"), "https://a.example/mcp");
        let json = seal_with(Some(&sealer), memory(Some("s3cret")), place).unwrap();
        assert!(!json.contains("s3cret"));
        assert_eq!(open_with(Some(&sealer), &json, place), Some(memory(Some("s3cret"))));
        assert_eq!(open_with(Some(&sealer), &json, "https://b.example/mcp"), Some(memory(None)));
        assert_eq!(open_with(Some(&Sealer::new("other")), &json, place), Some(memory(None)));
        assert_eq!(open_with(Some(&sealer), "{}", place), None);
    }

    #[test]
    fn without_a_key_no_session_is_kept() {
        let json = seal_with(None, memory(Some("s3cret")), "x").unwrap();
        assert!(!json.contains("s3cret"));
        assert_eq!(open_with(None, &json, "x"), Some(memory(None)));
    }
}
