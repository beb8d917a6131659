//! Reads the tools that an MCP server lists. One tool that cannot be read is left out, and the others come in. Pure.

use super::kind::LEVEL;
use super::server::McpServer;
use crate::error::shortened;
use crate::hex;
use crate::ids::ToolId;
use crate::json_size::{MAX_VALUES, values};
use crate::mcp_client::fault_of_param_headers;
use crate::registry::Handler;
use crate::upstreams::{OfferedTool, Offers, UpstreamWarning, has_hidden, without_hidden};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

const MAX_NAME_BYTES: usize = 1_000;
/// The longest name of a tool within its id.
const MAX_ID_PART: usize = 128;
const HASH_DIGITS: usize = 8;

/// A tool of the list. Fields that are unknown here are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedTool<'a> {
    title: Option<Value>,
    description: Option<Value>,
    #[serde(borrow)]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    output_schema: Option<&'a RawValue>,
    annotations: Option<Value>,
}

#[derive(Deserialize)]
struct NamedTool {
    name: Option<Value>,
}

/// Reads a JSON array of tools.
pub fn read(server: &McpServer, text: &str) -> Offers {
    let mut offers = Offers::default();
    let tools = serde_json::from_str::<Vec<&RawValue>>(text).unwrap_or_default();
    let names = tools.iter().map(|it| name_of(it)).collect::<Vec<_>>();
    let ids = IdParts::of(names.iter().filter_map(|it| it.as_deref().ok()));
    let mut seen = HashSet::new();
    for (index, (text, name)) in tools.iter().zip(&names).enumerate() {
        let mut leave_out = |id: Option<ToolId>, message: String| {
            let shown = name.as_deref().map_or_else(|_| format!("#{index}"), |it| shortened(&without_hidden(it)));
            offers.left_out.extend(id);
            offers.warnings.push(UpstreamWarning { tool: Some(shown), message });
        };
        let name = match name {
            Ok(name) => name,
            Err(reason) => {
                leave_out(None, reason.clone());
                continue;
            }
        };
        let Some(id) = ToolId::parse(&format!("{}{}", server.id.prefix(), ids.part(name))) else {
            leave_out(None, "must have a name that can be a part of an id".to_owned());
            continue;
        };
        if !seen.insert(name) {
            leave_out(None, "has the name of a tool before it".to_owned());
            continue;
        }
        match read_tool(server, name, text) {
            Ok(tool) => offers.tools.push((id, tool)),
            Err(reason) => leave_out(Some(id), reason),
        }
    }
    offers
}

fn name_of(text: &RawValue) -> Result<String, String> {
    let named = serde_json::from_str::<NamedTool>(text.get()).ok().and_then(|it| it.name);
    match named {
        Some(Value::String(name)) if (1..=MAX_NAME_BYTES).contains(&name.len()) && !has_hidden(&name) => Ok(name),
        Some(Value::String(_)) => {
            Err(format!("must have a name of 1 to {MAX_NAME_BYTES} bytes, without hidden characters"))
        }
        _ => Err("must be an object with a text `name`".to_owned()),
    }
}

fn read_tool(server: &McpServer, name: &str, text: &RawValue) -> Result<OfferedTool, String> {
    if values(text.get().as_bytes()) > MAX_VALUES {
        return Err(format!("has more than {MAX_VALUES} values"));
    }
    let given = serde_json::from_str::<ListedTool<'_>>(text.get()).map_err(|cause| shortened(&cause.to_string()))?;
    let description = text_of("description", given.description)?.unwrap_or_default();
    let annotations = match given.annotations {
        None | Some(Value::Null) => None,
        Some(Value::Object(annotations)) => Some(annotations).filter(|it| !it.is_empty()),
        Some(_) => return Err("annotations: must be an object".to_owned()),
    };
    let own_title = text_of("title", given.title)?;
    let title = own_title.or_else(|| annotated_title(annotations.as_ref())).filter(|it| !it.trim().is_empty());
    let title = title.unwrap_or_else(|| name.to_owned());
    if has_hidden(&description) || has_hidden(&title) {
        return Err("title and description: must hold no control, bidirectional or tag characters".to_owned());
    }
    let input = given.input_schema.ok_or("inputSchema: is missing")?.get();
    let schema = serde_json::from_str::<Value>(input).map_err(|cause| shortened(&cause.to_string()))?;
    if !schema.is_object() {
        return Err("inputSchema: must be an object".to_owned());
    }
    // Arguments are always an object, so such a tool could never be called.
    if schema.get("type").is_some_and(|it| it.is_string() && it != "object") {
        return Err("inputSchema: must have the type object".to_owned());
    }
    if let Some(fault) = fault_of_param_headers(&schema) {
        return Err(format!("inputSchema: {fault}"));
    }
    let own = &server.settings.own;
    Ok(OfferedTool {
        name: title.chars().take(MAX_TITLE_CHARS).collect(),
        description,
        parameters_schema: input.to_owned(),
        returns_schema: given.output_schema.filter(|it| it.get() != "null").map(|it| it.get().to_owned()),
        handler: Handler::Mcp { server: server.name().to_owned(), tool: name.to_owned(), annotations },
        risk_level: own.risk_level,
        required_permission: LEVEL,
        requires_approval: own.requires_approval,
        timeout_seconds: None,
        side_effects: Vec::new(),
        examples: Vec::new(),
    })
}

const MAX_TITLE_CHARS: usize = 200;

fn annotated_title(annotations: Option<&Map<String, Value>>) -> Option<String> {
    annotations?.get("title")?.as_str().map(str::to_owned)
}

fn text_of(field: &str, value: Option<Value>) -> Result<Option<String>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{field}: must be a text")),
    }
}

