//! A *plain* schema: a stored schema in a form that every provider accepts. A plain schema has one object with named
//! properties at its top, no references, names of properties that fit, and items for every array. The tool's
//! description contains the rules that the plain schema cannot express.
//!
//! A plain schema may accept more than the stored schema. Calls are checked against the stored schema.

mod merge;

pub use merge::merged;

use super::json::{fields, list, only, put, put_new, text, without};
use super::keys;
use crate::registry::{MAX_EXPORTED_DEPTH, References};
use merge::object;
use serde_json::{Map, Value};

/// The most bytes of a schema after its references are replaced. A larger schema is replaced by an object of any kind.
const MAX_BYTES: usize = 256 * 1024;

/// How many of these bytes a part of a schema costs besides its text.
const PART_BYTES: usize = 64;

/// The longest description that OpenAI accepts, in characters.
const MAX_DESCRIPTION: usize = 1_024;

/// Keywords that are left out: they are about the document, hold the targets of references, or repeat names of
/// properties.
const ABOUT: [&str; 11] = [
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$vocabulary",
    "$comment",
    "$defs",
    "definitions",
    "dependentRequired",
    "dependentSchemas",
    "propertyNames",
];

/// Keywords that OpenAI and Anthropic refuse at the top.
const NOT_AT_TOP: [&str; 9] = ["allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else"];

/// A schema that every provider accepts.
pub struct PlainSchema {
    pub schema: Map<String, Value>,
    /// The part of the stored schema that the plain schema cannot express, as JSON.
    told: Option<String>,
    /// Whether the stored schema was too large, so that the plain schema is an object of any kind.
    pub too_large: bool,
}

impl PlainSchema {
    /// The tool's description, followed by the part of the stored schema that the plain schema cannot express.
    pub fn describe(&self, description: &str) -> String {
        let Some(told) = &self.told else { return description.to_owned() };
        let mut text = format!("{description}\n\nThe arguments must also fit: {told}");
        if let Some((end, _)) = text.char_indices().nth(MAX_DESCRIPTION - 1) {
            text.truncate(end);
            text.push('…');
        }
        text
    }
}

pub fn plain(text: &str) -> PlainSchema {
    let root = serde_json::from_str(text).unwrap_or(Value::Bool(true));
    let mut writer = PlainSchemaWriter { references: References::of(&root), path: Vec::new(), left: MAX_BYTES };
    let top = writer.schema(&root);
    let too_large = writer.left == 0;
    if too_large || (top.contains_key("type") && !takes(&top, "object")) {
        let schema = object(Map::new(), Map::new(), Vec::new());
        return PlainSchema { schema, told: Some(text.to_owned()), too_large };
    }
    let told = writer.left_out(&root);
    let told = (!told.is_empty()).then(|| Value::Object(told).to_string());
    PlainSchema { schema: without(merged(&top, MAX_EXPORTED_DEPTH), &NOT_AT_TOP), told, too_large }
}

struct PlainSchemaWriter<'a> {
    references: References<'a>,
    /// The schemas around the part that is being written. A reference to one of them would never end.
    path: Vec<&'a Value>,
    left: usize,
}

impl<'a> PlainSchemaWriter<'a> {
    /// The keywords at the top that providers refuse, as the stored schema has them. `allOf` is not among them, because
    /// it is merged.
    fn left_out(&self, root: &'a Value) -> Map<String, Value> {
        let mut told = Map::new();
        let mut top = root.as_object();
        // References may form a circle.
        for _ in 0..MAX_EXPORTED_DEPTH {
            let Some(keywords) = top else { break };
            for (keyword, value) in &only(keywords, &NOT_AT_TOP[1..]) {
                put_new(&mut told, keyword, value);
            }
            top = self.references.follow(keywords, "$ref").and_then(Value::as_object);
        }
        told
    }

    fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    fn part(&mut self, schema: &'a Value) -> Value {
        Value::Object(self.schema(schema))
    }

