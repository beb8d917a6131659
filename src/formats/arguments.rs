//! Restores a model's arguments to the stored schema. Properties get their own names back, a null for an optional
//! property is removed, and an object that came as text becomes an object. Only the schema decides this, so a call gets
//! the same arguments through every protocol. A value that certainly fits is not changed.

use super::json::{fields, list, put};
use super::keys;
use super::schema::takes;
use super::strict::kinds_of_values;
use crate::json_size::{MAX_VALUES, values};
use crate::registry::References;
use crate::registry::schema::Schema;
use serde_json::{Map, Value};

/// How deep values are restored. Arguments are never that deep, so every name is restored. The record needs this,
/// because it finds secrets by the restored names.
const MAX_DEPTH: usize = 130;

/// How many parts of the schema are applied to one value.
const MAX_PARTS: usize = 200;

/// How much work one restoration may take: parts that are compared with each other. What is left after that stays as it is,
/// and the check of the arguments decides about it.
const MAX_WORK: usize = 20_000_000;

/// The schema of a value that no schema describes.
const ANYTHING: &Value = &Value::Bool(true);

pub fn restore(schema: &Schema, arguments: &mut Value) {
    // Most calls have nothing to restore, and skip the walk through the schema.
    if schema.has_foreign_keys() || has_marks(arguments) {
        let root = schema.definition();
        let mut restorer = ArgumentRestorer {
            references: References::of(root),
            names: Vec::new(),
            values_left: MAX_VALUES,
            work_left: MAX_WORK,
        };
        restorer.value(&[ApplicableSchema { schema: root, certain: true }], arguments, MAX_DEPTH);
    }
}

fn has_marks(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim_start().starts_with('{'),
        Value::Array(elements) => elements.iter().any(has_marks),
        Value::Object(fields) => fields.values().any(has_marks),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A schema for a value. A `certain` schema always applies. Any other schema applies only if one of several forms is
/// meant, or if a condition holds.
#[derive(Clone, Copy)]
struct ApplicableSchema<'a> {
    schema: &'a Value,
    certain: bool,
}

/// The keywords of a schema for a value.
struct ApplicableKeywords<'a> {
    keywords: &'a Map<String, Value>,
    certain: bool,
}

struct ArgumentRestorer<'a> {
    references: References<'a>,
    /// A cache: each name costs a hash, and an array may have many elements with the same properties.
    names: Vec<ExportedNames<'a>>,
    /// How many values may still be parsed out of texts. The values of the body were counted before, but not the values
    /// inside its texts.
    values_left: usize,
    work_left: usize,
}

struct ExportedNames<'a> {
    of: &'a Map<String, Value>,
    /// The properties' own names, by their exported names.
    own: Map<String, Value>,
}

