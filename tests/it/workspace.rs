//! The settings of a workspace.

use crate::harness::{closed_workspace, race, workspace};
use serde_json::{Value, json};

const PATH: &str = "/api/workspace";

#[test]
fn settings_are_read_and_changed() {
    let client = workspace();
    assert_eq!(client.get(PATH).ok(), json!({"default_guest_modules": []}));
    let changed = client.patch(PATH, json!({"default_guest_modules": ["research", "files-2", "research"]})).ok();
    assert_eq!(changed, json!({"default_guest_modules": ["research", "files-2"]}));
    assert_eq!(client.get(PATH).ok(), changed);
    // A module need not exist, and other workspaces keep their settings.
    assert_eq!(workspace().get(PATH).ok(), json!({"default_guest_modules": []}));
    assert_eq!(client.patch(PATH, json!({"default_guest_modules": []})).ok(), json!({"default_guest_modules": []}));

    let changes = client.changes();
    let told = |it: &Value| [&it["action"], &it["subject"], &it["previous_state"], &it["new_state"]].map(Clone::clone);
    let none = json!({"default_guest_modules": []});
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
        assert_eq!(answer.ok(), json!({"default_guest_modules": []}));
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
    assert_eq!(root.get(PATH).ok(), json!({"default_guest_modules": []}));
    assert_eq!(token("admin", None).patch(PATH, body.clone()).ok(), body);
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
    assert_eq!(changes.last().unwrap()["new_state"], client.get(PATH).ok());
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
    assert_eq!(state(3), client.get(PATH).ok());
}
