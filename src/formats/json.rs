//! Small functions that read and build JSON. The bundle holds each of them once, while inlined code would be in the
//! bundle a hundred times.

use serde_json::{Map, Value};

/// An object with these fields.
pub fn object(fields: Vec<(&str, Value)>) -> Value {
    let mut map = Map::new();
    for (key, value) in fields {
        put(&mut map, key, value);
    }
    Value::Object(map)
}

#[inline(never)]
pub fn put(map: &mut Map<String, Value>, key: &str, value: Value) {
    map.insert(key.to_owned(), value);
}

/// Adds the field, unless the object has it already.
pub fn put_new(map: &mut Map<String, Value>, key: &str, value: &Value) {
    if !map.contains_key(key) {
        put(map, key, value.clone());
    }
}

/// Appends the item, unless the list has it already.
pub fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The field, if it is a list, else an empty list.
#[inline(never)]
pub fn list<'a>(map: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    match map.get(key) {
        Some(Value::Array(list)) => list,
        _ => &[],
    }
}

/// The field, if it is an object.
#[inline(never)]
pub fn fields<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Map<String, Value>> {
    map.get(key).and_then(Value::as_object)
}

/// The field, if it is a text, else an empty text.
#[inline(never)]
pub fn text<'a>(map: &'a Map<String, Value>, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Whether the object has one of these fields.
#[inline(never)]
pub fn has_any(map: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter().any(|it| map.contains_key(*it))
}

/// A copy of the object with only these fields.
#[inline(never)]
pub fn only(map: &Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let mut kept = Map::new();
    for (key, value) in map {
        if keys.contains(&key.as_str()) {
            put(&mut kept, key, value.clone());
        }
    }
    kept
}

/// The object without these fields.
#[inline(never)]
pub fn without(map: Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let mut kept = Map::new();
    for (key, value) in map {
        if !keys.contains(&key.as_str()) {
            put(&mut kept, &key, value);
        }
    }
    kept
}
