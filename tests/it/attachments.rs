//! `/api/agents/{agent_id}/tools`.

use crate::harness::{Tool, open, race, workspace};
use serde_json::{Value, json};

#[test]
fn a_tool_is_attached_configured_listed_and_detached() {
    let client = workspace();
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    let attached = client.post(&path, json!({"tool_id": "email_search", "config": {"default_limit": 20}})).created();
    assert_eq!(attached["config"], json!({"default_limit": 20}));
    let mut tool = client.get("/api/tools/email_search").ok();
    tool["config"] = json!({"default_limit": 20});
    assert_eq!(client.get(&path).ok(), json!({"tools": [tool], "next_cursor": null}));
    assert_eq!(without_warnings(attached), tool);

    let one = format!("{path}/email_search");
    let configured = client.patch(&one, json!({"config": {"default_limit": 5, "note": "x"}})).ok();
    assert_eq!(configured["config"], json!({"default_limit": 5, "note": "x"}));
    assert_eq!(client.get(&path).ok()["tools"][0]["config"], json!({"default_limit": 5, "note": "x"}));
    assert_eq!(client.patch(&one, json!({"config": {}})).ok()["config"], json!({}));

    client.delete(&one).no_content();
    client.delete(&one).refused(404, "NOT_FOUND");
    client.patch(&one, json!({"config": {}})).refused(404, "NOT_FOUND");
    assert_eq!(client.get(&path).ok()["tools"], json!([]));
}

/// The attached tool in the answer to its attachment.
fn without_warnings(mut attached: Value) -> Value {
    assert!(attached.as_object_mut().unwrap().remove("warnings").unwrap().is_array());
    attached
}

/// The messages of the warnings, which are all about the tool.
fn warnings_of(attached: &Value) -> Vec<String> {
    let warnings = attached["warnings"].as_array().unwrap().iter();
    let message = |warning: &Value| {
        assert_eq!(warning["path"], "/tool_id");
        warning["message"].as_str().unwrap().to_owned()
    };
    warnings.map(message).collect()
}

#[test]
fn an_attachment_that_brings_nothing_says_why() {
    let client = workspace();
    let agent = client.agent(json!({"default_tools": false, "capabilities": ["mail"], "allowed_modules": ["kit"]}));
    let path = format!("/api/agents/{agent}/tools");
    let has = |id: &str| {
        let toolbox = client.get(&format!("/api/agents/{agent}/toolbox")).ok();
        toolbox["tools"].as_array().unwrap().iter().any(|it| it["id"] == id)
    };
    let check = |tool: Tool, id: &str, expected: &[&str]| {
        tool.put(open(), &client);
        let attached = client.post(&path, json!({"tool_id": id})).created();
        let sentences = expected.iter().map(|it| format!("The agent cannot use {id} now: {id} {it}"));
        assert_eq!(warnings_of(&attached), sentences.collect::<Vec<_>>());
        // The warnings and the toolbox are of one mind.
        assert_eq!(has(id), expected.is_empty(), "{id}");
    };
    check(Tool::new("plain"), "plain", &[]);
    let fitting = json!({"required_capabilities": ["mail"], "risk_level": "medium", "required_permission": "user"});
    check(Tool::new("kit.fits").source("module").with(fitting), "kit.fits", &[]);
    let level = "needs the level admin, and the effective level is user";
    check(Tool::new("level").with(json!({"required_permission": "admin"})), "level", &[level]);
    let capabilities = json!({"required_capabilities": ["net", "mail", "pay"]});
    check(Tool::new("capable").with(capabilities), "capable", &["needs the capabilities net, pay"]);
    let risk = "has the risk high, and the agent is allowed medium";
    check(Tool::new("risky").with(json!({"risk_level": "high"})), "risky", &[risk]);
    let module = "belongs to the module files, which the agent may not use";
    check(Tool::new("files.wipe").source("module"), "files.wipe", &[module]);
    check(Tool::new("off").inactive("deprecated"), "off", &["is not active"]);
    let all = json!({"required_permission": "owner", "required_capabilities": ["net"], "risk_level": "critical"});
    check(
        Tool::new("files.all").source("module").with(all),
        "files.all",
        &[
            "needs the level owner, and the effective level is user",
            "needs the capabilities net",
            "has the risk critical, and the agent is allowed medium",
            module,
        ],
    );
}

