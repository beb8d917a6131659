//! The parts of a schema that are schemas themselves: which of them apply to the same value as the schema, and which
//! apply to the values inside.

use super::reference::{References, has_resources};
use serde_json::{Map, Value};

/// Keywords whose schemas apply to the same value. `dependencies` is the old name of `dependentSchemas`.
const SAME: [&str; 4] = ["not", "if", "then", "else"];
const SAME_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SAME_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords that refer to a schema, which applies to the same value.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords whose schemas apply to the values inside. `items` may be a list in old drafts.
const INSIDE: [&str; 7] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];
const INSIDE_LISTS: [&str; 2] = ["prefixItems", "items"];
const INSIDE_MAPS: [&str; 2] = ["properties", "patternProperties"];

/// Keywords whose schemas apply only where a reference leads to them.
const HELD: [&str; 2] = ["$defs", "definitions"];

/// A schema below a keyword.
pub struct Subschema<'a> {
    pub keyword: &'static str,
    pub schema: &'a Value,
}

/// The schemas that apply to the same value, without those that a reference leads to.
pub fn same<'a>(keywords: &'a Map<String, Value>) -> impl Iterator<Item = Subschema<'a>> {
    let single = SAME.into_iter().filter_map(|it| Some(Subschema { keyword: it, schema: keywords.get(it)? }));
    single.chain(of_lists(keywords, &SAME_LISTS)).chain(of_maps(keywords, &SAME_MAPS))
}

/// The schemas that apply to the values inside.
pub fn inside<'a>(keywords: &'a Map<String, Value>) -> impl Iterator<Item = Subschema<'a>> {
    let single = INSIDE.into_iter().filter_map(|it| Some(Subschema { keyword: it, schema: keywords.get(it)? }));
    single.chain(of_lists(keywords, &INSIDE_LISTS)).chain(of_maps(keywords, &INSIDE_MAPS))
}

fn of_lists<'a>(
    keywords: &'a Map<String, Value>,
    names: &'static [&'static str],
) -> impl Iterator<Item = Subschema<'a>> {
    names.iter().flat_map(|it| {
        let parts = keywords.get(*it).and_then(Value::as_array).into_iter().flatten();
        parts.map(|schema| Subschema { keyword: it, schema })
    })
}

fn of_maps<'a>(
    keywords: &'a Map<String, Value>,
    names: &'static [&'static str],
) -> impl Iterator<Item = Subschema<'a>> {
    names.iter().flat_map(|it| {
        let parts = keywords.get(*it).and_then(Value::as_object).into_iter().flat_map(Map::values);
        parts.map(|schema| Subschema { keyword: it, schema })
    })
}

/// Every schema of a document with its JSON pointer, from the outside to the inside.
pub fn for_each<'a>(schema: &'a Value, path: &mut String, found: &mut impl FnMut(&'a Map<String, Value>, &str)) {
    let Some(keywords) = schema.as_object() else { return };
    found(keywords, path);
    for (keyword, value) in keywords {
        let keyword = keyword.as_str();
        if SAME.contains(&keyword) || INSIDE.contains(&keyword) {
            at(path, keyword, |path| for_each(value, path, found));
        }
        if SAME_LISTS.contains(&keyword) || INSIDE_LISTS.contains(&keyword) {
            for (index, part) in value.as_array().into_iter().flatten().enumerate() {
                at(path, keyword, |path| at(path, &index.to_string(), |path| for_each(part, path, found)));
            }
        }
        if SAME_MAPS.contains(&keyword) || INSIDE_MAPS.contains(&keyword) || HELD.contains(&keyword) {
            for (name, part) in value.as_object().into_iter().flatten() {
                at(path, keyword, |path| at(path, name, |path| for_each(part, path, found)));
            }
        }
    }
}

/// Runs `inner` with one more step in the JSON pointer `path`.
pub fn at(path: &mut String, step: &str, inner: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(&step.replace('~', "~0").replace('/', "~1"));
    inner(path);
    path.truncate(length);
}

/// Finds every schema that a reference may lead to.
pub struct ReferenceTargets<'a> {
    references: References<'a>,
    /// The parts that have an `$id` of their own. A reference inside such a part counts from the part.
    resources: Vec<&'a Value>,
    /// The schemas by their anchors.
    anchors: Vec<(&'a str, &'a Value)>,
}