    fn schema(&mut self, schema: &'a Value) -> Map<String, Value> {
        self.spend(PART_BYTES);
        let mut written = Map::new();
        let Value::Object(keywords) = schema else {
            if *schema == Value::Bool(false) {
                put(&mut written, "not", Map::new().into());
            }
            return written;
        };
        if self.path.len() >= MAX_EXPORTED_DEPTH || self.path.iter().any(|it| std::ptr::eq(*it, schema)) {
            self.spend(text(keywords, "description").len());
            return if self.left == 0 { written } else { only(keywords, &["type", "description"]) };
        }
        self.path.push(schema);
        for (keyword, value) in keywords {
            if self.left > 0 {
                self.keyword(keyword, value, keywords, &mut written);
            }
        }
        if takes(&written, "array") && !written.contains_key("items") {
            put(&mut written, "items", Map::new().into());
        }
        for reference in ["$ref", "$dynamicRef"] {
            if let Some(target) = self.references.follow(keywords, reference).filter(|_| self.left > 0) {
                written = beside(self.schema(target), written);
            }
        }
        self.path.pop();
        written
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &'a Value,
        all: &'a Map<String, Value>,
        written: &mut Map<String, Value>,
    ) {
        let rewritten = match (keyword, value) {
            ("$ref" | "$dynamicRef", _) => return,
            (about, _) if ABOUT.contains(&about) => return,
            ("properties", Value::Object(parts)) => {
                let mut exported = Map::new();
                for (name, part) in parts {
                    self.spend(name.len());
                    let Some(key) = keys::exported_beside(name, parts) else { continue };
                    if *part == Value::Bool(false) {
                        continue;
                    }
                    let mut part = self.schema(part);
                    if *key != **name {
                        put_new(&mut part, "title", &name.as_str().into());
                    }
                    put(&mut exported, &key, part.into());
                }
                exported.into()
            }
            ("required", Value::Array(names)) => {
                let none = Map::new();
                let siblings = fields(all, "properties").unwrap_or(&none);
                let mut exported = Vec::new();
                for name in names.iter().filter_map(Value::as_str) {
                    self.spend(name.len());
                    exported.extend(keys::exported_beside(name, siblings).map(|it| Value::from(&*it)));
                }
                exported.into()
            }
            ("patternProperties", Value::Object(parts)) => {
                let mut rewritten = Map::new();
                for (name, part) in parts {
                    self.spend(name.len());
                    put(&mut rewritten, name, self.part(part));
                }
                rewritten.into()
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                let mut rewritten = Vec::new();
                for part in parts {
                    rewritten.push(self.part(part));
                }
                rewritten.into()
            }
            ("items" | "not" | "if" | "then" | "else" | "contains", part) => self.part(part),
            ("additionalProperties" | "unevaluatedProperties" | "unevaluatedItems", part) if part.is_object() => {
                self.part(part)
            }
            _ => {
                self.spend(bytes(value));
                if self.left == 0 {
                    return;
                }
                value.clone()
            }
        };
        self.spend(keyword.len());
        put(written, keyword, rewritten);
    }
}

/// About how many bytes a value takes as text.
fn bytes(value: &Value) -> usize {
    8 + match value {
        Value::String(text) => text.len(),
        Value::Array(elements) => elements.iter().map(bytes).sum(),
        Value::Object(fields) => fields.iter().map(|(name, it)| name.len() + bytes(it)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0_usize,
    }
}

/// Whether a schema names the type as one that it accepts.
pub fn takes(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(own)) => own == kind,
        Some(Value::Array(own)) => own.iter().any(|it| it == kind),
        _ => false,
    }
}

/// The target of a reference, merged with the keywords beside the reference: both apply.
fn beside(mut target: Map<String, Value>, mut beside: Map<String, Value>) -> Map<String, Value> {
    let is_word = |it: &str| matches!(it, "title" | "description" | "default" | "examples" | "deprecated");
    if beside.iter().all(|(keyword, value)| is_word(keyword) || target.get(keyword).is_none_or(|it| it == value)) {
        for (keyword, value) in beside {
            put(&mut target, &keyword, value);
        }
        return target;
    }
    let mut parts = list(&beside, "allOf").to_vec();
    parts.push(target.into());
    put(&mut beside, "allOf", parts.into());
    beside
}

#[cfg(test)]
mod tests;
