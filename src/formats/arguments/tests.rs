use super::*;
use serde_json::json;

#[track_caller]
fn check(schema: Value, given: Value, expected: Value) {
    let mut arguments = given;
    restore(&Schema::compile(schema).unwrap(), &mut arguments);
    assert_eq!(arguments, expected);
}

fn exported(key: &str) -> String {
    keys::exported(key).into_owned()
}

#[test]
fn properties_get_their_own_names_back_at_every_depth() {
    let (first, second) = (exported("a b"), exported("ü"));
    let schema = json!({
        "properties": {"a b": {"items": {"$ref": "#/$defs/row"}}, "c": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/row"}]}},
        "additionalProperties": {"$ref": "#/$defs/row"},
        "$defs": {"row": {"allOf": [{"properties": {"ü": true}}]}},
    });
    let row = json!({second.as_str(): 1, "x": 2});
    check(
        schema,
        json!({first.as_str(): [row, 7], "c": row, "more": row}),
        json!({"a b": [{"ü": 1, "x": 2}, 7], "c": {"ü": 1, "x": 2}, "more": {"ü": 1, "x": 2}}),
    );
}

#[test]
fn a_name_that_the_schema_has_itself_stays() {
    let name = exported("a b");
    let schema = json!({"properties": {"a b": {}, name.as_str(): {}}});
    check(schema, json!({name.as_str(): 1}), json!({name.as_str(): 1}));
    check(json!({"properties": {"a b": {}}}), json!({"a b": 1}), json!({"a b": 1}));
}

#[test]
fn a_null_for_what_may_be_left_out_is_left_out() {
    let schema = json!({
        "properties": {
            "text": {"type": "string"}, "needed": {"type": "string"}, "any": {}, "maybe": {"type": ["string", "null"]},
            "one": {"enum": [1, null]}, "two": {"enum": [1, 2]}, "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "neither": {"$ref": "#/$defs/x"}, "in": {"properties": {"deep": {"const": 1}}},
        },
        "required": ["needed"], "$defs": {"x": {"type": "integer"}},
    });
    check(
        schema,
        json!({"text": null, "needed": null, "any": null, "maybe": null, "one": null, "two": null, "either": null,
            "neither": null, "in": {"deep": null}, "unknown": null}),
        json!({"needed": null, "any": null, "maybe": null, "one": null, "either": null, "in": {}, "unknown": null}),
    );
}

#[test]
fn what_only_one_form_requires_may_be_left_out() {
    let file =
        json!({"properties": {"kind": {"const": "file"}, "path": {"type": "string"}}, "required": ["kind", "path"]});
    let url = json!({"properties": {"kind": {"const": "url"}, "url": {"type": "string"}}, "required": ["kind", "url"]});
    let given = json!({"kind": "file", "path": "/a", "url": null});
    let expected = json!({"kind": "file", "path": "/a"});
    check(json!({"oneOf": [file, url], "required": ["kind"]}), given.clone(), expected.clone());
    check(json!({"properties": {"in": {"anyOf": [file, url]}}}), json!({"in": given}), json!({"in": expected}));
    // A schema that may apply does not undo a schema that certainly applies.
    let then =
        json!({"properties": {"a": {"type": "string"}}, "then": {"properties": {"a": {"minLength": 2}}}, "if": true});
    check(then, json!({"a": null}), json!({}));
    let surely = json!({"allOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"properties": {"a": {"type": "string"}}, "required": ["a"]}}});
    check(surely, json!({"a": null}), json!({"a": null}));
    check(json!({"properties": {"a": {"anyOf": [{"type": "string"}, {}]}}}), json!({"a": null}), json!({"a": null}));
}

#[test]
fn an_object_may_come_as_text_where_no_text_fits() {
    let schema = json!({"properties": {
        "map": {"type": "object"}, "either": {"type": ["object", "string"]}, "any": {}, "text": {"type": "string"},
        "maybe": {"type": ["object", "null"]}, "optional": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "open": {"anyOf": [{"type": "object"}, {}]}, "maps": {"items": {"$ref": "#/$defs/map"}},
    }, "$defs": {"map": {"type": "object"}}});
    let (text, object) = ("\n {\"a\": 1}", json!({"a": 1}));
    check(
        schema.clone(),
        json!({"map": text, "either": text, "any": text, "text": text, "maybe": text, "optional": text, "open": text, "maps": [text]}),
        json!({"map": object, "either": text, "any": text, "text": text, "maybe": object, "optional": object, "open": text, "maps": [object]}),
    );
    check(schema, json!({"map": "{broken"}), json!({"map": "{broken"}));
}

#[test]
fn every_keyword_is_followed_in_which_names_are_handed_out() {
    let name = exported("a b");
    let row = json!({"type": "object", "properties": {"a b": true}});
    let (given, expected) = (json!({name.as_str(): 1}), json!({"a b": 1}));
    for of_object in [
        json!({"patternProperties": {"^x": row}}),
        json!({"unevaluatedProperties": row}),
        json!({"properties": {"x": {"$dynamicRef": "#row"}}, "$defs": {"row": {"$dynamicAnchor": "row", "properties": {"a b": true}}}}),
    ] {
        check(of_object, json!({"x": given}), json!({"x": expected}));
    }
    for keyword in ["contains", "unevaluatedItems", "items"] {
        check(json!({"properties": {"x": {keyword: row}}}), json!({"x": [given]}), json!({"x": [expected]}));
    }
    check(json!({"required": ["a b"], "additionalProperties": true}), given, expected);
}

#[test]
fn a_text_that_may_fit_stays() {
    let text = json!("{\"a\": 1}");
    let object = json!({"type": "object"});
    let free = json!({"note": text});
    check(json!({"patternProperties": {"^x-": object}}), free.clone(), free.clone());
    check(
        json!({"patternProperties": {"^x-": object}, "additionalProperties": object}),
        free,
        json!({"note": {"a": 1}}),
    );
    let list = json!({"list": [text, {}]});
    check(json!({"properties": {"list": {"contains": object}}}), list.clone(), list.clone());
    check(json!({"properties": {"list": {"items": object}}}), list, json!({"list": [{"a": 1}, {}]}));
}

#[test]
fn a_text_that_holds_too_much_stays() {
    let schema = json!({"properties": {"x": {"type": "object"}, "y": {"type": "object"}}});
    let large = format!("{{\"a\": [{}0]}}", "0,".repeat(MAX_VALUES / 2));
    let mut arguments = json!({"x": large, "y": large});
    restore(&Schema::compile(schema).unwrap(), &mut arguments);
    assert!(arguments["x"].is_object() && arguments["y"].is_string(), "together they are too many");
}

#[test]
fn a_circle_comes_to_an_end() {
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n x": {"$ref": "#/$defs/n"}}}}});
    let name = exported("n x");
    check(schema, json!({name.as_str(): {name.as_str(): {}}}), json!({"n x": {"n x": {}}}));
    check(json!({"allOf": [{"$ref": "#"}]}), json!({"a": null}), json!({"a": null}));
}
