//! Whole documents, from the text to the offers.

use super::*;
use crate::registry::{Handler, QueryStyle, RestBody, RestHandler, RestMethod, Risk};
use crate::stopwatch::computed;
use crate::upstreams::{OfferedTool, has_hidden};
use serde_json::{Value, json};
use std::time::Duration;

const URL: &str = "https://api.example.com/docs/openapi.json";

fn read_with(document: &Value, include: Option<Value>) -> Result<Offers, String> {
    let include = include.map(|it| serde_json::from_value::<Include>(it).unwrap());
    read("shop", URL, &document.to_string(), include.as_ref())
}

fn offers(paths: Value, components: Value) -> Offers {
    let document = json!({"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": paths, "components": components});
    read_with(&document, None).unwrap()
}

fn tool<'a>(offers: &'a Offers, id: &str) -> &'a OfferedTool {
    &offers.tools.iter().find(|(it, _)| it.as_str() == id).unwrap_or_else(|| panic!("{id}: {:?}", offers.warnings)).1
}

fn rest(tool: &OfferedTool) -> &RestHandler {
    let Handler::Rest(rest) = &tool.handler else { unreachable!("operations are rest") };
    rest
}

fn schema(tool: &OfferedTool) -> Value {
    serde_json::from_str(&tool.parameters_schema).unwrap()
}

fn ids(offers: &Offers) -> Vec<&str> {
    offers.tools.iter().map(|(id, _)| id.as_str()).collect()
}

/// The only warning.
fn warning(offers: &Offers) -> (Option<&str>, &str) {
    assert_eq!(offers.warnings.len(), 1, "{:?}", offers.warnings);
    (offers.warnings[0].tool.as_deref(), &offers.warnings[0].message)
}

/// Quadratic work would take minutes.
#[track_caller]
fn assert_soon(began: Duration) {
    let took = computed().saturating_sub(began);
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn an_operation_becomes_a_tool() {
    let offers = offers(
        json!({"/orders/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}, "description": "The order"}],
            "put": {
                "operationId": "orders/update", "summary": "Update an order", "description": "Replaces the order.",
                "tags": ["orders"],
                "parameters": [
                    {"name": "fields", "in": "query", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}},
                    {"name": "If-Match", "in": "header", "schema": {"type": "string"}, "example": "abc"},
                    {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                ],
                "requestBody": {"required": true, "description": "The new order",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}},
                "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "other.json"}}}}},
            },
        }}),
        json!({"schemas": {"Order": {"type": "object", "properties": {"note": {"type": "string", "nullable": true}}}}}),
    );
    assert_eq!((ids(&offers), &offers.warnings, &offers.left_out), (vec!["shop.orders_update"], &vec![], &vec![]));
    let tool = tool(&offers, "shop.orders_update");
    assert_eq!((tool.name.as_str(), tool.risk_level), ("Update an order", Risk::Medium));
    assert_eq!(tool.description, "Update an order\n\nReplaces the order.");
    assert_eq!((&tool.returns_schema, tool.requires_approval), (&None, false));
    assert_eq!(
        rest(tool),
        &RestHandler {
            method: RestMethod::Put,
            query: vec!["fields".into()],
            header_params: vec!["If-Match".into()],
            body: RestBody::Json,
            styles: [("fields".to_owned(), QueryStyle::Comma)].into(),
            ..RestHandler::get("https://api.example.com/orders/{id}")
        }
    );
    assert_eq!(
        schema(tool),
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer", "description": "The order"},
                "fields": {"type": "array", "items": {"type": "string"}},
                "If-Match": {"type": "string", "examples": ["abc"]},
                "body": {"$ref": "#/$defs/Order", "description": "The new order"},
            },
            "required": ["id", "body"],
            "additionalProperties": false,
            "$defs": {"Order": {"type": "object", "properties": {"note": {"type": ["string", "null"]}}}},
        })
    );
}

#[test]
fn yaml_gives_the_same_tools_as_json() {
    let document = json!({"openapi": "3.1.0", "paths": {"/a": {"get": {"summary": "A", "parameters":
        [{"name": "n", "in": "query", "schema": {"type": ["integer", "null"], "exclusiveMinimum": 0}}]}}}});
    let yaml = "openapi: 3.1.0\npaths:\n  /a:\n    get:\n      summary: A\n      parameters:\n      - name: n\n        in: query\n        \
                schema: {type: [integer, 'null'], exclusiveMinimum: 0}\n";
    let module = "shop";
    let [one, other] = [document.to_string(), yaml.to_owned()].map(|it| read(module, URL, &it, None).unwrap().tools);
    assert_eq!(one, other);
    assert_eq!(one[0].0.as_str(), "shop.get_a");
}

