//! Resolves `$ref` inside a schema.

use crate::hex::percent_decoded;
use serde_json::{Map, Value};
use std::cell::OnceCell;

/// Resolves the references of one schema. The anchors are collected once, and only when a reference needs them.
/// Otherwise every element of an array would cost a walk through the whole schema.
pub struct References<'a> {
    pub root: &'a Value,
    anchors: OnceCell<Vec<(&'a str, &'a Value)>>,
}

impl<'a> References<'a> {
    pub fn of(root: &'a Value) -> Self {
        Self { root, anchors: OnceCell::new() }
    }

    /// The part of the schema that the keyword `$ref` or `$dynamicRef` leads to. None for a reference to another
    /// document, and for an anchor that several parts have.
    pub fn follow(&self, keywords: &Map<String, Value>, keyword: &str) -> Option<&'a Value> {
        let reference = keywords.get(keyword)?;
        target(self.root, reference).or_else(|| {
            let name = reference.as_str()?.strip_prefix('#')?;
            let anchors = self.anchors.get_or_init(|| {
                let mut found = Vec::new();
                anchors(self.root, &mut found);
                found
            });
            let mut parts = anchors.iter().filter(|(it, _)| *it == name).map(|(_, part)| *part);
            parts.next().filter(|_| parts.next().is_none())
        })
    }
}

fn anchors<'a>(schema: &'a Value, found: &mut Vec<(&'a str, &'a Value)>) {
    match schema {
        Value::Object(keywords) => {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                found.extend(keywords.get(keyword).and_then(Value::as_str).map(|it| (it, schema)));
            }
            keywords.values().for_each(|it| anchors(it, found));
        }
        Value::Array(parts) => parts.iter().for_each(|it| anchors(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The part of the schema that a reference names by a JSON pointer. None for a reference to another document or to an
/// `$anchor`.
pub fn target<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    let pointer = percent_decoded(reference.as_str()?.strip_prefix('#')?)?;
    root.pointer(&pointer)
}

/// Whether a part of the schema, other than the whole, has an `$id` of its own.
pub fn has_resources(schema: &Value, is_whole: bool) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.iter().any(|(name, it)| (name == "$id" && it.is_string() && !is_whole) || has_resources(it, false))
        }
        Value::Array(items) => items.iter().any(|it| has_resources(it, false)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_are_unescaped() {
        let root = json!({"$defs": {"a/b": 1, "c d": 2, "~": 3, "é": 4}});
        for (reference, expected) in [
            ("#/$defs/a~1b", Some(json!(1))),
            ("#/$defs/c%20d", Some(json!(2))),
            ("#/%24defs/~0", Some(json!(3))),
            ("#/$defs/%C3%A9", Some(json!(4))),
            ("#/$defs/none", None),
            ("#%", None),
            ("#anchor", None),
            ("other.json", None),
        ] {
            assert_eq!(target(&root, &json!(reference)), expected.as_ref(), "{reference}");
        }
        assert_eq!(target(&root, &json!("#")), Some(&root));
    }

    #[test]
    fn anchors_are_names() {
        let root = json!({"$ref": "#a", "items": [{"$anchor": "a", "type": "null"}], "$dynamicRef": "#b", "$defs": {
            "one": {"$dynamicAnchor": "b"}, "two": {"$anchor": "b"}, "pointer": {"$ref": "#/items/0"}}});
        let references = References::of(&root);
        let follow = |part: &Value, keyword: &str| references.follow(part.as_object().unwrap(), keyword);
        assert_eq!(follow(&root, "$ref"), Some(&root["items"][0]));
        assert_eq!(follow(&root["$defs"]["pointer"], "$ref"), Some(&root["items"][0]));
        assert_eq!(follow(&root, "$dynamicRef"), None, "two have that name");
    }

    #[test]
    fn only_parts_count_as_resources() {
        assert!(!has_resources(&json!({"$id": "https://example.com/a", "properties": {"$id": {}}}), true));
        assert!(has_resources(&json!({"$defs": {"a": {"$id": "b"}}}), true));
    }
}
