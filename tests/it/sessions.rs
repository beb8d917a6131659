//! `/api/sessions`: sessions and their past.

mod random_walks;
mod sweep;

use crate::files::{Files, count, id};
use crate::harness::{Client, Server, Tool, closed, closed_workspace, open, race, unique, workspace};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn sweep(server: &Server) {
    let answer = server.ask(json!({"scheduled": "*/5 * * * *"}));
    assert_eq!(answer["outcome"], "ok", "{answer}");
}

fn written(files: &Files, path: &str, text: &str) -> String {
    let answer = files.put(path, text);
    assert!(matches!(answer.status, 200 | 201), "{}", answer.text);
    id(&answer.json(), "manifest_id")
}

#[test]
fn sessions_are_listed_oldest_first_to_the_end() {
    let client = workspace();
    let mut names = (0..7).map(|_| unique("session")).collect::<Vec<_>>();
    for session in &names {
        written(&Files { client: client.clone(), session: session.clone() }, "x", "x");
    }
    // As texts: `session_100` is before `session_99`.
    names.sort_unstable();
    let whole = client.get("/api/sessions").ok();
    insta::assert_json_snapshot!(whole["sessions"][0], {
        ".id" => "[id]", ".session_id" => "[id]", ".active_manifest_id" => "[id]", ".created_at" => "[time]",
        ".updated_at" => "[time]",
    }, @r#"
    {
      "id": "[id]",
      "session_id": "[id]",
      "active_manifest_id": "[id]",
      "active_message_id": null,
      "files": 1,
      "bytes": 1,
      "created_at": "[time]",
      "updated_at": "[time]"
    }
    "#);
    for limit in [1, 3, 7, 8] {
        let listed = client.pages("/api/sessions", "sessions", limit);
        assert_eq!(json!(listed), whole["sessions"]);
        let mut seen = listed.iter().map(|it| id(it, "id")).collect::<Vec<_>>();
        seen.sort_unstable();
        assert_eq!(seen, names);
    }
    assert_eq!(workspace().get("/api/sessions").ok(), json!({"sessions": [], "next_cursor": null}));
    let mut newest_first = whole["sessions"].as_array().unwrap().clone();
    newest_first.reverse();
    for limit in [1, 3, 8] {
        assert_eq!(client.pages("/api/sessions?order=newest", "sessions", limit), newest_first);
    }
    client.get("/api/sessions?order=random").refused(400, "VALIDATION_ERROR");
}

/// A workspace with two agents, a token bound to each, and a session that no agent made.
struct Shared {
    root: Client,
    agents: [String; 2],
    tokens: [Client; 2],
}

impl Shared {
    fn new() -> Self {
        let root = closed_workspace();
        let agents = [(); 2].map(|()| root.agent(json!({})));
        let bound = |agent: &String| root.token(json!({"name": "b", "level": "owner", "agent_id": agent}));
        root.put("/api/sessions/shared/files/f", "nobody's").created();
        Self { tokens: [bound(&agents[0]), bound(&agents[1])], agents, root }
    }
}

fn names(client: &Client) -> BTreeSet<String> {
    client.pages("/api/sessions", "sessions", 2).iter().map(|it| id(it, "id")).collect()
}

#[test]
fn a_bound_token_sees_the_sessions_that_its_agent_made() {
    let Shared { root, agents: [own, other], tokens: [mine, theirs] } = Shared::new();
    let call = |client: &Client, agent: Option<&String>, session: &str| {
        client.call(json!({"tool_name": "list_files", "agent_id": agent, "session_id": session})).success();
    };
    let first = mine.put("/api/sessions/put/files/f", "mine").created();
    call(&mine, None, "called");
    call(&root, Some(&own), "called-for");
    root.call(json!({"tool_name": "write_file", "arguments": {"path": "/f", "content": "x"}, "agent_id": own,
        "session_id": "written-for"}))
        .success();
    theirs.put("/api/sessions/theirs/files/f", "theirs").created();
    call(&root, Some(&other), "called-for-them");
    // A call in a session that exists changes nothing about who made it.
    call(&mine, None, "theirs");
    call(&root, Some(&own), "shared");

    let branched = mine.post("/api/sessions/put/branch", json!({"manifest_id": first["manifest_id"]})).created();
    let branched = id(&branched, "id");
    let made = ["put", "called", "called-for", "written-for", &branched].map(str::to_owned);
    assert_eq!(names(&mine), BTreeSet::from(made));
    assert_eq!(names(&theirs), BTreeSet::from(["theirs".to_owned(), "called-for-them".to_owned()]));
    assert_eq!(names(&root).len(), 8);
    for session in ["put", "written-for", &branched] {
        let at = format!("/api/sessions/{session}");
        mine.get(&at).ok();
        mine.get(&format!("{at}/manifests")).ok();
        assert_eq!(mine.get(&format!("{at}/files/f")).status, 200);
        mine.put(&format!("{at}/files/g"), "more").created();
        mine.delete(&format!("{at}/files/g")).no_content();
        mine.delete(&at).no_content();
    }
    // The session that an unbound caller branches off belongs to no agent.
    let theirs_at = id(&theirs.get("/api/sessions/theirs").ok(), "active_manifest_id");
    root.post("/api/sessions/theirs/branch", json!({"manifest_id": theirs_at})).created();
    assert_eq!(names(&theirs).len(), 2);
}

#[test]
fn a_session_of_others_is_answered_like_an_unknown_one() {
    let Shared { root, agents: [_, other], tokens: [mine, theirs] } = Shared::new();
    theirs.put("/api/sessions/theirs/files/f", "theirs").created();
    for session in ["shared", "theirs"] {
        let present = id(&root.get(&format!("/api/sessions/{session}")).ok(), "active_manifest_id");
        let before = root.get(&format!("/api/sessions/{session}/manifests")).text;
        let manifest = format!(r#"{{"manifest_id": "{present}"}}"#).into_bytes();
        let requests = [
            ("GET", String::new(), None),
            ("GET", "/manifests".to_owned(), None),
            ("GET", format!("/manifests/{present}"), None),
            ("GET", format!("/diff?from={present}&to={present}"), None),
            ("GET", "/files".to_owned(), None),
            ("GET", "/files/f".to_owned(), None),
            ("GET", format!("/files/f?manifest_id={present}"), None),
            ("POST", "/checkout".to_owned(), Some(manifest.clone())),
            ("POST", "/branch".to_owned(), Some(manifest)),
            ("DELETE", "/files/f".to_owned(), None),
            ("DELETE", String::new(), None),
        ];
        for (method, path, body) in requests {
            let of = |session: &str| mine.send(method, &format!("/api/sessions/{session}{path}"), body.clone());
            let (hidden, unknown) = (of(session), of("unknown"));
            hidden.refused(404, "NOT_FOUND");
            assert_eq!(hidden.text.replace(session, "unknown"), unknown.text, "{method} {path}");
            assert!(hidden.cost("round_trips") <= 2);
        }
        let refused = mine.put(&format!("/api/sessions/{session}/files/g"), "x").refused(403, "PERMISSION_DENIED");
        assert!(refused.message.contains(session), "{}", refused.message);

        let call = |tool: &str, arguments: Value| {
            mine.call(json!({"tool_name": tool, "arguments": arguments, "session_id": session}))
        };
        let message = |result: Value| result["error"]["message"].as_str().unwrap().to_owned();
        let read = call("read_file", json!({"path": "/f"})).failed(200, "TOOL_ERROR");
        assert_eq!((message(read.clone()), &read["pre_manifest_id"]), ("File not found: /f".to_owned(), &Value::Null));
        assert_eq!(call("list_files", json!({})).success(), "Contents of /:");
        let wrote = call("write_file", json!({"path": "/g", "content": "x"})).failed(200, "TOOL_ERROR");
        assert!(message(wrote).contains("was not made by this agent"));
        assert_eq!(root.get(&format!("/api/sessions/{session}/manifests")).text, before);
    }
    // Callers who are not bound see all, also when they call for an agent.
    let body =
        json!({"tool_name": "read_file", "arguments": {"path": "/f"}, "agent_id": other, "session_id": "shared"});
    assert_eq!(root.call(body).success(), "nobody's");
    let user = root.token(json!({"name": "u", "level": "user"}));
    assert_eq!(user.get("/api/sessions/theirs/files/f").text, "theirs");
}

#[test]
fn an_approval_lends_no_sight_of_other_sessions() {
    let Shared { root, agents: [own, _], tokens: [mine, _] } = Shared::new();
    let tools = format!("/api/agents/{own}/tools");
    for key in ["read_file", "write_file"] {
        Tool::new(&format!("careful-{key}")).builtin(key).with(json!({"requires_approval": 1})).put(closed(), &root);
        root.post(&tools, json!({"tool_id": format!("careful-{key}")})).created();
    }
    let decided = |client: &Client, tool: &str, arguments: Value, session: &str| {
        let body = json!({"tool_name": tool, "arguments": arguments, "session_id": session, "agent_id": own});
        let asked = client.call(body).result(202);
        let approval = asked["error"]["details"]["approval_id"].as_str().unwrap().to_owned();
        root.post(&format!("/api/approvals/{approval}/approve"), json!({}))
    };
    let file = || json!({"path": "/f", "content": "x"});
    decided(&mine, "careful-read_file", json!({"path": "/f"}), "shared").failed(200, "TOOL_ERROR");
    decided(&mine, "careful-write_file", file(), "shared").failed(200, "TOOL_ERROR");
    assert_eq!(root.get("/api/sessions/shared/files/f").text, "nobody's");
    // In a session of its own the agent may, and the session is the agent's although the admin's request created it.
    decided(&mine, "careful-write_file", file(), "own").success();
    assert_eq!(names(&mine), BTreeSet::from(["own".to_owned()]));
    // The root caller may use any session, also for an agent.
    assert_eq!(decided(&root, "careful-read_file", json!({"path": "/f"}), "shared").success(), "nobody's");
}

#[test]
fn a_session_never_changes_hands() {
    let root = closed_workspace();
    root.put("/api/sessions/s/files/f", "x").created();
    let refused = closed().sql_error("UPDATE sessions SET agent_id = 'agent_x'");
    assert!(refused.contains("the session of another agent"), "{refused}");
}

#[test]
fn manifests_are_listed_newest_first_and_by_what_made_them() {
    let files = Files::new();
    let made = (0..6).map(|it| written(&files, &format!("{it}"), "x")).collect::<Vec<_>>();
    let newest_first = made.iter().rev().cloned().collect::<Vec<_>>();
    let ids = |path: &str, limit| {
        let listed = files.client.pages(&files.url(path), "manifests", limit);
        listed.iter().map(|it| id(it, "id")).collect::<Vec<_>>()
    };
    for limit in [1, 2, 5, 6, 200] {
        assert_eq!(ids("/manifests", limit), newest_first);
    }
    for manifest in &made[1..=2] {
        open().sql("UPDATE manifests SET source_ref = 'call_x', source = 'tool_run' WHERE id = ?1", &[json!(manifest)]);
    }
    assert_eq!(ids("/manifests?source_ref=call_x", 1), newest_first[3..=4]);
    assert_eq!(ids("/manifests?source_ref=call_y", 1), [""; 0]);
    let listed = files.client.get(&files.url("/manifests?source_ref=call_x&limit=1")).ok();
    insta::assert_json_snapshot!(listed["manifests"][0], {
        ".id" => "[id]", ".session_id" => "[id]", ".parent_id" => "[id]", ".created_at" => "[time]",
    }, @r#"
    {
      "id": "[id]",
      "session_id": "[id]",
      "parent_id": "[id]",
      "source": "tool_run",
      "source_ref": "call_x",
      "created_at": "[time]",
      "files": 3,
      "bytes": 3,
      "active": false
    }
    "#);
    for cursor in ["6e6f7768657265", "2f78", "6d616e5f78"] {
        let refused = files.client.get(&files.url(&format!("/manifests?cursor={cursor}")));
        assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["cursor"]);
    }
}

#[test]
fn a_manifest_shows_its_files_by_path() {
    let files = Files::new();
    let paths = ["/a", "/a-b/c", "/a/b/c", "/a0", "/z"];
    for path in ["a", "a-b/c", "a0", "z", "gone"] {
        written(&files, path, path);
    }
    files.delete("a").no_content();
    files.delete("gone").no_content();
    let last = written(&files, "a/b/c", "y");
    let url = files.url(&format!("/manifests/{last}"));
    for limit in [1, 2, 4, 200] {
        let entries = files.client.pages(&url, "entries", limit);
        let seen = entries.iter().map(|it| it["path"].as_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(seen, [paths[1], paths[2], paths[3], paths[4]]);
    }
    let whole = files.client.get(&url).ok();
    assert_eq!((&whole["id"], &whole["files"], &whole["bytes"]), (&json!(last), &json!(4), &json!(5 + 1 + 2 + 1)));
    assert_eq!(
        whole["entries"][1],
        json!({"path": "/a/b/c", "sha256": "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa", "size": 1})
    );
    let refused = files.client.get(&format!("{url}?cursor=6e6f7768657265")).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["cursor"]);
}

#[test]
fn two_manifests_are_compared_either_way() {
    let files = Files::new();
    for path in ["kept", "changed", "removed", "back", "d/x"] {
        written(&files, path, "1");
    }
    let from = written(&files, "first", "1");
    files.delete("removed").no_content();
    written(&files, "changed", "22");
    written(&files, "back", "2");
    written(&files, "back", "1");
    written(&files, "passing", "2");
    files.delete("passing").no_content();
    files.delete("d").no_content();
    let to = written(&files, "added", "333");
    let diff = |from: &str, to: &str, limit| {
        files.client.pages(&files.url(&format!("/diff?from={from}&to={to}")), "changes", limit)
    };
    let brief = |changes: Vec<Value>| {
        let held = |it: &Value| it["size"].as_u64().map_or_else(|| "-".to_owned(), |size| size.to_string());
        changes
            .iter()
            .map(|it| {
                let (path, change) = (it["path"].as_str().unwrap(), it["change"].as_str().unwrap());
                format!("{path} {change} {} {}", held(&it["from"]), held(&it["to"]))
            })
            .collect::<Vec<_>>()
    };
    let forth = ["/added added - 3", "/changed modified 1 2", "/d/x removed 1 -", "/removed removed 1 -"];
    let back = ["/added removed 3 -", "/changed modified 2 1", "/d/x added - 1", "/removed added - 1"];
    for limit in [1, 3, 4, 200] {
        assert_eq!(brief(diff(&from, &to, limit)), forth);
        assert_eq!(brief(diff(&to, &from, limit)), back);
    }
    assert_eq!(diff(&to, &to, 5), [json!(null); 0]);
    let first = &diff(&from, &to, 1)[0];
    assert_eq!(first["from"], Value::Null);
    assert_eq!(first["to"]["sha256"], "556d7dc3a115356350f1f9910b1af1ab0e312d4b3e4fc788d2da63668f36d017");

    let url = |query: &str| files.url(&format!("/diff{query}"));
    assert_eq!(files.client.get(&url("")).refused(400, "VALIDATION_ERROR").paths(), ["from", "to"]);
    assert_eq!(files.client.get(&url(&format!("?from={from}"))).refused(400, "VALIDATION_ERROR").paths(), ["to"]);
    files.client.get(&url(&format!("?from={from}&to=man_x"))).refused(404, "NOT_FOUND");
    let other = written(&Files { client: files.client.clone(), session: unique("session") }, "x", "x");
    files.client.get(&url(&format!("?from={other}&to={to}"))).refused(404, "NOT_FOUND");
}

#[test]
fn a_session_goes_back_and_forth() {
    let files = Files::new();
    let one = written(&files, "x", "1");
    let two = written(&files, "x", "2");
    let check_out = |manifest: &str| files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest}));
    assert_eq!(check_out(&one).ok()["active_manifest_id"], json!(one));
    assert_eq!(files.get("x").text, "1");
    let three = written(&files, "y", "3");
    assert_eq!((files.get("x").text.as_str(), files.get("y").text.as_str()), ("1", "3"));
    check_out(&two).ok();
    assert_eq!(files.get("x").text, "2");
    files.get("y").refused(404, "NOT_FOUND");
    let four = written(&files, "z", "4");
    check_out(&three).ok();
    assert_eq!(files.get("y").text, "3");
    let parents = files.client.pages(&files.url("/manifests"), "manifests", 9);
    let parents = parents.iter().map(|it| (id(it, "id"), it["parent_id"].clone())).collect::<Vec<_>>();
    assert_eq!(parents, [(four, json!(two)), (three, json!(one)), (two, json!(one)), (one, Value::Null)]);

    check_out("man_x").refused(404, "NOT_FOUND");
    check_out("a b").refused(404, "NOT_FOUND");
    let other = written(&Files { client: files.client.clone(), session: unique("session") }, "x", "x");
    check_out(&other).refused(404, "NOT_FOUND");
    files.client.post(&files.url("/checkout"), json!({})).refused(400, "VALIDATION_ERROR");
    assert_eq!(files.get("y").text, "3");
}

