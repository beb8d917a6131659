//! Where a `$ref` leads.

use serde_json::Value;

/// The part of the schema that a reference names. None for what lies elsewhere, and for names given by `$anchor`.
pub fn target<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    let pointer = decoded(reference.as_str()?.strip_prefix('#')?)?;
    root.pointer(&pointer)
}

/// Whether a part of the schema, other than the whole, has an address of its own.
pub fn has_resources(schema: &Value, is_whole: bool) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.iter().any(|(name, it)| (name == "$id" && it.is_string() && !is_whole) || has_resources(it, false))
        }
        Value::Array(items) => items.iter().any(|it| has_resources(it, false)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Percent-encoding undone.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => (char::from(rest.next()?).to_digit(16)? * 16 + char::from(rest.next()?).to_digit(16)?) as u8,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
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
    fn only_parts_count_as_resources() {
        assert!(!has_resources(&json!({"$id": "https://example.com/a", "properties": {"$id": {}}}), true));
        assert!(has_resources(&json!({"$defs": {"a": {"$id": "b"}}}), true));
    }
}
