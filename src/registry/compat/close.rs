//! Closes the object schemas of a version for the comparison: an object that is described takes no fields but the
//! described ones.
//!
//! The whole description of a value is closed. Its parts (`allOf`, `anyOf`, a `$ref` with keywords beside it, …) stay
//! open: each part describes only some fields, and closed parts would exclude each other. A schema that stands alone
//! gets `additionalProperties: false`. A schema with parts gets `unevaluatedProperties: false`, at the place where the
//! value begins. A schema in `$defs` is not closed there, but where a value refers to it. A required field counts as
//! described. Otherwise nothing could fit the closed schema.

use crate::registry::reference;
use serde_json::{Map, Value};

/// Keywords whose schemas describe the same value.
const PARTS: [&str; 6] = ["then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas"];

/// Keywords whose schemas describe the values inside.
const VALUES: [&str; 8] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "contains",
    "unevaluatedItems",
];

/// Keywords whose schemas are conditions. Conditions describe nothing, and stay as they are.
const CONDITIONS: [&str; 3] = ["not", "if", "propertyNames"];

/// Keywords that hold schemas by name.
const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// The schema for the comparison of versions: an object schema with `properties` and without `additionalProperties`
/// counts as closed.
pub fn closed(schema: &Value) -> Value {
    let mut closing = SchemaCloser { root: schema, shared: Vec::new(), wrapped: Vec::new() };
    let mut closed = closing.schema(schema, SchemaRole::Value);
    // The first pass finds the schemas that are also a part of another schema. The second pass finds those that get
    // wrapped. The third pass directs references into the wrapping.
    if !closing.shared.is_empty() {
        closed = closing.schema(schema, SchemaRole::Value);
    }
    if !closing.wrapped.is_empty() {
        closed = closing.schema(schema, SchemaRole::Value);
    }
    closed
}

/// The role of a schema.
#[derive(Clone, Copy, PartialEq)]
enum SchemaRole {
    /// The whole description of a value.
    Value,
    /// A part of a description, or a definition that may be referred to as a part.
    Part,
    Condition,
}

struct SchemaCloser<'a> {
    root: &'a Value,
    /// Schemas that are referred to as a part of a larger one.
    shared: Vec<*const Value>,
    /// Shared schemas that are also a closed value at their own place. There the schema is wrapped, as the only part of
    /// the closed whole.
    wrapped: Vec<*const Value>,
}

impl<'a> SchemaCloser<'a> {
    fn schema(&mut self, schema: &'a Value, role: SchemaRole) -> Value {
        let Value::Object(keywords) = schema else { return schema.clone() };
        let mut out = Map::new();
        for (keyword, value) in keywords {
            out.insert(keyword.clone(), self.keyword(keywords, keyword, value, role));
        }
        if role == SchemaRole::Value && !is_closed(keywords) {
            self.close(schema, &mut out);
        }
        Value::Object(out)
    }

    fn keyword(&mut self, all: &'a Map<String, Value>, keyword: &str, value: &'a Value, role: SchemaRole) -> Value {
        if keyword == "$ref" {
            let target = reference::target(self.root, value);
            // A reference that stands alone is not a part: it may lead to a closed schema.
            let shares = role != SchemaRole::Value || all.keys().any(|it| it == "required" || is_schema(it));
            if let Some(target) = target.filter(|it| shares && !self.shared.contains(&std::ptr::from_ref(*it))) {
                self.shared.push(target);
            }
            return self.redirected(value);
        }
        let inner = match role {
            _ if CONDITIONS.contains(&keyword) => SchemaRole::Condition,
            SchemaRole::Condition => SchemaRole::Condition,
            _ if VALUES.contains(&keyword) => SchemaRole::Value,
            _ => SchemaRole::Part,
        };
        match value {
            Value::Object(parts) if NAMED.contains(&keyword) => {
                let mut out = Map::new();
                for (name, part) in parts {
                    out.insert(name.clone(), self.schema(part, inner));
                }
                Value::Object(out)
            }
            Value::Array(parts) if is_schema(keyword) => parts.iter().map(|it| self.schema(it, inner)).collect(),
            Value::Object(_) if is_schema(keyword) || CONDITIONS.contains(&keyword) => self.schema(value, inner),
            _ => value.clone(),
        }
    }

