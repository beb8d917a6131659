//! Tests of each keyword in both directions, of the messages, and of schemas that are made to be too much work.

use super::*;
use serde_json::json;

/// The obstacles as `path: message`, with a question mark if an obstacle is not certain.
fn told(from: &Value, to: &Value) -> Vec<String> {
    obstacles(from, to)
        .iter()
        .map(|it| format!("{}{}: {}", if it.certain { "" } else { "?" }, it.path, it.message))
        .collect()
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Compatible,
    Breaking,
    Unknown,
}
use Verdict::{Breaking, Compatible, Unknown};

fn verdict(from: &Value, to: &Value) -> Verdict {
    let obstacles = obstacles(from, to);
    match obstacles.iter().any(|it| it.certain) {
        true => Breaking,
        false if obstacles.is_empty() => Compatible,
        false => Unknown,
    }
}

/// Checks that the second schema takes all documents of the first, and more.
#[track_caller]
fn wider(narrow: Value, wide: Value) {
    assert_eq!(verdict(&narrow, &wide), Compatible, "{narrow} to {wide}: {:?}", told(&narrow, &wide));
    assert_eq!(verdict(&wide, &narrow), Breaking, "{wide} to {narrow}: {:?}", told(&wide, &narrow));
}

/// Checks that both schemas take the same documents.
#[track_caller]
fn same(one: Value, other: Value) {
    assert_eq!(verdict(&one, &other), Compatible, "{one} to {other}: {:?}", told(&one, &other));
    assert_eq!(verdict(&other, &one), Compatible, "{other} to {one}: {:?}", told(&other, &one));
}

#[track_caller]
fn apart(one: Value, other: Value) {
    assert_eq!(verdict(&one, &other), Breaking, "{one} to {other}: {:?}", told(&one, &other));
    assert_eq!(verdict(&other, &one), Breaking, "{other} to {one}: {:?}", told(&other, &one));
}

#[test]
fn kinds() {
    wider(json!({"type": "string"}), json!(true));
    wider(json!({"type": "integer"}), json!({"type": "number"}));
    wider(json!({"type": "string"}), json!({"type": ["string", "null"]}));
    same(json!({"type": ["integer", "number"]}), json!({"type": "number"}));
    same(json!({"type": "number", "multipleOf": 1}), json!({"type": "integer"}));
    same(json!({"type": ["null", "boolean"]}), json!({"enum": [true, null, false]}));
    same(json!({}), json!({"title": "t", "description": "d", "default": 1, "examples": [], "format": "email"}));
    apart(json!({"type": "string"}), json!({"type": "integer"}));
}