#[test]
fn the_method_decides_about_the_risk() {
    let operation = || json!({"summary": "Do it"});
    let offers = offers(
        json!({"/x": {"get": operation(), "head": operation(), "post": operation(), "put": operation(), "patch": operation(),
            "delete": operation()}}),
        json!({}),
    );
    let risks = offers.tools.iter().map(|(id, it)| (id.as_str(), it.risk_level)).collect::<Vec<_>>();
    let expected = [
        ("shop.get_x", Risk::Safe),
        ("shop.head_x", Risk::Safe),
        ("shop.post_x", Risk::Medium),
        ("shop.put_x", Risk::Medium),
        ("shop.patch_x", Risk::Medium),
        ("shop.delete_x", Risk::High),
    ];
    assert_eq!(risks, expected);
}

#[test]
fn of_two_operations_with_one_id_the_second_is_left_out() {
    let offers = offers(
        json!({"/a": {"get": {"operationId": "x/y"}}, "/b": {"get": {"operationId": "x y"}}, "/c": {"get": {"operationId": "z"}}}),
        json!({}),
    );
    assert_eq!(ids(&offers), ["shop.x_y", "shop.z"]);
    assert_eq!(warning(&offers), (Some("x y"), "Left out: x/y is the tool shop.x_y already"));
    assert_eq!(rest(tool(&offers, "shop.x_y")).url, "https://api.example.com/a");
    assert!(offers.left_out.is_empty(), "the tool is offered");
}

#[test]
fn one_bad_operation_spoils_no_other() {
    let bad = [
        ("external", json!({"parameters": [{"$ref": "parameters.yaml#/x"}]}), "another document"),
        ("missing", json!({"requestBody": {"$ref": "#/components/requestBodies/None"}}), "no place"),
        (
            "multipart",
            json!({"requestBody": {"required": true, "content": {"multipart/form-data": {}}}}),
            "multipart/form-data",
        ),
        ("hidden", json!({"description": "Reads\u{202e}."}), "bidirectional"),
        ("tagged", json!({"parameters": [{"name": "q", "in": "query", "description": "\u{e0041}"}]}), "tag characters"),
        ("nameless", json!({"parameters": [{"in": "query", "required": true}]}), "no name"),
        ("serverless", json!({"servers": [{"url": "ftp://a.example"}]}), "no usable URL"),
        (
            "twice",
            json!({"parameters": [{"name": "q", "in": "query"}, {"name": "q", "in": "header", "required": true}]}),
            "twice",
        ),
        (
            "body",
            json!({"parameters": [{"name": "body", "in": "query"}], "requestBody": {"content": {"application/json": {}}}}),
            "named body",
        ),
        (
            "deep",
            json!({"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Explosive"}}}}}),
            "its schema",
        ),
    ];
    let mut paths = serde_json::Map::new();
    for (name, operation, _) in &bad {
        let mut operation = operation.clone();
        operation["operationId"] = (*name).into();
        paths.insert(format!("/{name}"), json!({ "post": operation }));
    }
    paths.insert("/fine".into(), json!({"get": {"operationId": "fine"}}));
    paths.insert("relative".into(), json!({"get": {}}));
    paths.insert("/options".into(), json!({"options": {}, "trace": {}, "get": 7, "summary": "x", "x-get": {}}));
    paths.insert("/elsewhere".into(), json!({"$ref": "other.yaml#/x"}));
    // Each of the schemas applies to the same value, twice as often as the one before.
    let mut schemas = serde_json::Map::new();
    for level in 0..20 {
        let next = json!({"$ref": format!("#/components/schemas/L{}", level + 1)});
        schemas.insert(format!("L{level}"), json!({"anyOf": [next, next]}));
    }
    schemas.insert("L20".into(), json!({"type": "string"}));
    schemas.insert("Explosive".into(), json!({"$ref": "#/components/schemas/L0"}));
    let offers = offers(Value::Object(paths), json!({ "schemas": schemas }));
    assert_eq!(ids(&offers), ["shop.fine"]);
    for (name, _, said) in &bad {
        let warning = offers.warnings.iter().find(|it| it.tool.as_deref() == Some(*name)).unwrap();
        assert!(
            warning.message.starts_with("Left out: ") && warning.message.contains(said),
            "{name}: {}",
            warning.message
        );
        assert!(offers.left_out.iter().any(|it| it.as_str() == format!("shop.{name}")), "{name}");
    }
    let warned = |tool: &str| offers.warnings.iter().filter(|it| it.tool.as_deref() == Some(tool)).count();
    assert_eq!((warned("relative"), warned("/options"), warned("/elsewhere")), (1, 3, 1));
}

#[test]
fn a_fragment_tells_variants_of_a_path_apart() {
    let offers = offers(json!({"/a/{id}": {"get": {}}, "/a/{id}#{other}": {"get": {}}}), json!({}));
    assert_eq!(ids(&offers), ["shop.get_a_id", "shop.get_a_id_other"]);
    for (_, tool) in &offers.tools {
        assert_eq!(rest(tool).url, "https://api.example.com/a/{id}");
        assert_eq!(schema(tool)["required"], json!(["id"]));
    }
}

