//! Secrets in documents. A value that a schema marks with `writeOnly` or `format: password` is shown nowhere. If it
//! cannot be decided whether a value is secret, it counts as secret.

use super::reference::References;
use serde_json::{Map, Value};

/// The text that replaces a secret.
const MARK: &str = "[redacted]";

/// Below this depth everything counts as secret. Documents have at most 128 levels.
const MAX_DEPTH: usize = 130;

/// How many schemas may describe one value. Without this limit, a schema that refers to itself for the same value would
/// never end.
const MAX_SCHEMAS: usize = 256;

/// Keywords whose schemas describe the same value.
const SAME_VALUE: [&str; 4] = ["if", "then", "else", "not"];
const SAME_VALUE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords whose schemas describe the values inside.
const INSIDE: [&str; 8] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "contains",
    "unevaluatedItems",
];

/// Whether a schema, or a part of it, marks a value as secret.
pub fn marks_secrets(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => is_secret(keywords) || keywords.values().any(marks_secrets),
        Value::Array(parts) => parts.iter().any(marks_secrets),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Replaces every secret of `document`, and returns the texts that the secrets held.
pub fn redact(schema: &Value, document: &mut Value) -> Vec<String> {
    let mut redaction = Redaction { references: References::of(schema), removed: Vec::new() };
    redaction.redact(vec![schema], document, MAX_DEPTH);
    redaction.removed
}

/// Replaces every occurrence of a secret in a JSON text.
pub fn scrub(secrets: &[String], mut json: String) -> String {
    let mut secrets = secrets.iter().filter(|it| it.len() >= MIN_SECRET_BYTES).collect::<Vec<_>>();
    // The longest come first, because one secret may begin with another.
    secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
    for secret in secrets {
        let written = Value::from(secret.as_str()).to_string();
        let written = &written[1..written.len() - 1];
        // The secret as our JSON spells it, as some other writers spell it, and as it stands in a text that is not
        // JSON.
        for form in [written, &written.replace('/', "\\/"), secret] {
            if json.contains(form) {
                json = json.replace(form, MARK);
            }
        }
    }
    json
}

/// Shorter texts are not replaced: they occur in many places by chance.
const MIN_SECRET_BYTES: usize = 4;

fn is_secret(keywords: &Map<String, Value>) -> bool {
    keywords.get("writeOnly") == Some(&Value::Bool(true)) || keywords.get("format").is_some_and(|it| it == "password")
}

struct Redaction<'a> {
    references: References<'a>,
    removed: Vec<String>,
}