#[test]
fn numbers() {
    wider(json!({"type": "integer", "minimum": 2}), json!({"type": "integer", "minimum": 1}));
    wider(json!({"type": "number", "maximum": 2}), json!({"type": "number", "maximum": 2.5}));
    wider(json!({"type": "number", "exclusiveMaximum": 2}), json!({"type": "number", "maximum": 2}));
    same(json!({"type": "integer", "exclusiveMinimum": 0}), json!({"type": "integer", "minimum": 1}));
    same(json!({"type": "integer", "minimum": 0.5}), json!({"type": "integer", "minimum": 1.0}));
    wider(json!({"type": "integer", "multipleOf": 6}), json!({"type": "integer", "multipleOf": 3}));
    wider(json!({"type": "number", "multipleOf": 0.5}), json!({"type": "number", "multipleOf": 0.25}));
    wider(json!({"type": "number", "multipleOf": 0.1}), json!({"type": "number", "multipleOf": 0.01}));
    same(
        json!({"type": "integer", "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]}),
        json!({"type": "integer", "multipleOf": 12}),
    );
    same(json!({"type": "integer", "multipleOf": 1.5}), json!({"type": "integer", "multipleOf": 3}));
    apart(json!({"type": "integer", "multipleOf": 2}), json!({"type": "integer", "multipleOf": 3}));
    // A value that the enumeration does not hold is no obstacle.
    wider(json!({"enum": [5, 6]}), json!({"type": "integer", "minimum": 5}));
    same(json!({"enum": [1, 2, 3]}), json!({"type": "integer", "minimum": 1, "maximum": 3}));
    same(json!({"const": 1}), json!({"const": 1.0}));
    wider(json!({"type": "integer", "maximum": u64::MAX - 1}), json!({"type": "integer", "maximum": u64::MAX}));
    wider(json!({"type": "integer", "minimum": i64::MIN}), json!({"type": "integer"}));
    wider(json!({"type": "integer", "maximum": 5}), json!({"type": "integer", "maximum": 1e300}));
    wider(json!({"type": "number", "maximum": 0.3}), json!({"type": "number", "maximum": 0.4}));
}

#[test]
fn texts() {
    wider(json!({"type": "string", "minLength": 2}), json!({"type": "string", "minLength": 1}));
    wider(json!({"type": "string", "maxLength": 2}), json!({"type": "string", "maxLength": 3}));
    wider(json!({"type": "string", "pattern": "^a"}), json!({"type": "string"}));
    same(json!({"type": "string", "maxLength": 0}), json!({"const": ""}));
    wider(json!({"enum": ["ab", "é"]}), json!({"type": "string", "pattern": "^(ab|é)", "maxLength": 2}));
    apart(json!({"type": "string", "pattern": "^a"}), json!({"type": "string", "pattern": "^b"}));
    let (one, other) =
        (json!({"type": "string", "pattern": "^[a-c]{3}q$"}), json!({"type": "string", "pattern": "^[a-d]{3}q$"}));
    assert_eq!(verdict(&one, &other), Unknown);
}

#[test]
fn values() {
    wider(json!({"const": "a"}), json!({"enum": ["a", "b"]}));
    same(json!({"enum": [{"a": 1, "b": [2]}, 3]}), json!({"enum": [3.0, {"b": [2.0], "a": 1.0}]}));
    same(json!({"enum": ["a", "b"]}), json!({"anyOf": [{"const": "a"}, {"const": "b"}]}));
    same(json!({"enum": ["a", "b"]}), json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}));
    same(json!({"const": {}}), json!({"type": "object", "maxProperties": 0}));
    same(json!({"const": []}), json!({"type": "array", "maxItems": 0}));
    same(json!({"const": [1]}), json!({"type": "array", "prefixItems": [{"const": 1}], "minItems": 1, "maxItems": 1}));
    same(
        json!({"enum": [{"a": 1}, {"a": 2}]}),
        json!({"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"], "additionalProperties": false}),
    );
}

#[test]
fn lists() {
    let list = |more: Value| {
        let mut list = json!({"type": "array"});
        list.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        list
    };
    wider(list(json!({"items": {"type": "integer"}})), list(json!({"items": {"type": "number"}})));
    wider(list(json!({"minItems": 1})), list(json!({})));
    wider(list(json!({"maxItems": 1})), list(json!({"maxItems": 2})));
    wider(list(json!({"uniqueItems": true})), list(json!({})));
    wider(list(json!({"maxItems": 1})), list(json!({"uniqueItems": true})));
    same(list(json!({"maxItems": 1})), list(json!({"maxItems": 1, "uniqueItems": true})));
    same(
        list(json!({"items": {"type": "boolean"}, "uniqueItems": true})),
        list(json!({"items": {"type": "boolean"}, "uniqueItems": true, "maxItems": 2})),
    );
    wider(list(json!({"prefixItems": [{"type": "string"}]})), list(json!({})));
    wider(list(json!({"items": {"type": "string"}})), list(json!({"prefixItems": [{"type": "string"}]})));
    same(
        list(json!({"prefixItems": [{"type": "string"}, false]})),
        list(json!({"items": {"type": "string"}, "maxItems": 1})),
    );
    same(list(json!({"prefixItems": [true], "items": false})), list(json!({"maxItems": 1})));
    wider(list(json!({"contains": {"type": "integer"}})), list(json!({"contains": {"type": "number"}})));
    wider(list(json!({"minItems": 1, "items": {"type": "integer"}})), list(json!({"contains": {"type": "integer"}})));
    same(
        list(json!({"contains": {"type": "null"}, "minContains": 2})),
        list(json!({"contains": {"const": null}, "minContains": 2})),
    );
}