#[test]
fn the_first_attachment_ends_the_default_tools_and_says_so() {
    let client = workspace();
    let made = client.post("/api/agents", json!({"name": "a"})).created();
    let one = format!("/api/agents/{}", made["id"].as_str().unwrap());
    let in_use = || {
        let shown = client.get(&one).ok();
        assert_eq!(client.get("/api/agents").ok()["agents"][0], shown);
        assert_eq!(client.patch(&one, json!({})).ok(), shown);
        let toolbox = client.get(&format!("{one}/toolbox")).ok();
        let ids = toolbox["tools"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
        let has_python = ids.collect::<Vec<_>>().contains(&"execute_python".to_owned());
        assert_eq!(shown["default_tools_in_use"], has_python);
        shown["default_tools_in_use"] == true
    };
    let warnings =
        |tool_id: &str| warnings_of(&client.post(&format!("{one}/tools"), json!({"tool_id": tool_id})).created());
    assert_eq!(made["default_tools_in_use"], true);
    assert!(in_use());
    let ended = "The first attachment ends the agent's default tools, which are not attached: execute_python, write_file, \
                 list_files. Attach those that the agent needs";
    assert_eq!(warnings("read_file"), [ended]);
    assert!(!in_use());
    assert_eq!(warnings("email_search"), [""; 0]);
    for tool in ["read_file", "email_search"] {
        client.delete(&format!("{one}/tools/{tool}")).no_content();
    }
    assert!(in_use());

    // An agent that has no default tools loses none.
    let patched = client.patch(&one, json!({"default_tools": false})).ok();
    assert_eq!(patched["default_tools_in_use"], false);
    assert_eq!(warnings("read_file"), [""; 0]);
    assert!(!in_use());
}

#[test]
fn without_a_configuration_it_is_null() {
    let client = workspace();
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    assert_eq!(client.post(&path, json!({"tool_id": "read_file"})).created()["config"], Value::Null);
    assert_eq!(client.post(&path, json!({"tool_id": "list_files", "config": null})).created()["config"], Value::Null);
}

#[test]
fn a_configuration_must_fit_the_tool() {
    let client = workspace();
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    for (config, place) in [
        (json!({"default_limit": 51}), "/config/default_limit"),
        (json!({"default_limit": "20"}), "/config/default_limit"),
        (json!({"default_order": "random"}), "/config/default_order"),
        (json!({"default_limti": 20}), "/config/default_limti"),
        (json!({"max_result_bytes": -1}), "/config/max_result_bytes"),
        (json!([1]), "/config"),
        (json!("x"), "/config"),
    ] {
        let refused =
            client.post(&path, json!({"tool_id": "email_search", "config": config})).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), [place], "{config}");
    }
    assert_eq!(client.get(&path).ok()["tools"], json!([]));

    let config = json!({"default_limit": 20, "limit": 3});
    let attached = client.post(&path, json!({"tool_id": "email_search", "config": config})).created();
    let told = attached["warnings"].as_array().unwrap().iter().find(|it| it["path"] == "/config/limit").unwrap();
    assert_eq!(told["message"], "sets no default: the key for a parameter's default is default_limit");
    client.patch(&format!("{path}/email_search"), json!({"config": {"default_limit": 20}})).ok();
    client
        .patch(&format!("{path}/email_search"), json!({"config": {"default_limit": 0}}))
        .refused(400, "VALIDATION_ERROR");
    client.patch(&format!("{path}/email_search"), json!({})).refused(400, "VALIDATION_ERROR");
    assert_eq!(client.get(&path).ok()["tools"][0]["config"], json!({"default_limit": 20}));
}

#[test]
fn what_is_not_there_cannot_be_attached() {
    let (client, elsewhere) = (workspace(), workspace());
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    Tool::new("private").put(open(), &elsewhere);
    for unknown in ["nope", "private"] {
        let refused = client.post(&path, json!({"tool_id": unknown})).refused(404, "NOT_FOUND");
        assert_eq!(refused.message, format!("Tool not found: {unknown}"));
    }
    for body in
        [json!({}), json!({"tool_id": null}), json!({"tool_id": 7}), json!({"tool_id": ""}), json!({"tool_id": "a b"})]
    {
        assert_eq!(client.post(&path, body).refused(400, "VALIDATION_ERROR").paths(), ["/tool_id"]);
    }
    let refused = client.post("/api/agents/agent_x/tools", json!({"tool_id": "read_file"})).refused(404, "NOT_FOUND");
    assert_eq!(refused.message, "Agent not found: agent_x");
}

