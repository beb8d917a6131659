//! Other workspaces, levels, and bound tokens.

use super::{TOOLSETS, import, installed, kit};
use crate::harness::{Client, ROOT_TOKEN, Server, unique};
use serde_json::json;

const OVERRIDE: &str = "/api/toolsets/kit/overrides/write";

/// A Worker that asks for tokens, and has a sandbox.
fn server() -> &'static Server {
    static SERVER: std::sync::OnceLock<Server> = std::sync::OnceLock::new();
    SERVER.get_or_init(|| {
        let sandbox = std::env::var("PEGBOARD_SANDBOX_URL").unwrap();
        let vars =
            [("ROOT_TOKEN", ROOT_TOKEN), ("SECRET_KEY", "a secret of the tests"), ("SANDBOX_URL", sandbox.as_str())];
        Server::start("toolset_tenancy", &vars)
    })
}

fn owner() -> Client {
    let root = server().client(&unique("ws")).with_token(ROOT_TOKEN);
    root.token(json!({"name": "owner", "level": "owner"}))
}

type Request<'a> = (&'a str, String, Option<Vec<u8>>);

fn reads() -> Vec<Request<'static>> {
    ["", "/kit", "/kit/overrides/write", "/kit/files/tools/files.py"]
        .map(|it| ("GET", format!("{TOOLSETS}{it}"), None))
        .into()
}

fn changes() -> Vec<Request<'static>> {
    let patch = json!({"enabled": true}).to_string().into_bytes();
    vec![
        ("POST", format!("{TOOLSETS}?replace=true"), Some(kit("1.0.0"))),
        ("POST", format!("{TOOLSETS}?replace=true&dry_run=true"), Some(kit("1.0.0"))),
        ("GET", format!("{TOOLSETS}/kit/export"), None),
        ("POST", format!("{TOOLSETS}/kit/disable"), Some(b"{}".to_vec())),
        ("POST", format!("{TOOLSETS}/kit/enable"), Some(b"{}".to_vec())),
        ("PUT", OVERRIDE.to_owned(), Some(patch)),
        ("DELETE", OVERRIDE.to_owned(), None),
        ("DELETE", format!("{TOOLSETS}/kit"), None),
    ]
}

#[test]
fn each_route_has_its_level() {
    let owner = owner();
    let [guest, user, admin] = ["guest", "user", "admin"].map(|it| owner.token(json!({"name": it, "level": it})));
    installed(&admin, &kit("1.0.0"));
    admin.put(OVERRIDE, json!({"name_override": "Pen"}).to_string()).ok();
    for (method, path, body) in reads() {
        guest.send(method, &path, body.clone()).refused(403, "PERMISSION_DENIED");
        assert_eq!(user.send(method, &path, body).status, 200, "{method} {path}");
    }
    for (method, path, body) in changes() {
        for caller in [&guest, &user] {
            caller.send(method, &path, body.clone()).refused(403, "PERMISSION_DENIED");
        }
    }
    owner.with_token("none").get(TOOLSETS).refused(401, "UNAUTHORIZED");
    for (method, path, body) in changes() {
        let answer = admin.send(method, &path, body);
        assert!(answer.status < 300, "{method} {path}: {}", answer.text);
    }
}

#[test]
fn a_bound_token_changes_nothing() {
    let owner = owner();
    installed(&owner, &kit("1.0.0"));
    owner.put(OVERRIDE, json!({"name_override": "Pen"}).to_string()).ok();
    let agent = owner.agent(json!({}));
    let bound = owner.token(json!({"name": "bound", "level": "admin", "agent_id": agent}));
    let state = || owner.get(&format!("{TOOLSETS}/kit")).text;
    let before = state();
    for (method, path, body) in changes() {
        let answer = bound.send(method, &path, body);
        assert_eq!(answer.status, 403, "{method} {path}: {}", answer.text);
    }
    assert_eq!(state(), before);
}

#[test]
fn another_workspace_sees_nothing() {
    let (one, other) = (owner(), owner());
    installed(&one, &kit("1.0.0"));
    one.put(OVERRIDE, json!({"name_override": "Pen"}).to_string()).ok();
    let call = one.execute("kit:write", json!({"path": "a", "content": "b"})).result(200);
    assert_eq!(other.get(TOOLSETS).ok()["toolsets"], json!([]));
    for (method, path, body) in reads().into_iter().skip(1).chain(changes().into_iter().skip(2)) {
        other.send(method, &path, body).refused(404, "NOT_FOUND");
    }
    other.get("/api/tools/kit:write").refused(404, "NOT_FOUND");
    other.execute("kit:write", json!({"path": "a", "content": "b"})).failed(404, "UNKNOWN_TOOL");
    other.get(&format!("/api/tool-calls/{}/render", call["call_id"].as_str().unwrap())).refused(404, "NOT_FOUND");
    // The same id is free there, and the two know nothing of each other.
    import(&other, "", &kit("3.0.0")).created();
    other.delete(&format!("{TOOLSETS}/kit")).no_content();
    assert_eq!(one.get(&format!("{TOOLSETS}/kit")).ok()["version"], "1.0.0");
    assert_eq!(one.get("/api/tools/kit:write").ok()["name"], "Pen");
    one.execute("kit:write", json!({"path": "a", "content": "b"})).success();
    // A token of one workspace does not open the other.
    one.in_workspace(other.workspace()).get(TOOLSETS).refused(401, "UNAUTHORIZED");
}
