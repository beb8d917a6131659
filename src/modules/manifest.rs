//! Reads the manifest of a module. One tool that cannot be read is left out, and the others come in. Pure.

use super::parameters;
use crate::callers::Level;
use crate::error::shortened;
use crate::ids::ToolId;
use crate::json_size::{MAX_VALUES, values};
use crate::registry::{Example, Handler, Risk, SideEffect};
use crate::text_enum::TextEnum;
use crate::upstreams::{OfferedTool, Offers, UpstreamWarning, has_hidden};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashSet;

/// The most tools of one manifest.
const MAX_TOOLS: usize = 1_000;

#[derive(Deserialize)]
struct Manifest<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

/// A tool of the manifest. Fields that are unknown here are ignored, so that a module may say more to others.
#[derive(Deserialize)]
struct ManifestTool<'a> {
    name: Option<Value>,
    description: Option<Value>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    returns_schema: Option<&'a RawValue>,
    required_permission: Option<Value>,
    risk_level: Option<Value>,
    requires_approval: Option<Value>,
    timeout_seconds: Option<Value>,
    side_effects: Option<Value>,
    examples: Option<Value>,
}

/// Reads a manifest. Fails with the reason, if the text is no manifest at all.
pub fn read(module: &str, text: &str) -> Result<Offers, String> {
    if values(text.as_bytes()) > MAX_VALUES {
        return Err(format!("The manifest has more than {MAX_VALUES} values"));
    }
    // Otherwise serde would read an array as the fields of the object, in their order.
    if !is_object(text) {
        return Err("The manifest is not a JSON object with a list `tools`".to_owned());
    }
    let manifest = serde_json::from_str::<Manifest<'_>>(text).map_err(|cause| {
        format!("The manifest is not a JSON object with a list `tools`: {}", shortened(&cause.to_string()))
    })?;
    if manifest.tools.len() > MAX_TOOLS {
        return Err(format!("The manifest has {} tools; {MAX_TOOLS} are allowed", manifest.tools.len()));
    }
    let mut offers = Offers::default();
    let mut seen = HashSet::new();
    for (index, text) in manifest.tools.iter().enumerate() {
        let named = Named::of(module, index, text);
        let read = named.id.as_ref().map_err(Clone::clone).and_then(|id| {
            if !seen.insert(id.clone()) {
                return Err("has the name of a tool before it".to_owned());
            }
            read_tool(module, text).map(|tool| (id.clone(), tool))
        });
        match read {
            Ok(tool) => offers.tools.push(tool),
            Err(reason) => {
                offers.left_out.extend(named.id.ok());
                offers.warnings.push(UpstreamWarning { tool: Some(named.shown), message: reason });
            }
        }
    }
    Ok(offers)
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{')
}

/// The name of a tool, as far as it can be read.
struct Named {
    /// The name for warnings.
    shown: String,
    id: Result<ToolId, String>,
}

impl Named {
    fn of(module: &str, index: usize, text: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct NameOnly {
            name: Value,
        }
        match serde_json::from_str::<NameOnly>(text.get()).map(|it| it.name) {
            Ok(Value::String(name)) if is_object(text.get()) => {
                Self { id: tool_id(module, &name), shown: shortened(&name) }
            }
            _ => Self { shown: format!("tools/{index}"), id: Err("must be an object with a text `name`".to_owned()) },
        }
    }
}

/// The id of a tool. A name without a dot gets the module's prefix, and a name with a dot must begin with it.
fn tool_id(module: &str, name: &str) -> Result<ToolId, String> {
    let own = match name.split_once('.') {
        None => name,
        Some((prefix, own)) if prefix == module => own,
        Some((prefix, _)) => return Err(format!("belongs to the module {}", shortened(prefix))),
    };
    let fits = !own.is_empty() && own.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.".contains(&it));
    let id = ToolId::parse(&format!("{module}.{own}")).filter(|_| fits);
    id.ok_or_else(|| "must have a name of letters, digits, _, - and dots, 256 with the module's at the most".to_owned())
}

fn read_tool(module: &str, text: &RawValue) -> Result<OfferedTool, String> {
    let given = serde_json::from_str::<ManifestTool<'_>>(text.get()).map_err(|cause| shortened(&cause.to_string()))?;
    let full_name = text_of("name", given.name)?;
    let name = full_name.split_once('.').map_or(full_name.as_str(), |(_, own)| own);
    let description = given.description.map_or_else(|| Ok(String::new()), |it| text_of("description", Some(it)))?;
    if has_hidden(&description) {
        return Err("description: must hold no control, bidirectional or tag characters".to_owned());
    }
    let requires_approval = match given.requires_approval {
        None | Some(Value::Null) => false,
        Some(Value::Bool(it)) => it,
        Some(_) => return Err("requires_approval: must be true or false".to_owned()),
    };
    let timeout_seconds = match given.timeout_seconds {
        None | Some(Value::Null) => None,
        Some(it) => {
            let seconds = it.as_u64().and_then(|it| u32::try_from(it).ok()).filter(|it| (1..=3_600).contains(it));
            Some(seconds.ok_or("timeout_seconds: must be a whole number from 1 to 3600")?)
        }
    };
    Ok(OfferedTool {
        name: name.to_owned(),
        description,
        parameters_schema: parameters::schema_of(given.parameters).map_err(|it| format!("parameters{it}"))?,
        returns_schema: given.returns_schema.filter(|it| it.get() != "null").map(|it| it.get().to_owned()),
        handler: Handler::Module { module: module.to_string() },
        risk_level: word("risk_level", given.risk_level)?.unwrap_or(Risk::Low),
        required_permission: word("required_permission", given.required_permission)?.unwrap_or(Level::Guest),
        requires_approval,
        timeout_seconds,
        side_effects: list::<SideEffect>("side_effects", given.side_effects)?,
        examples: list::<Example>("examples", given.examples)?,
    })
}

