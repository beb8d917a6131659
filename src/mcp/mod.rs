//! The registry as an MCP server, in the revisions 2025-11-25 and 2026-07-28. Nothing is kept between requests: whatever
//! one needs to know, it says itself. What HTTP has to do with it is in `http::mcp`.
//!
//! Declared are tools, resources and completions. Prompts, logging, subscriptions and tasks are not: there are none.

mod completion;
mod content;
mod pause;
mod resources;
mod revision;
mod rpc;
mod search;
mod tools;
mod uri;

pub use revision::{Era, McpHeaders, check_version, of as revision_of};
pub use rpc::{JsonObject, RpcError, RpcErrorCode, RpcMessage, RpcRequest, read};

use crate::agents;
use crate::callers::{Level, Scope};
use crate::error::{Error, Result};
use crate::execution;
use crate::formats;
use crate::ids::{AgentId, SessionId};
use crate::page::PageRequest;
use crate::registry::Tool;
use rpc::RpcParams;
use serde::Serialize;
use serde_json::{Map, Value};

/// What an endpoint is about, apart from the workspace.
#[derive(Default)]
pub struct McpEndpoint {
    /// Whose toolbox it is; all of the workspace's tools, if nobody's.
    pub agent: Option<AgentId>,
    /// Whose files calls see.
    pub session: Option<SessionId>,
}

/// Why a request is not answered with a result. Boxed: it is passed up through many hands, and rarely there.
pub struct McpFailure(pub Box<McpFailureKind>);

pub enum McpFailureKind {
    /// It is wrong, or asks for what is not there.
    RpcError(RpcError),
    /// It is refused, or fails, as any request of the API might be.
    Error(Error),
}

impl From<RpcError> for McpFailure {
    #[cold]
    #[inline(never)]
    fn from(fault: RpcError) -> Self {
        Self(Box::new(McpFailureKind::RpcError(fault)))
    }
}

impl From<Error> for McpFailure {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> Self {
        Self(Box::new(McpFailureKind::Error(error)))
    }
}

/// The least that a caller must be to ask this.
pub fn level(request: &RpcRequest) -> Level {
    match request.method.as_str() {
        "resources/list" => Level::User,
        "resources/read" => resources::level(request.params.text("uri").ok()),
        _ => Level::Guest,
    }
}

/// A request's way to its answer.
struct McpContext<'a> {
    scope: &'a Scope,
    endpoint: &'a McpEndpoint,
    revision: Era,
    headers: &'a McpHeaders<'a>,
}

/// The message that answers a request.
pub async fn answer(
    scope: &Scope,
    endpoint: &McpEndpoint,
    revision: Era,
    headers: &McpHeaders<'_>,
    request: RpcRequest,
) -> std::result::Result<String, McpFailure> {
    let context = McpContext { scope, endpoint, revision, headers };
    let RpcRequest { id, method, params } = request;
    let result = match (method.as_str(), revision) {
        ("tools/call", _) => tools::call(&context, params).await?,
        ("tools/list", _) => tools::list(&context, &params).await?,
        ("resources/list", _) => resources::list(&context, &params).await?,
        ("resources/read", _) => resources::read(&context, &params).await?,
        ("resources/templates/list", _) => {
            scope.caller().await?;
            resources::templates(&context)
        }
        ("completion/complete", _) => completion::complete(&context, &params).await?,
        ("initialize", Era::Legacy) => context.initialize(&params).await?,
        ("ping", Era::Legacy) => {
            scope.caller().await?;
            JsonObject::new()
        }
        ("server/discover", Era::Modern) => context.discover().await?,
        (other, _) => {
            let other = crate::error::shortened(other);
            return Err(RpcError::new(RpcErrorCode::NoMethod, &format!("Method not found: {other}")).into());
        }
    };
    Ok(rpc::answer(&id, result))
}