#[test]
fn numbers_in_labels_sort_as_numbers() {
    let files = Files::new();
    let made = (1..=12).map(|it| (written(&files, "x", &format!("{it}")), format!("{it}"))).collect::<Vec<_>>();
    let forked = (1..=12).map(|it| {
        files.client.post(&files.url("/checkout"), json!({"manifest_id": made[0].0})).ok();
        let text = format!("fork {it}");
        (written(&files, "x", &text), text)
    });
    let forked = forked.collect::<Vec<_>>();
    for (manifest, text) in made.iter().chain(&forked) {
        assert_eq!(&files.get(&format!("x?manifest_id={manifest}")).text, text);
    }
    let labels = open()
        .sql("SELECT label FROM manifests WHERE workspace_id = ?1 ORDER BY label", &[json!(files.client.workspace())]);
    let labels = labels.iter().map(|it| id(it, "label")).collect::<Vec<_>>();
    assert_eq!(labels[..3], ["a1", "a1.a1a1", "a1.a2a1"]);
    assert_eq!(labels[9..14], ["a1.a9a1", "a1.b10a1", "a1.b11a1", "a1.b12a1", "a2"]);
    assert_eq!(labels[20..], ["a9", "b10", "b11", "b12"]);
}

fn branch(files: &Files, manifest: &str) -> (Files, Value) {
    let made = files.client.post(&files.url("/branch"), json!({"manifest_id": manifest})).created();
    (Files { client: files.client.clone(), session: id(&made, "id") }, made)
}

