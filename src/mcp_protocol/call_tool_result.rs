//! The result of a tool's call, and the content blocks that it is made of.

use super::fields::{META, PROTOCOL_PREFIX};
use crate::json_object::JsonObject;
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// MCP's `CallToolResult`, without the fields that depend on the era.
#[derive(Debug, Default, PartialEq)]
pub struct CallToolResult {
    /// A JSON array of content blocks.
    pub content: String,
    /// The result as a JSON object, for programs. Since 2026-07-28 a server may send any JSON value.
    pub structured_content: Option<String>,
    pub is_error: bool,
    /// The fields of `_meta` that are not the protocol's own.
    pub meta: Map<String, Value>,
}

impl CallToolResult {
    /// One block of text.
    pub fn text(text: &str) -> Self {
        let content = format!(r#"[{{"type":"text","text":{}}}]"#, Value::from(text));
        Self { content, ..Self::default() }
    }

    /// A text that tells the model why the call has no result.
    pub fn error(text: &str) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// A JSON object. It is a text as well, for clients that read only the blocks.
    pub fn structured(json: String) -> Self {
        let text = Self::text(&json);
        Self { structured_content: Some(json), ..text }
    }

    /// Reads a JSON object that is a `CallToolResult` with valid blocks, and has no other fields.
    pub fn read(json: &str) -> Option<Self> {
        let mut fields = serde_json::from_str::<Map<String, Value>>(json).ok()?;
        let mut content = fields.remove("content")?;
        if !content.as_array_mut()?.iter_mut().all(is_block) {
            return None;
        }
        let is_error = match fields.remove("isError") {
            None => false,
            Some(flag) => flag.as_bool()?,
        };
        let structured_content = match fields.remove("structuredContent") {
            None => None,
            Some(value) => value.is_object().then(|| Some(value.to_string()))?,
        };
        let meta = match fields.remove(META) {
            None => Map::new(),
            Some(Value::Object(mut meta)) => {
                meta.retain(|name, _| !name.starts_with(PROTOCOL_PREFIX));
                meta
            }
            Some(_) => return None,
        };
        fields.is_empty().then(|| Self { content: content.to_string(), structured_content, is_error, meta })
    }

    /// Reads the result that a server sent. The blocks and the structured content stay as they came. Fails with the
    /// reason, which continues a sentence that begins with the result.
    pub fn received(json: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields<'a> {
            #[serde(borrow)]
            content: Option<&'a RawValue>,
            #[serde(borrow)]
            structured_content: Option<&'a RawValue>,
            is_error: Option<bool>,
            #[serde(rename = "_meta")]
            meta: Option<Map<String, Value>>,
        }
        let fields = serde_json::from_str::<Fields<'_>>(json).map_err(|cause| format!("cannot be read: {cause}"))?;
        let content = match (fields.content, fields.structured_content) {
            (Some(content), _) => content.get(),
            (None, Some(_)) => "[]",
            (None, None) => return Err("has no content".to_owned()),
        };
        if !content.starts_with('[') {
            return Err("has content that is not a list".to_owned());
        }
        let mut meta = fields.meta.unwrap_or_default();
        meta.retain(|name, _| !name.starts_with(PROTOCOL_PREFIX));
        Ok(Self {
            content: content.to_owned(),
            structured_content: fields.structured_content.map(|it| it.get().to_owned()),
            is_error: fields.is_error.unwrap_or(false),
            meta,
        })
    }

    /// Writes the fields, except for `_meta`: its other fields depend on the era.
    pub fn write(&self, into: &mut JsonObject) {
        into.put("content", &self.content);
        if let Some(structured) = &self.structured_content {
            into.put("structuredContent", structured);
        }
        into.put("isError", if self.is_error { "true" } else { "false" });
    }
}

/// Whether clients take the block. Fields that are null are removed from it: they say nothing, and clients refuse them.
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

/// Whether the value is base64. Many encoders break lines: the line breaks are removed.
fn is_base64(value: &mut Value) -> bool {
    let Value::String(text) = value else { return false };
    text.retain(|it| !it.is_ascii_whitespace());
    BASE64.decode(text.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_read_is_written_again() {
        let given = json!({"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}],
            "structuredContent": {"b": 1}, "isError": true});
        let mut object = JsonObject::new();
        CallToolResult::read(&given.to_string()).unwrap().write(&mut object);
        assert_eq!(serde_json::from_str::<Value>(&object.finish()).unwrap(), given);
    }

    #[test]
    fn what_a_server_sent_stays_as_it_came() {
        let received = |json: &str| CallToolResult::received(json).unwrap();
        let given = r#"{"resultType": "complete", "content": [ {"type":"new", "x": 1.0} ], "structuredContent": [1, 2],
            "isError": true, "_meta": {"a": 1, "io.modelcontextprotocol/serverInfo": {}}}"#;
        let result = received(given);
        assert_eq!(result.content, r#"[ {"type":"new", "x": 1.0} ]"#);
        assert_eq!(result.structured_content.as_deref(), Some("[1, 2]"));
        assert_eq!((result.is_error, json!(result.meta)), (true, json!({"a": 1})));
        assert_eq!(received(r#"{"structuredContent": {"a": 1}}"#).content, "[]");
        assert_eq!(
            received(r#"{"content": [], "structuredContent": null}"#),
            CallToolResult { content: "[]".into(), ..CallToolResult::default() }
        );
        for json in
            ["{}", "[]", "7", r#"{"content": {}}"#, r#"{"content": "x"}"#, r#"{"content": [], "isError": "yes"}"#]
        {
            assert!(CallToolResult::received(json).is_err(), "{json}");
        }
    }

    #[test]
    fn of_meta_only_the_protocols_own_is_left_out() {
        let given = json!({"content": [], "_meta": {"a": 1, "io.modelcontextprotocol/serverInfo": {}}});
        assert_eq!(json!(CallToolResult::read(&given.to_string()).unwrap().meta), json!({"a": 1}));
        assert_eq!(CallToolResult::read(r#"{"content": [], "_meta": 1}"#), None);
    }
}
