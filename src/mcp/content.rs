//! The result of a call as MCP's [`CallToolResult`].

use crate::execution::{CallFailure, ToolResult};
use crate::formats;
use crate::mcp_protocol::CallToolResult;
use serde_json::value::RawValue;

/// The result of a call that ran, or that was refused for a reason which the model can act on.
pub fn of(result: &ToolResult) -> CallToolResult {
    let structured = || result.result.as_ref().map(|it| it.get()).filter(|it| it.trim_start().starts_with('{'));
    let mut content = match (&result.error, &result.result) {
        // A tool of an MCP server: the blocks are passed on as they came.
        (error, _) if result.content.is_some() => CallToolResult {
            content: result.content.clone().unwrap_or_default(),
            structured_content: structured().map(str::to_owned),
            is_error: error.is_some(),
            ..CallToolResult::default()
        },
        (Some(failure), _) => CallToolResult::error(&told(failure)),
        (None, Some(json)) => of_json(json, is_typed(result)),
        (None, None) => of_json(RawValue::NULL, is_typed(result)),
    };
    content.meta.insert("pegboard/call_id".to_owned(), result.call_id.as_str().into());
    content
}

/// Whether clients were told that the tool's results are objects of a schema.
fn is_typed(result: &ToolResult) -> bool {
    result.returns.as_ref().is_some_and(|it| formats::mcp::is_promise(it.definition()))
}

/// The text of a failure, for the model.
fn told(failure: &CallFailure) -> String {
    match &failure.details {
        None => format!("{}: {}", failure.code, failure.message),
        Some(details) => format!("{}: {}\n{details}", failure.code, failure.message),
    }
}

/// A tool whose schema promises objects (`typed`) has structured content, whatever the object looks like. The result of
/// another tool may be a `CallToolResult` itself, and is passed on as such: this is how a tool gives images.
fn of_json(json: &RawValue, typed: bool) -> CallToolResult {
    let text = json.get();
    let is_object = text.trim_start().starts_with('{');
    if typed && !is_object {
        // The result was an object, because it fitted its schema. It was too long and has been cut; the text says where
        // the whole result is.
        return CallToolResult { is_error: true, ..of_text(text) };
    }
    if is_object
        && !typed
        && text.contains("\"content\"")
        && let Some(content) = CallToolResult::read(text)
    {
        return content;
    }
    CallToolResult { structured_content: is_object.then(|| text.to_owned()), ..of_text(text) }
}

/// A JSON text as its characters, and any other value as JSON.
fn of_text(json: &str) -> CallToolResult {
    let text = serde_json::from_str::<String>(json);
    CallToolResult::text(text.as_deref().unwrap_or(json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_object::JsonObject;
    use serde_json::{Value, json};

    fn shown(json: &Value, typed: bool) -> Value {
        let raw = serde_json::value::to_raw_value(json).unwrap();
        let mut object = JsonObject::new();
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