/// The names of tools as parts of ids. A character that no id can have becomes `_`. If two names then are the same, each
/// of them that was changed gets a hash of the name.
struct IdParts {
    /// How many different names become each part.
    counts: HashMap<String, usize>,
}

impl IdParts {
    fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut counts = HashMap::new();
        for name in names.collect::<HashSet<_>>() {
            *counts.entry(plain_part(name)).or_default() += 1;
        }
        Self { counts }
    }

    fn part(&self, name: &str) -> String {
        let part = plain_part(name);
        if part == name || self.counts.get(&part).is_none_or(|it| *it == 1) {
            return part;
        }
        let hash = &hex::encode(&Sha256::digest(name))[..HASH_DIGITS];
        let kept = part.chars().take(MAX_ID_PART - HASH_DIGITS - 1).collect::<String>();
        format!("{kept}_{hash}")
    }
}

fn plain_part(name: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || "_.-".contains(it) { it } else { '_' };
    name.chars().map(plain).take(MAX_ID_PART).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::federation::server::{OwnSettings, ServerSettings, Transport};
    use crate::ids::UpstreamId;
    use crate::registry::Risk;
    use crate::time::Timestamp;
    use crate::upstreams::Upstream;
    use serde_json::json;

    fn offers(tools: Value) -> Offers {
        let settings = ServerSettings {
            transport: Transport::StreamableHttp,
            url: Some("https://a.example/mcp".into()),
            headers: std::collections::BTreeMap::new(),
            enabled: true,
            auto_accept: false,
            toolset_id: None,
            paused: false,
            own: OwnSettings {
                requires_approval: true,
                risk_level: Risk::Medium,
                process: None,
                files: None,
                by_admin: std::collections::BTreeSet::new(),
            },
        };
        let id = UpstreamId::parse("time:").unwrap();
        read(&Upstream::new(id, settings, Timestamp::from_millis(0).unwrap()), &tools.to_string())
    }

    fn schema() -> Value {
        json!({"type": "object"})
    }

    #[test]
    fn a_listed_tool_is_offered_with_the_policy_of_its_server() {
        let offers = offers(json!([
            {"name": "get_time", "title": "Get the time", "description": "Tells the time", "inputSchema": schema(),
             "outputSchema": {"type": "object", "required": ["now"]}, "annotations": {"readOnlyHint": true}, "icons": 7},
            {"name": "plain", "inputSchema": schema(), "annotations": {"title": "Of the annotations"}},
        ]));
        let (id, tool) = &offers.tools[0];
        assert_eq!((id.as_str(), tool.name.as_str()), ("time:get_time", "Get the time"));
        assert_eq!((tool.risk_level, tool.requires_approval, tool.required_permission), (Risk::Medium, true, LEVEL));
        assert_eq!(tool.returns_schema.as_deref(), Some(r#"{"type":"object","required":["now"]}"#));
        assert_eq!(
            json!(tool.handler),
            json!({"type": "mcp", "server": "time", "tool": "get_time", "annotations": {"readOnlyHint": true}})
        );
        assert_eq!(offers.tools[1].1.name, "Of the annotations");
        assert!(offers.warnings.is_empty());
    }

    #[test]
    fn names_become_parts_of_ids() {
        let named = |names: &[&str]| {
            let tools = names.iter().map(|it| json!({"name": it, "inputSchema": schema()})).collect::<Vec<_>>();
            offers(json!(tools)).tools.into_iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(named(&["Get-Time", "a.b", "a/b c"]), ["time:Get-Time", "time:a.b", "time:a_b_c"]);
        let two = named(&["a b", "a/b"]);
        assert!(
            two.iter().all(|it| it.starts_with("time:a_b_") && it.len() == "time:a_b_".len() + 8) && two[0] != two[1]
        );
        let kept = named(&["a_b", "a b"]);
        assert!(kept[0] == "time:a_b" && kept[1].len() == "time:a_b_".len() + 8, "{kept:?}");
        assert_eq!(named(&[&"x".repeat(300)])[0].len(), "time:".len() + 128);
    }

    #[test]
    fn one_bad_tool_spoils_no_other() {
        let good = json!({"name": "good", "inputSchema": schema()});
        for (bad, reason) in [
            (json!(7), "must be an object with a text `name`"),
            (json!({"inputSchema": schema()}), "must be an object with a text `name`"),
            (json!({"name": ""}), "must have a name of 1 to"),
            (json!({"name": "a\u{202e}b"}), "must have a name of 1 to"),
            (json!({"name": "x".repeat(1_001)}), "must have a name of 1 to"),
            (json!({"name": "good", "inputSchema": schema()}), "has the name of a tool before it"),
            (json!({"name": "x"}), "inputSchema: is missing"),
            (json!({"name": "x", "inputSchema": true}), "inputSchema: must be an object"),
            (json!({"name": "x", "inputSchema": [1]}), "inputSchema: must be an object"),
            (json!({"name": "x", "inputSchema": {"type": "string"}}), "inputSchema: must have the type object"),
            (json!({"name": "x", "description": 1, "inputSchema": schema()}), "description: must be a text"),
            (
                json!({"name": "x", "description": "a\u{7}", "inputSchema": schema()}),
                "title and description: must hold",
            ),
            (json!({"name": "x", "annotations": [], "inputSchema": schema()}), "annotations: must be an object"),
        ] {
            let offers = offers(json!([good, bad]));
            assert_eq!(offers.tools.len(), 1, "{bad}");
            assert!(offers.warnings[0].message.starts_with(reason), "{bad}: {}", offers.warnings[0].message);
        }
        assert_eq!(offers(json!([{"name": "x"}])).left_out[0].as_str(), "time:x");
    }
}
