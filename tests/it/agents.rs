//! `/api/agents`.

use crate::harness::{Client, Tool, closed, closed_workspace, open, race, workspace};
use serde_json::{Value, json};

fn toolbox(client: &Client, agent: &str) -> Vec<String> {
    let answer = client.get(&format!("/api/agents/{agent}/toolbox")).ok();
    answer["tools"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_agent_is_made_with_defaults_and_read_back() {
    let client = workspace();
    let made = client.post("/api/agents", json!({"name": "Mail clerk"})).created();
    insta::assert_json_snapshot!(made, {
        ".id" => insta::dynamic_redaction(|value, _| {
            let id = value.as_str().unwrap();
            assert!(id.len() == 38 && id.starts_with("agent_"), "{id}");
            "[id]"
        }),
        ".created_at" => insta::dynamic_redaction(|value, _| {
            let time = value.as_str().unwrap();
            assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
            "[time]"
        }),
    }, @r#"
    {
      "id": "[id]",
      "name": "Mail clerk",
      "capabilities": [],
      "max_risk": "medium",
      "allowed_modules": [],
      "permission_level": "user",
      "default_tools": true,
      "find_tools": false,
      "system_prompt": null,
      "model": null,
      "max_steps": null,
      "temperature": null,
      "created_at": "[time]",
      "default_tools_in_use": true
    }
    "#);
    let id = made["id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/api/agents/{id}")).ok(), made);
    assert_eq!(client.get("/api/agents").ok(), json!({"agents": [made], "next_cursor": null}));
}

#[test]
fn every_field_can_be_given_and_changed() {
    let client = workspace();
    let given = json!({
        "name": "A", "capabilities": ["net", "mail", "net"], "max_risk": "critical", "allowed_modules": ["research"],
        "permission_level": "owner", "default_tools": false, "find_tools": true,
        "system_prompt": "Be brief.", "model": "@cf/small", "max_steps": 3, "temperature": 0.5,
    });
    let made = client.post("/api/agents", given).created();
    assert_eq!(made["capabilities"], json!(["net", "mail"]));
    let path = format!("/api/agents/{}", made["id"].as_str().unwrap());

    let changed = client.patch(&path, json!({"name": "B", "capabilities": [], "max_risk": null})).ok();
    assert_eq!((&changed["name"], &changed["capabilities"]), (&json!("B"), &json!([])));
    for kept in ["id", "max_risk", "allowed_modules", "permission_level", "default_tools", "find_tools", "created_at"] {
        assert_eq!(changed[kept], made[kept], "{kept}");
    }
    for (kept, expected) in
        [("system_prompt", json!("Be brief.")), ("model", json!("@cf/small")), ("max_steps", json!(3))]
    {
        assert_eq!(changed[kept], expected, "{kept}");
    }
    let cleared = json!({"system_prompt": "", "model": "", "max_steps": 0, "temperature": -1});
    let cleared = client.patch(&path, cleared).ok();
    for field in ["system_prompt", "model", "max_steps", "temperature"] {
        assert_eq!(cleared[field], json!(null), "{field}");
    }
    client.patch(&path, json!({"max_steps": 65})).refused(400, "VALIDATION_ERROR");
    let changed = client.patch(&path, json!({"temperature": 2})).ok();
    assert_eq!(changed["temperature"], json!(2.0));
    assert_eq!(client.get(&path).ok(), changed);
    assert_eq!(client.patch(&path, json!({})).ok(), changed);
    client.patch(&path, json!({"id": "agent_other"})).refused(400, "VALIDATION_ERROR");
    client.patch(&path, json!({"name": ""})).refused(400, "VALIDATION_ERROR");
    assert_eq!(client.get(&path).ok(), changed);
}

#[test]
fn everything_wrong_with_an_agent_is_told_at_once() {
    let body = json!({"name": " ", "capabilities": ["ok", "not ok"], "allowed_modules": vec!["m"; 201]});
    let refused = workspace().post("/api/agents", body).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/name", "/capabilities/1", "/allowed_modules"]);
}

#[test]
fn a_deleted_agent_is_gone_with_all_that_hangs_on_it() {
    let root = closed_workspace();
    let id = root.agent(json!({}));
    let path = format!("/api/agents/{id}");
    root.post(&format!("{path}/tools"), json!({"tool_id": "read_file"})).created();
    let bound = root.token(json!({"name": "bound", "level": "user", "agent_id": id}));
    bound.get(&path).ok();

    root.delete(&path).no_content();
    assert_eq!(root.get(&path).refused(404, "NOT_FOUND").message, format!("Agent not found: {id}"));
    root.delete(&path).refused(404, "NOT_FOUND");
    root.patch(&path, json!({"name": "x"})).refused(404, "NOT_FOUND");
    root.get(&format!("{path}/tools")).refused(404, "NOT_FOUND");
    root.get(&format!("{path}/toolbox")).refused(404, "NOT_FOUND");
    bound.get("/api/tools").refused(401, "UNAUTHORIZED");
    let left =
        closed().sql("SELECT count(*) AS n FROM agent_tools WHERE workspace_id = ?1", &[json!(root.workspace())]);
    assert_eq!(left[0]["n"], 0);
}

#[test]
fn agents_are_listed_oldest_first_to_the_end() {
    let client = workspace();
    let ids = (0..9).map(|_| client.agent(json!({}))).collect::<Vec<_>>();
    for limit in [1, 2, 4, 9, 10] {
        let listed = client.pages("/api/agents", "agents", limit);
        assert_eq!(listed.len(), ids.len());
        let mut seen = listed.iter().map(|it| it["id"].as_str().unwrap()).collect::<Vec<_>>();
        let times = listed.iter().map(|it| it["created_at"].as_str().unwrap()).collect::<Vec<_>>();
        assert!(times.is_sorted());
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), ids.len());
    }
}