impl<'a> Redaction<'a> {
    fn redact(&mut self, schemas: Vec<&'a Value>, document: &mut Value, depth: usize) {
        let keywords = match self.all_about_it(schemas) {
            Some(keywords) if depth > 0 && !keywords.iter().any(|it| is_secret(it)) => keywords,
            _ => {
                self.remove(document);
                return;
            }
        };
        match document {
            Value::Object(fields) => {
                for (name, field) in fields {
                    match about_field(&keywords, name) {
                        Some(schemas) => self.redact(schemas, field, depth - 1),
                        // The field may be a secret under a misspelt name.
                        None => self.remove(field),
                    }
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter_mut().enumerate() {
                    self.redact(about_element(&keywords, index), element, depth - 1);
                }
            }
            // The text may be an object that was given as text and could not be parsed.
            Value::String(_)
                if keywords.iter().any(|it| INSIDE.iter().filter_map(|key| it.get(*key)).any(may_hide)) =>
            {
                self.remove(document);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn remove(&mut self, document: &mut Value) {
        texts_of(document, &mut self.removed);
        *document = MARK.into();
    }

    /// The given schemas, and all schemas that they add for the same value. None, if this cannot be decided.
    fn all_about_it(&self, mut schemas: Vec<&'a Value>) -> Option<Vec<&'a Map<String, Value>>> {
        let mut all: Vec<&Map<String, Value>> = Vec::new();
        while let Some(schema) = schemas.pop() {
            let Some(keywords) = schema.as_object() else { continue };
            if all.len() >= MAX_SCHEMAS {
                return None;
            }
            if all.iter().any(|it| std::ptr::eq(*it, keywords)) {
                continue;
            }
            all.push(keywords);
            if keywords.contains_key("$dynamicRef") {
                return None;
            }
            if keywords.contains_key("$ref") {
                schemas.push(self.references.follow(keywords, "$ref")?);
            }
            schemas.extend(SAME_VALUE.iter().filter_map(|it| keywords.get(*it)));
            let lists = SAME_VALUE_LISTS.iter().filter_map(|it| keywords.get(*it)?.as_array());
            schemas.extend(lists.flatten());
            schemas
                .extend(keywords.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values));
        }
        Some(all)
    }
}

/// Whether a value that the schema describes may hold a secret inside.
fn may_hide(part: &Value) -> bool {
    match part {
        Value::Object(keywords) => {
            let refers = ["$ref", "$dynamicRef"].iter().any(|it| keywords.contains_key(*it));
            is_secret(keywords) || refers || keywords.values().any(may_hide)
        }
        Value::Array(parts) => parts.iter().any(may_hide),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn texts_of(document: &Value, texts: &mut Vec<String>) {
    match document {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(elements) => elements.iter().for_each(|it| texts_of(it, texts)),
        Value::Object(fields) => fields.values().for_each(|it| texts_of(it, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The schemas that may describe a field. None if the schema describes its fields and this is not one of them.
fn about_field<'a>(keywords: &[&'a Map<String, Value>], name: &str) -> Option<Vec<&'a Value>> {
    let mut schemas = Vec::new();
    for it in keywords {
        schemas.extend(it.get("properties").and_then(|properties| properties.get(name)));
        // The name is not matched against the pattern: every pattern counts as a possible match.
        schemas.extend(it.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values));
        let others = ["additionalProperties", "unevaluatedProperties"].iter().filter_map(|rest| it.get(*rest));
        schemas.extend(others.filter(|schema| schema.is_object()));
    }
    let described = keywords.iter().any(|it| it.contains_key("properties"));
    (!schemas.is_empty() || !described).then_some(schemas)
}

fn about_element<'a>(keywords: &[&'a Map<String, Value>], index: usize) -> Vec<&'a Value> {
    let of = |it: &&'a Map<String, Value>| {
        let own = it.get("prefixItems").and_then(|items| items.get(index));
        own.into_iter().chain(["items", "contains", "unevaluatedItems"].into_iter().filter_map(|name| it.get(name)))
    };
    keywords.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, document: Value, expected: Value) {
        assert!(marks_secrets(&schema));
        let mut document = document;
        redact(&schema, &mut document);
        assert_eq!(document, expected);
    }

    #[test]
    fn both_marks_count_at_every_depth() {
        check(
            json!({"properties": {
                "name": {"type": "string"},
                "key": {"writeOnly": true},
                "login": {"properties": {"user": {}, "password": {"format": "password"}}},
                "keys": {"items": {"writeOnly": true}},
            }}),
            json!({"name": "n", "key": {"a": 1}, "login": {"user": "u", "password": "p"}, "keys": ["a", "b"]}),
            json!({"name": "n", "key": MARK, "login": {"user": "u", "password": MARK}, "keys": [MARK, MARK]}),
        );
    }

    #[test]
    fn references_and_combinations_are_followed() {
        check(
            json!({
                "properties": {"login": {"$ref": "#/$defs/login"}},
                "anyOf": [{"properties": {"token": {"writeOnly": true}}}],
                "$defs": {"login": {"oneOf": [{"properties": {"pin": {"writeOnly": true}}}, {"$ref": "#/$defs/login"}]}},
            }),
            json!({"login": {"pin": 1}, "token": "t"}),
            json!({"login": {"pin": MARK}, "token": MARK}),
        );
    }

    #[test]
    fn a_pattern_may_mean_any_field() {
        let schema = json!({"properties": {"a": {}}, "patternProperties": {"^x-": {"format": "password"}}});
        check(schema, json!({"a": 1, "x-key": "k"}), json!({"a": MARK, "x-key": MARK}));
    }

    #[test]
    fn a_field_that_is_not_described_may_be_a_misspelt_secret() {
        check(
            json!({"properties": {"password": {"writeOnly": true}, "more": {}}}),
            json!({"pasword": "p", "more": {"any": 1}}),
            json!({"pasword": MARK, "more": {"any": 1}}),
        );
    }

    #[test]
    fn what_cannot_be_followed_is_a_secret() {
        let secret = json!({"writeOnly": true});
        check(json!({"$ref": "other.json", "$defs": {"s": secret}}), json!({"a": 1}), json!(MARK));
        check(json!({"$dynamicRef": "#x", "$defs": {"s": secret}}), json!({"a": 1}), json!(MARK));
    }

    #[test]
    fn an_object_that_was_given_as_text_may_hold_a_secret() {
        let secret = json!({"type": "string", "writeOnly": true});
        check(
            json!({"properties": {"login": {"type": "object", "properties": {"pin": {"$dynamicRef": "#pin"}}}},
                "$defs": {"pin": {"$dynamicAnchor": "pin", "writeOnly": true}}}),
            json!({"login": "{\"pin\": \"hunter2"}),
            json!({"login": MARK}),
        );
        check(
            json!({"properties": {
                "headers": {"type": "object", "additionalProperties": secret},
                "login": {"anyOf": [{"$ref": "#/$defs/login"}, {"type": "null"}]},
                "color": {"anyOf": [{"$ref": "#/$defs/color"}, {"type": "null"}]},
                "sizes": {"type": "object", "additionalProperties": {"type": "number"}},
            }, "$defs": {"login": {"properties": {"pin": {"$ref": "#/$defs/pin"}}}, "color": {"enum": ["red"]}, "pin": secret}}),
            json!({"headers": "{\"Authorization\": \"Bear", "login": "{\"pin\": ", "color": "red", "sizes": "{"}),
            json!({"headers": MARK, "login": MARK, "color": "red", "sizes": "{"}),
        );
    }

    #[test]
    fn a_secret_is_found_wherever_a_tool_repeats_it() {
        let mut document = json!({"pin": "hun\"ter2", "deep": {"a": ["s3cret"]}, "short": "no"});
        let schema = json!({"properties": {
            "pin": {"writeOnly": true}, "deep": {"writeOnly": true}, "short": {"writeOnly": true}}});
        let secrets = redact(&schema, &mut document);
        let echoed = json!({"you sent": "hun\"ter2 and s3cret, no less"}).to_string();
        assert_eq!(
            scrub(&["a/b/c".into(), "a/b/c/d".into()], r#""a\/b\/c\/d a/b/c""#.into()),
            format!("\"{MARK} {MARK}\"")
        );
        assert_eq!(scrub(&secrets, echoed), json!({"you sent": format!("{MARK} and {MARK}, no less")}).to_string());
    }

    #[test]
    fn an_ordinary_schema_marks_nothing() {
        assert!(!marks_secrets(&json!({"properties": {"writeOnly": {"type": "string"}, "at": {"format": "date"}}})));
    }
}