#[test]
fn a_branch_and_its_origin_do_not_see_each_other() {
    let server = Server::start("branch", &[("AUTH", "open")]);
    let files = Files::on(&server);
    let one = written(&files, "x", "1");
    let two = written(&files, "y", "2");
    let (branched, made) = branch(&files, &one);
    assert!(branched.session.starts_with("sess_") && branched.session.len() == 37, "{}", branched.session);
    assert_eq!((&made["files"], &made["bytes"]), (&json!(1), &json!(1)));
    let first = id(&made, "active_manifest_id");
    let history = branched.client.get(&branched.url("/manifests")).ok();
    assert_eq!(
        (&history["manifests"][0]["source"], &history["manifests"][0]["parent_id"]),
        (&json!("branch"), &json!(one))
    );

    assert_eq!(branched.get("x").text, "1");
    branched.get("y").refused(404, "NOT_FOUND");
    written(&branched, "x", "branched");
    written(&files, "x", "origin");
    assert_eq!((branched.get("x").text.as_str(), files.get("x").text.as_str()), ("branched", "origin"));
    assert_eq!(branched.get(&format!("x?manifest_id={first}")).text, "1");
    for theirs in [&one, &two] {
        branched.get(&format!("x?manifest_id={theirs}")).refused(404, "NOT_FOUND");
        branched.client.post(&branched.url("/checkout"), json!({"manifest_id": theirs})).refused(404, "NOT_FOUND");
        branched.client.post(&branched.url("/branch"), json!({"manifest_id": theirs})).refused(404, "NOT_FOUND");
    }
    assert_eq!(count(&server, &files.client, "sessions"), 2, "a refused branch makes no session");

    files.client.delete(&files.url("")).no_content();
    sweep(&server);
    assert_eq!(branched.get("x").text, "branched");
    assert_eq!(branched.get(&format!("x?manifest_id={first}")).text, "1");
}

