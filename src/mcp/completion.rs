//! `completion/complete`: the values that a variable of a resource template may have, given the variables before it.
//! The server has no prompts, so a prompt's argument has no completions.

use super::context::McpContext;
use super::reply::McpFailure;
use super::{tools, uri};
use crate::formats::names;
use crate::json_object::JsonObject;
use crate::json_rpc::{RpcError, RpcParams};
use crate::page::PageRequest;
use crate::registry::{References, Tool, ToolFilter};
use crate::search_text::FullTextQuery;
use serde_json::{Map, Value, json};

/// The most values that MCP allows in a result.
const MAX_VALUES: usize = 100;

/// How many schemas are searched for values. A schema may refer to itself, and more than once.
const MAX_SCHEMAS: usize = 1_000;

pub async fn complete(context: &McpContext<'_>, params: &RpcParams) -> Result<JsonObject, McpFailure> {
    let request = CompletionRequest::read(params)?;
    let mut is_part = false;
    let values = match (request.template, request.variable) {
        (Some(uri::TOOL_TEMPLATE | uri::PARAMETER_TEMPLATE), "tool") => {
            let (names, more) = tool_names(context, request.typed).await?;
            is_part = more;
            names
        }
        (Some(uri::PARAMETER_TEMPLATE), "parameter") => {
            let tool = request.tool(context).await?;
            tool.map_or_else(Vec::new, |it| properties(&it).into_iter().map(|(name, _)| name).collect())
        }
        (Some(uri::PARAMETER_TEMPLATE), "value") => {
            let tool = request.tool(context).await?;
            tool.zip(request.argument("parameter")).map_or_else(Vec::new, |(tool, name)| values(&tool, name))
        }
        _ => {
            context.scope.caller().await?;
            Vec::new()
        }
    };
    let mut result = context.complete();
    result.put("completion", &completion(values, request.typed, is_part).to_string());
    Ok(result)
}

/// The variable to complete, and the texts known so far.
struct CompletionRequest<'a> {
    /// The URI template. None for a prompt.
    template: Option<&'a str>,
    variable: &'a str,
    /// The text that the user has typed so far.
    typed: &'a str,
    /// The variables that have a value already.
    settled: Option<&'a Map<String, Value>>,
}

impl<'a> CompletionRequest<'a> {
    fn read(params: &'a RpcParams) -> Result<Self, RpcError> {
        let text = |object: &'a str, field: &str| {
            let found = params.0.get(object).and_then(|it| it.get(field)).and_then(Value::as_str);
            found.ok_or_else(|| RpcError::invalid_params(&format!("params.{object}.{field} must be a text")))
        };
        let template = match text("ref", "type")? {
            "ref/resource" => Some(text("ref", "uri")?),
            "ref/prompt" => text("ref", "name").map(|_| None)?,
            _ => return Err(RpcError::invalid_params("params.ref.type must be ref/resource or ref/prompt")),
        };
        let settled = params.0.get("context").and_then(|it| it.get("arguments")).and_then(Value::as_object);
        Ok(Self { template, variable: text("argument", "name")?, typed: text("argument", "value")?, settled })
    }

    fn argument(&self, name: &str) -> Option<&'a str> {
        self.settled?.get(name)?.as_str()
    }

    async fn tool(&self, context: &McpContext<'_>) -> Result<Option<Tool>, McpFailure> {
        match self.argument("tool") {
            None => context.scope.caller().await.map(|_| None).map_err(McpFailure::from),
            Some(name) => context.tool(name).await,
        }
    }
}

/// Names of tools, and whether there may be more. The names include all that begin with the typed text, as far as the
/// page goes.
async fn tool_names(context: &McpContext<'_>, typed: &str) -> Result<(Vec<String>, bool), McpFailure> {
    // The hash comes after this mark. The search index does not hold the hash.
    let words = typed.rsplit_once("_H").map_or(typed, |(words, _)| words);
    let text = Some(words).filter(|it| !it.is_empty()).and_then(|it| FullTextQuery::parse(&format!("{it}*"), 1).ok());
    let filter = ToolFilter { text, ..ToolFilter::default() };
    let (page, _) = tools::page(context, &filter, &PageRequest::new(Some(tools::PAGE), None)?).await?;
    Ok((page.items.iter().map(|it| names::exported(&it.id)).collect(), page.next_cursor.is_some()))
}

/// MCP's completion: the values that begin with the typed text, as many as a result may hold. `is_part` says that there
/// are more values than these, so that their total is unknown.
fn completion(mut values: Vec<String>, typed: &str, is_part: bool) -> Value {
    values.retain(|it| it.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed)));
    let total = values.len();
    values.truncate(MAX_VALUES);
    let mut found = json!({"values": values, "hasMore": is_part || total > MAX_VALUES});
    if !is_part {
        found["total"] = total.into();
    }
    found
}

/// The schemas of a tool's parameters, by their names.
fn properties(tool: &Tool) -> Map<String, Value> {
    match schema(tool).get_mut("properties").map(Value::take) {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    }
}

fn schema(tool: &Tool) -> Value {
    serde_json::from_str(&tool.parameters_schema).unwrap_or_default()
}

/// The schema of one parameter.
pub fn parameter(tool: &Tool, name: &str) -> Option<Value> {
    properties(tool).remove(name)
}

/// The values that the schema of a parameter lists. A text is shown as it is, and any other value as JSON.
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
    let referred = schema.as_object().and_then(|it| references.follow(it, "$ref"));
    let several = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|it| schema.get(it)?.as_array()).flatten();
    for inner in referred.into_iter().chain(several).chain(schema.get("items")) {
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
        // A schema that refers to itself comes to an end.
        check(json!({"anyOf": [{"const": "x"}, {"$ref": "#/$defs/loop"}]}), &["x"]);
    }

    #[test]
    fn what_was_typed_is_what_it_begins_with() {
        let many = (0..150).map(|it| format!("v{it:03}")).collect::<Vec<_>>();
        let answer = completion(many.clone(), "V", false);
        assert_eq!((&answer["total"], &answer["hasMore"]), (&json!(150), &json!(true)));
        assert_eq!(answer["values"].as_array().unwrap().len(), 100);
        assert_eq!(completion(many.clone(), "v14", false)["total"], 10);
        // Values that were not read may begin with the text too.
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
