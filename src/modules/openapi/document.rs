//! An OpenAPI document: its text as a value, and the places that its references lead to.

use crate::hex::percent_decoded;
use crate::json_size::values;
use crate::yaml;
use serde_json::Value;

/// How many values a document may have. GitHub's, which is one of the largest, has 232,000.
const MAX_VALUES: usize = 500_000;

/// How many references may follow each other.
const MAX_HOPS: usize = 16;

pub struct Document {
    root: Value,
}

impl Document {
    /// Reads a document of OpenAPI 3.0 or 3.1, in JSON or YAML, or says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let mut root = if text.trim_start().starts_with('{') {
            if values(text.as_bytes()) > MAX_VALUES {
                return Err(format!("The document has more than {MAX_VALUES} values"));
            }
            serde_json::from_str(text).map_err(|cause| format!("The document is not JSON: {cause}"))?
        } else {
            yaml::read(text, MAX_VALUES).map_err(|fault| format!("The document is neither JSON nor YAML: {fault}"))?
        };
        check_version(&root)?;
        with_plain_line_breaks(&mut root);
        Ok(Self { root })
    }

    pub fn root(&self) -> &Value {
        &self.root
    }

    pub fn is_3_0(&self) -> bool {
        version(&self.root, "openapi").is_some_and(|it| is_minor(&it, "3.0"))
    }

    /// The value itself, or the value that its `$ref` leads to.
    pub fn followed<'a>(&'a self, value: &'a Value) -> Result<&'a Value, String> {
        let mut value = value;
        for _ in 0..MAX_HOPS {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
            value = self.at(&pointer(reference)?).ok_or_else(|| leads_nowhere(reference))?;
        }
        Err("its references lead in a circle".to_owned())
    }

    /// The value at a JSON pointer.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.root.pointer(pointer)
    }
}

/// The JSON pointer of a reference into the same document.
pub fn pointer(reference: &str) -> Result<String, String> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err(format!("it refers to another document, which is not fetched: {}", shown(reference)));
    };
    percent_decoded(fragment).filter(|it| it.starts_with('/')).ok_or_else(|| leads_nowhere(reference))
}

pub fn leads_nowhere(reference: &str) -> String {
    format!("it refers to {}, which is no place of the document", shown(reference))
}

fn shown(reference: &str) -> String {
    reference.chars().take(200).collect()
}

fn check_version(root: &Value) -> Result<(), String> {
    match (version(root, "openapi"), version(root, "swagger")) {
        (Some(version), _) if is_minor(&version, "3.0") || is_minor(&version, "3.1") => Ok(()),
        (Some(version), _) => Err(format!("The document is OpenAPI {version}; 3.0 and 3.1 are read")),
        (None, Some(version)) => {
            Err(format!("The document is Swagger {version}; convert it to OpenAPI 3.0 or 3.1, which are read"))
        }
        (None, None) => Err("The document is no OpenAPI: it has no field openapi".to_owned()),
    }
}

fn version(root: &Value, field: &str) -> Option<String> {
    match root.get(field)? {
        Value::String(text) => Some(text.chars().take(20).collect()),
        // `openapi: 3.0` without quotes is a number in YAML.
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_minor(version: &str, minor: &str) -> bool {
    version.strip_prefix(minor).is_some_and(|it| it.is_empty() || it.starts_with('.'))
}

/// Writes every line break of a text as `\n`. Documents that were made on Windows are full of `\r\n`, and `\r` alone would
/// count as a hidden character.
fn with_plain_line_breaks(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\r') => *text = text.replace("\r\n", "\n").replace('\r', "\n"),
        Value::Array(items) => items.iter_mut().for_each(with_plain_line_breaks),
        Value::Object(fields) => fields.values_mut().for_each(with_plain_line_breaks),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_versions_that_are_read_pass() {
        for text in [r#"{"openapi": "3.0.3"}"#, "openapi: 3.1.0", "openapi: 3.0", "\u{feff}{\"openapi\": \"3.1\"}"] {
            assert!(Document::read(text).is_ok(), "{text}");
        }
        for (text, said) in [
            (r#"{"swagger": "2.0"}"#, "Swagger 2.0"),
            ("swagger: 2.0", "Swagger 2.0"),
            ("openapi: 3.2.0", "OpenAPI 3.2.0"),
            ("openapi: 3.10.0", "OpenAPI 3.10.0"),
            ("openapi: [1]", "no field openapi"),
            ("{", "not JSON"),
            ("a: [", "neither JSON nor YAML: line"),
            ("<!doctype html><html><body>hello</body></html>", "no field openapi"),
            ("7", "no field openapi"),
            ("", "neither"),
        ] {
            let fault = Document::read(text).err().unwrap();
            assert!(fault.contains(said), "{text}: {fault}");
        }
        assert!(Document::read(&"[".repeat(100_000)).is_err());
        assert!(Document::read(&format!("{{\"openapi\": \"3.0.0\", \"x\": [{}1]}}", "1,".repeat(500_000))).is_err());
        let deep = format!("{{\"openapi\": \"3.0.0\", \"x\": {}{}}}", "[".repeat(1_000), "]".repeat(1_000));
        assert!(Document::read(&deep).err().unwrap().contains("recursion"));
    }

    #[test]
    fn references_lead_into_the_document_only() {
        let root = json!({"openapi": "3.0.0", "a": {"b c": {"/x": 7}}, "r": {"$ref": "#/s"}, "s": {"$ref": "#/r"}, "t": {"$ref": "#/a"}});
        let document = Document::read(&root.to_string()).unwrap();
        let follow = |reference: &str| document.followed(&json!({ "$ref": reference })).cloned();
        assert_eq!(follow("#/a/b%20c/~1x"), Ok(json!(7)));
        assert_eq!(follow("#/t"), Ok(json!({"b c": {"/x": 7}})));
        assert!(follow("#/r").unwrap_err().contains("circle"));
        assert!(follow("#/none").unwrap_err().contains("no place"));
        assert!(follow("#anchor").unwrap_err().contains("no place"));
        for reference in ["other.yaml#/a", "https://evil.example/x.json", "", "./x"] {
            assert!(follow(reference).unwrap_err().contains("another document"), "{reference}");
        }
    }

    #[test]
    fn line_breaks_are_plain() {
        let document = Document::read(r#"{"openapi": "3.0.0", "x": ["a\r\nb\rc"]}"#).unwrap();
        assert_eq!(document.root()["x"][0], "a\nb\nc");
    }
}