#[test]
fn attaching_twice_is_refused_and_keeps_the_first() {
    let client = workspace();
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    client.post(&path, json!({"tool_id": "email_search", "config": {"default_limit": 1}})).created();
    client
        .post(&path, json!({"tool_id": "email_search", "config": {"default_limit": 2}}))
        .refused(409, "ALREADY_EXISTS");
    assert_eq!(client.get(&path).ok()["tools"][0]["config"], json!({"default_limit": 1}));
}

#[test]
fn of_racing_attachments_one_wins() {
    let client = workspace();
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    let answers = race(12, |index| {
        client.post(&path, json!({"tool_id": "email_search", "config": {"default_limit": index + 1}}))
    });
    let winners = answers.iter().filter(|it| it.status == 201).collect::<Vec<_>>();
    assert_eq!(winners.len(), 1);
    for loser in answers.iter().filter(|it| it.status != 201) {
        loser.refused(409, "ALREADY_EXISTS");
    }
    assert_eq!(client.get(&path).ok()["tools"], json!([without_warnings(winners[0].json())]));
}

#[test]
fn of_racing_detachments_one_wins() {
    let client = workspace();
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    client.post(&path, json!({"tool_id": "read_file"})).created();
    let answers = race(8, |_| client.delete(&format!("{path}/read_file")));
    assert_eq!(answers.iter().filter(|it| it.status == 204).count(), 1);
    assert!(answers.iter().all(|it| matches!(it.status, 204 | 404 | 409)));
}

#[test]
fn attached_tools_come_in_pages() {
    let client = workspace();
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    for index in 0..5 {
        let id = format!("tool-{index}");
        Tool::new(&id).put(open(), &client);
        client.post(&path, json!({"tool_id": id})).created();
    }
    client.post(&path, json!({"tool_id": "read_file"})).created();
    let all = client.get(&path).ok()["tools"].clone();
    assert_eq!(all.as_array().unwrap().len(), 6);
    for limit in [1, 2, 3, 6, 7] {
        assert_eq!(json!(client.pages(&path, "tools", limit)), all);
    }
    client.get(&format!("{path}?cursor=6e6f7768657265")).refused(400, "VALIDATION_ERROR");

    // A cursor stays valid after the attachment that it names has been removed.
    let page = client.get(&format!("{path}?limit=2")).ok();
    client.delete(&format!("{path}/{}", page["tools"][1]["id"].as_str().unwrap())).no_content();
    let rest = client.get(&format!("{path}?cursor={}", page["next_cursor"].as_str().unwrap())).ok();
    assert_eq!(rest["tools"], json!(all.as_array().unwrap()[2..]));
}

