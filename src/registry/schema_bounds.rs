//! The bounds of a schema. They are checked when a version is registered or restored.
//!
//! A schema is a program that strangers write, and that runs at every call. Without bounds, a small schema could make
//! the check of a small document take forever: `$defs` that each use the next one twice double the work at every step.

use super::bounded_pattern;
use super::subschemas::{self, ReferenceTargets, Subschema};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// How deep the JSON of a schema may be.
pub const MAX_DEPTH: usize = 100;

/// How many schemas may apply to one value, because one schema applies to it: below `allOf`, `anyOf`, `oneOf`, `not`,
/// `if`, `dependentSchemas`, and where references lead. A schema that is used twice counts twice.
pub const MAX_EXPANSION: u64 = 5_000;

/// How many of these schemas may be nested in each other. A document has up to 128 levels, and each level may need this
/// many levels of the stack.
pub const MAX_NESTING: u64 = 24;

/// How many patterns a schema may have.
pub const MAX_PATTERNS: usize = 200;

/// How many bytes all compiled patterns of a schema may have together. An isolate keeps many schemas.
pub const MAX_PATTERN_BYTES: u64 = 2 * 1024 * 1024;

/// The place and the reason of a refusal.
#[derive(Debug, PartialEq)]
pub struct SchemaFault {
    /// A JSON pointer into the schema.
    pub path: String,
    pub reason: String,
}

impl SchemaFault {
    fn new(path: &str, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), reason: reason.into() }
    }
}

/// Checks the bounds of a schema that may not even be compiled without them: compiling it could exhaust the stack.
pub fn check_structure(definition: &Value) -> Result<(), SchemaFault> {
    if let Some(path) = too_deep(definition, &mut String::new(), MAX_DEPTH) {
        return Err(SchemaFault::new(&path, format!("is deeper than {MAX_DEPTH} levels")));
    }
    let targets = ReferenceTargets::of(definition);
    let mut expansions = Expansions { targets: &targets, known: HashMap::new() };
    let mut fault = None;
    subschemas::for_each(definition, &mut String::new(), &mut |keywords, path| {
        if fault.is_none() {
            fault = expansions.of_schema(keywords, 0).reason().map(|it| SchemaFault::new(path, it));
        }
    });
    fault.map_or(Ok(()), Err)
}

fn too_deep(value: &Value, path: &mut String, left: usize) -> Option<String> {
    let mut found = None;
    let mut look = |step: &str, inner: &Value, path: &mut String| {
        subschemas::at(path, step, |path| {
            found = if left == 0 { Some(path.clone()) } else { too_deep(inner, path, left - 1) };
        });
        found.is_some()
    };
    match value {
        Value::Object(fields) => _ = fields.iter().any(|(name, inner)| look(name, inner, path)),
        Value::Array(items) => _ = items.iter().enumerate().any(|(index, it)| look(&index.to_string(), it, path)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found
}

/// Checks the patterns of a schema that compiles.
pub fn check_patterns(definition: &Value) -> Result<(), SchemaFault> {
    let (mut count, mut bytes, mut fault) = (0, 0, None);
    subschemas::for_each(definition, &mut String::new(), &mut |keywords, path| {
        for (place, pattern) in patterns(keywords, path) {
            if fault.is_some() {
                return;
            }
            count += 1;
            if count > MAX_PATTERNS {
                fault = Some(SchemaFault::new(&place, format!("is one pattern more than the {MAX_PATTERNS} allowed")));
                return;
            }
            bytes += bounded_pattern::compiled_bytes(pattern);
            if bytes > MAX_PATTERN_BYTES {
                let message = format!("makes the compiled patterns larger than {MAX_PATTERN_BYTES} bytes together");
                fault = Some(SchemaFault::new(&place, message));
            }
        }
    });
    fault.map_or(Ok(()), Err)
}

/// The patterns of one schema with their places.
fn patterns<'a>(keywords: &'a Map<String, Value>, path: &str) -> Vec<(String, &'a str)> {
    let text = keywords.get("pattern").and_then(Value::as_str).map(|it| (format!("{path}/pattern"), it));
    let names = keywords.get("patternProperties").and_then(Value::as_object);
    let names = names.into_iter().flat_map(Map::keys).map(|it| (format!("{path}/patternProperties"), it.as_str()));
    text.into_iter().chain(names).collect()
}

/// The schemas that apply to a value because one schema applies to it.
#[derive(Clone, Copy, Debug)]
struct Expansion {
    /// How many schemas are applied to check the value.
    schemas: u64,
    /// How many more are applied to find out which properties or elements the schema has evaluated, if a schema around
    /// it has `unevaluatedProperties` or `unevaluatedItems`.
    marking: u64,
    /// How many of the schemas are nested in each other.
    nesting: u64,
}

impl Expansion {
    const ONE: Self = Self { schemas: 1, marking: 0, nesting: 1 };
    /// More than [`MAX_NESTING`], without a look at the rest.
    const TOO_DEEP: Self = Self { schemas: 1, marking: 0, nesting: MAX_NESTING + 1 };
    const ENDLESS: Self = Self { schemas: u64::MAX, marking: u64::MAX, nesting: u64::MAX };

    fn reason(self) -> Option<String> {
        if self.nesting == u64::MAX {
            return Some("applies itself to the same value again, without end".into());
        }
        if self.schemas > MAX_EXPANSION {
            return Some(format!("applies more than {MAX_EXPANSION} schemas to the same value"));
        }
        let nests = self.nesting > MAX_NESTING;
        nests.then(|| format!("nests more than {MAX_NESTING} schemas about the same value in each other"))
    }
}

struct Expansions<'a> {
    targets: &'a ReferenceTargets<'a>,
    /// The expansions that are known, and none for those that are being computed.
    known: HashMap<*const Map<String, Value>, Option<Expansion>>,
}