    /// Closes the description of a value, if a part of it describes fields and does not say which other fields are
    /// allowed.
    fn close(&mut self, schema: &'a Value, out: &mut Map<String, Value>) {
        let mut parts = vec![schema];
        let (mut described, mut required, mut open) = (Vec::new(), Vec::new(), false);
        let mut next = 0;
        while let Some(part) = parts.get(next) {
            next += 1;
            let Value::Object(keywords) = part else { continue };
            if let Some(Value::Object(properties)) = keywords.get("properties") {
                described.push(properties);
                open |= !is_closed(keywords);
            }
            if let Some(Value::Array(names)) = keywords.get("required") {
                required.extend(names);
            }
            self.add_parts(keywords, &mut parts);
        }
        if !open {
            return;
        }
        for name in required.into_iter().filter_map(Value::as_str) {
            if !described.iter().any(|it| it.contains_key(name)) {
                let properties = out.entry("properties").or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(properties) = properties {
                    properties.insert(name.to_owned(), Value::Bool(true));
                }
            }
        }
        let place = std::ptr::from_ref(schema);
        if self.shared.contains(&place) {
            if !self.wrapped.contains(&place) {
                self.wrapped.push(place);
            }
            let mut whole = std::mem::take(out);
            for keyword in ["$schema", "$id"] {
                if let Some(value) = whole.shift_remove(keyword) {
                    out.insert(keyword.to_owned(), value);
                }
            }
            out.insert("allOf".to_owned(), Value::Array(vec![Value::Object(whole)]));
        }
        let alone = parts.len() == 1 && !out.contains_key("allOf");
        let keyword = if alone { "additionalProperties" } else { "unevaluatedProperties" };
        out.insert(keyword.to_owned(), Value::Bool(false));
    }

    /// Adds the schemas that the keywords apply to the same value.
    fn add_parts(&self, keywords: &'a Map<String, Value>, parts: &mut Vec<&'a Value>) {
        let mut more = Vec::new();
        for (keyword, value) in keywords {
            match value {
                Value::String(_) if keyword == "$ref" => more.extend(reference::target(self.root, value)),
                Value::Object(named) if keyword == "dependentSchemas" => more.extend(named.values()),
                Value::Array(list) if PARTS.contains(&keyword.as_str()) => more.extend(list),
                Value::Object(_) if PARTS.contains(&keyword.as_str()) => more.push(value),
                _ => {}
            }
        }
        for part in more {
            if !parts.iter().any(|it| std::ptr::eq(*it, part)) {
                parts.push(part);
            }
        }
    }

    /// Directs a reference to a wrapped schema, or to a part of one, into the wrapping.
    fn redirected(&self, reference: &Value) -> Value {
        let (Some(pointer), false) = (reference.as_str().and_then(|it| it.strip_prefix('#')), self.wrapped.is_empty())
        else {
            return reference.clone();
        };
        let mut place = Some(self.root);
        let mut redirected = String::from("#");
        for (index, token) in pointer.split('/').enumerate() {
            if index > 0 {
                redirected.push('/');
                redirected.push_str(token);
                place = place.and_then(|it| reference::target(it, &Value::String(format!("#/{token}"))));
            }
            if place.is_some_and(|it| self.wrapped.contains(&std::ptr::from_ref(it))) {
                redirected.push_str("/allOf/0");
            }
        }
        Value::String(redirected)
    }
}

/// Whether a keyword holds schemas that describe values.
fn is_schema(keyword: &str) -> bool {
    PARTS.contains(&keyword) || VALUES.contains(&keyword)
}

/// Whether a schema says itself which other fields are allowed.
fn is_closed(keywords: &Map<String, Value>) -> bool {
    keywords.contains_key("additionalProperties") || keywords.contains_key("unevaluatedProperties")
}