#[test]
fn an_agent_of_another_workspace_is_as_unknown_as_any() {
    let (here, there) = (workspace(), workspace());
    let id = here.agent(json!({}));
    let path = format!("/api/agents/{id}");
    there.get(&path).refused(404, "NOT_FOUND");
    there.patch(&path, json!({"name": "mine"})).refused(404, "NOT_FOUND");
    there.delete(&path).refused(404, "NOT_FOUND");
    there.post(&format!("{path}/tools"), json!({"tool_id": "read_file"})).refused(404, "NOT_FOUND");
    assert_eq!(there.get("/api/agents").ok()["agents"], json!([]));
    assert_eq!(here.get(&path).ok()["name"], "Agent");
}

#[test]
fn racing_changes_lose_none_that_was_acknowledged() {
    let client = workspace();
    let path = format!("/api/agents/{}", client.agent(json!({})));
    let answers = race(8, |index| client.patch(&path, json!({"name": format!("Name {index}")})));
    let won = answers.iter().filter(|it| it.status == 200).count();
    assert!(won >= 1);
    for lost in answers.iter().filter(|it| it.status != 200) {
        lost.refused(409, "CONFLICT");
    }
    let updates = open().sql(
        "SELECT count(*) AS n FROM changes WHERE workspace_id = ?1 AND action = 'update'",
        &[json!(client.workspace())],
    );
    assert_eq!(updates[0]["n"], won);
}

#[test]
fn a_toolbox_falls_back_to_the_default_tools() {
    let client = workspace();
    let plain = client.agent(json!({}));
    assert_eq!(toolbox(&client, &plain), ["execute_python", "read_file", "write_file", "list_files"]);
    let bare = client.agent(json!({"default_tools": false}));
    assert_eq!(toolbox(&client, &bare), [""; 0]);
    let guest = client.agent(json!({"permission_level": "guest"}));
    assert_eq!(toolbox(&client, &guest), ["read_file", "list_files"]);
    let careful = client.agent(json!({"max_risk": "safe"}));
    assert_eq!(toolbox(&client, &careful), ["read_file", "list_files"]);

    client.post(&format!("/api/agents/{plain}/tools"), json!({"tool_id": "email_get"})).created();
    assert_eq!(toolbox(&client, &plain), ["email_get"]);
}

