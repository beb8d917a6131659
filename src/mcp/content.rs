//! What a call came to, as the blocks that MCP's results are made of.

use super::rpc::Object;
use crate::execution::{CallFailure, ToolResult};
use crate::formats;
use data_encoding::BASE64;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The result of a call, before the revision and the house put their marks on it.
#[derive(Debug, Default, PartialEq)]
pub struct Content {
    /// A JSON array of blocks.
    blocks: String,
    structured: Option<String>,
    is_error: bool,
    pub meta: Map<String, Value>,
}

impl Content {
    /// A text that tells the model what stands in the way.
    pub fn error(text: &str) -> Self {
        Self { blocks: texts(text), is_error: true, ..Self::default() }
    }

    /// A result that we made ourselves, told as text too for those who read nothing else.
    pub fn structured(json: String) -> Self {
        Self { blocks: texts(&json), structured: Some(json), ..Self::default() }
    }

    /// What ran, or was refused in a way that the model can do something about.
    pub fn of(result: &ToolResult) -> Self {
        let mut content = match (&result.error, &result.result) {
            (Some(failure), _) => Self::error(&told(failure)),
            (None, Some(json)) => of_json(json, is_typed(result)),
            (None, None) => of_json(RawValue::NULL, is_typed(result)),
        };
        content.meta.insert("pegboard/call_id".to_owned(), result.call_id.as_str().into());
        content
    }

    /// Writes the fields of a `CallToolResult` but for `_meta`.
    pub fn write(&self, into: &mut Object) {
        into.put("content", &self.blocks);
        if let Some(structured) = &self.structured {
            into.put("structuredContent", structured);
        }
        into.put("isError", if self.is_error { "true" } else { "false" });
    }
}

fn told(failure: &CallFailure) -> String {
    match &failure.details {
        None => format!("{}: {}", failure.code, failure.message),
        Some(details) => format!("{}: {}\n{details}", failure.code, failure.message),
    }
}

/// Whether clients were told that the tool's results are objects of a schema.
fn is_typed(result: &ToolResult) -> bool {
    result.returns.as_ref().is_some_and(|it| formats::mcp::is_promise(it.definition()))
}