impl<'a> ReferenceTargets<'a> {
    pub fn of(root: &'a Value) -> Self {
        let mut targets = Self { references: References::of(root), resources: Vec::new(), anchors: Vec::new() };
        let with_resources = has_resources(root, true);
        collect(root, &mut |part, keywords| {
            if with_resources && keywords.get("$id").is_some_and(Value::is_string) {
                targets.resources.push(part);
            }
            for keyword in ["$anchor", "$dynamicAnchor"] {
                targets.anchors.extend(keywords.get(keyword).and_then(Value::as_str).map(|it| (it, part)));
            }
        });
        targets
    }

    /// The schemas that the references of a schema lead to. Where the target cannot be known for sure, all schemas that
    /// it could be are returned: then the work is overestimated, and never underestimated.
    pub fn of_schema(&self, keywords: &'a Map<String, Value>) -> Vec<&'a Value> {
        let mut found: Vec<&'a Value> = Vec::new();
        let mut add = |target: &'a Value| {
            if !found.iter().any(|it| std::ptr::eq(*it, target)) {
                found.push(target);
            }
        };
        for (keyword, reference) in REFERENCES.iter().filter_map(|it| Some((*it, keywords.get(*it)?.as_str()?))) {
            let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
            if document.is_empty() && self.resources.is_empty() {
                match self.references.follow(keywords, keyword) {
                    Some(target) => add(target),
                    None => self.anchors.iter().filter(|(it, _)| *it == fragment).for_each(|(_, target)| add(target)),
                }
                continue;
            }
            for root in self.resources.iter().copied().chain([self.references.root]) {
                if !may_be_named(root, document) {
                    continue;
                }
                if let Some(target) = super::reference::target(root, &Value::from(format!("#{fragment}"))) {
                    add(target);
                }
            }
            self.anchors.iter().filter(|(it, _)| *it == fragment).for_each(|(_, target)| add(target));
        }
        found
    }
}

/// Whether a reference to this document may mean a part. Their last path segments are compared, because the rest depends
/// on the parts around the reference.
fn may_be_named(part: &Value, document: &str) -> bool {
    let last = |it: &str| it.trim_end_matches('#').rsplit('/').next().unwrap_or_default().to_owned();
    let id = part.get("$id").and_then(Value::as_str);
    document.is_empty() || id.is_none_or(|it| last(it) == last(document))
}

fn collect<'a>(schema: &'a Value, found: &mut impl FnMut(&'a Value, &'a Map<String, Value>)) {
    match schema {
        Value::Object(keywords) => {
            found(schema, keywords);
            keywords.values().for_each(|it| collect(it, found));
        }
        Value::Array(parts) => parts.iter().for_each(|it| collect(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_schema_is_found_with_its_place() {
        let schema = json!({
            "properties": {"a/b": {"items": {}}, "c": true},
            "prefixItems": [{}], "allOf": [{"not": {}}], "$defs": {"d": {}}, "const": {"properties": {"x": {}}},
            "dependentSchemas": {"e": {}},
        });
        let mut places = Vec::new();
        for_each(&schema, &mut String::new(), &mut |_, place| places.push(place.to_owned()));
        places.sort_unstable();
        let expected = [
            "",
            "/$defs/d",
            "/allOf/0",
            "/allOf/0/not",
            "/dependentSchemas/e",
            "/prefixItems/0",
            "/properties/a~1b",
            "/properties/a~1b/items",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_reference_may_lead_to_several_schemas() {
        let root = json!({
            "$ref": "#/$defs/a", "not": {"$dynamicRef": "#n"}, "if": {"$ref": "b.json#/$defs/c"},
            "$defs": {"a": {"$dynamicAnchor": "n"}, "b": {"$dynamicAnchor": "n"}},
        });
        let targets = ReferenceTargets::of(&root);
        let count = |root: &Value, part: &str| {
            ReferenceTargets::of(root).of_schema(root.pointer(part).unwrap().as_object().unwrap()).len()
        };
        assert!(std::ptr::eq(targets.of_schema(root.as_object().unwrap())[0], &root["$defs"]["a"]));
        assert_eq!((count(&root, ""), count(&root, "/not"), count(&root, "/if")), (1, 2, 0));
        let nested =
            json!({"$defs": {"b": {"$id": "b.json", "$defs": {"c": {}}, "not": {"$ref": "#/$defs/c"}}, "c": {}}});
        assert_eq!(count(&nested, "/$defs/b/not"), 2, "the whole and the part both have such a schema");
        let bundle = json!({"$id": "https://a.example/top", "$ref": "part", "$defs": {"p": {"$id": "part"}}});
        assert_eq!(count(&bundle, ""), 1);
    }
}