#[test]
fn objects() {
    let object = |more: Value| {
        let mut object = json!({"type": "object"});
        object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object
    };
    wider(object(json!({"required": ["a"]})), object(json!({})));
    wider(
        object(json!({"properties": {"a": {"type": "integer"}}})),
        object(json!({"properties": {"a": {"type": "number"}}})),
    );
    wider(
        object(json!({"properties": {"a": true}, "additionalProperties": false})),
        object(json!({"properties": {"a": true, "b": true}, "additionalProperties": false})),
    );
    // A field that took any value may get a description.
    wider(
        object(json!({"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}})),
        object(
            json!({"properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "additionalProperties": {"type": "integer"}}),
        ),
    );
    wider(object(json!({"minProperties": 1})), object(json!({})));
    wider(object(json!({"required": ["a", "b"]})), object(json!({"minProperties": 2})));
    same(
        object(json!({"properties": {"a": true}, "additionalProperties": false})),
        object(json!({"properties": {"a": true}, "additionalProperties": false, "maxProperties": 1})),
    );
    wider(
        object(json!({"patternProperties": {"^x": {"type": "integer"}}})),
        object(json!({"patternProperties": {"^x": {"type": "number"}}})),
    );
    wider(object(json!({"patternProperties": {"^x": false}})), object(json!({"properties": {"xa": false}})));
    wider(
        object(json!({"additionalProperties": {"type": "integer"}})),
        object(json!({"patternProperties": {"^x": {"type": "integer"}}})),
    );
    wider(object(json!({"propertyNames": {"maxLength": 2}})), object(json!({"propertyNames": {"maxLength": 3}})));
    wider(object(json!({"required": ["a"]})), object(json!({"dependentRequired": {"b": ["a"]}})));
    wider(object(json!({"properties": {"b": false}})), object(json!({"dependentSchemas": {"b": {"required": ["a"]}}})));
    // A field that cannot be present may be described in any way.
    same(
        object(json!({"properties": {"a": false}})),
        object(json!({"properties": {"a": {"type": "string", "enum": [1]}}})),
    );
}

#[test]
fn combinations() {
    same(json!({"type": ["string", "null"]}), json!({"anyOf": [{"type": "null"}, {"type": "string"}]}));
    wider(
        json!({"type": "integer", "minimum": 0, "maximum": 9}),
        json!({"anyOf": [{"type": "integer", "maximum": 4}, {"type": "integer", "minimum": 5}]}),
    );
    same(
        json!({"type": "integer"}),
        json!({"oneOf": [{"type": "integer", "maximum": 4}, {"type": "integer", "exclusiveMinimum": 4}]}),
    );
    wider(
        json!({"oneOf": [{"type": "integer"}, {"multipleOf": 2}]}),
        json!({"anyOf": [{"type": "integer"}, {"multipleOf": 2}]}),
    );
    same(
        json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}),
        json!({"type": "number", "not": {"type": "integer"}}),
    );
    same(json!({"allOf": [{"minimum": 1}, {"type": "integer"}]}), json!({"type": "integer", "minimum": 1}));
    same(json!({"not": {"not": {"type": "null"}}}), json!({"type": "null"}));
    same(
        json!({"if": {"type": "string"}, "then": {"maxLength": 1}, "else": false}),
        json!({"type": "string", "maxLength": 1}),
    );
    same(
        json!({"type": "object", "properties": {"a": {"type": ["integer", "null"]}}}),
        json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}),
    );
    // No single alternative takes all values.
    same(
        json!({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}),
        json!({"anyOf": ([true, false].map(|it| json!({"type": "object", "properties": {"a": {"const": it}}, "required": ["a"]})))}),
    );
}

/// Many alternatives that one field tells apart.
fn union(kinds: std::ops::Range<usize>, maximum: usize) -> Value {
    let alternative = |kind: usize| {
        json!({
            "type": "object",
            "properties": {
                "kind": {"const": format!("k{kind}")},
                "a": {"type": "integer", "maximum": maximum + kind}, "b": {"type": "string"}, "c": {"items": {"type": "null"}},
            },
            "required": ["kind", "a"],
            "additionalProperties": false,
        })
    };
    json!({"oneOf": kinds.map(alternative).collect::<Vec<_>>()})
}

#[test]
fn alternatives_that_a_field_tells_apart() {
    wider(union(0..12, 10), union(0..13, 10));
    wider(union(0..12, 10), union(0..12, 11));
    wider(union(0..12, 10), union(0..13, 11));
}

#[test]
fn references() {
    let tree = |value: Value| {
        json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {
                "type": "object",
                "properties": {"value": value, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["value"],
                "additionalProperties": false,
            }},
        })
    };
    wider(tree(json!({"type": "integer"})), tree(json!({"type": "number"})));
    let other = json!({
        "type": "object",
        "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["value"],
        "additionalProperties": false,
    });
    same(tree(json!({"type": "integer"})), other);
    assert_eq!(
        told(&tree(json!({"type": "number"})), &tree(json!({"type": "integer"}))),
        ["/value: no longer takes numbers with a fraction"],
    );
    same(
        json!({"$ref": "#/$defs/a~1b", "maximum": 5, "$defs": {"a/b": {"type": "integer"}}}),
        json!({"type": "integer", "maximum": 5}),
    );
    let anchored = json!({"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}});
    assert_eq!(verdict(&json!({"type": "null"}), &anchored), Unknown);
}

#[test]
fn what_is_not_understood_may_still_be_the_same() {
    let tuple = |more: Value| json!({"properties": {"a": {"prefixItems": [more], "unevaluatedItems": false}, "b": {}}});
    let described = json!({"properties": {"a": {"prefixItems": [{}], "unevaluatedItems": false}}, "title": "t"});
    same(tuple(json!({})), described);
    for (one, other) in [(json!({}), json!({"type": "null"})), (json!({"type": "null"}), json!({}))] {
        assert_eq!(verdict(&tuple(one), &tuple(other)), Unknown);
    }
    assert_eq!(verdict(&json!({"$dynamicRef": "#a"}), &json!({"$dynamicRef": "#a", "title": "t"})), Unknown);
}

#[test]
fn a_list_without_end_is_no_document() {
    let endless = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]});
    assert_eq!(
        told(&endless, &json!({"type": "string"})),
        ["?: nothing could be given here so far, so it cannot be told what is taken no longer"]
    );
}