#[test]
fn a_toolbox_holds_only_what_may_be_used_now() {
    let client = workspace();
    let put = |tool: Tool| tool.put(open(), &client);
    put(Tool::new("needs-net").with(json!({"required_capabilities": ["net"]})));
    put(Tool::new("risky").with(json!({"risk_level": "high"})));
    put(Tool::new("for-admins").with(json!({"required_permission": "admin"})));
    put(Tool::new("off").inactive("deprecated"));
    put(Tool::new("research.web").source("module"));
    let every = ["needs-net", "risky", "for-admins", "off", "research.web", "read_file"];
    let agent = |fields: Value| {
        let id = client.agent(fields);
        for tool in every {
            client.post(&format!("/api/agents/{id}/tools"), json!({"tool_id": tool})).created();
        }
        id
    };
    assert_eq!(toolbox(&client, &agent(json!({}))), ["read_file"]);
    assert_eq!(toolbox(&client, &agent(json!({"capabilities": ["net"]}))), ["read_file", "needs-net"]);
    assert_eq!(toolbox(&client, &agent(json!({"max_risk": "high"}))), ["read_file", "risky"]);
    assert_eq!(toolbox(&client, &agent(json!({"permission_level": "admin"}))), ["read_file", "for-admins"]);
    assert_eq!(toolbox(&client, &agent(json!({"allowed_modules": ["research"]}))), ["read_file", "research.web"]);
}

#[test]
fn a_toolbox_goes_no_higher_than_its_caller() {
    let root = closed_workspace();
    Tool::new("for-admins").with(json!({"required_permission": "admin"})).put(closed(), &root);
    let id = root.agent(json!({"permission_level": "owner"}));
    for tool in ["for-admins", "write_file", "read_file"] {
        root.post(&format!("/api/agents/{id}/tools"), json!({"tool_id": tool})).created();
    }
    for (level, expected) in [
        ("guest", vec!["read_file"]),
        ("user", vec!["read_file", "write_file"]),
        ("admin", vec!["read_file", "write_file", "for-admins"]),
    ] {
        assert_eq!(toolbox(&root.token(json!({"name": level, "level": level})), &id), expected, "{level}");
    }
}

#[test]
fn an_unknown_toolbox_format_is_refused() {
    let client = workspace();
    let path = format!("/api/agents/{}/toolbox", client.agent(json!({})));
    client.get(&format!("{path}?format=json")).ok();
    let refused = client.get(&format!("{path}?format=xml")).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["format"]);
}

#[test]
fn an_agent_that_was_read_can_be_sent_back() {
    let client = workspace();
    let id = client.agent(json!({"name": "Clerk", "capabilities": ["net"]}));
    let path = format!("/api/agents/{id}");
    let mut read = client.get(&path).ok();
    read["name"] = json!("Head clerk");
    assert_eq!(client.patch(&path, read.clone()).ok(), read);
    let copy = client.post("/api/agents", read.clone()).created();
    assert_ne!(copy["id"], read["id"]);
    assert_eq!((&copy["name"], &copy["capabilities"]), (&read["name"], &read["capabilities"]));
    for (field, value) in [("id", copy["id"].clone()), ("created_at", json!("2020-01-01T00:00:00.000Z"))] {
        let mut other = read.clone();
        other[field] = value;
        let refused = client.patch(&path, other.clone()).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), [format!("/{field}")]);
        // As a copy of the second agent, the time of the first one differs.
        let refused = client.post("/api/agents", other).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/created_at"]);
    }
    let unknown = json!({"name": "x", "id": "agent_unknown"});
    assert_eq!(client.post("/api/agents", unknown).refused(400, "VALIDATION_ERROR").paths(), ["/id"]);
    let copied = workspace().post("/api/agents", read).refused(400, "VALIDATION_ERROR");
    assert_eq!(copied.paths(), ["/id", "/created_at", "/default_tools_in_use"]);
    client.post("/api/agents", json!({"name": "x", "id": null, "created_at": null})).created();
}