#[test]
fn a_session_has_one_shape_wherever_it_is_shown() {
    let files = Files::on(open());
    let one = written(&files, "x", "1");
    written(&files, "x", "2");
    let shown = || files.client.get(&files.url("")).ok();
    let keys = shown().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        keys,
        ["id", "session_id", "active_manifest_id", "active_message_id", "files", "bytes", "created_at", "updated_at"]
    );
    let checked_out = files.client.post(&files.url("/checkout"), json!({"manifest_id": one})).ok();
    assert_eq!((&checked_out, &checked_out["active_manifest_id"]), (&shown(), &json!(one)));
    let (branched, made) = branch(&files, &one);
    assert_eq!(made, branched.client.get(&branched.url("")).ok());
    assert_eq!(files.client.pages("/api/sessions", "sessions", 1), [shown(), made]);
}

#[test]
fn a_branch_begins_with_the_present_unless_told_otherwise() {
    let files = Files::on(open());
    let one = written(&files, "x", "1");
    written(&files, "x", "2");
    let made = files.client.post(&files.url("/branch"), json!({})).created();
    let branched = Files { client: files.client.clone(), session: id(&made, "id") };
    assert_eq!(branched.get("x").text, "2");
    // The present is marked, also after a checkout.
    let active = || {
        let listed = files.client.get(&files.url("/manifests")).ok()["manifests"].clone();
        listed.as_array().unwrap().iter().map(|it| it["active"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(active(), [true, false]);
    files.client.post(&files.url("/checkout"), json!({"manifest_id": one})).ok();
    assert_eq!(active(), [false, true]);
    assert_eq!(files.client.get(&files.url(&format!("/manifests/{one}"))).ok()["active"], true);
    let missing = files.client.get(&files.url("/diff")).refused(400, "VALIDATION_ERROR");
    assert_eq!(missing.paths(), ["from", "to"]);
    // A session without files has nothing to branch off.
    files.client.call(json!({"tool_name": "list_files", "session_id": "bare"})).result(200);
    files.client.post("/api/sessions/bare/branch", json!({})).refused(409, "CONFLICT");
    files.client.post("/api/sessions/nobody/branch", json!({})).refused(404, "NOT_FOUND");
}

#[test]
fn a_branch_may_be_named() {
    let server = Server::start("named-branch", &[("AUTH", "open")]);
    let files = Files::on(&server);
    let one = written(&files, "x", "1");
    let two = written(&files, "x", "2");
    let named = |name: Value, at: &str| {
        files.client.post(&files.url("/branch"), json!({"manifest_id": at, "session_id": name}))
    };
    let made = named(json!("draft"), &one).created();
    assert_eq!((&made["id"], &made["files"]), (&json!("draft"), &json!(1)));
    let draft = Files { client: files.client.clone(), session: "draft".into() };
    assert_eq!(draft.get("x").text, "1");
    assert!(named(Value::Null, &one).created()["id"].as_str().unwrap().starts_with("sess_"));
    for bad in ["", "a b", "ä", "a/b", &"x".repeat(65)] {
        assert_eq!(named(json!(bad), &one).refused(400, "VALIDATION_ERROR").paths(), ["/session_id"]);
    }

    // A name that is taken stays as it is, and nothing is left behind.
    let manifests = || count(&server, &files.client, "manifests");
    let before = manifests();
    for taken in ["draft", &files.session] {
        let refused = named(json!(taken), &two).refused(409, "ALREADY_EXISTS");
        assert_eq!(refused.message, format!("The session {taken} exists already"));
    }
    named(json!("other"), "man_none").refused(404, "NOT_FOUND");
    assert_eq!((manifests(), draft.get("x").text.as_str(), files.get("x").text.as_str()), (before, "1", "2"));
    written(&files, "y", "3");
    assert_eq!(draft.client.get(&draft.url("")).ok()["files"], 1);

    // Of racing branches, one wins.
    let answers = race(8, |index| named(json!("raced"), if index % 2 == 0 { &one } else { &two }));
    let won = answers.iter().filter(|it| it.status == 201).collect::<Vec<_>>();
    assert_eq!(won.len(), 1);
    answers.iter().filter(|it| it.status != 201).for_each(|it| drop(it.refused(409, "ALREADY_EXISTS")));
    assert_eq!(files.client.get("/api/sessions/raced").ok(), won[0].json());

    // The name of a deleted session is free at once, and the new session sees nothing of the old one.
    let old = written(&draft, "gone", "x");
    draft.client.delete(&draft.url("")).no_content();
    assert_eq!(named(json!("draft"), &two).created()["files"], 1);
    for swept in [false, true] {
        if swept {
            sweep(&server);
        }
        assert_eq!(draft.get("x").text, "2");
        draft.get(&format!("gone?manifest_id={old}")).refused(404, "NOT_FOUND");
        assert_eq!(draft.client.pages(&draft.url("/manifests"), "manifests", 5).len(), 1);
    }
    written(&draft, "x", "4");
    assert_eq!((draft.get("x").text.as_str(), files.get("x").text.as_str()), ("4", "2"));
}

#[test]
fn a_difference_shows_the_lines_of_small_texts() {
    let files = Files::on(open());
    let limit = 100 * 1024;
    let put = |contents: &[(&str, Vec<u8>)]| {
        contents
            .iter()
            .for_each(|(path, bytes)| drop(files.client.put(&files.url(&format!("/files/{path}")), bytes.clone())));
        id(&files.client.get(&files.url("")).ok(), "active_manifest_id")
    };
    let lines =
        |count: usize, word: &str| (0..count).map(|it| format!("{word}{it}\n")).collect::<String>().into_bytes();
    let from = put(&[
        ("a.txt", b"one\ntwo\nthree\n".into()),
        ("b.bin", vec![0, 1, 2]),
        ("c.txt", vec![b'x'; limit]),
        ("d.txt", vec![b'x'; limit]),
        ("e.txt", lines(2_000, "a")),
        ("f.txt", b"gone".into()),
        ("same.txt", b"same".into()),
    ]);
    files.client.delete(&files.url("/files/f.txt")).no_content();
    let to = put(&[
        ("a.txt", b"one\n2\nthree\n".into()),
        ("b.bin", b"text now".into()),
        ("c.txt", vec![b'y'; limit]),
        ("d.txt", vec![b'y'; limit + 1]),
        ("e.txt", lines(2_000, "b")),
        ("g.txt", "ä\n".into()),
    ]);
    let url = |query: &str| files.url(&format!("/diff?from={from}&to={to}{query}"));
    let plain = files.client.get(&url("")).ok()["changes"].clone();
    let answer = files.client.get(&url("&content=true"));
    let shown = answer.ok()["changes"].as_array().unwrap().clone();
    assert_eq!(answer.cost("round_trips"), 1);
    let fields = |path: &str| {
        let it = shown.iter().find(|it| it["path"] == path).unwrap();
        (it["diff"].as_str(), it["diff_note"].as_str())
    };
    assert_eq!(fields("/a.txt"), (Some("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"), None));
    assert_eq!(fields("/b.bin"), (None, Some("One of the files is not text")));
    let (diff, note) = fields("/c.txt");
    assert!(diff.unwrap().len() > 2 * limit && note.is_none());
    assert_eq!(fields("/d.txt"), (None, Some("One of the files is larger than 100 KB")));
    let (diff, note) = fields("/e.txt");
    assert!(diff.unwrap().contains("-a1999\n+b0\n") && note.unwrap().starts_with("More than 1,000 lines differ"));
    let gone = "--- a/f.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\\ No newline at end of file\n";
    assert_eq!(fields("/f.txt"), (Some(gone), None));
    assert_eq!(fields("/g.txt"), (Some("--- /dev/null\n+++ b/g.txt\n@@ -0,0 +1 @@\n+ä\n"), None));

    // Apart from the contents, the list is the same, page by page too.
    let mut without = shown.clone();
    for it in &mut without {
        ["diff", "diff_note"].iter().for_each(|name| drop(it.as_object_mut().unwrap().remove(*name)));
    }
    assert_eq!(json!(without), plain);
    assert_eq!(files.client.pages(&url("&content=true"), "changes", 2), shown);
    assert_eq!(files.client.get(&url("&content=false")).ok()["changes"], plain);
    files.client.get(&url("&content=yes")).refused(400, "VALIDATION_ERROR");
}

#[test]
fn a_page_of_differences_is_bounded_by_bytes() {
    let files = Files::on(open());
    let from = written(&files, "first", "x");
    for index in 0..30 {
        files.client.put(&files.url(&format!("/files/{index:02}")), vec![b'a' + index; 100_000]).created();
    }
    let to = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
    let url = files.url(&format!("/diff?from={from}&to={to}&content=true"));
    let page = files.client.get(&url);
    let count = page.ok()["changes"].as_array().unwrap().len();
    assert!((15..25).contains(&count) && page.bytes.len() < 4_000_000, "{count} files, {} bytes", page.bytes.len());
    let all = files.client.pages(&url, "changes", 50);
    assert_eq!(all.len(), 30);
    assert!(all.iter().all(|it| it["diff"].as_str().unwrap().len() > 100_000));
}

#[test]
fn a_deleted_session_is_gone_and_may_come_again() {
    let server = Server::start("deleted", &[("AUTH", "open")]);
    let files = Files::on(&server);
    let old = written(&files, "x", "old");
    files.client.delete(&files.url("")).no_content();
    files.client.delete(&files.url("")).refused(404, "NOT_FOUND");
    files.get("x").refused(404, "NOT_FOUND");
    written(&files, "y", "new");
    files.get("x").refused(404, "NOT_FOUND");
    files.get(&format!("x?manifest_id={old}")).refused(404, "NOT_FOUND");
    sweep(&server);
    assert_eq!(count(&server, &files.client, "manifests"), 1);
    assert_eq!(count(&server, &files.client, "blobs"), 1);
    assert_eq!(files.get("y").text, "new");
}