#[test]
fn what_is_told() {
    let from = json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "maximum": 50},
            "order": {"enum": ["rank", "date", "size"]},
            "query": {"type": ["string", "null"], "minLength": 1},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"a/b": {"type": "number"}}}},
            "gone": {},
            "filter": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"x": {"type": "integer"}}}]},
        },
        "additionalProperties": false,
    });
    let to = json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "maximum": 20},
            "order": {"enum": ["rank"]},
            "query": {"type": "string", "minLength": 2, "pattern": "^a"},
            "rows": {"type": "array", "maxItems": 3, "items": {"type": "object", "properties": {"a/b": {"type": "integer"}}}},
            "filter": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"x": {"type": "integer", "minimum": 1}}}]},
        },
        "required": ["limit"],
        "additionalProperties": false,
    });
    let mut told = told(&from, &to);
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "/filter/x: now has a minimum of 1",
            "/limit: the maximum went from 50 to 20",
            "/order: no longer takes \"date\", \"size\"",
            "/query: must now fit the pattern `^a`",
            "/query: no longer takes null",
            "/query: the minimum length went from 1 to 2",
            "/rows/*/a~1b: no longer takes numbers with a fraction",
            "/rows: now has a maximum number of elements of 3",
            ": `gone` is no longer taken",
            ": `limit` is now required",
        ],
    );
}

#[test]
fn closing() {
    for (open, expected) in [
        (json!({"type": "object"}), json!({"type": "object"})),
        (json!({"properties": {"a": {}}}), json!({"properties": {"a": {}}, "additionalProperties": false})),
        (
            json!({"properties": {}, "additionalProperties": true}),
            json!({"properties": {}, "additionalProperties": true}),
        ),
        (
            json!({"properties": {}, "unevaluatedProperties": {}}),
            json!({"properties": {}, "unevaluatedProperties": {}}),
        ),
        // Objects are closed at every depth.
        (
            json!({"items": {"properties": {"a": {"properties": {}}}}, "$defs": {"d": {"items": {"properties": {}}}}}),
            json!({
                "items": {"properties": {"a": {"properties": {}, "additionalProperties": false}}, "additionalProperties": false},
                "$defs": {"d": {"items": {"properties": {}, "additionalProperties": false}}},
            }),
        ),
        // The whole is closed, not its parts.
        (
            json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}),
            json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false}),
        ),
        // A definition is closed where it is referred to, because it may be a part there.
        (
            json!({"items": {"$ref": "#/$defs/d"}, "$defs": {"d": {"properties": {"a": {}}}}}),
            json!({"items": {"$ref": "#/$defs/d", "unevaluatedProperties": false}, "$defs": {"d": {"properties": {"a": {}}}}}),
        ),
        // A required field counts as described.
        (
            json!({"properties": {"a": {}}, "required": ["a", "b"]}),
            json!({"properties": {"a": {}, "b": true}, "required": ["a", "b"], "additionalProperties": false}),
        ),
        // A condition is not closed.
        (json!({"not": {"properties": {"a": {"const": 1}}}}), json!({"not": {"properties": {"a": {"const": 1}}}})),
    ] {
        assert_eq!(closed(&open), expected);
    }
}

