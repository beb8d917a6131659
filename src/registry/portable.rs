//! Decides which schemas every client can compile. Some clients (MCP's TypeScript SDK 1.x, with Ajv) compile the output
//! schema of every tool when they list the tools. One schema that they cannot compile makes the whole list fail.

use serde_json::Value;

/// Whether every client can compile the schema. False, if this is uncertain.
pub fn is_portable(schema: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return schema.is_boolean() };
    keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        // Two tools may use the same id. A client would then check the results of the second against the schema of the
        // first.
        ("$id" | "id", _) => false,
        ("nullable", _) => keywords.contains_key("type"),
        ("enum", Value::Array(values)) => !values.is_empty(),
        ("pattern", Value::String(pattern)) => is_plain(pattern),
        ("patternProperties", Value::Object(parts)) => parts.iter().all(|(it, part)| is_plain(it) && is_portable(part)),
        ("properties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(parts)) => {
            parts.values().all(is_portable)
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => parts.iter().all(is_portable),
        (
            "items"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else",
            part,
        ) => is_portable(part),
        _ => true,
    })
}

/// Whether a pattern is also valid in ECMAScript with the flag `u`. The Worker's own engine also accepts flags in the
/// pattern, an escape of any character, and brackets that stand for themselves.
fn is_plain(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    let mut repeatable = false;
    while let Some(char) = rest.next() {
        repeatable = match char {
            '\\' => match rest.next() {
                Some('b' | 'B') => false,
                Some(escaped) if is_escape(escaped) => true,
                _ => return false,
            },
            '[' => {
                rest.next_if_eq(&'^');
                let mut empty = true;
                loop {
                    match rest.next() {
                        Some(']') if !empty => break,
                        Some('\\') => match rest.next() {
                            Some(escaped) if escaped == '-' || is_escape(escaped) => {}
                            _ => return false,
                        },
                        None | Some('[' | ']') => return false,
                        Some(_) => {}
                    }
                    empty = false;
                }
                true
            }
            '(' => {
                if rest.next_if_eq(&'?').is_some() && rest.next() != Some(':') {
                    return false;
                }
                false
            }
            '*' | '+' | '?' | '{' if repeatable => {
                if char == '{' && !(rest.peek().is_some_and(char::is_ascii_digit) && rest.any(|it| it == '}')) {
                    return false;
                }
                rest.next_if_eq(&'?');
                false
            }
            '*' | '+' | '?' | '{' | '}' | ']' => return false,
            '|' | '^' | '$' => false,
            _ => true,
        };
    }
    true
}

fn is_escape(escaped: char) -> bool {
    "dDwWsSnrt.*+?()[]{}|/^$\\".contains(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patterns_that_every_engine_reads_are_plain() {
        for pattern in [
            "",
            "^[a-z0-9_-]{1,64}$",
            "^(?:a|b)+?\\d{3}\\.\\w*$",
            "[\\w\\-.]+@[^\\]]+",
            "^\\{\\}$",
            "ä|🤖",
            "\\bword\\b",
            "a{2,}?",
        ] {
            assert!(is_plain(pattern), "{pattern}");
        }
        for pattern in [
            "(?i)a",
            "(?P<x>a)",
            "(?<x>a)",
            "a\\@b",
            "a\\-b",
            "\\Aab\\z",
            "\\pL",
            "\\x{41}",
            "a}",
            "a]",
            "[]a]",
            "[[:alpha:]]",
            "[a",
            "a**",
            "a++",
            "^*",
            "\\b+",
            "a{,3}",
            "{",
            "\\",
        ] {
            assert!(!is_plain(pattern), "{pattern}");
        }
    }

    #[test]
    fn what_clients_stumble_over_is_found_at_any_depth() {
        let portable = |part: Value| {
            let deep = json!({"type": "object", "properties": {"a": {"items": {"anyOf": [part, true]}}}});
            is_portable(&deep)
        };
        for part in [
            json!({"type": "string", "pattern": "^a$"}),
            json!({"$ref": "#/$defs/x", "$anchor": "y"}),
            json!({"properties": {"id": {"type": "string"}, "pattern": {"type": "string"}}}),
            json!({"const": {"id": 1, "pattern": "(?i)"}, "default": {"enum": []}}),
            json!({"type": "string", "nullable": true}),
        ] {
            assert!(portable(part.clone()), "{part}");
        }
        for part in [
            json!({"pattern": "(?i)a"}),
            json!({"patternProperties": {"(?i)a": {}}}),
            json!({"patternProperties": {"a": {"id": "x"}}}),
            json!({"enum": []}),
            json!({"nullable": true}),
            json!({"$id": "x"}),
            json!({"not": {"pattern": "a]"}}),
            json!({"$defs": {"x": {"pattern": "a]"}}}),
        ] {
            assert!(!portable(part.clone()), "{part}");
        }
    }
}
