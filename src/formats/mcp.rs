//! A tool as MCP's `Tool`, in a form that clients of all revisions accept. 2025-11-25 requires an object at the top of
//! a schema; 2026-07-28 allows an object.

use super::names;
use crate::registry::{ExecutionMode, Risk, Source, Tool, is_portable, names_other_draft};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct McpTool {
    name: String,
    title: String,
    description: String,
    /// The registered text, unchanged, if clients accept it.
    input_schema: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Box<RawValue>>,
    annotations: McpAnnotations,
}

/// Hints that a client may show its user before a call. The registry decides whether the call is allowed, not these
/// hints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct McpAnnotations {
    read_only_hint: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    idempotent_hint: bool,
    open_world_hint: bool,
}

pub fn tool(tool: &Tool) -> McpTool {
    McpTool {
        name: names::exported(&tool.id),
        title: tool.shown_name().to_owned(),
        description: tool.shown_description().to_owned(),
        input_schema: input_schema(&tool.parameters_schema),
        output_schema: output_schema(tool),
        annotations: annotations(tool),
    }
}

/// The schema of the tool's results, if all clients accept it.
pub fn output_schema(tool: &Tool) -> Option<Box<RawValue>> {
    let text = tool.returns_schema.as_deref()?;
    shown(text, serde_json::from_str(text).ok().filter(is_promise)?)
}

/// Whether clients are shown this schema of results. Clients of 2025-11-25 accept only objects, and some clients cannot
/// compile every schema. The results of a tool with a shown schema must be structured content that fits the schema.
pub fn is_promise(returns: &Value) -> bool {
    is_object(returns) && is_portable(returns)
}