fn texts(text: &str) -> String {
    format!(r#"[{{"type":"text","text":{}}}]"#, Value::from(text))
}

/// A tool that promises objects (`typed`) gives structured content, and nothing else is read into it. Of others, what is a
/// result of MCP's own is passed on as such: that is how a tool gives images.
fn of_json(json: &RawValue, typed: bool) -> Content {
    let text = json.get();
    let is_object = text.trim_start().starts_with('{');
    if typed && !is_object {
        // It was an object, for it fitted its schema: it has been cut, and says where the whole is.
        return Content { is_error: true, ..plain(text) };
    }
    if is_object
        && !typed
        && text.contains("\"content\"")
        && let Some(content) = passed_on(text)
    {
        return content;
    }
    let structured = is_object.then(|| text.to_owned());
    Content { structured, ..plain(text) }
}

/// A text as it is, and anything else as JSON.
fn plain(json: &str) -> Content {
    let text = serde_json::from_str::<String>(json);
    Content { blocks: texts(text.as_deref().unwrap_or(json)), ..Content::default() }
}

/// The blocks of an object that is a `CallToolResult`, wholly and with nothing else in it.
fn passed_on(json: &str) -> Option<Content> {
    let mut fields = serde_json::from_str::<Map<String, Value>>(json).ok()?;
    let mut blocks = fields.remove("content")?;
    if !blocks.as_array_mut()?.iter_mut().all(is_block) {
        return None;
    }
    let is_error = match fields.remove("isError") {
        None => false,
        Some(flag) => flag.as_bool()?,
    };
    let structured = match fields.remove("structuredContent") {
        None => None,
        Some(value) => value.is_object().then(|| Some(value.to_string()))?,
    };
    let meta = match fields.remove("_meta") {
        None => Map::new(),
        Some(Value::Object(mut meta)) => {
            // What the protocol itself says there is ours to say.
            meta.retain(|name, _| !name.starts_with("io.modelcontextprotocol/"));
            meta
        }
        Some(_) => return None,
    };
    fields.is_empty().then(|| Content { blocks: blocks.to_string(), structured, is_error, meta })
}

/// Whether it is a block that clients take. Fields that are null say nothing, and are taken out: clients refuse them.
fn is_block(block: &mut Value) -> bool {
    if !is_well_typed(block) || !block.get_mut("resource").is_none_or(is_well_typed) {
        return false;
    }
    let has = |name: &str| block.get(name).is_some();
    match block.get("type").and_then(Value::as_str) {
        Some("text") => has("text"),
        Some("image" | "audio") => has("data") && has("mimeType"),
        Some("resource_link") => has("uri") && has("name"),
        Some("resource") => block
            .get("resource")
            .is_some_and(|it| it.get("uri").is_some() && (it.get("text").is_some() || it.get("blob").is_some())),
        _ => false,
    }
}

fn is_well_typed(part: &mut Value) -> bool {
    let Some(fields) = part.as_object_mut() else { return false };
    fields.retain(|_, value| !value.is_null());
    fields.iter_mut().all(|(name, value)| match name.as_str() {
        "type" | "text" | "mimeType" | "uri" | "name" | "title" | "description" | "lastModified" => value.is_string(),
        "data" | "blob" => is_base64(value),
        "annotations" => is_well_typed(value),
        "resource" | "_meta" => value.is_object(),
        "size" => value.is_number(),
        "priority" => value.as_f64().is_some_and(|it| (0.0..=1.0).contains(&it)),
        "audience" => value.as_array().is_some_and(|all| all.iter().all(|it| it == "user" || it == "assistant")),
        "icons" => value.is_array(),
        _ => true,
    })
}

/// Whether it is, once it is in one line: many write it in several.
fn is_base64(value: &mut Value) -> bool {
    let Value::String(text) = value else { return false };
    text.retain(|it| !it.is_ascii_whitespace());
    BASE64.decode(text.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(json: &Value, typed: bool) -> Value {
        let raw = serde_json::value::to_raw_value(json).unwrap();
        let mut object = Object::new();
        of_json(&raw, typed).write(&mut object);
        serde_json::from_str(&object.finish()).unwrap()
    }

    #[test]
    fn results_are_texts_and_objects_are_structured_too() {
        assert_eq!(
            shown(&json!("two\nlines"), false),
            json!({"content": [{"type": "text", "text": "two\nlines"}], "isError": false})
        );
        assert_eq!(
            shown(&json!({"a": 1}), false),
            json!({"content": [{"type": "text", "text": "{\"a\":1}"}], "structuredContent": {"a": 1}, "isError": false})
        );
        for other in [json!([1]), json!(1.5), json!(null), json!(true)] {
            let result = shown(&other, false);
            assert_eq!(result["content"][0]["text"], json!(other.to_string()));
            assert!(result.get("structuredContent").is_none());
        }
    }

    #[test]
    fn what_is_a_result_already_is_passed_on() {
        let given = json!({"content": [
            {"type": "text", "text": "a"}, {"type": "image", "data": "AA==", "mimeType": "image/png"},
            {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "x://y", "text": "z"}},
            {"type": "resource", "resource": {"uri": "x://y", "blob": "AA=="}},
            {"type": "resource_link", "uri": "x://y", "name": "y"},
        ], "structuredContent": {"b": 1}, "isError": true});
        assert_eq!(shown(&given, false), given);
        assert_eq!(shown(&json!({"content": []}), false), json!({"content": [], "isError": false}));
        let nulls = json!({"content": [{"type": "text", "text": "a", "annotations": null, "_meta": null},
            {"type": "resource", "resource": {"uri": "x://y", "text": "z", "mimeType": null}}]});
        let without =
            json!([{"type": "text", "text": "a"}, {"type": "resource", "resource": {"uri": "x://y", "text": "z"}}]);
        assert_eq!(shown(&nulls, false)["content"], without);
        let lines = json!({"content": [{"type": "image", "data": "AAAA\nAAA=\n", "mimeType": "image/png",
            "annotations": {"priority": 0.5, "audience": ["user"], "lastModified": null}}]});
        let line = json!([{"type": "image", "data": "AAAAAAA=", "mimeType": "image/png",
            "annotations": {"priority": 0.5, "audience": ["user"]}}]);
        assert_eq!(shown(&lines, false)["content"], line);
    }

    #[test]
    fn what_is_nearly_one_is_an_object_like_any_other() {
        for given in [
            json!({"content": "text"}),
            json!({"content": [{"type": "text"}]}),
            json!({"content": [{"type": "image", "data": "AA=="}]}),
            json!({"content": [{"type": "image", "data": "not base64", "mimeType": "image/png"}]}),
            json!({"content": [{"type": "text", "text": "a", "annotations": "loud"}]}),
            json!({"content": [{"type": "text", "text": "a", "annotations": {"priority": 5}}]}),
            json!({"content": [{"type": "text", "text": "a", "annotations": {"audience": "user"}}]}),
            json!({"content": [{"type": "resource", "resource": {"uri": "x://y", "blob": "?"}}]}),
            json!({"content": [{"type": "resource", "resource": {"uri": "x://y", "text": null}}]}),
            json!({"content": [{"type": "video", "text": "a"}]}),
            json!({"content": [{"type": "resource", "resource": {"uri": "x://y"}}]}),
            json!({"content": [], "more": 1}),
            json!({"content": [], "isError": "no"}),
            json!({"content": [], "structuredContent": [1]}),
            json!({"content": [], "_meta": 1}),
        ] {
            assert_eq!(shown(&given, false)["structuredContent"], given, "{given}");
        }
    }

    #[test]
    fn a_promised_object_is_structured_whatever_it_looks_like() {
        let given = json!({"content": [{"type": "text", "text": "a"}]});
        assert_eq!(shown(&given, true)["structuredContent"], given);
        assert_eq!(shown(&json!("{\"a\": … [cut: 5 of 9 bytes]"), true)["isError"], true);
    }
}
