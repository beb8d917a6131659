//! Merges the parts of an object's schema into one object, for providers that refuse `allOf`, `anyOf` and `oneOf` at
//! the top.

use crate::formats::json::{fields, list, push_new, put, put_new, without};
use serde_json::{Map, Value};

pub fn object(
    mut schema: Map<String, Value>,
    properties: Map<String, Value>,
    required: Vec<Value>,
) -> Map<String, Value> {
    put(&mut schema, "type", "object".into());
    put(&mut schema, "properties", properties.into());
    let mut known = Vec::new();
    for name in required {
        if name.as_str().is_some_and(|it| fields(&schema, "properties").is_some_and(|all| all.contains_key(it))) {
            push_new(&mut known, name);
        }
    }
    if known.is_empty() {
        return without(schema, &["required"]);
    }
    put(&mut schema, "required", known.into());
    schema
}

/// An object's schema merged with the properties of its parts. All parts of `allOf` apply, one part of `anyOf` and of
/// `oneOf` applies, and one of `then` and `else` may apply.
pub fn merged(schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    let mut required = list(schema, "required").to_vec();
    let mut properties = fields(schema, "properties").cloned().unwrap_or_default();
    let mut is_whole = true;
    for part in objects(list(schema, "allOf"), depth) {
        is_whole = false;
        required.extend_from_slice(list(&part, "required"));
        for (name, property) in fields(&part, "properties").into_iter().flatten() {
            match properties.get_mut(name) {
                Some(there) if there == property => {}
                Some(there) => *there = either("allOf", vec![there.take(), property.clone()]),
                None => put(&mut properties, name, property.clone()),
            }
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        let variants = objects(list(schema, keyword), depth);
        is_whole &= variants.is_empty();
        for name in variants.first().map_or(&[][..], |it| list(it, "required")) {
            if variants.iter().all(|it| list(it, "required").contains(name)) {
                required.push(name.clone());
            }
        }
        add_variants(&mut properties, &variants);
    }
    for keyword in ["then", "else"] {
        for part in objects(schema.get(keyword).map_or(&[], std::slice::from_ref), depth) {
            is_whole = false;
            for (name, property) in fields(&part, "properties").into_iter().flatten() {
                put_new(&mut properties, name, property);
            }
        }
    }
    let mut rest = without(schema.clone(), &["allOf", "anyOf", "oneOf", "then", "else"]);
    if !is_whole {
        // These keywords referred to the properties beside them. The merged properties are now beside them too.
        rest = without(rest, &["additionalProperties", "unevaluatedProperties"]);
    }
    object(rest, properties, required)
}

fn add_variants(properties: &mut Map<String, Value>, variants: &[Map<String, Value>]) {
    let mut all = Map::new();
    for (name, form) in variants.iter().filter_map(|it| fields(it, "properties")).flatten() {
        match all.get_mut(name) {
            Some(Value::Array(forms)) => forms.push(form.clone()),
            _ => put(&mut all, name, vec![form.clone()].into()),
        }
    }
    for (name, said) in &all {
        let mut forms = Vec::new();
        for form in said.as_array().into_iter().flatten() {
            push_new(&mut forms, form.clone());
        }
        match properties.get_mut(name) {
            Some(there) if forms.iter().all(|it| it == there) => {}
            // One of the forms applies only if every variant describes the property.
            Some(Value::Object(there)) if list(&all, name).len() == variants.len() => {
                put_new(there, "anyOf", &forms.into());
            }
            Some(_) => {}
            None if forms.len() == 1 => put(properties, name, forms.remove(0)),
            None => put(properties, name, either("anyOf", forms)),
        }
    }
}

fn either(keyword: &str, forms: Vec<Value>) -> Value {
    crate::formats::json::object(vec![(keyword, forms.into())])
}

fn objects(parts: &[Value], depth: usize) -> Vec<Map<String, Value>> {
    if depth == 0 {
        return Vec::new();
    }
    parts.iter().filter_map(Value::as_object).map(|it| merged(it, depth - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        assert_eq!(merged(schema.as_object().unwrap(), 9).get("properties"), Some(&expected));
    }

    #[test]
    fn what_several_forms_say_alike_is_said_once() {
        let text = json!({"type": "string"});
        let form = |kind: &str| json!({"properties": {"id": text, "kind": {"const": kind}}});
        check(
            json!({"oneOf": [form("a"), form("b"), form("b")]}),
            json!({"id": text, "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]}}),
        );
        check(
            json!({"properties": {"id": text, "kind": text}, "anyOf": [form("a"), form("b")]}),
            json!({"id": text, "kind": {"type": "string", "anyOf": [{"const": "a"}, {"const": "b"}]}}),
        );
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "this runs on the host")]
    fn many_forms_take_no_time() {
        let form = |it: usize| json!({"properties": {"kind": {"const": it}, "id": {"type": "string"}, "to": {}}});
        let many = json!({"oneOf": (0..700).map(form).collect::<Vec<_>>()});
        let begun = std::time::Instant::now();
        let merged = merged(many.as_object().unwrap(), 9);
        assert_eq!(merged["properties"]["kind"]["anyOf"].as_array().unwrap().len(), 700);
        assert!(begun.elapsed().as_secs() < 2);
    }
}
