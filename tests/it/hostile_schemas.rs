//! Schemas that make a check expensive are refused at registration, or a document of a megabyte is checked within a bound
//! on the Worker's CPU time.

use crate::harness::{Client, Server, definition, workspace};
use serde_json::{Value, json};

#[path = "../fixtures/hostile_schemas.rs"]
mod corpus;

/// How many times the CPU of a plain check a hostile one may take. The plain check is of a document of the same size.
const MAX_RATIO: u64 = 60;

fn check(client: &Client, tool: &str, document: &Value) -> Value {
    client.post(&format!("/api/tools/{tool}/validate"), json!({ "arguments": document })).ok()
}

#[test]
fn hostile_schemas_are_refused_or_cost_a_bounded_time() {
    let server = Server::start("hostile", &[("AUTH", "open"), ("SECRET_KEY", "a secret of the tests")]);
    let client = server.client("ws_hostile");
    client.register(
        "plain",
        "1.0.0",
        json!({"parameters_schema": {"properties": {"x": {"items": {"type": "integer"}}}}}),
    );
    let rows = (0..200_000).map(|it| json!(it)).collect::<Value>();
    let plain_document = json!({ "x": rows });
    check(&client, "plain", &plain_document);
    let before = server.cpu_ticks();
    for _ in 0..4 {
        assert_eq!(check(&client, "plain", &plain_document)["valid"], true);
    }
    let plain = (server.cpu_ticks() - before).max(4);

    let shapes = corpus::corpus();
    assert!(shapes.len() >= 40);
    let mut refused = 0;
    for (index, shape) in shapes.into_iter().enumerate() {
        let id = format!("hostile-{index}");
        let fields = json!({"parameters_schema": shape.schema, "returns_schema": null});
        let before = server.cpu_ticks();
        let answer = client.post("/api/tools", definition(&id, "1.0.0", fields));
        let registering = server.cpu_ticks() - before;
        assert!(registering * 4 <= plain * MAX_RATIO, "{} took {registering} ticks to register", shape.name);
        if answer.status == 400 {
            refused += 1;
            let problem = &answer.refused(400, "VALIDATION_ERROR").details["problems"][0];
            assert!(problem["path"].as_str().unwrap().starts_with("/parameters_schema"), "{}: {problem}", shape.name);
            assert!(!problem["message"].as_str().unwrap().is_empty(), "{}", shape.name);
            continue;
        }
        answer.created();
        let before = server.cpu_ticks();
        let checked = check(&client, &id, &shape.document);
        let ticks = server.cpu_ticks() - before;
        println!("{}: {ticks} ticks, plain {}, {}", shape.name, plain / 4, checked["valid"]);
        // A negated pattern that is over its budget must not turn into a match.
        if shape.name == "a negated pattern" {
            assert_eq!(checked["valid"], false, "{checked}");
        }
        assert!(ticks * 4 <= plain * MAX_RATIO, "{} took {ticks} ticks, and a plain check {}", shape.name, plain / 4);
    }
    assert!(refused >= 10, "{refused}");
}

#[test]
fn a_schema_over_a_bound_is_refused_with_the_place_and_the_reason() {
    let client = workspace();
    let register = |schema: Value| {
        let refused = client.post("/api/tools", definition("t", "1.0.0", json!({ "parameters_schema": schema })));
        let refused = refused.refused(400, "VALIDATION_ERROR");
        let problem = refused.details["problems"][0].clone();
        (problem["path"].as_str().unwrap().to_owned(), problem["message"].as_str().unwrap().to_owned())
    };
    let (path, reason) = register(json!({"properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}));
    assert_eq!(path, "/parameters_schema/properties/x");
    assert!(reason.contains("applies itself to the same value again"), "{reason}");
    let deep = (0..110).fold(json!({}), |inner, _| json!({"items": inner}));
    let (path, reason) = register(json!({"properties": {"x": deep}}));
    assert!(path.starts_with("/parameters_schema/properties/x/items") && reason.contains("deeper"), "{path}: {reason}");
    let patterns = (0..201).map(|it| json!({"pattern": format!("^{it}$")})).collect::<Vec<_>>();
    let (path, _) = register(json!({"properties": {"x": {"anyOf": patterns}}}));
    assert_eq!(path, "/parameters_schema/properties/x/anyOf/200/pattern");
}

#[test]
fn a_backup_with_a_hostile_schema_is_refused() {
    let client = workspace();
    client.register("t", "1.0.0", json!({}));
    let mut backup = client.get("/api/registry/backup").ok();
    let looped = json!({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}});
    let version = &mut backup["versions"][0];
    version["parameters_schema"] = match &version["parameters_schema"] {
        Value::String(_) => json!(looped.to_string()),
        _ => looped,
    };
    let refused = client.post("/api/registry/restore", backup);
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("applies itself to the same value again"), "{}", refused.text);
}

#[test]
fn a_pattern_over_its_budget_is_a_violation_under_not() {
    let client = workspace();
    let schema = json!({"properties": {"x": {"not": {"pattern": "^(a?){4000}b$"}}}});
    client.register("negated", "1.0.0", json!({ "parameters_schema": schema }));
    assert_eq!(check(&client, "negated", &json!({"x": "aaa"}))["valid"], true);
    assert_eq!(check(&client, "negated", &json!({"x": "aab"}))["valid"], false);
    let long = check(&client, "negated", &json!({"x": "a".repeat(500_000)}));
    assert_eq!(long["valid"], false, "{long}");
    assert!(long["errors"][0]["message"].as_str().unwrap().contains("too long to be matched"), "{long}");
}