impl McpContext<'_> {
    async fn initialize(&self, params: &RpcParams) -> std::result::Result<JsonObject, McpFailure> {
        let mut result = JsonObject::new();
        result.text("protocolVersion", revision::negotiated(params.0.get("protocolVersion").and_then(Value::as_str)));
        result.put("serverInfo", SERVER_INFO);
        self.introduce(result).await
    }

    async fn discover(&self) -> std::result::Result<JsonObject, McpFailure> {
        let mut result = self.cacheable(0);
        result.put("supportedVersions", &revision::supported());
        self.introduce(result).await
    }

    /// What there is for this caller, who is let in, at an endpoint that is there.
    async fn introduce(&self, mut result: JsonObject) -> std::result::Result<JsonObject, McpFailure> {
        if let Some(agent_id) = &self.endpoint.agent {
            agents::get(self.scope, agent_id).await?;
        }
        let reads_files = self.scope.caller().await?.level >= Level::User;
        let capabilities = match reads_files {
            true => r#"{"tools":{},"resources":{},"completions":{}}"#,
            false => r#"{"tools":{},"completions":{}}"#,
        };
        result.put("capabilities", capabilities);
        let session = self.endpoint.session.as_ref().map_or(execution::DEFAULT_SESSION, SessionId::as_str);
        let instructions = format!(
            "Tools of the workspace {}, run under guard and recorded. Files that tools read and write are those of the session \
             {session}. A call may have to wait for an approval, which is given in the registry: then it runs by itself, and \
             calling again only asks for another.",
            self.scope.workspace()
        );
        result.text("instructions", &instructions);
        Ok(result)
    }

    /// For whom calls are made here: the endpoint's agent, else the token's own. Free once something has been read.
    async fn agent(&self) -> Result<Option<&AgentId>> {
        match &self.endpoint.agent {
            Some(agent_id) => Ok(Some(agent_id)),
            None => Ok(self.scope.caller().await?.agent.as_ref()),
        }
    }

    /// A result that is all there is to say.
    fn complete(&self) -> JsonObject {
        self.marked("complete", &Map::new())
    }

    /// One that may be kept for a while, by this caller.
    fn cacheable(&self, ttl_ms: u32) -> JsonObject {
        let mut result = self.complete();
        if self.revision == Era::Modern {
            result.put("ttlMs", &ttl_ms.to_string());
            result.text("cacheScope", "private");
        }
        result
    }

    /// One that is to be asked for again.
    fn incomplete(&self) -> JsonObject {
        self.marked("input_required", &Map::new())
    }

    /// What came of a call.
    fn content(&self, content: &content::CallToolResult) -> JsonObject {
        let mut result = self.marked("complete", &content.meta);
        content.write(&mut result);
        result
    }

    /// With what is to be said about it, and since 2026-07-28 with its type and who made it.
    fn marked(&self, result_type: &str, about: &Map<String, Value>) -> JsonObject {
        let mut result = JsonObject::new();
        let mut meta = JsonObject::of(about);
        if self.revision == Era::Modern {
            meta.put("io.modelcontextprotocol/serverInfo", SERVER_INFO);
            result.text("resultType", result_type);
        } else if about.is_empty() {
            return result;
        }
        result.put("_meta", &meta.finish());
        result
    }

    /// A page of a list, from the cursor that the request has.
    fn page(&self, params: &RpcParams, limit: u32) -> std::result::Result<PageRequest, McpFailure> {
        let cursor = params.optional_text("cursor")?;
        PageRequest::new(Some(limit), cursor)
            .map_err(|_| RpcError::params("cursor is not one that this list gave out").into())
    }
}

/// The tool of that name, if the endpoint has it.
async fn tool_of(context: &McpContext<'_>, name: &str) -> std::result::Result<Option<Tool>, McpFailure> {
    let mut found = None;
    if context.endpoint.agent.is_none() {
        // Before anything else, so that the caller is checked in the same round trip.
        found = execution::named(context.scope, name).await?;
    }
    if let Some(agent_id) = context.agent().await? {
        let tools = agents::toolbox(context.scope, agent_id).await?;
        let named = |tool: &Tool| tool.id.as_str() == name || formats::names::exported(&tool.id) == name;
        return Ok(tools.into_iter().map(|it| it.tool).find(named));
    }
    let level = context.scope.caller().await?.level;
    Ok(found.filter(|it| agents::judge_caller(level, it, it.active).is_ok()))
}

/// Who we are.
const SERVER_INFO: &str =
    concat!(r#"{"name":"pegboard","title":"Pegboard","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// As JSON, which a value of ours can always be.
fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| Error::Internal(format!("an answer is not JSON: {cause}")))
}

/// A list of tools, as it leaves the house.
fn tools_json<'a>(tools: impl Iterator<Item = &'a Tool>) -> Result<String> {
    let mut json = "[".to_owned();
    for tool in tools {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&to_json(&formats::mcp::tool(tool))?);
    }
    json.push(']');
    Ok(json)
}