/// The schema of arguments. MCP requires `"type": "object"` at its top, which is added if it is missing.
fn input_schema(text: &str) -> Box<RawValue> {
    let schema = match serde_json::from_str::<Value>(text) {
        Ok(schema) if is_object(&schema) => shown(text, schema),
        Ok(Value::Object(mut schema)) => {
            schema.insert("type".to_owned(), "object".into());
            shown("", Value::Object(schema))
        }
        _ => None,
    };
    schema.unwrap_or_else(|| RawValue::from_string(r#"{"type":"object"}"#.to_owned()).unwrap_or_default())
}

/// The schema as text: `text` itself, if it is not empty and clients accept it unchanged. Clients of 2025-11-25 require
/// an object as the schema of each property at the top, so `true` and `false` are replaced.
fn shown(text: &str, mut schema: Value) -> Option<Box<RawValue>> {
    let mut verbatim = !text.is_empty();
    // Every schema is read as one of 2020-12, whatever draft its server names, and 2020-12 is MCP's default.
    if let (true, Some(fields)) = (names_other_draft(&schema), schema.as_object_mut()) {
        fields.shift_remove("$schema");
        verbatim = false;
    }
    for property in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        if let Value::Bool(any) = property {
            *property = if *any { json!({}) } else { json!({"not": {}}) };
            verbatim = false;
        }
    }
    RawValue::from_string(if verbatim { text.to_owned() } else { schema.to_string() }).ok()
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// The hints follow from the tool's risk and side effects. A safe tool without side effects is read-only and
/// idempotent. A tool of high risk, or with an irreversible side effect, is destructive. A read-only tool, or a tool
/// whose side effects are all reversible, is not destructive. For other tools this is unknown.
pub fn annotations(tool: &Tool) -> McpAnnotations {
    let read_only = tool.risk_level == Risk::Safe && tool.side_effects.is_empty();
    let destructive = tool.risk_level >= Risk::High || tool.side_effects.iter().any(|it| !it.reversible);
    let is_known = destructive || read_only || !tool.side_effects.is_empty();
    let from_elsewhere = match tool.source {
        Source::Builtin | Source::Registered => matches!(tool.handler_key.as_str(), "http" | "rest"),
        Source::Module | Source::Toolset | Source::Mcp => true,
    };
    let own = McpAnnotations {
        read_only_hint: read_only,
        destructive_hint: is_known.then_some(destructive),
        idempotent_hint: read_only,
        open_world_hint: from_elsewhere || tool.execution_mode != ExecutionMode::Local,
    };
    if tool.source == Source::Mcp { own.with_those_of_server(tool) } else { own }
}

impl McpAnnotations {
    /// The hints of the server that the tool comes from, as an admin has accepted them. A tool of high risk is not shown
    /// as harmless, whatever its server says.
    fn with_those_of_server(self, tool: &Tool) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Hints {
            read_only_hint: Option<Value>,
            destructive_hint: Option<Value>,
            idempotent_hint: Option<Value>,
            open_world_hint: Option<Value>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Annotated {
            annotations: Hints,
        }
        let hint = |it: Option<Value>| it.and_then(|it| it.as_bool());
        let Hints { read_only_hint, destructive_hint, idempotent_hint, open_world_hint } =
            serde_json::from_str::<Annotated>(tool.handler.get()).unwrap_or_default().annotations;
        let may_be_harmless = tool.risk_level < Risk::High;
        Self {
            read_only_hint: may_be_harmless && hint(read_only_hint).unwrap_or(self.read_only_hint),
            destructive_hint: hint(destructive_hint).filter(|it| *it || may_be_harmless).or(self.destructive_hint),
            idempotent_hint: hint(idempotent_hint).unwrap_or(self.idempotent_hint),
            open_world_hint: hint(open_world_hint).unwrap_or(self.open_world_hint),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_hints_of_a_server_are_shown_but_make_no_dangerous_tool_harmless() {
        let hints = |risk_level: Risk, annotations: &str| {
            let handler = format!(r#"{{"type":"mcp","server":"s","tool":"t","annotations":{annotations}}}"#);
            let handler = RawValue::from_string(handler).unwrap();
            let tool = Tool { source: Source::Mcp, risk_level, handler, ..crate::registry::fixture("s:t") };
            json!(super::annotations(&tool))
        };
        let harmless = r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#;
        assert_eq!(hints(Risk::Medium, harmless), serde_json::from_str::<Value>(harmless).unwrap());
        let high = hints(Risk::High, harmless);
        assert_eq!((&high["readOnlyHint"], &high["destructiveHint"]), (&json!(false), &json!(true)));
        assert_eq!(hints(Risk::Low, r#"{"destructiveHint":true,"readOnlyHint":7}"#)["destructiveHint"], true);
    }

    use super::*;
    use crate::registry::{SideEffect, fixture};
    use serde_json::json;

    fn shown(change: impl FnOnce(&mut Tool)) -> Value {
        let mut it = fixture("x");
        change(&mut it);
        serde_json::to_value(tool(&it)).unwrap()
    }

    #[test]
    fn schemas_stand_as_they_were_registered() {
        let text = r#"{ "$schema": "https://json-schema.org/draft/2020-12/schema",  "type": "object", "$defs": {"a": {"$anchor": "b", "maximum": 1.0e2}} }"#;
        let mut it = fixture("x");
        it.parameters_schema = text.to_owned();
        it.returns_schema = Some(text.to_owned());
        let json = serde_json::to_string(&tool(&it)).unwrap();
        assert!(json.contains(&format!(r#""inputSchema":{text},"outputSchema":{text},"#)), "{json}");
    }

    #[test]
    fn what_mcp_demands_is_added() {
        let input = |schema: &str| shown(|it| it.parameters_schema = schema.to_owned())["inputSchema"].clone();
        assert_eq!(input(r#"{"required": ["a"]}"#), json!({"required": ["a"], "type": "object"}));
        assert_eq!(input(r#"{"type": ["object", "null"]}"#), json!({"type": "object"}));
        assert_eq!(input("true"), json!({"type": "object"}));
    }

    #[test]
    fn properties_that_are_no_objects_are_written_as_such() {
        let schema = r#"{"type": "object", "properties": {"a": true, "b": false, "c": {"items": true}}}"#;
        let expected = json!({"type": "object", "properties": {"a": {}, "b": {"not": {}}, "c": {"items": true}}});
        let shown = shown(|it| {
            it.parameters_schema = schema.to_owned();
            it.returns_schema = Some(schema.to_owned());
        });
        assert_eq!((&shown["inputSchema"], &shown["outputSchema"]), (&expected, &expected));
        let typeless = super::input_schema(r#"{"properties": {"a": true}}"#);
        assert_eq!(typeless.get(), r#"{"properties":{"a":{}},"type":"object"}"#);
    }

    #[test]
    fn only_objects_can_be_promised() {
        let output =
            |schema: &str| shown(|it| it.returns_schema = Some(schema.to_owned())).get("outputSchema").cloned();
        assert_eq!(output(r#"{"type": "object"}"#), Some(json!({"type": "object"})));
        for schema in [
            r#"{"type": "string"}"#,
            "{}",
            "true",
            r#"{"type": ["object", "null"]}"#,
            r#"{"type": "object", "properties": {"a": {"pattern": "(?i)a"}}}"#,
        ] {
            assert_eq!(output(schema), None, "{schema}");
        }
    }

    #[test]
    fn hints_follow_from_risk_and_effects() {
        let effect = |reversible| SideEffect {
            effect_type: "file_write".into(),
            description: "Writes".into(),
            reversible,
            scope: "/".into(),
        };
        let hints = |change: fn(&mut Tool), effects: Vec<SideEffect>| {
            let mut it = fixture("x");
            it.side_effects = effects;
            change(&mut it);
            let hints = serde_json::to_value(annotations(&it)).unwrap();
            ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(|it| hints.get(it)?.as_bool())
        };
        let (yes, no) = (Some(true), Some(false));
        let python: fn(&mut Tool) = |it| it.handler_key = "python".into();
        // Nothing says whether the tool is destructive.
        assert_eq!(hints(python, vec![]), [no, None, no, no]);
        assert_eq!(hints(|it| it.risk_level = Risk::Safe, vec![]), [yes, no, yes, yes]);
        assert_eq!(hints(|it| it.risk_level = Risk::Safe, vec![effect(true)]), [no, no, no, yes]);
        assert_eq!(hints(python, vec![effect(true), effect(false)]), [no, yes, no, no]);
        assert_eq!(hints(|it| it.risk_level = Risk::High, vec![]), [no, yes, no, yes]);
    }
}
