//! `/api/modules/{module}/execute`: tries a tool of a module.

use super::execute::{CallIn, read_call};
use super::extract::{Bytes, Named, User};
use crate::error::{Error, Result, shortened};
use crate::execution::{self, Call, ToolResult};
use crate::ids::ModuleName;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModuleCallIn {
    /// A tool of the module; `module.tool@version` pins a version that is active or has been replaced.
    #[schema(example = "research.web_search")]
    tool_name: String,
    #[schema(value_type = Option<Object>, example = json!({"query": "gas"}))]
    arguments: Option<Map<String, Value>>,
    #[schema(max_length = 256)]
    user_id: Option<String>,
    /// The agent that makes the call. A bound token may omit it.
    agent_id: Option<String>,
    /// The session whose files the call uses; `default` if not given. A session need not be created first.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$", example = "notebook")]
    session_id: Option<String>,
}

impl From<ModuleCallIn> for Call {
    fn from(given: ModuleCallIn) -> Self {
        let ModuleCallIn { tool_name, arguments, user_id, agent_id, session_id } = given;
        CallIn { tool_name, arguments, agent_id, session_id, user_id, ..CallIn::default() }.into()
    }
}

/// The fault of a tool's name that cannot be the name of a tool of this module. Earlier module registries have the message
/// for a name without a module, to the letter.
fn name_fault(module: &ModuleName, tool_name: &str) -> Option<Error> {
    let shown = shortened(tool_name);
    let name = tool_name.split_once('@').map_or(tool_name, |(name, _)| name);
    match name.split_once('.') {
        None => Some(Error::worded(
            "/tool_name",
            format!("Invalid tool name format: {shown}. Expected 'module.tool_name'."),
        )),
        Some((named, _)) if named == module.as_str() => None,
        Some(_) => Some(Error::body("/tool_name", format!("{shown} is no tool of the module {module}"))),
    }
}

/// Try a tool of a module
///
/// The call is made as by `POST /api/execute`: checked, run and recorded in the same way.
#[utoipa::path(post, path = "/api/modules/{module}/execute", tag = "calls", params(("module" = String, Path)),
    request_body = ModuleCallIn,
    responses(
        (status = 200, description = "The tool ran: `success` says how it went", body = ToolResult),
        (status = 202, description = "The call waits for an approval: `error.details.approval_id`", body = ToolResult),
        (status = 400, description = "The arguments do not fit, or the tool's name is not one of this module", body = ToolResult),
        (status = 403, description = "The caller or the agent may not", body = ToolResult),
        (status = 404, description = "There is no such module, tool or agent", body = ToolResult),
        (status = 409, description = "The tool or its module is disabled", body = ToolResult),
        (status = 413, description = "Too large", body = ToolResult),
        (status = 429, description = "Too many calls: see `Retry-After`", body = ToolResult),
        (status = 500, description = "Our fault", body = ToolResult),
        (status = 503, description = "Something is not configured", body = ToolResult),
    ))]
#[worker::send]
pub async fn execute_module_tool(
    User(scope): User,
    Named(module): Named<ModuleName>,
    Bytes(body): Bytes,
) -> Result<ToolResult> {
    let mut call = read_call::<ModuleCallIn>(&body)?;
    drop(body);
    if let Some(fault) = name_fault(&module, &call.tool_name) {
        call.fault.get_or_insert(fault);
    }
    execution::execute(&scope, call).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_checked_against_the_module() {
        let fault = |name: &str| name_fault(&ModuleName::parse("research").unwrap(), name).map(|it| it.to_string());
        assert_eq!(fault("research.web"), None);
        assert_eq!(fault("research.web.deep@1.0.0"), None);
        for unnamed in ["web", "web@1.0.0", ""] {
            let message = format!("Invalid tool name format: {unnamed}. Expected 'module.tool_name'.");
            assert_eq!(fault(unnamed), Some(message));
        }
        for other in ["files.web", ".web", "researchx.web"] {
            let message = format!("/tool_name: {other} is no tool of the module research");
            assert_eq!(fault(other), Some(message));
        }
    }
}