#[test]
fn a_whole_may_be_a_part_elsewhere() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {
            "a": {"$ref": "#/$defs/d"},
            "more": {"allOf": [{"$ref": "#"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]},
        },
        "$defs": {"d": {"type": "string"}},
    });
    let closed = closed(&schema);
    assert_eq!(closed["unevaluatedProperties"], json!(false));
    assert_eq!(closed["allOf"][0]["properties"]["a"]["$ref"], "#/allOf/0/$defs/d");
    assert_eq!(closed["allOf"][0]["properties"]["more"]["allOf"][0]["$ref"], "#/allOf/0");
    let validator = jsonschema::draft202012::new(&closed).unwrap();
    assert!(validator.is_valid(&json!({"more": {"a": "x", "b": 1}})));
    assert!(!validator.is_valid(&json!({"b": 1})));
    assert!(!validator.is_valid(&json!({"more": {"b": 1, "c": 1}})));
    assert!(!validator.is_valid(&json!({"a": 1})));
}

#[test]
fn closed_compositions_are_compared() {
    let composed = |more: Value| {
        closed(&json!({
            "allOf": [{"$ref": "#/$defs/base"}, {"properties": more}],
            "$defs": {"base": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
        }))
    };
    wider(composed(json!({"a": {}})), composed(json!({"a": {}, "b": {}})));
    same(
        composed(json!({"a": {"type": "null"}})),
        closed(
            &json!({"type": "object", "properties": {"id": {"type": "integer"}, "a": {"type": "null"}}, "required": ["id"]}),
        ),
    );
    let either = |b: Value| {
        closed(
            &json!({"type": "object", "anyOf": [{"properties": {"a": {"type": "null"}}, "required": ["a"]}, {"properties": {"b": b}}]}),
        )
    };
    wider(either(json!({"type": "integer"})), either(json!({"type": "number"})));
}

/// Checks that a comparison ends soon, and does not answer "compatible".
#[track_caller]
fn hostile(schema: &Value) {
    let changed = json!({"allOf": [schema, {"type": ["object", "array", "string"], "title": "t"}]});
    for (from, to) in [(schema, &changed), (&changed, schema)] {
        let _ = obstacles(&closed(from), &closed(to));
    }
    assert!(!obstacles(&closed(schema), &json!({"type": "null"})).is_empty());
}

#[test]
fn hostile_schemas_come_to_an_end() {
    let mut deep = json!({"type": "string"});
    for _ in 0..120 {
        deep = json!({"properties": {"a": deep}});
    }
    hostile(&deep);
    let mut deep = json!({"type": "string"});
    for _ in 0..120 {
        deep = json!({"anyOf": [deep, {"minLength": 1}]});
    }
    hostile(&deep);
    for keyword in ["anyOf", "allOf", "oneOf"] {
        // The number doubles at every step.
        let mut defs = serde_json::Map::new();
        for index in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", index + 1)});
            defs.insert(format!("d{index}"), json!({keyword: [next, {"properties": {"p": next}}, next]}));
        }
        defs.insert("d40".into(), json!({"properties": {"x": {}}}));
        hostile(&json!({"$ref": "#/$defs/d0", "$defs": defs}));
        hostile(&json!({keyword: [{"$ref": "#"}, {"type": "null"}]}));
        hostile(&json!({"properties": {"a": {keyword: [{"$ref": "#"}, {"properties": {"b": {"$ref": "#"}}}]}}}));
    }
    hostile(&json!({"$ref": "#"}));
    hostile(&json!({"not": {"$ref": "#"}}));
    hostile(&json!({"oneOf": (0..3_000).map(|it| json!({"minimum": it})).collect::<Vec<_>>()}));
    hostile(
        &json!({"anyOf": (0..1_000).map(|it| json!({"properties": {format!("p{it}"): {"minimum": it}}})).collect::<Vec<_>>()}),
    );
    hostile(
        &json!({"allOf": (0..500).map(|it| json!({"anyOf": [{"required": [format!("p{it}")]}, {"minProperties": it}]})).collect::<Vec<_>>()}),
    );
    hostile(
        &json!({"properties": (0..2_000).map(|it| (format!("p{it}"), json!({"maximum": it}))).collect::<serde_json::Map<_, _>>()}),
    );
    hostile(&json!({"minItems": u64::MAX, "uniqueItems": true, "minLength": u64::MAX, "minProperties": u64::MAX}));
    hostile(&json!({"prefixItems": vec![json!({"type": "string"}); 3_000], "uniqueItems": true, "minItems": 2_000}));
    let chain = (0..1_500).map(|it| (format!("d{it}"), json!({"$ref": format!("#/$defs/d{}", it + 1)})));
    hostile(&json!({"$ref": "#/$defs/d0", "$defs": chain.collect::<serde_json::Map<_, _>>()}));
}
