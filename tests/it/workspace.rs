//! The settings of a workspace.

use crate::harness::{closed_workspace, race, workspace};
use serde_json::{Value, json};

const PATH: &str = "/api/workspace";

/// The settings in a response, if only modules are set.
fn out(modules: &[&str]) -> Value {
    json!({"default_guest_modules": modules, "model_url": null, "model_name": null, "model_key_set": false,
        "model_streaming": null, "context_tokens": null})
}

/// The settings in the change log, if only modules are set.
fn logged(modules: &[&str]) -> Value {
    json!({"default_guest_modules": modules})
}

#[test]
fn settings_are_read_and_changed() {
    let client = workspace();
    assert_eq!(client.get(PATH).ok(), out(&[]));
    let changed = client.patch(PATH, json!({"default_guest_modules": ["research", "files-2", "research"]})).ok();
    assert_eq!(changed, out(&["research", "files-2"]));
    assert_eq!(client.get(PATH).ok(), changed);
    // A module need not exist, and other workspaces keep their settings.
    assert_eq!(workspace().get(PATH).ok(), out(&[]));
    assert_eq!(client.patch(PATH, json!({"default_guest_modules": []})).ok(), out(&[]));

    let changes = client.changes();
    let told = |it: &Value| [&it["action"], &it["subject"], &it["previous_state"], &it["new_state"]].map(Clone::clone);
    let (none, changed) = (logged(&[]), logged(&["research", "files-2"]));
    assert_eq!(
        changes.iter().map(told).collect::<Vec<_>>(),
        [
            [json!("update"), json!("workspace:settings"), none.clone(), changed.clone()],
            [json!("update"), json!("workspace:settings"), changed, none],
        ]
    );
}

#[test]
fn a_change_that_changes_nothing_writes_nothing() {
    let client = workspace();
    for body in [json!({}), json!({"default_guest_modules": []}), json!({"default_guest_modules": null})] {
        let answer = client.patch(PATH, body);
        assert_eq!(answer.ok(), out(&[]));
        assert_eq!(answer.cost("rows_written"), 0);
    }
    assert_eq!(client.changes(), Vec::<Value>::new());
}

#[test]
fn wrong_settings_are_refused_by_their_place() {
    let client = workspace();
    let check = |body: Value, paths: &[&str]| {
        assert_eq!(client.patch(PATH, body).refused(400, "VALIDATION_ERROR").paths(), paths);
    };
    let long = "x".repeat(65);
    check(json!({"default_guest_module": []}), &["/default_guest_module"]);
    check(json!({"default_guest_modules": "research"}), &["/default_guest_modules"]);
    check(
        json!({"default_guest_modules": ["ok", "Upper", "a.b", long]}),
        &["/default_guest_modules/1", "/default_guest_modules/2", "/default_guest_modules/3"],
    );
    let many = (0..201).map(|it| format!("m{it}")).collect::<Vec<_>>();
    check(json!({"default_guest_modules": many}), &["/default_guest_modules"]);
    client.patch(PATH, json!({"default_guest_modules": many[..200]})).ok();
}

#[test]
fn only_admins_with_unbound_tokens_change_settings() {
    let root = closed_workspace();
    let agent = root.agent(json!({}));
    let token =
        |level: &str, agent: Option<&str>| root.token(json!({"name": level, "level": level, "agent_id": agent}));
    let body = json!({"default_guest_modules": ["research"]});
    token("guest", None).get(PATH).refused(403, "PERMISSION_DENIED");
    token("user", None).get(PATH).ok();
    token("user", None).patch(PATH, body.clone()).refused(403, "PERMISSION_DENIED");
    token("owner", Some(&agent)).patch(PATH, body.clone()).refused(403, "PERMISSION_DENIED");
    assert_eq!(root.get(PATH).ok(), out(&[]));
    assert_eq!(token("admin", None).patch(PATH, body.clone()).ok(), out(&["research"]));
}

#[test]
fn racing_changes_of_settings_lose_none_that_was_acknowledged() {
    let client = workspace();
    let answers = race(8, |index| client.patch(PATH, json!({"default_guest_modules": [format!("m{index}")]})));
    let won = answers.iter().filter(|it| it.status == 200).count();
    assert!(won >= 1);
    for lost in answers.iter().filter(|it| it.status != 200) {
        lost.refused(409, "CONFLICT");
    }
    let changes = client.changes();
    assert_eq!(changes.len(), won);
    let last = &changes.last().unwrap()["new_state"];
    assert_eq!(last["default_guest_modules"], client.get(PATH).ok()["default_guest_modules"]);
    // Each change begins with the state that the one before it has left.
    for pair in changes.windows(2) {
        assert_eq!(pair[0]["new_state"], pair[1]["previous_state"]);
    }
}

#[test]
fn a_state_shows_the_settings_of_its_time() {
    let client = workspace();
    let state = |seq: u32| client.get(&format!("/api/registry/state?seq={seq}")).ok()["workspace"].clone();
    client.agent(json!({}));
    client.patch(PATH, json!({"default_guest_modules": ["one"]})).ok();
    client.patch(PATH, json!({"default_guest_modules": ["one", "two"]})).ok();
    assert_eq!(state(1), json!({"default_guest_modules": []}));
    assert_eq!(state(2), json!({"default_guest_modules": ["one"]}));
    assert_eq!(state(3), logged(&["one", "two"]));
}

#[test]
fn a_workspace_has_a_model_of_its_own_and_never_shows_its_key() {
    let client = workspace();
    let body = json!({"model_url": "https://models.example.com/v1", "model_name": "small", "model_key": "sk-hidden",
        "model_streaming": "without_tools", "context_tokens": 8000});
    let set = client.patch(PATH, body).ok();
    let expected = json!({"default_guest_modules": [], "model_url": "https://models.example.com/v1",
        "model_name": "small", "model_key_set": true, "model_streaming": "without_tools", "context_tokens": 8000});
    assert_eq!(set, expected);
    // Another path of the same server keeps the key, another server does not.
    let moved = client.patch(PATH, json!({"model_url": "https://models.example.com/v2"})).ok();
    assert_eq!(moved["model_key_set"], json!(true));
    let other = client.patch(PATH, json!({"model_url": "https://other.example.com/v1"})).ok();
    assert_eq!(other["model_key_set"], json!(false));
    let clear = json!({"model_url": "", "model_name": "", "model_streaming": "", "context_tokens": 0});
    assert_eq!(client.patch(PATH, clear).ok(), out(&[]));
    let changes = client.changes();
    assert_eq!(changes.len(), 4);
    assert_eq!(changes[0]["new_state"]["model_key_set"], json!(true));
    assert!(!json!(changes).to_string().contains("sk-hidden"));
}

#[test]
fn everything_wrong_with_a_model_is_told_at_once() {
    let client = workspace();
    let body = json!({"model_url": "http://models.example.com/v1", "model_name": " x", "model_key": "a b\n",
        "model_streaming": "often", "context_tokens": 1});
    let refused = client.patch(PATH, body).refused(400, "VALIDATION_ERROR");
    let mut paths = refused.paths();
    paths.sort_unstable();
    assert_eq!(paths, ["/context_tokens", "/model_key", "/model_name", "/model_streaming", "/model_url"]);
    assert_eq!(client.patch(PATH, json!({"model_key": "sk"})).refused(400, "VALIDATION_ERROR").paths(), ["/model_key"]);
}