impl<'a> Expansions<'a> {
    /// `depth` counts the schemas around this one. A long chain of references must not exhaust the stack.
    fn of_schema(&mut self, keywords: &'a Map<String, Value>, depth: u64) -> Expansion {
        if depth > MAX_NESTING {
            return Expansion::TOO_DEEP;
        }
        match self.known.get(&std::ptr::from_ref(keywords)) {
            Some(known) => return known.unwrap_or(Expansion::ENDLESS),
            None => _ = self.known.insert(keywords, None),
        }
        let mut sum = Expansion::ONE;
        let parts = subschemas::same(keywords).map(|Subschema { schema, .. }| schema);
        for part in parts.chain(self.targets.of_schema(keywords)) {
            let part = part.as_object().map_or(Expansion::ONE, |it| self.of_schema(it, depth + 1));
            sum.schemas = sum.schemas.saturating_add(part.schemas);
            sum.marking = sum.marking.saturating_add(part.schemas).saturating_add(part.marking);
            sum.nesting = sum.nesting.max(part.nesting.saturating_add(1));
        }
        if keywords.contains_key("unevaluatedProperties") || keywords.contains_key("unevaluatedItems") {
            sum.schemas = sum.schemas.saturating_add(sum.marking);
        }
        self.known.insert(keywords, Some(sum));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn refused(definition: &Value, path: &str, reason: &str) {
        let fault = check_structure(definition).and_then(|()| check_patterns(definition)).unwrap_err();
        assert_eq!(fault.path, path, "{fault:?}");
        assert!(fault.reason.contains(reason), "{fault:?}");
    }

    #[track_caller]
    fn accepted(definition: &Value) {
        assert_eq!(check_structure(definition).and_then(|()| check_patterns(definition)), Ok(()), "{definition}");
    }

    /// Definitions that each use the next one twice.
    fn bomb(levels: usize, keyword: &str) -> Value {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({keyword: [next, next]}));
        }
        definitions.insert(format!("d{levels}"), json!({"type": "object"}));
        json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    }

    #[test]
    fn what_grows_without_bound_is_refused_with_its_place() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            accepted(&bomb(8, keyword));
            refused(&bomb(20, keyword), "/properties/x", "applies more than 5000 schemas");
        }
        refused(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}), "", "without end");
        refused(&json!({"properties": {"a": {"not": {"$ref": "#/properties/a"}}}}), "/properties/a", "without end");
        accepted(&json!({"properties": {"next": {"$ref": "#"}}, "items": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}));
    }

    #[test]
    fn nested_unevaluated_keywords_count_as_often_as_they_are_applied() {
        let mut nested = json!({});
        for _ in 0..12 {
            nested = json!({"allOf": [nested], "unevaluatedProperties": false});
        }
        refused(&nested, "", "applies more than 5000 schemas");
    }

    #[test]
    fn depth_is_bounded() {
        let nest = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"items": inner}));
        accepted(&nest(MAX_DEPTH));
        refused(&nest(MAX_DEPTH + 1), &"/items".repeat(MAX_DEPTH + 1), "deeper than 100");
        let chain = |links: usize| {
            let link = |it: usize| (format!("d{it}"), json!({"$ref": format!("#/$defs/d{}", it + 1)}));
            let mut definitions = (0..links).map(link).collect::<Map<_, _>>();
            definitions.insert(format!("d{links}"), json!({}));
            json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
        };
        accepted(&chain(MAX_NESTING as usize - 2));
        refused(&chain(MAX_NESTING as usize), "/properties/x", "nests more than 24");
    }

    #[test]
    fn patterns_are_counted_and_weighed() {
        let many = |count: usize| json!({"allOf": (0..count).map(|it| json!({"pattern": format!("^a{it}$")})).collect::<Vec<_>>()});
        accepted(&many(MAX_PATTERNS));
        refused(&many(MAX_PATTERNS + 1), "/allOf/200/pattern", "more than the 200");
        let large = |count: usize| {
            let names = (0..count).map(|it| (format!("^(a{it}?){{2000}}$"), json!(true))).collect::<Map<_, _>>();
            json!({"items": {"patternProperties": names}})
        };
        accepted(&large(1));
        refused(&large(40), "/items/patternProperties", "larger than 2097152 bytes");
    }
}
