//! `completion/complete`: what a variable of a template may be, given those before it. There are no prompts, so that theirs
//! are never completed.

use super::rpc::{JsonObject, RpcError, RpcParams};
use super::{McpContext, McpFailure, tool_of, tools, uri};
use crate::formats::names;
use crate::page::PageRequest;
use crate::registry::{References, Tool, ToolFilter};
use crate::search_text::Query;
use serde_json::{Map, Value, json};

/// The most that an answer may hold.
const MAX_VALUES: usize = 100;

/// In how many schemas values are looked for: one may refer to itself, and more than once.
const MAX_SCHEMAS: usize = 1_000;

pub async fn complete(context: &McpContext<'_>, params: &RpcParams) -> Result<JsonObject, McpFailure> {
    let asked = CompletionRequest::read(params)?;
    let mut is_part = false;
    let values = match (asked.template, asked.variable) {
        (Some(uri::TOOL_TEMPLATE | uri::PARAMETER_TEMPLATE), "tool") => {
            let (names, more) = tool_names(context, asked.begun).await?;
            is_part = more;
            names
        }
        (Some(uri::PARAMETER_TEMPLATE), "parameter") => {
            let tool = asked.tool(context).await?;
            tool.map_or_else(Vec::new, |it| properties(&it).into_iter().map(|(name, _)| name).collect())
        }
        (Some(uri::PARAMETER_TEMPLATE), "value") => {
            let tool = asked.tool(context).await?;
            tool.zip(asked.argument("parameter")).map_or_else(Vec::new, |(tool, name)| values(&tool, name))
        }
        _ => {
            context.scope.caller().await?;
            Vec::new()
        }
    };
    let mut result = context.complete();
    result.put("completion", &completion(values, asked.begun, is_part).to_string());
    Ok(result)
}

/// What is asked.
struct CompletionRequest<'a> {
    /// None for a prompt.
    template: Option<&'a str>,
    variable: &'a str,
    begun: &'a str,
    /// The variables that are settled.
    settled: Option<&'a Map<String, Value>>,
}

impl<'a> CompletionRequest<'a> {
    fn read(params: &'a RpcParams) -> Result<Self, RpcError> {
        let text = |object: &'a str, field: &str| {
            let found = params.0.get(object).and_then(|it| it.get(field)).and_then(Value::as_str);
            found.ok_or_else(|| RpcError::params(&format!("params.{object}.{field} must be a text")))
        };
        let template = match text("ref", "type")? {
            "ref/resource" => Some(text("ref", "uri")?),
            "ref/prompt" => text("ref", "name").map(|_| None)?,
            _ => return Err(RpcError::params("params.ref.type must be ref/resource or ref/prompt")),
        };
        let settled = params.0.get("context").and_then(|it| it.get("arguments")).and_then(Value::as_object);
        Ok(Self { template, variable: text("argument", "name")?, begun: text("argument", "value")?, settled })
    }

    fn argument(&self, name: &str) -> Option<&'a str> {
        self.settled?.get(name)?.as_str()
    }

    async fn tool(&self, context: &McpContext<'_>) -> Result<Option<Tool>, McpFailure> {
        match self.argument("tool") {
            None => context.scope.caller().await.map(|_| None).map_err(McpFailure::from),
            Some(name) => tool_of(context, name).await,
        }
    }
}

/// The names of tools, those that begin so among them, and whether there may be others.
async fn tool_names(context: &McpContext<'_>, begun: &str) -> Result<(Vec<String>, bool), McpFailure> {
    // What follows is a hash, of which the index knows nothing.
    let words = begun.rsplit_once("_H").map_or(begun, |(words, _)| words);
    let text = Some(words).filter(|it| !it.is_empty()).and_then(|it| Query::parse(&format!("{it}*"), 1).ok());
    let filter = ToolFilter { text, ..ToolFilter::default() };
    let (page, _) = tools::page(context, &filter, &PageRequest::new(Some(tools::PAGE), None)?).await?;
    Ok((page.items.iter().map(|it| names::exported(&it.id)).collect(), page.next_cursor.is_some()))
}

/// What begins with what has been typed; how many, unless these were not all; and as many as an answer may hold.
fn completion(mut values: Vec<String>, begun: &str, is_part: bool) -> Value {
    // Upper case and lower are one, as far as that is ASCII.
    values.retain(|it| it.get(..begun.len()).is_some_and(|start| start.eq_ignore_ascii_case(begun)));
    let total = values.len();
    values.truncate(MAX_VALUES);
    let mut found = json!({"values": values, "hasMore": is_part || total > MAX_VALUES});
    if !is_part {
        found["total"] = total.into();
    }
    found
}