impl<'a> ArgumentRestorer<'a> {
    fn value(&mut self, schemas: &[ApplicableSchema<'a>], value: &mut Value, depth: usize) {
        let mut parts = Vec::new();
        schemas.iter().for_each(|it| self.gather(it.schema, it.certain, &mut parts));
        self.work_left = self.work_left.saturating_sub(parts.len() * (parts.len() + 1));
        if parts.is_empty() || depth == 0 || self.work_left == 0 {
            return;
        }
        if let Value::String(text) = value
            && self.refuse(schemas, "string")
            && !self.refuse(schemas, "object")
            && let Some(object) = self.object_in(text)
        {
            *value = object;
        }
        match value {
            Value::Object(fields) => self.object(&parts, fields, depth),
            Value::Array(elements) => {
                for (index, element) in elements.iter_mut().enumerate() {
                    let schemas = about_element(&parts, index);
                    self.value(&schemas, element, depth - 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The object in a JSON text, if it is not too large.
    fn object_in(&mut self, text: &str) -> Option<Value> {
        self.values_left = self.values_left.checked_sub(values(text.as_bytes()))?;
        serde_json::from_str(text).ok().filter(Value::is_object)
    }

    fn object(&mut self, parts: &[ApplicableKeywords<'a>], given: &mut Map<String, Value>, depth: usize) {
        let mut restored = Map::new();
        for (name, mut value) in std::mem::take(given) {
            let own = if declared(parts, &name).is_empty() { self.own_name(parts, &name) } else { None };
            let name = own.unwrap_or(name);
            let mut schemas = declared(parts, &name);
            let is_declared = !schemas.is_empty();
            for part in parts {
                // Patterns are not matched against the name: any of them may apply.
                let patterns = fields(part.keywords, "patternProperties").into_iter().flat_map(Map::values);
                schemas.extend(patterns.map(|schema| ApplicableSchema { schema, certain: false }));
            }
            if value.is_null() && is_declared && !is_required(parts, &name) && self.refuse(&schemas, "null") {
                continue;
            }
            if !is_declared && !all_of(parts, &["additionalProperties", "unevaluatedProperties"], &mut schemas) {
                // If no pattern matches the name, the value may be anything.
                schemas.push(ApplicableSchema { schema: ANYTHING, certain: false });
            }
            self.value(&schemas, &mut value, depth - 1);
            put(&mut restored, &name, value);
        }
        *given = restored;
    }

    /// The property that has this exported name.
    fn own_name(&mut self, parts: &[ApplicableKeywords<'a>], name: &str) -> Option<String> {
        if !keys::may_be_exported(name) {
            return None;
        }
        for part in parts {
            let known = self.names.iter().position(|it| std::ptr::eq(it.of, part.keywords));
            let known = known.unwrap_or_else(|| {
                self.names.push(ExportedNames { of: part.keywords, own: exported_names(part.keywords) });
                self.names.len() - 1
            });
            if let Some(Value::String(own)) = self.names.get(known).and_then(|it| it.own.get(name)) {
                return Some(own.clone());
            }
        }
        None
    }

    /// Whether no value of the type can fit: a schema that certainly applies refuses the type, or all schemas refuse
    /// it.
    fn refuse(&self, schemas: &[ApplicableSchema<'a>], kind: &str) -> bool {
        let mut all = !schemas.is_empty();
        for it in schemas {
            let takes = self.may_be(it.schema, kind, &mut { MAX_PARTS });
            if it.certain && !takes {
                return true;
            }
            all &= !takes;
        }
        all
    }

    /// Whether a schema may accept values of the type. A schema without types accepts all of them.
    fn may_be(&self, schema: &Value, kind: &str, left: &mut usize) -> bool {
        let Some(keywords) = schema.as_object() else { return *schema == Value::Bool(true) };
        *left = left.saturating_sub(1);
        if *left == 0 {
            return true;
        }
        let form = |it: &Value, left: &mut usize| self.may_be(it, kind, left);
        (!keywords.contains_key("type") || takes(keywords, kind))
            && kinds_of_values(keywords).is_none_or(|it| it.contains(&kind))
            && ["anyOf", "oneOf"].iter().all(|it| {
                let forms = list(keywords, it);
                forms.is_empty() || forms.iter().any(|it| form(it, left))
            })
            && list(keywords, "allOf").iter().all(|it| form(it, left))
            && self.references.follow(keywords, "$ref").is_none_or(|it| form(it, left))
    }

    /// Collects the schema, and all schemas that it refers to or consists of, that apply to the same value.
    fn gather(&self, schema: &'a Value, certain: bool, parts: &mut Vec<ApplicableKeywords<'a>>) {
        let Some(keywords) = schema.as_object() else { return };
        let is_known = |it: &ApplicableKeywords<'a>| std::ptr::eq(it.keywords, keywords) && (it.certain || !certain);
        if parts.len() >= MAX_PARTS || parts.iter().any(is_known) {
            return;
        }
        parts.push(ApplicableKeywords { keywords, certain });
        for (keyword, certain) in [("$ref", certain), ("$dynamicRef", false)] {
            if let Some(target) = self.references.follow(keywords, keyword) {
                self.gather(target, certain, parts);
            }
        }
        for (keyword, certain) in [("allOf", certain), ("anyOf", false), ("oneOf", false)] {
            list(keywords, keyword).iter().for_each(|it| self.gather(it, certain, parts));
        }
        for keyword in ["if", "then", "else"] {
            if let Some(part) = keywords.get(keyword) {
                self.gather(part, false, parts);
            }
        }
    }
}

/// The schemas that describe a property by its name.
fn declared<'a>(parts: &[ApplicableKeywords<'a>], name: &str) -> Vec<ApplicableSchema<'a>> {
    let of = |it: &ApplicableKeywords<'a>| {
        Some(ApplicableSchema { schema: fields(it.keywords, "properties")?.get(name)?, certain: it.certain })
    };
    parts.iter().filter_map(of).collect()
}

/// Adds the schemas under these keywords, which may or may not apply to the value. Returns whether there are any.
fn all_of<'a>(parts: &[ApplicableKeywords<'a>], keywords: &[&str], schemas: &mut Vec<ApplicableSchema<'a>>) -> bool {
    let before = schemas.len();
    for part in parts {
        for schema in keywords.iter().filter_map(|it| part.keywords.get(*it)) {
            schemas.push(ApplicableSchema { schema, certain: false });
        }
    }
    schemas.len() > before
}

fn about_element<'a>(parts: &[ApplicableKeywords<'a>], index: usize) -> Vec<ApplicableSchema<'a>> {
    let of_index = |it: &ApplicableKeywords<'a>| {
        let schema = list(it.keywords, "prefixItems").get(index).or(it.keywords.get("items"))?;
        Some(ApplicableSchema { schema, certain: it.certain })
    };
    let mut schemas = parts.iter().filter_map(of_index).collect::<Vec<_>>();
    if !all_of(parts, &["unevaluatedItems"], &mut schemas) && schemas.is_empty() {
        // `contains` asks for one element that fits. Every other element may be anything.
        schemas.push(ApplicableSchema { schema: ANYTHING, certain: false });
    }
    all_of(parts, &["contains"], &mut schemas);
    schemas
}

/// Whether every form requires the property.
fn is_required(parts: &[ApplicableKeywords<'_>], name: &str) -> bool {
    parts.iter().any(|it| it.certain && list(it.keywords, "required").iter().any(|it| it == name))
}

/// The own names of properties, by their exported names, where the two differ. `required` may name a property that
/// another part describes.
fn exported_names(keywords: &Map<String, Value>) -> Map<String, Value> {
    let mut names = Map::new();
    let required = list(keywords, "required").iter().filter_map(Value::as_str);
    let properties = fields(keywords, "properties").into_iter().flat_map(Map::keys).map(String::as_str);
    for key in properties.chain(required) {
        let name = keys::exported(key);
        if name != key {
            put(&mut names, &name, key.into());
        }
    }
    names
}

#[cfg(test)]
mod tests;