#[test]
fn parts_that_cannot_be_sent_are_left_out_and_told() {
    let offers = offers(
        json!({"/a/{id}/{kind}": {"post": {
            "operationId": "a",
            "parameters": [
                {"name": "id", "in": "path", "required": true}, {"name": "gone", "in": "path", "required": true},
                {"name": "s", "in": "cookie"}, {"name": "id", "in": "query"},
            ],
            "requestBody": {"content": {"text/plain": {}}},
        }}}),
        json!({}),
    );
    let tool = tool(&offers, "shop.a");
    let expected = json!({"type": "object", "properties": {"id": {}, "kind": {"type": "string"}}, "required": ["id", "kind"],
        "additionalProperties": false});
    assert_eq!(schema(tool), expected);
    assert_eq!(rest(tool).body, RestBody::None);
    let told = offers.warnings.iter().map(|it| (it.tool.as_deref().unwrap(), it.message.as_str())).collect::<Vec<_>>();
    let expected = [
        ("a", "Changed: its parameter s is left out: it is a cookie"),
        ("a", "Changed: its parameter gone is left out: the path does not have it"),
        ("a", "Changed: its parameter id comes twice, in different places; the second is left out"),
        ("a", "Changed: its body is left out: it is neither JSON nor a form, but text/plain"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn names_and_descriptions_are_cut() {
    let long = "ä".repeat(9_000);
    let offers = offers(
        json!({
            "/a": {"get": {"operationId": "a", "summary": "One\nline ", "description": long}},
            "/b": {"get": {"operationId": "b"}},
            "/c": {"get": {"operationId": "c", "summary": long}},
            "/d": {"summary": "Of the path", "get": {"operationId": "d", "description": "Of the path, and more"}},
        }),
        json!({}),
    );
    assert_eq!(tool(&offers, "shop.a").name, "One line");
    assert_eq!(tool(&offers, "shop.a").description.chars().count(), 8_192);
    assert_eq!((tool(&offers, "shop.b").name.as_str(), tool(&offers, "shop.b").description.as_str()), ("b", "GET /b"));
    assert_eq!(tool(&offers, "shop.c").name.chars().count(), 200);
    assert_eq!(tool(&offers, "shop.d").description, "Of the path, and more");
}

/// A document with so many operations, each with the tag `even` or `odd` and one of its own.
fn many(count: usize) -> Value {
    let operation = |n: usize| json!({"get": {"operationId": format!("op{n}"), "tags": [if n.is_multiple_of(2) { "even" } else { "odd" }, format!("t{n}")]}});
    let paths = (0..count).map(|n| (format!("/p/{n}"), operation(n))).collect::<serde_json::Map<_, _>>();
    json!({"openapi": "3.0.0", "paths": paths})
}

#[test]
fn above_fifty_operations_somebody_has_to_choose() {
    assert_eq!(read_with(&many(50), None).unwrap().tools.len(), 50);
    let fault = read_with(&many(101), None).unwrap_err();
    assert!(
        fault.starts_with("The document has 101 operations") && fault.contains("even (51), odd (50), t0 (1)"),
        "{fault}"
    );
    assert!(fault.contains("43 more tags") && fault.len() < 2_000, "{fault}");
    assert!(read_with(&many(101), Some(json!({"hosts": ["a.example"]}))).is_err(), "hosts choose nothing");
    let untagged = json!({"openapi": "3.0.0", "paths": (0..51).map(|n| (format!("/{n}"), json!({"get": {}}))).collect::<serde_json::Map<_, _>>()});
    assert!(read_with(&untagged, None).unwrap_err().contains("without a tag (51)"));
}

#[test]
fn include_names_tags_paths_or_operations() {
    let chosen = |include: Value| {
        let offers = read_with(&many(60), Some(include)).unwrap();
        (offers.tools.len(), offers.warnings.len())
    };
    assert_eq!(chosen(json!({"tags": ["even"]})), (30, 0));
    assert_eq!(chosen(json!({"tags": ["t1"], "paths": ["/p/2"], "operations": ["op3", "op3"]})), (3, 0));
    assert_eq!(chosen(json!({"paths": ["/p/1*"]})), (11, 0));
    assert_eq!(chosen(json!({"paths": ["*"]})), (60, 0));
    assert_eq!(chosen(json!({"tags": ["none"], "operations": ["op1", "nobody"]})), (1, 2));
    let unnamed = json!({"openapi": "3.0.0", "paths": {"/a/{b}": {"get": {}}, "/c": {"get": {}}}});
    assert_eq!(ids(&read_with(&unnamed, Some(json!({"operations": ["get_a_b"]}))).unwrap()), ["shop.get_a_b"]);
}

#[test]
fn many_operations_and_many_entries_are_matched_soon() {
    let began = computed();
    let paths =
        (0..30_000).map(|n| (format!("/{n}"), json!({"get": {"tags": ["t"]}}))).collect::<serde_json::Map<_, _>>();
    let entries = (0..1_000).map(|n| format!("get_x{n}")).collect::<Vec<_>>();
    let include = json!({"operations": entries, "tags": entries, "paths": ["/7"]});
    let offers = read_with(&json!({"openapi": "3.0.0", "paths": paths}), Some(include)).unwrap();
    assert_eq!((offers.tools.len(), offers.warnings.len()), (1, 20));
    assert_soon(began);
}

#[test]
fn errors_and_warnings_hide_nothing() {
    let operation =
        json!({"operationId": "a\u{202e}b", "tags": ["a\u{e0041}"], "parameters": [{"$ref": "y\u{202e}.json"}]});
    let mut document = many(60);
    document["paths"]["/hidden"] = json!({ "get": operation });
    let fault = read_with(&document, None).unwrap_err();
    assert!(!has_hidden(&fault) && fault.contains("a (1)"), "{fault}");
    let offers = read_with(&document, Some(json!({"paths": ["/hidden"]}))).unwrap();
    let (tool, message) = warning(&offers);
    assert_eq!((tool, message.ends_with("y.json")), (Some("ab"), true), "{message}");
    assert!(!has_hidden(&read_with(&json!({"openapi": "9\u{202e}"}), None).unwrap_err()));
}

#[test]
fn a_document_without_operations_offers_nothing() {
    for paths in [json!({}), json!(null), json!([])] {
        let offers =
            read_with(&json!({"openapi": "3.1.0", "paths": paths, "webhooks": {"a": {"post": {}}}}), None).unwrap();
        assert!(offers.tools.is_empty());
        assert_eq!(warning(&offers), (None, "The document describes no operation"));
    }
}

#[test]
fn a_module_has_bounds() {
    let began = computed();
    let offers = read_with(&many(2_600), Some(json!({"paths": ["*"]}))).unwrap();
    assert_eq!((offers.tools.len(), offers.left_out.len()), (2_000, 600));
    assert_eq!(offers.warnings.len(), 501);
    assert_eq!(offers.warnings[500].message, "There are 100 more warnings");
    assert_soon(began);
    // Few bytes in the document become many in its tools.
    let words = (0..6_000).map(|n| format!("word{n}")).collect::<Vec<_>>();
    let operation =
        json!({"parameters": [{"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/Words"}}]});
    let paths = (0..300).map(|n| (format!("/{n}"), json!({ "get": operation }))).collect::<serde_json::Map<_, _>>();
    let document = json!({"openapi": "3.0.0", "paths": paths, "components": {"schemas": {"Words": {"enum": words}}}});
    let offers = read_with(&document, Some(json!({"paths": ["*"]}))).unwrap();
    let bytes = offers.tools.iter().map(|(_, it)| it.parameters_schema.len()).sum::<usize>();
    assert!(bytes <= 16 * 1024 * 1024 && !offers.left_out.is_empty(), "{bytes}");
    assert!(offers.warnings[0].message.contains("16777216 bytes"), "{:?}", offers.warnings[0]);
}

#[test]
fn hostile_documents_end_soon() {
    let began = computed();
    let module = "shop";
    let cycle = json!({"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/paths/~1b"}, "/b": {"$ref": "#/paths/~1a"}}});
    let offers = read(module, URL, &cycle.to_string(), None).unwrap();
    assert!(offers.tools.is_empty() && offers.warnings.len() == 3, "{:?}", offers.warnings);
    // Every component refers to every other one.
    let names = (0..300).map(|n| format!("#/components/schemas/S{n}")).collect::<Vec<_>>();
    let all = names.iter().map(|it| json!({"$ref": it})).collect::<Vec<_>>();
    let schemas = (0..300)
        .map(|n| (format!("S{n}"), json!({"properties": {"x": {"anyOf": all}}})))
        .collect::<serde_json::Map<_, _>>();
    let paths = (0..50)
        .map(|n| (format!("/{n}"), json!({"get": {"parameters": [{"name": "q", "in": "query", "schema": all[n]}]}})));
    let document = json!({"openapi": "3.0.0", "paths": paths.collect::<serde_json::Map<_, _>>(), "components": {"schemas": schemas}});
    let offers = read_with(&document, None).unwrap();
    assert_eq!((offers.tools.len(), offers.left_out.len()), (0, 50));
    for text in ["null", "[]", "\"x\"", "{\"openapi\": {}}", "&a [*a]"] {
        assert!(read(module, URL, text, None).is_err(), "{text}");
    }
    assert_soon(began);
}