/// The parameters of a tool, with their schemas.
fn properties(tool: &Tool) -> Map<String, Value> {
    match schema(tool).get_mut("properties").map(Value::take) {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    }
}

fn schema(tool: &Tool) -> Value {
    serde_json::from_str(&tool.parameters_schema).unwrap_or_default()
}

/// The schema of one of them.
pub fn parameter(tool: &Tool, name: &str) -> Option<Value> {
    properties(tool).remove(name)
}

/// What the schema of a parameter enumerates; texts as they are, and anything else as JSON.
fn values(tool: &Tool, parameter: &str) -> Vec<String> {
    let root = schema(tool);
    let mut values = Vec::new();
    if let Some(schema) = root.get("properties").and_then(|it| it.get(parameter)) {
        collect(&References::of(&root), schema, &mut { MAX_SCHEMAS }, &mut values);
    }
    values
}

fn collect(references: &References, schema: &Value, left: &mut usize, into: &mut Vec<String>) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let boolean = [Value::Bool(false), Value::Bool(true)];
    let listed = schema.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let booleans = schema.get("type").filter(|it| *it == "boolean").map_or(&[][..], |_| &boolean);
    for value in listed.iter().chain(schema.get("const")).chain(booleans) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if !into.contains(&text) {
            into.push(text);
        }
    }
    // Elsewhere; of several; or of those of a list.
    let elsewhere = schema.as_object().and_then(|it| references.follow(it, "$ref"));
    let several = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|it| schema.get(it)?.as_array()).flatten();
    for inner in elsewhere.into_iter().chain(several).chain(schema.get("items")) {
        collect(references, inner, left, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;

    #[test]
    fn values_come_from_wherever_a_schema_lists_them() {
        let mut tool = fixture("x");
        let mut check = |schema: Value, expected: &[&str]| {
            tool.parameters_schema = json!({"properties": {"p": schema}, "$defs": {
                "color": {"enum": ["red", "blue"]}, "colors": {"items": {"$ref": "#/$defs/color"}},
                "loop": {"anyOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/loop"}, {"const": "x"}]},
            }})
            .to_string();
            assert_eq!(values(&tool, "p"), expected, "{}", tool.parameters_schema);
        };
        check(json!({"enum": ["rank", "date", 3, null]}), &["rank", "date", "3", "null"]);
        check(json!({"const": "only"}), &["only"]);
        check(json!({"type": "boolean"}), &["false", "true"]);
        check(json!({"anyOf": [{"enum": ["a"]}, {"const": "b"}, {"type": "string"}]}), &["a", "b"]);
        check(json!({"type": "array", "items": {"enum": ["x", "y"]}}), &["x", "y"]);
        check(json!({"type": "string"}), &[]);
        check(json!(true), &[]);
        check(json!({"$ref": "#/$defs/color"}), &["red", "blue"]);
        check(json!({"$ref": "#/$defs/colors"}), &["red", "blue"]);
        check(json!({"anyOf": [{"$ref": "#/$defs/color"}, {"type": "null"}]}), &["red", "blue"]);
        check(json!({"$ref": "#/$defs/none"}), &[]);
        // It ends, whatever it has seen by then.
        check(json!({"anyOf": [{"const": "x"}, {"$ref": "#/$defs/loop"}]}), &["x"]);
    }

    #[test]
    fn what_was_typed_is_what_it_begins_with() {
        let many = (0..150).map(|it| format!("v{it:03}")).collect::<Vec<_>>();
        let answer = completion(many.clone(), "V", false);
        assert_eq!((&answer["total"], &answer["hasMore"]), (&json!(150), &json!(true)));
        assert_eq!(answer["values"].as_array().unwrap().len(), 100);
        assert_eq!(completion(many.clone(), "v14", false)["total"], 10);
        // What was not looked at may begin so too.
        assert_eq!(completion(many, "v149", true), json!({"values": ["v149"], "hasMore": true}));
        assert_eq!(completion(vec![], "x", false), json!({"values": [], "total": 0, "hasMore": false}));
    }

    #[test]
    fn parameters_are_the_properties_of_the_schema() {
        let mut tool = fixture("x");
        tool.parameters_schema = r#"{"properties": {"order": {"enum": ["rank"]}}}"#.into();
        assert_eq!(parameter(&tool, "order"), Some(json!({"enum": ["rank"]})));
        assert_eq!(parameter(&tool, "other"), None);
        tool.parameters_schema = "true".into();
        assert_eq!(parameter(&tool, "order"), None);
    }
}