fn text_of(field: &str, value: Option<Value>) -> Result<String, String> {
    match value {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("{field}: must be a text")),
    }
}

/// One of the words of an enum. None, if the field is not given.
fn word<T: TextEnum>(field: &str, value: Option<Value>) -> Result<Option<T>, String> {
    let text = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text,
        Some(_) => return Err(format!("{field}: must be a text")),
    };
    let words = || T::ALL.iter().map(|it| it.word()).collect::<Vec<_>>().join(", ");
    T::parse(&text).map(Some).ok_or_else(|| format!("{field}: {} is none of {}", shortened(&text), words()))
}

fn list<T: DeserializeOwned>(field: &str, value: Option<Value>) -> Result<Vec<T>, String> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(it) => serde_json::from_value(it).map_err(|cause| format!("{field}: {}", shortened(&cause.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn offers(tools: Value) -> Offers {
        read("research", &json!({"name": "research", "tools": tools}).to_string()).unwrap()
    }

    fn refused(text: &str) -> String {
        read("research", text).unwrap_err()
    }

    #[test]
    fn a_manifest_of_the_document_is_read() {
        let offers = offers(json!([
            {"name": "research.web_search", "description": "Search the web and return results",
             "parameters": [
                {"name": "query", "type": "string", "description": "Search query", "required": true},
                {"name": "max_results", "type": "integer", "description": "Max results", "required": false}],
             "required_permission": "user"},
            {"name": "fetch.page", "description": ""},
            {"name": "fetch", "parameters": {"type": "object"}, "risk_level": "high", "timeout_seconds": 7},
        ]));
        let ids = offers.tools.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>();
        assert_eq!(ids, ["research.web_search", "research.fetch"]);
        let (_, search) = &offers.tools[0];
        assert_eq!((search.name.as_str(), search.required_permission), ("web_search", Level::User));
        assert_eq!(
            search.parameters_schema,
            r#"{"type":"object","properties":{"query":{"type":"string","description":"Search query"},"max_results":{"type":"integer","description":"Max results"}},"required":["query"]}"#
        );
        let (_, fetch) = &offers.tools[1];
        assert_eq!((fetch.risk_level, fetch.timeout_seconds, fetch.description.as_str()), (Risk::High, Some(7), ""));
        let warning = &offers.warnings[0];
        assert_eq!(
            (warning.tool.as_deref(), warning.message.as_str()),
            (Some("fetch.page"), "belongs to the module fetch")
        );
    }

    #[test]
    fn one_bad_tool_spoils_no_other() {
        let good = json!({"name": "good", "description": "It works"});
        for (bad, reason) in [
            (json!(7), "must be an object with a text `name`"),
            (json!(["x"]), "must be an object with a text `name`"),
            (json!({"description": "x"}), "must be an object with a text `name`"),
            (json!({"name": "a b"}), "must have a name of letters"),
            (json!({"name": "research."}), "must have a name of letters"),
            (json!({"name": "good"}), "has the name of a tool before it"),
            (json!({"name": "x", "description": 1}), "description: must be a text"),
            (json!({"name": "x", "description": "a\u{202e}b"}), "description: must hold no control"),
            (json!({"name": "x", "risk_level": "huge"}), "risk_level: huge is none of safe, low"),
            (json!({"name": "x", "required_permission": "root"}), "required_permission: root is none of guest"),
            (json!({"name": "x", "requires_approval": "yes"}), "requires_approval: must be true or false"),
            (json!({"name": "x", "timeout_seconds": 0}), "timeout_seconds: must be a whole number"),
            (json!({"name": "x", "side_effects": [{}]}), "side_effects: missing field"),
            (
                json!({"name": "x", "parameters": [{"name": "a", "type": "strin"}]}),
                "parameters/0/type: strin is none of",
            ),
        ] {
            let offers = offers(json!([good, bad]));
            assert_eq!(offers.tools.len(), 1, "{bad}");
            assert!(offers.warnings[0].message.starts_with(reason), "{bad}: {}", offers.warnings[0].message);
        }
    }

    #[test]
    fn a_tool_that_is_left_out_is_not_gone() {
        let offers = offers(json!([{"name": "x", "risk_level": "huge"}, {"name": "other.y"}]));
        assert_eq!(offers.left_out.iter().map(ToolId::as_str).collect::<Vec<_>>(), ["research.x"]);
    }

    #[test]
    fn what_is_no_manifest_is_refused_as_a_whole() {
        for text in ["", "7", "[]", "[[]]", "{}", r#"{"tools": {}}"#, "<html>"] {
            assert!(refused(text).starts_with("The manifest is not a JSON object with a list `tools`"), "{text}");
        }
        let many = json!({"tools": vec![json!({"name": "x"}); 10_000]}).to_string();
        assert_eq!(refused(&many), "The manifest has 10000 tools; 1000 are allowed");
        let deep = "[".repeat(1_000) + &"]".repeat(1_000);
        assert!(refused(&deep).starts_with("The manifest is not a JSON object"));
        let deep = format!(r#"{{"tools": [{{"name": "x", "parameters": {deep}}}, {{"name": "y"}}]}}"#);
        let offers = read("research", &deep).unwrap();
        assert_eq!((offers.tools.len(), offers.warnings.len()), (1, 1));
    }
}
