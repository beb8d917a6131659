//! Registering tools and versions: the step that each version must take, rollback, deactivation and activation.

use crate::harness::{Client, Tool, Upstream, closed_workspace, definition, open, race, workspace};
use serde_json::{Value, json};

/// The look-up of one version.
fn version(client: &Client, id: &str, version: &str) -> Value {
    client.get(&format!("/api/tools/{id}?version={version}")).ok()
}

/// The actions of the log, each with its version.
fn actions(client: &Client) -> Vec<String> {
    let told = |it: &Value| format!("{} {}", it["action"].as_str().unwrap(), it["version"].as_str().unwrap_or("-"));
    client.changes().iter().map(told).collect()
}

#[test]
fn a_first_version_is_active_and_has_the_defaults() {
    let client = workspace();
    let made = client.register("word_count", "0.1.0", json!({}));
    assert_eq!(made["warnings"], json!([]));
    let fields = [
        ("id", json!("word_count")),
        ("version", json!("0.1.0")),
        ("active", json!(true)),
        ("source", json!("registered")),
        ("category", json!("general")),
        ("risk_level", json!("low")),
        ("required_permission", json!("guest")),
        ("requires_approval", json!(false)),
        ("rate_limit", json!(null)),
        ("timeout_seconds", json!(30)),
        ("execution_mode", json!("local")),
        ("resource_class", json!("control")),
        ("rollback_strategy", json!("none")),
        ("handler_key", json!("list_files")),
        ("handler", json!({"type": "builtin", "key": "list_files"})),
        ("registered_by", json!("anonymous")),
        ("deactivated_at", json!(null)),
    ];
    for (name, value) in fields {
        assert_eq!(made[name], value, "{name}");
    }
    let mut shown = made.clone();
    shown.as_object_mut().unwrap().remove("warnings");
    assert_eq!(client.get("/api/tools/word_count").ok(), shown);
    assert_eq!(client.execute("word_count", json!({"text": "x"})).success(), "Contents of /:");
    assert_eq!(actions(&client), ["register 0.1.0"]);
    assert_eq!(client.changes()[0]["new_state"], shown);
}

#[test]
fn everything_that_breaks_a_rule_is_told_and_nothing_is_kept() {
    let client = workspace();
    let check = |fields: Value, expected: &[&str]| {
        let refused = client.post("/api/tools", definition("x", "1.0.0", fields)).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), expected, "{}", refused.message);
    };
    check(json!({"id": "Word"}), &["/id"]);
    check(json!({"id": "a.b"}), &["/id"]);
    check(json!({"version": "1.0"}), &["/version"]);
    check(json!({"version": "1.0.0-rc1"}), &["/version"]);
    check(json!({"name": ""}), &["/name"]);
    check(json!({"description": "short"}), &["/description"]);
    check(json!({"risk_level": "huge"}), &["/risk_level"]);
    check(json!({"timeout_seconds": 3601, "rate_limit": 0}), &["/timeout_seconds", "/rate_limit"]);
    check(json!({"parameters_schema": "{"}), &["/parameters_schema"]);
    check(json!({"parameters_schema": {"type": "objekt"}}), &["/parameters_schema"]);
    check(json!({"returns_schema": {"$ref": "https://example.com/x.json"}}), &["/returns_schema"]);
    check(json!({"parameters_schema": {"description": "x".repeat(70_000)}}), &["/parameters_schema"]);
    check(json!({"examples": [{"description": "d", "params": {}}]}), &["/examples/0/params"]);
    check(
        json!({"side_effects": [{"effect_type": "x", "description": "d", "scope": "s"}]}),
        &["/side_effects/0/reversible"],
    );
    check(json!({"handler": {"type": "builtin", "key": "rm"}}), &["/handler/key"]);
    check(json!({"handler": {"type": "shell"}}), &["/handler/type"]);
    check(json!({"handler": {"type": "http", "url": "ftp://a.example"}}), &["/handler/url"]);
    check(json!({"handler": {"type": "http", "url": "https://u:p@a.example"}}), &["/handler/url"]);
    check(json!({"handler": {"type": "http", "url": "https://a.example/{id}?q={q}"}}), &["/handler/url"]);
    check(
        json!({"handler": {"type": "http", "url": "https://a.example", "headers": {"Host": "x"}}}),
        &["/handler/headers/Host"],
    );
    check(json!({"handler": {"type": "python", "code": "x", "function": "a b"}}), &["/handler/function"]);
    check(json!({"credentials_required": ["NOT_DEFINED"]}), &["/credentials_required/0"]);
    check(json!({"nmae": "x"}), &["/nmae"]);
    let missing = client.post("/api/tools", json!({"id": "x"})).refused(400, "VALIDATION_ERROR");
    let mut paths = missing.paths();
    paths.sort_unstable();
    assert_eq!(paths, ["/description", "/handler", "/name", "/parameters_schema", "/version"]);
    assert_eq!(client.send("POST", "/api/tools", Some(b"{".to_vec())).status, 400);

    client.get("/api/tools/x").refused(404, "NOT_FOUND");
    assert_eq!(client.changes(), Vec::<Value>::new());
}

#[test]
fn a_private_address_cannot_be_registered_where_it_could_not_be_called() {
    let root = closed_workspace();
    let handler = |url: &str| json!({"handler": {"type": "http", "url": url}});
    let refused = root.post("/api/tools", definition("x", "1.0.0", handler("http://10.0.0.1/")));
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["/handler/url"]);
    root.register("x", "1.0.0", handler("https://tools.example.com/x"));
}

