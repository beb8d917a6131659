//! `initialize` and `server/discover`: describe the server, and the features that it offers the caller.

use super::context::{McpContext, SERVER_INFO};
use super::reply::McpFailure;
use crate::agents;
use crate::callers::Level;
use crate::execution;
use crate::ids::SessionId;
use crate::json_object::JsonObject;
use crate::json_rpc::RpcParams;
use crate::mcp_protocol::{negotiated, supported_revisions};
use serde_json::Value;

pub async fn initialize(context: &McpContext<'_>, params: &RpcParams) -> Result<JsonObject, McpFailure> {
    let mut result = JsonObject::new();
    result.text("protocolVersion", negotiated(params.0.get("protocolVersion").and_then(Value::as_str)));
    result.put("serverInfo", SERVER_INFO);
    introduce(context, result).await
}

pub async fn discover(context: &McpContext<'_>) -> Result<JsonObject, McpFailure> {
    let mut result = context.cacheable(0);
    result.put("supportedVersions", &supported_revisions());
    introduce(context, result).await
}

/// Adds what the server offers this caller. Fails, if the caller is refused or the endpoint's agent does not exist.
async fn introduce(context: &McpContext<'_>, mut result: JsonObject) -> Result<JsonObject, McpFailure> {
    if let Some(agent_id) = &context.endpoint.agent {
        agents::get(context.scope, agent_id).await?;
    }
    let reads_files = context.scope.caller().await?.level >= Level::User;
    let capabilities = match reads_files {
        true => r#"{"tools":{},"resources":{},"completions":{}}"#,
        false => r#"{"tools":{},"completions":{}}"#,
    };
    result.put("capabilities", capabilities);
    let session = context.endpoint.session.as_ref().map_or(execution::DEFAULT_SESSION, SessionId::as_str);
    let instructions = format!(
        "Tools of the workspace {}, run under guard and recorded. Files that tools read and write are those of the session \
         {session}. A call may have to wait for an approval, which is given in the registry: then it runs by itself, and \
         calling again only asks for another.",
        context.scope.workspace()
    );
    result.text("instructions", &instructions);
    Ok(result)
}
