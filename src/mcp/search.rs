//! For agents with so many tools that a list of them would fill a model's context: two tools, one to find others by what
//! they do, one to call what was found. An agent has them if its `find_tools` is set.

use super::content::CallToolResult;
use super::tools_json;
use crate::agents;
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::AgentId;
use crate::search_text::Query;
use serde_json::{Map, Value};

pub const FIND: &str = "find_tools";
const CALL: &str = "call_tool";

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 50;

/// Whether it is the name of one of the two.
pub fn is_own(name: &str) -> bool {
    name == FIND || name == CALL
}

/// The two, as MCP's `Tool`s.
pub const TOOLS: &str = include_str!(concat!(env!("OUT_DIR"), "/search.json"));

/// What the agent has that fits the query.
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
    let text = match Query::parse_any(query) {
        Ok(text) => text,
        Err(reason) => return Ok(CallToolResult::error(&format!("INVALID_ARGUMENTS: query {reason}"))),
    };
    let mut found = agents::search_toolbox(scope, agent_id, text).await?;
    found.truncate(limit as usize);
    Ok(CallToolResult::structured(format!(r#"{{"tools":{}}}"#, tools_json(found.iter().map(|it| &it.tool))?)))
}

/// The call that stands in the arguments of `call_tool`.
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