#[test]
fn what_a_provider_would_refuse_is_a_warning() {
    let client = workspace();
    let schema = json!({"type": "object", "properties": {"a b": {"type": "array"}}});
    let made = client.register("x", "1.0.0", json!({"parameters_schema": schema}));
    let paths = made["warnings"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(paths, ["/parameters_schema/properties/a b", "/parameters_schema/properties/a b"]);
}

#[test]
fn schemas_are_kept_to_the_letter() {
    let client = workspace();
    let text = "{ \"type\" : \"object\" ,\n \"properties\": {\"z\": {}, \"a\": {}} }";
    let made = client.register("x", "1.0.0", json!({"parameters_schema": text, "returns_schema": {"type": "string"}}));
    assert_eq!((&made["parameters_schema"], &made["returns_schema"]), (&json!(text), &json!(r#"{"type":"string"}"#)));
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// Registers `old` as 1.2.3 and then `new` at each of three steps, and checks which step is accepted.
#[track_caller]
fn check_step(old: Value, new: Value, needed: &str) {
    let steps = [("patch", "1.2.4"), ("minor", "1.3.0"), ("major", "2.0.0")];
    let needed = steps.iter().position(|(step, _)| *step == needed).unwrap();
    for (index, (step, version)) in steps.iter().enumerate() {
        let client = workspace();
        client.register("x", "1.2.3", old.clone());
        let answer = client.post("/api/tools", definition("x", version, new.clone()));
        if index < needed {
            let refused = answer.refused(400, "VALIDATION_ERROR");
            assert_eq!(refused.paths()[0], "/version", "{}", refused.message);
            assert!(refused.paths().len() > 1, "it says why: {}", refused.message);
            assert_eq!(client.get("/api/tools/x").ok()["version"], "1.2.3");
        } else {
            assert_eq!(answer.status, 201, "{old} to {new} at a {step} step: {}", answer.text);
        }
    }
}

#[test]
fn major_steps_are_for_what_breaks_callers() {
    let text = json!({"text": {"type": "string"}});
    let parameters = |properties: Value, required: &[&str]| json!({"parameters_schema": object(properties, required)});
    // An input that becomes required, is removed, or is restricted.
    check_step(
        parameters(text.clone(), &[]),
        parameters(json!({"text": {"type": "string"}, "limit": {"type": "integer"}}), &["limit"]),
        "major",
    );
    check_step(parameters(text.clone(), &["text"]), parameters(json!({}), &[]), "major");
    check_step(parameters(text.clone(), &[]), parameters(text.clone(), &["text"]), "major");
    check_step(
        parameters(text.clone(), &[]),
        parameters(json!({"text": {"type": "string", "maxLength": 10}}), &[]),
        "major",
    );
    // A default that allowed callers to omit a parameter.
    let limit = |limit: Value| parameters(json!({"limit": limit}), &["limit"]);
    check_step(limit(json!({"type": "integer", "default": 5})), limit(json!({"type": "integer"})), "major");
    // An output that callers did not have to expect before.
    let returns = |schema: Value| json!({"returns_schema": schema});
    check_step(returns(json!({"type": "string"})), returns(json!({"type": ["string", "null"]})), "major");
    check_step(returns(json!({"type": "string"})), json!({}), "major");
    // A change of the execution mode, of the resource class, and a removed side effect.
    check_step(json!({}), json!({"execution_mode": "remote"}), "major");
    check_step(json!({}), json!({"resource_class": "compute"}), "major");
    check_step(effects(&["a", "b"]), effects(&["a"]), "major");
}

fn effects(scopes: &[&str]) -> Value {
    let effect =
        |scope: &&str| json!({"effect_type": "file_write", "description": "d", "reversible": true, "scope": scope});
    json!({"side_effects": scopes.iter().map(effect).collect::<Vec<_>>()})
}

#[test]
fn minor_steps_are_for_what_is_added() {
    let parameters = |properties: Value| json!({"parameters_schema": object(properties, &[])});
    let text = json!({"text": {"type": "string"}});
    check_step(
        parameters(text.clone()),
        parameters(json!({"text": {"type": "string"}, "limit": {"type": "integer"}})),
        "minor",
    );
    check_step(parameters(text), parameters(json!({"text": {"type": ["string", "null"]}})), "minor");
    let limit = |limit: Value| json!({"parameters_schema": object(json!({"limit": limit}), &["limit"])});
    check_step(limit(json!({"type": "integer"})), limit(json!({"type": "integer", "default": 5})), "minor");
    check_step(json!({}), json!({"returns_schema": {"type": "string"}}), "minor");
    check_step(effects(&["a"]), effects(&["a", "b"]), "minor");
    check_step(json!({"timeout_seconds": 60}), json!({"timeout_seconds": 59}), "minor");
}

#[test]
fn patch_steps_are_for_the_rest() {
    check_step(json!({}), json!({"description": "Counts the words of a text, faster"}), "patch");
    check_step(json!({}), json!({"handler": {"type": "builtin", "key": "read_file"}}), "patch");
    check_step(json!({"timeout_seconds": 60}), json!({"timeout_seconds": 61}), "patch");
    let schema = |said: &str| json!({"parameters_schema": {"type": "object", "description": said}});
    check_step(schema("before"), schema("after"), "patch");
    let closed = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
    let open = json!({"type": "object", "properties": {"a": {}}});
    check_step(json!({"parameters_schema": open}), json!({"parameters_schema": closed}), "patch");
}

#[test]
fn every_reason_is_told() {
    let client = workspace();
    client.register("x", "1.0.0", effects(&["a"]));
    let mut new = definition("x", "1.0.1", json!({"execution_mode": "browser", "timeout_seconds": 5}));
    new["parameters_schema"] =
        object(json!({"text": {"type": "string"}, "limit": {"type": "integer"}}), &["text", "limit"]);
    let refused = client.post("/api/tools", new).refused(400, "VALIDATION_ERROR");
    assert_eq!(
        refused.paths(),
        ["/version", "/execution_mode", "/side_effects", "/timeout_seconds", "/parameters_schema"],
        "{}",
        refused.message
    );
    assert!(refused.message.contains("2.0.0 or higher") && refused.message.contains("limit"), "{}", refused.message);
}

#[test]
fn a_version_is_higher_than_every_other() {
    let client = workspace();
    client.register("x", "1.0.0", json!({}));
    client.register("x", "1.5.0", json!({}));
    client.post("/api/tools", definition("x", "1.5.0", json!({}))).refused(409, "ALREADY_EXISTS");
    client.post("/api/tools", definition("x", "1.0.0", json!({}))).refused(409, "ALREADY_EXISTS");
    let lower = client.post("/api/tools", definition("x", "1.4.9", json!({}))).refused(400, "VALIDATION_ERROR");
    assert_eq!(lower.paths(), ["/version"]);
    // The step is measured from the active version, and the order from all versions.
    client.post("/api/tools/x/rollback", json!({"version": "1.0.0"})).ok();
    let breaking = json!({"execution_mode": "remote"});
    client.post("/api/tools", definition("x", "1.6.0", breaking.clone())).refused(400, "VALIDATION_ERROR");
    client.post("/api/tools", definition("x", "1.4.0", json!({}))).refused(400, "VALIDATION_ERROR");
    client.register("x", "2.0.0", breaking);
}

#[test]
fn a_new_version_replaces_the_active_one() {
    let client = workspace();
    let first = client.register("x", "1.0.0", json!({}));
    let agent = client.agent(json!({}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "x"})).created();
    let second = client.register("x", "1.0.1", json!({"name": "Count more words"}));
    assert_eq!(second["created_at"], first["created_at"]);
    let old = version(&client, "x", "1.0.0");
    assert_eq!((&old["active"], &old["deactivated_reason"]), (&json!(false), &json!("version_update")));
    assert_eq!(old["deactivated_at"], second["registered_at"]);
    assert_eq!(client.get("/api/tools/x").ok()["version"], "1.0.1");

    // Attachments follow; a pinned call still reaches the replaced version.
    let toolbox = client.get(&format!("/api/agents/{agent}/toolbox")).ok();
    assert_eq!(toolbox["tools"][0]["version"], "1.0.1");
    let call = |name: &str| client.execute(name, json!({"text": "x"})).result(200)["version"].clone();
    assert_eq!((call("x"), call("x@1.0.0")), (json!("1.0.1"), json!("1.0.0")));

    let versions = client.pages("/api/tools/x/versions", "versions", 1);
    let numbers = versions.iter().map(|it| it["version"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(numbers, ["1.0.1", "1.0.0"]);
    client.get("/api/tools/none/versions").refused(404, "NOT_FOUND");
    assert_eq!(client.get("/api/tools/read_file/versions").ok()["versions"].as_array().unwrap().len(), 1);

    let log = client.changes();
    let told = |it: &Value| (it["action"].clone(), it["version"].clone(), it["reason"].clone());
    assert_eq!(
        log.iter().filter(|it| it["subject"].as_str().unwrap().starts_with("tool:")).map(told).collect::<Vec<_>>(),
        [
            (json!("register"), json!("1.0.0"), json!(null)),
            (json!("deactivate"), json!("1.0.0"), json!("version_update")),
            (json!("update"), json!("1.0.1"), json!(null)),
        ]
    );
    let update = log.last().unwrap();
    assert_eq!(
        (&update["previous_state"]["version"], &update["previous_state"]["active"]),
        (&json!("1.0.0"), &json!(true))
    );
    assert_eq!(log[log.len() - 2]["new_state"], old);
}

#[test]
fn a_pin_obeys_todays_policy() {
    let client = workspace();
    let agent = client.agent(json!({"capabilities": ["mail"]}));
    let call = |name: &str| client.call(json!({"tool_name": name, "arguments": {"text": "x"}, "agent_id": agent}));
    let tighten = |id: &str, rules: Value| {
        client.register(id, "1.0.0", json!({"required_capabilities": ["mail"]}));
        client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": id})).created();
        let before = call(&format!("{id}@1.0.0"));
        before.success();
        client.register(id, "1.0.1", rules);
        before.cost("round_trips")
    };
    tighten("capability", json!({"required_capabilities": ["net"]}));
    let refused = call("capability@1.0.0").failed(403, "CAPABILITY_MISSING");
    assert_eq!(refused["error"]["details"]["missing"], json!(["net"]));
    tighten("risk", json!({"risk_level": "critical"}));
    call("risk@1.0.0").failed(403, "RISK_TOO_HIGH");
    tighten("approval", json!({"requires_approval": true}));
    call("approval@1.0.0").failed(202, "APPROVAL_REQUIRED");
    tighten("rate", json!({"rate_limit": 1}));
    let round_trips = call("rate@1.0.0").cost("round_trips");
    call("rate@1.0.0").failed(429, "RATE_LIMITED");
    // The active version's policy is looked up together with the pinned version.
    assert_eq!(tighten("same", json!({})), round_trips);
    assert_eq!(call("same@1.0.0").cost("round_trips"), round_trips);

    // A looser version loosens nothing for the pin, except for the rate limit.
    client.register("loose", "1.0.0", json!({"requires_approval": true, "rate_limit": 1}));
    client.register("loose", "1.0.1", json!({}));
    let pinned = |name: &str| client.execute(name, json!({"text": "x"}));
    pinned("loose@1.0.0").failed(202, "APPROVAL_REQUIRED");
    pinned("loose").success();
    client.register("fast", "1.0.0", json!({"rate_limit": 1}));
    client.register("fast", "1.0.1", json!({}));
    (0..3).for_each(|_| drop(pinned("fast@1.0.0").success()));
}

#[test]
fn a_pin_obeys_the_level_of_the_active_version() {
    let owner = closed_workspace();
    let user = owner.token(json!({"name": "u", "level": "user"}));
    owner.register("x", "1.0.0", json!({}));
    user.execute("x@1.0.0", json!({"text": "x"})).success();
    owner.register("x", "1.0.1", json!({"required_permission": "admin"}));
    user.execute("x@1.0.0", json!({"text": "x"})).failed(403, "PERMISSION_DENIED");
    owner.execute("x@1.0.0", json!({"text": "x"})).success();
}

#[test]
fn a_tool_without_an_active_version_has_none_that_can_be_called() {
    let client = workspace();
    client.register("x", "1.0.0", json!({"requires_approval": true}));
    client.register("y", "1.0.0", json!({}));
    let pending = client.execute("x", json!({"text": "x"})).result(202);
    for id in ["x", "y"] {
        client.register(id, "1.0.1", json!({}));
        client.post(&format!("/api/tools/{id}/deactivate"), json!({"reason": "security"})).ok();
    }
    client.execute("y@1.0.0", json!({"text": "x"})).failed(409, "TOOL_DISABLED");
    let approval = pending["error"]["details"]["approval_id"].as_str().unwrap();
    client.post(&format!("/api/approvals/{approval}/approve"), json!({})).refused(409, "CONFLICT");
    for id in ["x", "y"] {
        client.register(id, "1.0.2", json!({}));
    }
    client.execute("y@1.0.0", json!({"text": "x"})).success();
    client.post(&format!("/api/approvals/{approval}/approve"), json!({})).success();
}

#[test]
fn rolling_back_makes_the_old_version_active() {
    let client = workspace();
    client.register("x", "1.0.0", json!({}));
    client.register("x", "1.1.0", json!({}));
    let back = client.post("/api/tools/x/rollback", json!({"version": "1.0.0", "reason": "1.1.0 is slow"})).ok();
    assert_eq!(
        (&back["version"], &back["active"], &back["deactivated_at"]),
        (&json!("1.0.0"), &json!(true), &json!(null))
    );
    let replaced = version(&client, "x", "1.1.0");
    assert_eq!((&replaced["active"], &replaced["deactivated_reason"]), (&json!(false), &json!("operator_request")));
    assert_eq!(client.get("/api/tools/x").ok()["version"], "1.0.0");
    // A version that an operator has replaced cannot be called, not even by its number.
    client.execute("x@1.1.0", json!({"text": "x"})).failed(409, "TOOL_DISABLED");
    let log = client.changes();
    let last = &log[log.len() - 1];
    assert_eq!(
        (&last["action"], &last["version"], &last["reason"]),
        (&json!("rollback"), &json!("1.0.0"), &json!("1.1.0 is slow"))
    );
    assert_eq!(log[log.len() - 2]["action"], "deactivate");

    client.post("/api/tools/x/rollback", json!({"version": "1.0.0"})).refused(409, "CONFLICT");
    client.post("/api/tools/x/rollback", json!({"version": "3.0.0"})).refused(404, "NOT_FOUND");
    client.post("/api/tools/none/rollback", json!({"version": "1.0.0"})).refused(404, "NOT_FOUND");
    client.post("/api/tools/x/rollback", json!({"version": "1"})).refused(400, "VALIDATION_ERROR");
    client
        .post("/api/tools/x/rollback", json!({"version": "1.1.0", "reason": "x".repeat(501)}))
        .refused(400, "VALIDATION_ERROR");
    assert_eq!(client.changes().len(), log.len());
}

#[test]
fn each_reason_switches_off_and_all_but_security_come_back() {
    for reason in ["version_update", "deprecated", "operator_request"] {
        let client = workspace();
        client.register("x", "1.0.0", json!({}));
        let off = client.post("/api/tools/x/deactivate", json!({"reason": reason})).ok();
        assert_eq!((&off["active"], &off["deactivated_reason"]), (&json!(false), &json!(reason)));
        client.execute("x", json!({"text": "x"})).failed(409, "TOOL_DISABLED");
        let shown = client.get("/api/tools/x").ok();
        assert_eq!((&shown["version"], &shown["active"]), (&json!("1.0.0"), &json!(false)));
        client.post("/api/tools/x/deactivate", json!({"reason": reason})).refused(409, "CONFLICT");
        let on = client.post("/api/tools/x/activate", json!({"version": "1.0.0"})).ok();
        assert_eq!((&on["active"], &on["deactivated_reason"]), (&json!(true), &json!(null)));
        client.execute("x", json!({"text": "x"})).success();
        assert_eq!(actions(&client), ["register 1.0.0", "deactivate 1.0.0", "activate 1.0.0"]);
        client.post("/api/tools/x/activate", json!({"version": "1.0.0"})).ok();
        assert_eq!(client.changes().len(), 3, "nothing changed");
    }
}

#[test]
fn what_was_deactivated_for_security_never_comes_back() {
    let client = workspace();
    client.register("x", "1.0.0", json!({}));
    client.register("x", "1.1.0", json!({}));
    client.post("/api/tools/x/deactivate", json!({"version": "1.0.0", "reason": "deprecated"})).ok();
    let replaced = version(&client, "x", "1.0.0");
    assert_eq!(replaced["deactivated_reason"], "deprecated");
    client.post("/api/tools/x/deactivate", json!({"version": "1.0.0", "reason": "security"})).ok();
    assert_eq!(version(&client, "x", "1.0.0")["deactivated_at"], replaced["deactivated_at"]);
    let seen = client.changes().len();
    for (path, body) in [
        ("rollback", json!({"version": "1.0.0"})),
        ("activate", json!({"version": "1.0.0"})),
        ("deactivate", json!({"version": "1.0.0", "reason": "deprecated"})),
    ] {
        let refused = client.post(&format!("/api/tools/x/{path}"), body).refused(409, "CONFLICT");
        assert!(refused.message.contains("security"), "{}", refused.message);
    }
    client.execute("x@1.0.0", json!({"text": "x"})).failed(409, "TOOL_DISABLED");
    assert_eq!(client.changes().len(), seen);
    // The database refuses it too, without the API.
    let error = open().sql_error(&format!(
        "UPDATE tool_versions SET active = 1, deactivated_at = NULL, deactivated_reason = NULL
         WHERE workspace_id = '{}' AND patch = 0 AND minor = 0",
        client.workspace()
    ));
    assert!(error.contains("security"), "{error}");
}

#[test]
fn a_version_whose_target_is_gone_cannot_be_active() {
    let client = workspace();
    Tool::new("x").builtin("no_longer_there").inactive("deprecated").put(open(), &client);
    let refused = client.post("/api/tools/x/activate", json!({"version": "1.0.0"})).refused(409, "CONFLICT");
    assert!(refused.message.contains("no_longer_there"), "{}", refused.message);
}

#[test]
fn built_ins_cannot_be_touched() {
    let client = workspace();
    let before = client.get("/api/tools/read_file").ok();
    client.post("/api/tools", definition("read_file", "2.0.0", json!({}))).refused(409, "CONFLICT");
    client.post("/api/tools/read_file/rollback", json!({"version": "1.0.0"})).refused(409, "CONFLICT");
    client.post("/api/tools/read_file/deactivate", json!({"reason": "security"})).refused(409, "CONFLICT");
    client.post("/api/tools/read_file/activate", json!({"version": "1.0.0"})).refused(409, "CONFLICT");
    assert_eq!(client.get("/api/tools/read_file").ok(), before);
    assert_eq!(client.changes(), Vec::<Value>::new());
}

#[test]
fn racing_registrations_leave_one_active_version_and_no_gap() {
    let client = workspace();
    client.register("x", "1.0.0", json!({}));
    let answers =
        race(10, |index| client.post("/api/tools", definition("x", &format!("1.{}.0", index + 1), json!({}))).status);
    let made = answers.iter().filter(|it| **it == 201).count();
    assert!(made >= 1 && answers.iter().all(|it| [201, 400, 409].contains(it)), "{answers:?}");
    let versions = client.pages("/api/tools/x/versions", "versions", 50);
    assert_eq!(versions.len(), 1 + made);
    let active = versions.iter().filter(|it| it["active"] == true).collect::<Vec<_>>();
    assert_eq!((active.len(), &active[0]["version"]), (1, &versions[0]["version"]), "the highest is active");
    let log = client.changes();
    assert_eq!(log.len(), 1 + 2 * made);
    assert!(log.iter().enumerate().all(|(index, it)| it["seq"] == index + 1), "{log:?}");
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
}

#[test]
fn racing_first_registrations_leave_one_tool() {
    let client = workspace();
    let answers =
        race(10, |index| client.post("/api/tools", definition("x", &format!("1.{index}.0"), json!({}))).status);
    let made = answers.iter().filter(|it| **it == 201).count();
    assert!(made >= 1 && answers.iter().all(|it| [201, 400, 409].contains(it)), "{answers:?}");
    let versions = client.pages("/api/tools/x/versions", "versions", 50);
    assert_eq!(versions.iter().filter(|it| it["active"] == true).count(), 1);
    assert_eq!(versions.len(), made);
}

#[test]
fn racing_switches_leave_at_most_one_active_version() {
    let client = workspace();
    for minor in 0..4 {
        client.register("x", &format!("1.{minor}.0"), json!({}));
    }
    let before = client.changes().len();
    let statuses = race(12, |index| {
        let number = format!("1.{}.0", index % 4);
        match index % 3 {
            0 => client.post("/api/tools/x/rollback", json!({"version": number})).status,
            1 => client.post("/api/tools/x/activate", json!({"version": number})).status,
            _ => client.post("/api/tools/x/deactivate", json!({"reason": "operator_request"})).status,
        }
    });
    assert!(statuses.iter().all(|it| [200, 409].contains(it)), "{statuses:?}");
    let versions = client.pages("/api/tools/x/versions", "versions", 50);
    assert!(versions.iter().filter(|it| it["active"] == true).count() <= 1);
    let log = client.changes();
    assert!(log.len() > before);
    assert!(log.iter().enumerate().all(|(index, it)| it["seq"] == index + 1));
    // The log and the table agree.
    let state = client.get("/api/registry/state").ok();
    let mut shown = versions.clone();
    shown.reverse();
    assert_eq!(state["versions"], json!(shown));
}

#[test]
fn a_call_under_way_finishes_on_its_version() {
    let (client, upstream) = (workspace(), Upstream::start());
    let handler = |path: &str| json!({"handler": {"type": "http", "url": upstream.at(path)}, "timeout_seconds": 20});
    client.register("x", "1.0.0", handler("/slow"));
    let results = race(2, |index| {
        if index == 0 {
            return client.execute("x", json!({"text": "x"})).result(200);
        }
        while upstream.received().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        client.register("x", "1.0.1", handler("/echo"));
        client.execute("x", json!({"text": "x"})).result(200)
    });
    assert_eq!((&results[0]["version"], &results[0]["result"]), (&json!("1.0.0"), &json!("too late")));
    assert_eq!(results[1]["version"], "1.0.1");
}

#[test]
fn registering_and_rolling_back_take_two_round_trips() {
    let root = closed_workspace();
    let admin = root.token(json!({"name": "admin", "level": "admin"}));
    let answers = [
        admin.post("/api/tools", definition("x", "1.0.0", json!({}))),
        admin.post("/api/tools", definition("x", "1.1.0", json!({}))),
        admin.post("/api/tools/x/rollback", json!({"version": "1.0.0"})),
        admin.post("/api/tools/x/activate", json!({"version": "1.1.0"})),
        admin.post("/api/tools/x/deactivate", json!({"reason": "deprecated"})),
    ];
    for answer in answers {
        assert!(answer.status < 300, "{}", answer.text);
        assert_eq!(answer.cost("round_trips"), 2);
        // About 60, and more when FTS5 merges what other tests have written.
        assert!(answer.cost("rows_read") < 250, "{} rows read", answer.cost("rows_read"));
    }
    let listed = admin.get("/api/tools/x/versions");
    listed.ok();
    assert_eq!(listed.cost("round_trips"), 1);
}

#[test]
fn who_may_not_register_makes_the_worker_check_nothing() {
    let root = closed_workspace();
    let agent = root.agent(json!({}));
    let callers = [
        root.token(json!({"name": "u", "level": "user"})),
        root.token(json!({"name": "b", "level": "admin", "agent_id": agent})),
    ];
    for caller in callers {
        // A body that is too large is not read, and a schema that cannot be one is not compiled.
        let large = caller.send("POST", "/api/tools", Some(vec![b' '; 17 * 1024 * 1024]));
        let wrong = caller.post("/api/tools", definition("x", "1.0.0", json!({"parameters_schema": {"type": "x"}})));
        for answer in [large, wrong] {
            answer.refused(403, "PERMISSION_DENIED");
            assert_eq!(answer.cost("round_trips"), 1);
        }
    }
    let admin = root.token(json!({"name": "a", "level": "admin"}));
    let large = admin.send("POST", "/api/tools", Some(vec![b' '; 17 * 1024 * 1024]));
    large.refused(413, "PAYLOAD_TOO_LARGE");
    // A registration of many credentials is refused as before.
    let many = json!({"credentials_required": (0..100_000).map(|it| format!("KEY_{it}")).collect::<Vec<_>>()});
    let refused = admin.post("/api/tools", definition("x", "1.0.0", many)).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/credentials_required"]);
}

#[test]
fn who_registers_is_an_admin_and_is_named() {
    let root = closed_workspace();
    let token = root.post("/api/tokens", json!({"name": "a", "level": "admin"})).created();
    let admin = root.with_token(token["token"].as_str().unwrap());
    assert_eq!(admin.register("x", "1.0.0", json!({}))["registered_by"], token["id"]);
    let user = root.token(json!({"name": "u", "level": "user"}));
    user.post("/api/tools", definition("y", "1.0.0", json!({}))).refused(403, "PERMISSION_DENIED");
    user.post("/api/tools", json!({})).refused(403, "PERMISSION_DENIED");
    let agent = root.agent(json!({"permission_level": "admin"}));
    let bound = root.token(json!({"name": "b", "level": "admin", "agent_id": agent}));
    bound.post("/api/tools", definition("y", "1.0.0", json!({}))).refused(403, "PERMISSION_DENIED");
    root.get("/api/tools/y").refused(404, "NOT_FOUND");
}

#[test]
fn the_url_of_an_http_handler_has_no_placeholders() {
    let client = workspace();
    let handler = |url: &str| json!({"handler": {"type": "http", "url": url}});
    let answer = client.post("/api/tools", definition("x", "1.0.0", handler("https://a.example/users/{id}")));
    let refused = answer.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/handler/url"]);
    assert!(refused.message.contains("the arguments reach the server in the body"), "{}", refused.message);
    client.register("x", "1.0.0", handler("https://a.example/users/%7Bid%7D"));
}

#[test]
fn faults_of_form_and_broken_rules_are_told_together() {
    let client = workspace();
    let body = json!({
        "id": "Word", "nmae": "x", "description": "short", "risk_level": "huge", "timeout_seconds": "soon",
        "category": "A b", "parameters_schema": {"type": "objekt"}, "credentials_required": ["NOT_DEFINED"],
        "handler": {"type": "http", "ulr": "https://a.example", "url": 7}, "side_effects": [{"effect_type": "x"}],
    });
    let refused = client.post("/api/tools", body).refused(400, "VALIDATION_ERROR");
    let mut paths = refused.paths();
    paths.sort_unstable();
    let expected = [
        "/category",
        "/credentials_required/0",
        "/description",
        "/handler/ulr",
        "/handler/url",
        "/id",
        "/name",
        "/nmae",
        "/parameters_schema",
        "/risk_level",
        "/side_effects/0/description",
        "/side_effects/0/reversible",
        "/side_effects/0/scope",
        "/timeout_seconds",
        "/version",
    ];
    assert_eq!(paths, expected, "{}", refused.message);
    let told = "/handler/ulr: is unknown: the fields are type, url, headers. Did you mean url?";
    assert!(refused.message.contains(told), "{}", refused.message);
}

/// Sends a request as a dry run, checks that nothing is written, and returns the response.
#[track_caller]
fn dry_run(client: &Client, path: &str, body: Value) -> Value {
    let answer = client.post(&format!("{path}?dry_run=true"), body);
    let preview = answer.ok();
    assert_eq!((answer.cost("rows_written"), answer.cost("round_trips")), (0, 1), "{path}");
    assert_eq!(preview["dry_run"], true);
    preview
}

#[test]
fn a_dry_run_tells_what_a_registration_would_do_and_writes_nothing() {
    let client = workspace();
    let first = dry_run(&client, "/api/tools", definition("x", "1.0.0", json!({})));
    assert_eq!((&first["version"], &first["active"]), (&json!("1.0.0"), &json!(true)));
    for (field, expected) in
        [("replaces", json!(null)), ("needed_step", json!(null)), ("reasons", json!([])), ("differences", json!([]))]
    {
        assert_eq!(first[field], expected, "{field}");
    }
    client.get("/api/tools/x").refused(404, "NOT_FOUND");
    assert_eq!(client.changes(), Vec::<Value>::new());

    client.register("x", "1.0.0", json!({}));
    let log = client.changes();
    let properties = json!({"text": {"type": "string"}, "tags": {"type": "array"}});
    let fields =
        json!({"parameters_schema": object(properties, &["text"]), "description": "Counts all words of a text"});
    let preview = dry_run(&client, "/api/tools", definition("x", "2.0.0", fields.clone()));
    assert_eq!((&preview["replaces"], &preview["needed_step"]), (&json!("1.0.0"), &json!("minor")));
    assert_eq!(preview["reasons"][0]["step"], "minor");
    assert!(preview["reasons"][0]["path"].as_str().unwrap().starts_with("/parameters_schema"), "{preview}");
    let paths = preview["differences"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap());
    assert_eq!(paths.collect::<Vec<_>>(), ["/description", "/parameters_schema"]);
    assert_eq!(preview["differences"][0]["to"], "Counts all words of a text");
    assert_eq!(preview["warnings"][0]["path"], "/parameters_schema/properties/tags");
    // The real request shows the same tool.
    let refused = |version: &str, status: u16, code: &str| {
        let body = definition("x", version, fields.clone());
        let [dry, real] = ["/api/tools?dry_run=true", "/api/tools"].map(|path| client.post(path, body.clone()));
        assert_eq!(dry.cost("rows_written"), 0);
        let [dry, real] = [dry, real].map(|it| it.refused(status, code));
        assert_eq!((&dry.message, &dry.details), (&real.message, &real.details));
    };
    refused("1.0.1", 400, "VALIDATION_ERROR");
    refused("0.9.0", 400, "VALIDATION_ERROR");
    refused("1.0.0", 409, "ALREADY_EXISTS");
    assert_eq!(client.changes(), log);
    assert_eq!(client.get("/api/tools/x").ok()["version"], "1.0.0");
    let real = client.post("/api/tools?dry_run=false", definition("x", "2.0.0", fields)).created();
    for field in ["id", "version", "description", "parameters_schema", "handler", "created_at", "warnings"] {
        assert_eq!(real[field], preview[field], "{field}");
    }
    client.post("/api/tools?dry_run", definition("x", "3.0.0", json!({}))).refused(400, "VALIDATION_ERROR");
    let builtin = client.post("/api/tools?dry_run=true", definition("read_file", "9.0.0", json!({})));
    builtin.refused(409, "CONFLICT");
    let bound = closed_workspace();
    let agent = bound.agent(json!({}));
    let bound = bound.token(json!({"name": "b", "level": "owner", "agent_id": agent}));
    bound.post("/api/tools?dry_run=true", definition("x", "1.0.0", json!({}))).refused(403, "PERMISSION_DENIED");
}

#[test]
fn a_dry_run_counts_no_refusal_and_sees_what_may_not_come_back() {
    let client = workspace();
    client.register("x", "1.0.0", json!({}));
    client.post("/api/tools/x/deactivate", json!({"reason": "security"})).ok();
    let empty = json!({"tools": [], "versions": [], "agents": [], "attachments": [], "credentials": []});
    client.post("/api/registry/restore", empty).ok();
    let before = client.get("/api/registry/stats").ok();
    client.post("/api/tools?dry_run=true", json!({})).refused(400, "VALIDATION_ERROR");
    let body = definition("x", "1.0.0", json!({}));
    let refused = client.post("/api/tools?dry_run=true", body.clone()).refused(409, "CONFLICT");
    assert!(refused.message.contains("deactivated for security"), "{}", refused.message);
    assert_eq!(client.get("/api/registry/stats").ok(), before);
    client.post("/api/tools", body).refused(409, "CONFLICT");
    assert_ne!(client.get("/api/registry/stats").ok(), before);
}

#[test]
fn a_dry_run_tells_what_switching_versions_would_do_and_writes_nothing() {
    let client = workspace();
    client.register("x", "1.0.0", json!({}));
    client.register("x", "1.1.0", json!({"timeout_seconds": 60}));
    let (log, versions) = (client.changes(), client.get("/api/tools/x/versions").ok());
    for (path, body) in [
        ("/api/tools/x/rollback", json!({"version": "1.0.0", "reason": "slow"})),
        ("/api/tools/x/activate", json!({"version": "1.0.0"})),
    ] {
        let preview = dry_run(&client, path, body);
        assert_eq!((&preview["version"], &preview["active"]), (&json!("1.0.0"), &json!(true)), "{path}");
        assert_eq!((&preview["replaces"], &preview["needed_step"]), (&json!("1.1.0"), &json!("minor")), "{path}");
        assert_eq!(preview["reasons"][0]["path"], "/timeout_seconds");
        assert_eq!(preview["differences"], json!([{"path": "/timeout_seconds", "from": 60, "to": 30}]));
    }
    let preview = dry_run(&client, "/api/tools/x/deactivate", json!({"reason": "deprecated"}));
    let told = ["version", "active", "deactivated_reason", "replaces", "differences"].map(|it| preview[it].clone());
    assert_eq!(json!(told), json!(["1.1.0", false, "deprecated", null, []]));
    assert!(preview["warnings"].to_string().contains("TOOL_DISABLED"), "{preview}");
    let same = |path: &str, body: Value, status: u16| {
        let [dry, real] = ["?dry_run=true", ""].map(|it| client.post(&format!("/api/tools/{path}{it}"), body.clone()));
        assert_eq!((dry.status, dry.json()), (status, real.json()), "{path}");
        assert_eq!(dry.cost("rows_written"), 0);
    };
    same("x/rollback", json!({"version": "1.1.0"}), 409);
    same("x/rollback", json!({"version": "7.0.0"}), 404);
    same("x/rollback", json!({"version": "7", "reason": "x".repeat(501)}), 400);
    same("y/deactivate", json!({"reason": "deprecated"}), 404);
    same("read_file/deactivate", json!({"reason": "deprecated"}), 409);
    assert_eq!((client.changes(), client.get("/api/tools/x/versions").ok()), (log, versions));
}

/// The tool as an admin reads it, with a new number.
fn read_back(client: &Client, id: &str, version: &str) -> Value {
    let mut tool = client.get(&format!("/api/tools/{id}")).ok();
    tool["version"] = json!(version);
    tool
}

#[test]
fn a_tool_that_was_read_can_be_sent_back_as_a_new_version() {
    let client = workspace();
    client.register("x", "1.0.0", json!({"examples": [{"description": "One", "params": {"text": "a"}}]}));
    let mut tool = read_back(&client, "x", "1.0.1");
    tool["description"] = json!("Counts the words of a text, slowly");
    let made = client.post("/api/tools", tool.clone()).created();
    assert_eq!((&made["version"], &made["description"]), (&json!("1.0.1"), &tool["description"]));
    assert_eq!((&made["created_at"], &made["parameters_schema"]), (&tool["created_at"], &tool["parameters_schema"]));
    let mut objects = client.get("/api/tools/x?schemas=object").ok();
    objects["version"] = json!("1.0.2");
    client.post("/api/tools", objects).created();
    // A version that is not active is sent back as it is shown, too.
    client.post("/api/tools/x/deactivate", json!({"reason": "deprecated"})).ok();
    client.post("/api/tools", read_back(&client, "x", "1.0.3")).created();

    let fields = json!({
        "created_at": "2020-01-01T00:00:00.000Z", "registered_at": "2020-01-01T00:00:00.000Z", "registered_by": "me",
        "active": false, "source": "builtin", "handler_key": "http", "deactivated_at": "2020-01-01T00:00:00.000Z",
        "deactivated_reason": "security",
    });
    for (name, value) in fields.as_object().unwrap() {
        let mut tool = read_back(&client, "x", "1.0.4");
        tool[name] = value.clone();
        let refused = client.post("/api/tools", tool).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), [format!("/{name}")]);
        assert!(refused.message.contains("is read-only"), "{}", refused.message);
    }
    // Nothing is there that the times of another tool could be equal to.
    let mut other = read_back(&client, "x", "1.0.0");
    other["id"] = json!("y");
    let refused = client.post("/api/tools", other).refused(400, "VALIDATION_ERROR");
    let mut paths = refused.paths();
    paths.sort_unstable();
    assert_eq!(paths, ["/created_at", "/registered_at"]);
    client.post("/api/tools", read_back(&client, "read_file", "9.0.0")).refused(409, "CONFLICT");
}

#[test]
fn a_masked_value_keeps_the_value_and_never_becomes_one() {
    let (client, upstream) = (workspace(), Upstream::start());
    let url = format!("{}?key=s3cret", upstream.at("/headers"));
    let handler = json!({"type": "http", "url": url, "headers": {"X-Key": "hunter2"}});
    client.register("x", "1.0.0", json!({"handler": handler, "parameters_schema": {"type": "object"}}));
    let tool = read_back(&client, "x", "1.0.1");
    assert_eq!(tool["handler"]["headers"]["X-Key"], "***");
    let preview = dry_run(&client, "/api/tools", tool.clone());
    assert_eq!(preview["differences"], json!([]));
    client.post("/api/tools", tool.clone()).created();
    client.execute("x", json!({})).success();
    let sent = upstream.received().remove(0).headers;
    assert!(sent.contains(&("x-key".to_owned(), "hunter2".to_owned())), "{sent:?}");
    // Under another URL the value is not sent anywhere.
    let check = |handler: Value, expected: &[&str]| {
        let mut tool = read_back(&client, "x", "1.0.2");
        tool["handler"] = handler;
        let refused = client.post("/api/tools", tool).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), expected, "{}", refused.message);
    };
    let masked = |url: &str| json!({"type": "http", "url": url, "headers": {"X-Key": "***"}});
    check(masked(&upstream.at("/echo")), &["/handler/headers/X-Key"]);
    check(masked(&format!("{}?key=***", upstream.at("/echo"))), &["/handler/url", "/handler/headers/X-Key"]);
    let refused = client.post("/api/tools", definition("y", "1.0.0", json!({"handler": masked("https://a.example")})));
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["/handler/headers/X-Key"]);
    let mut given = read_back(&client, "x", "1.0.2");
    given["handler"]["headers"]["X-Key"] = json!("other");
    assert_eq!(dry_run(&client, "/api/tools", given)["differences"][0]["path"], "/handler");
}

#[test]
fn versions_can_be_read_by_their_number_and_compared() {
    let client = workspace();
    client.register("x", "1.0.0", json!({"timeout_seconds": 30}));
    client.register("x", "2.0.0", json!({"timeout_seconds": 20, "description": "Counts the words of another text"}));
    let one = version(&client, "x", "1.0.0");
    assert_eq!(client.get("/api/tools/x@1.0.0").ok(), one);
    assert_eq!(client.get("/api/tools/x@1.0.0?version=1.0.0").ok(), one);
    assert_eq!(client.get("/api/tools/x/versions/1.0.0").ok(), one);
    client.get("/api/tools/x@1.0.0?version=2.0.0").refused(400, "VALIDATION_ERROR");
    for path in ["/api/tools/x@1", "/api/tools/x/versions/1", "/api/tools/x@", "/api/tools/x/versions/9.9.9"] {
        client.get(path).refused(404, "NOT_FOUND");
    }
    // A number that no version has gets the current one.
    let unknown = client.get("/api/tools/x?version=9.9.9").refused(404, "NOT_FOUND");
    assert_eq!(unknown.message, "Tool not found: x@9.9.9. Did you mean x@2.0.0?");

    let compared = client.get("/api/tools/x/compare?from=1.0.0&to=2.0.0").ok();
    assert_eq!(client.get("/api/tools/x/compare?from=1.0.0").ok(), compared, "with the active one");
    assert_eq!(
        compared,
        json!({
            "id": "x", "from": "1.0.0", "to": "2.0.0", "needed_step": "minor",
            "reasons": [{"step": "minor", "path": "/timeout_seconds", "message": "went from 30 down to 20"}],
            "differences": [
                {"path": "/description", "from": "Counts the words of a text", "to": "Counts the words of another text"},
                {"path": "/timeout_seconds", "from": 30, "to": 20},
            ],
        })
    );
    client.get("/api/tools/x/compare?from=1.0.0&to=9.9.9").refused(404, "NOT_FOUND");
    client.get("/api/tools/x/compare").refused(400, "VALIDATION_ERROR");
    assert_eq!(client.get("/api/tools/email_search/compare?from=1.0.0").ok()["to"], "1.1.0", "built-ins too");
}

#[test]
fn faults_of_a_schema_have_their_place() {
    let client = workspace();
    let schema = json!({"type": "object", "properties": {"a": {"type": "strin"}}});
    let refused = client.post("/api/tools", definition("x", "1.0.0", json!({"parameters_schema": schema})));
    let message = refused.refused(400, "VALIDATION_ERROR").message;
    assert!(message.contains("at /properties/a/type: "), "{message}");
    let made = client.register("y", "1.0.0", json!({"parameters_schema": {"text": "string"}}));
    let told = made["warnings"].as_array().unwrap().iter().find(|it| it["path"] == "/parameters_schema/text").unwrap();
    assert_eq!(told["message"], "is no keyword of JSON Schema: a parameter stands in properties");
}
