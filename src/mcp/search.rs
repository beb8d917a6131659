//! Two tools for agents that have too many tools for a model's context: `find_tools` searches the agent's tools,
//! `call_tool` calls one of them. An agent is shown these two instead of its tools if its profile sets `find_tools`.

use super::context::tools_json;
use crate::agents;
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::AgentId;
use crate::mcp_protocol::CallToolResult;
use crate::page::PageRequest;
use crate::search_text::FullTextQuery;
use serde_json::{Map, Value};

pub const FIND: &str = "find_tools";
const CALL: &str = "call_tool";

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 50;

/// Whether this is the name of one of the two tools.
pub fn is_own(name: &str) -> bool {
    name == FIND || name == CALL
}

/// The two tools, as MCP's `Tool`s.
pub const TOOLS: &str = include_str!(concat!(env!("OUT_DIR"), "/search.json"));

/// The result of `find_tools`: the agent's tools that match the query.
pub async fn find(scope: &Scope, agent_id: &AgentId, arguments: &Map<String, Value>) -> Result<CallToolResult> {
    let query = match arguments.get("query").and_then(Value::as_str) {
        Some(query) if !query.trim().is_empty() => query,
        _ => return Ok(CallToolResult::error("INVALID_ARGUMENTS: query must be a text of some words")),
    };
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => DEFAULT_LIMIT,
        Some(limit) => match limit.as_u64().and_then(|it| u32::try_from(it).ok()) {
            Some(limit) if (1..=MAX_LIMIT).contains(&limit) => limit,
            _ => return Ok(CallToolResult::error(&format!("INVALID_ARGUMENTS: limit must be from 1 to {MAX_LIMIT}"))),
        },
    };
    let text = match FullTextQuery::parse_any(query) {
        Ok(text) => text,
        Err(reason) => return Ok(CallToolResult::error(&format!("INVALID_ARGUMENTS: query {reason}"))),
    };
    let found = agents::search_toolbox(scope, agent_id, text, &PageRequest::new(Some(limit), None)?).await?;
    Ok(CallToolResult::structured(format!(r#"{{"tools":{}}}"#, tools_json(found.items.iter().map(|it| &it.tool))?)))
}

/// The call that the arguments of `call_tool` describe.
pub fn unwrap(arguments: &mut Map<String, Value>) -> std::result::Result<(String, Map<String, Value>), &'static str> {
    let name = match arguments.remove("name") {
        Some(Value::String(name)) => name,
        _ => return Err("INVALID_ARGUMENTS: name must be the name of a tool"),
    };
    match arguments.remove("arguments") {
        None => Ok((name, Map::new())),
        Some(Value::Object(fields)) => Ok((name, fields)),
        Some(_) => Err("INVALID_ARGUMENTS: arguments must be an object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_two_are_as_they_are_said_to_be() {
        let tools = serde_json::from_str::<Value>(TOOLS).unwrap();
        assert!(is_own(tools[0]["name"].as_str().unwrap()) && is_own(tools[1]["name"].as_str().unwrap()));
        let limit = &tools[0]["inputSchema"]["properties"]["limit"];
        assert_eq!((&limit["default"], &limit["maximum"]), (&json!(DEFAULT_LIMIT), &json!(MAX_LIMIT)));
    }

    #[test]
    fn a_call_is_taken_out_of_its_wrapping() {
        let unwrap = |arguments: Value| unwrap(&mut arguments.as_object().unwrap().clone());
        assert_eq!(unwrap(json!({"name": "t"})), Ok(("t".into(), Map::new())));
        let (_, arguments) = unwrap(json!({"name": "t", "arguments": {"a": 1}})).unwrap();
        assert_eq!(json!(arguments), json!({"a": 1}));
        for wrong in [json!({}), json!({"name": 7}), json!({"name": "t", "arguments": "{}"})] {
            assert!(unwrap(wrong).is_err());
        }
    }
}
