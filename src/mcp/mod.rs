//! The registry as an MCP server, in the revisions 2025-11-25 and 2026-07-28. Nothing is kept between requests: whatever
//! one needs to know, it says itself. What HTTP has to do with it is in `http::mcp`.
//!
//! Declared are tools, resources and completions. Prompts, logging, subscriptions and tasks are not: there are none.

mod completion;
mod content;
mod header_check;
mod pause;
mod resources;
mod revision;
mod rpc;
mod search;
mod tools;
mod uri;

pub use revision::{Headers, Revision, check_version, of as revision_of};
pub use rpc::{Fault, Kind, Message, Object, Request, read};

use crate::agents;
use crate::callers::{Level, Scope};
use crate::error::{Error, Result};
use crate::execution;
use crate::formats;
use crate::ids::{AgentId, SessionId};
use crate::page::PageRequest;
use crate::registry::Tool;
use rpc::Params;
use serde::Serialize;
use serde_json::{Map, Value};

/// What an endpoint is about, apart from the workspace.
#[derive(Default)]
pub struct Endpoint {
    /// Whose toolbox it is; all of the workspace's tools, if nobody's.
    pub agent: Option<AgentId>,
    /// Whose files calls see.
    pub session: Option<SessionId>,
}

/// Why a request is not answered with a result. Boxed: it is passed up through many hands, and rarely there.
pub struct Refusal(pub Box<Why>);

pub enum Why {
    /// It is wrong, or asks for what is not there.
    Fault(Fault),
    /// It is refused, or fails, as any request of the API might be.
    Error(Error),
}

impl From<Fault> for Refusal {
    #[cold]
    #[inline(never)]
    fn from(fault: Fault) -> Self {
        Self(Box::new(Why::Fault(fault)))
    }
}

impl From<Error> for Refusal {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> Self {
        Self(Box::new(Why::Error(error)))
    }
}

/// The least that a caller must be to ask this.
pub fn level(request: &Request) -> Level {
    match request.method.as_str() {
        "resources/list" => Level::User,
        "resources/read" => resources::level(request.params.text("uri").ok()),
        _ => Level::Guest,
    }
}

/// A request's way to its answer.
struct Served<'a> {
    scope: &'a Scope,
    endpoint: &'a Endpoint,
    revision: Revision,
    headers: &'a Headers<'a>,
}

/// The message that answers a request.
pub async fn answer(
    scope: &Scope,
    endpoint: &Endpoint,
    revision: Revision,
    headers: &Headers<'_>,
    request: Request,
) -> std::result::Result<String, Refusal> {
    let served = Served { scope, endpoint, revision, headers };
    let Request { id, method, params } = request;
    let result = match (method.as_str(), revision) {
        ("tools/call", _) => tools::call(&served, params).await?,
        ("tools/list", _) => tools::list(&served, &params).await?,
        ("resources/list", _) => resources::list(&served, &params).await?,
        ("resources/read", _) => resources::read(&served, &params).await?,
        ("resources/templates/list", _) => {
            scope.caller().await?;
            resources::templates(&served)
        }
        ("completion/complete", _) => completion::complete(&served, &params).await?,
        ("initialize", Revision::Legacy) => served.initialize(&params).await?,
        ("ping", Revision::Legacy) => {
            scope.caller().await?;
            Object::new()
        }
        ("server/discover", Revision::Modern) => served.discover().await?,
        (other, _) => {
            let other = crate::error::shortened(other);
            return Err(Fault::new(Kind::NoMethod, &format!("Method not found: {other}")).into());
        }
    };
    Ok(rpc::answer(&id, result))
}

impl Served<'_> {
    async fn initialize(&self, params: &Params) -> std::result::Result<Object, Refusal> {
        let mut result = Object::new();
        result.text("protocolVersion", revision::negotiated(params.0.get("protocolVersion").and_then(Value::as_str)));
        result.put("serverInfo", SERVER_INFO);
        self.introduce(result).await
    }

    async fn discover(&self) -> std::result::Result<Object, Refusal> {
        let mut result = self.cacheable(0);
        result.put("supportedVersions", &revision::supported());
        self.introduce(result).await
    }

    /// What there is for this caller, who is let in, at an endpoint that is there.
    async fn introduce(&self, mut result: Object) -> std::result::Result<Object, Refusal> {
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
    fn complete(&self) -> Object {
        self.marked("complete", &Map::new())
    }

    /// One that may be kept for a while, by this caller.
    fn cacheable(&self, ttl_ms: u32) -> Object {
        let mut result = self.complete();
        if self.revision == Revision::Modern {
            result.put("ttlMs", &ttl_ms.to_string());
            result.text("cacheScope", "private");
        }
        result
    }

    /// One that is to be asked for again.
    fn incomplete(&self) -> Object {
        self.marked("input_required", &Map::new())
    }

    /// What came of a call.
    fn content(&self, content: &content::Content) -> Object {
        let mut result = self.marked("complete", &content.meta);
        content.write(&mut result);
        result
    }

    /// With what is to be said about it, and since 2026-07-28 with its type and who made it.
    fn marked(&self, result_type: &str, about: &Map<String, Value>) -> Object {
        let mut result = Object::new();
        let mut meta = Object::of(about);
        if self.revision == Revision::Modern {
            meta.put("io.modelcontextprotocol/serverInfo", SERVER_INFO);
            result.text("resultType", result_type);
        } else if about.is_empty() {
            return result;
        }
        result.put("_meta", &meta.finish());
        result
    }

    /// A page of a list, from the cursor that the request has.
    fn page(&self, params: &Params, limit: u32) -> std::result::Result<PageRequest, Refusal> {
        let cursor = params.optional_text("cursor")?;
        PageRequest::new(Some(limit), cursor)
            .map_err(|_| Fault::params("cursor is not one that this list gave out").into())
    }
}

/// The tool of that name, if the endpoint has it.
async fn tool_of(served: &Served<'_>, name: &str) -> std::result::Result<Option<Tool>, Refusal> {
    let mut found = None;
    if served.endpoint.agent.is_none() {
        // Before anything else, so that the caller is checked in the same round trip.
        found = execution::tool_of_name(served.scope, name).await?;
    }
    if let Some(agent_id) = served.agent().await? {
        let tools = agents::toolbox(served.scope, agent_id).await?;
        let named = |tool: &Tool| tool.id.as_str() == name || formats::names::exported(&tool.id) == name;
        return Ok(tools.into_iter().map(|it| it.tool).find(named));
    }
    let level = served.scope.caller().await?.level;
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