#[test]
fn an_agent_can_have_a_thousand_tools_and_no_more() {
    let client = workspace();
    let agent = client.agent(json!({}));
    open().ask(json!({"batch": [
        {"sql": "INSERT INTO tools (workspace_id, id, source, created_at)
                 WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
                 SELECT ?1, 'tool-' || i, 'registered', 't' FROM n", "params": [client.workspace()]},
        {"sql": "INSERT INTO agent_tools (workspace_id, agent_id, tool_key, created_at)
                 SELECT ?1, ?2, key, 't' FROM tools WHERE workspace_id = ?1", "params": [client.workspace(), agent]},
    ]}));
    let path = format!("/api/agents/{agent}/tools");
    let refused = client.post(&path, json!({"tool_id": "read_file"})).refused(409, "CONFLICT");
    assert!(refused.message.contains("1000 tools attached"), "{}", refused.message);
    open().sql("DELETE FROM tools WHERE workspace_id = ?1 AND id = 'tool-7'", &[json!(client.workspace())]);
    client.post(&path, json!({"tool_id": "read_file"})).created();
    client.post(&path, json!({"tool_id": "list_files"})).refused(409, "CONFLICT");
    let rows = open().sql("SELECT action FROM changes WHERE workspace_id = ?1", &[json!(client.workspace())]);
    assert_eq!(rows, [json!({"action": "create"}), json!({"action": "attach"})]);
}

#[test]
fn an_attachment_made_anew_is_another() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let path = format!("/api/agents/{agent}/tools");
    let revision = || {
        let rows = open().sql("SELECT revision FROM agent_tools WHERE workspace_id = ?1", &[json!(client.workspace())]);
        rows[0]["revision"].as_u64().unwrap()
    };
    client.post(&path, json!({"tool_id": "read_file"})).created();
    let first = revision();
    client.delete(&format!("{path}/read_file")).no_content();
    client.post(&path, json!({"tool_id": "read_file"})).created();
    assert!(revision() > first, "a change decided on the first would pass for one of the second");
}

#[test]
fn attachments_follow_the_active_version() {
    let client = workspace();
    let path = format!("/api/agents/{}/tools", client.agent(json!({})));
    Tool::new("grown").put(open(), &client);
    client.post(&path, json!({"tool_id": "grown"})).created();
    open().sql(
        "UPDATE tool_versions SET active = 0, deactivated_at = '2026-11-16T03:00:00.000Z', deactivated_reason = 'version_update'
         WHERE workspace_id = ?1",
        &[json!(client.workspace())],
    );
    Tool::new("grown").with(json!({"minor": 1})).put(open(), &client);
    assert_eq!(client.get(&path).ok()["tools"][0]["version"], "1.1.0");
}

#[test]
fn a_dry_run_tells_what_attaching_would_do_and_writes_nothing() {
    let client = workspace();
    let agent = client.agent(json!({"max_risk": "low"}));
    Tool::new("risky").with(json!({"risk_level": "high"})).put(open(), &client);
    let path = format!("/api/agents/{agent}/tools");
    let dry = |body: Value| {
        let answer = client.post(&format!("{path}?dry_run=true"), body);
        assert_eq!(answer.cost("rows_written"), 0, "{}", answer.text);
        assert!(answer.status != 200 || answer.cost("round_trips") == 1, "{}", answer.text);
        answer
    };
    let log = client.changes();
    let preview = dry(json!({"tool_id": "email_search", "config": {"default_limit": 20}})).ok();
    assert_eq!((&preview["id"], &preview["config"]), (&json!("email_search"), &json!({"default_limit": 20})));
    assert_eq!(preview["dry_run"], true);
    let warnings = |preview: Value| preview["warnings"].as_array().unwrap().len();
    assert!(preview["warnings"][0]["message"].as_str().unwrap().contains("default tools"), "{preview}");
    let told = dry(json!({"tool_id": "risky"})).ok()["warnings"][0]["message"].clone();
    assert!(told.as_str().unwrap().contains("has the risk high"), "{told}");
    dry(json!({"tool_id": "email_serch"})).refused(404, "NOT_FOUND");
    assert_eq!(client.get(&path).ok()["tools"], json!([]));
    assert_eq!(client.changes(), log);

    client.post(&path, json!({"tool_id": "email_get"})).created();
    assert_eq!(warnings(dry(json!({"tool_id": "email_search"})).ok()), 0);
    for body in [
        json!({"tool_id": "email_get"}),
        json!({"tool_id": "nope"}),
        json!({"tool_id": "email_search", "config": {"default_limit": 51}}),
    ] {
        let [dry, real] = [dry(body.clone()), client.post(&path, body)];
        assert_eq!((dry.status, dry.json()), (real.status, real.json()));
    }
}

#[test]
fn an_attached_tool_that_was_read_can_be_sent_back() {
    let client = workspace();
    let [first, second] =
        [client.agent(json!({})), client.agent(json!({}))].map(|it| format!("/api/agents/{it}/tools"));
    client.post(&first, json!({"tool_id": "email_search", "config": {"default_limit": 20}})).created();
    let read = client.get(&first).ok()["tools"][0].clone();
    assert_eq!(without_warnings(client.post(&second, read.clone()).created()), read);
    let objects = client.get(&format!("{first}?schemas=object")).ok()["tools"][0].clone();
    let mut changed = objects.clone();
    changed["config"] = json!({"default_limit": 5});
    assert_eq!(client.patch(&format!("{first}/email_search?schemas=object"), changed.clone()).ok(), changed);
    changed["name"] = json!("Another name");
    let refused = client.patch(&format!("{first}/email_search"), changed.clone()).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/name"]);
    client.delete(&format!("{second}/email_search")).no_content();
    assert_eq!(client.post(&second, changed).refused(400, "VALIDATION_ERROR").paths(), ["/name"]);
    let refused = client.post(&second, json!({"tool_id": "email_get", "id": "email_search"}));
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["/id"]);
    assert_eq!(client.post(&second, json!({"config": {}})).refused(400, "VALIDATION_ERROR").paths(), ["/tool_id"]);
}
