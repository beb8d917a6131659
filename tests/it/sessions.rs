//! `/api/sessions`: sessions and their past.

use crate::files::{Files, count, id};
use crate::harness::{Client, Dice, Server, Tool, closed, closed_workspace, open, race, unique, workspace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;

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
    let names = (0..7).map(|_| unique("session")).collect::<Vec<_>>();
    for session in &names {
        written(&Files { client: client.clone(), session: session.clone() }, "x", "x");
    }
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

#[test]
fn the_sweep_frees_what_nobody_refers_to_and_nothing_else() {
    let server = Server::start("sweep", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    for text in ["only here", "in a call", "elsewhere too"] {
        written(&files, text.split(' ').next_back().unwrap(), text);
    }
    let other = Files { client: files.client.clone(), session: unique("session") };
    written(&other, "x", "elsewhere too");
    let ws = json!(files.client.workspace());
    server.sql(
        "INSERT INTO tool_calls (workspace_id, id, tool_name, operator, status, started_at)
         VALUES (?1, 'call_x', 'x', 'root', 'success', '2026-11-16T01:00:00.000Z')",
        std::slice::from_ref(&ws),
    );
    server.sql(
        "INSERT INTO call_blobs (workspace_id, call_id, kind, sha256, size)
         SELECT workspace_id, 'call_x', 'result', sha256, size FROM file_entries WHERE workspace_id = ?1 AND path = '/call'",
        std::slice::from_ref(&ws),
    );
    sweep(&server);
    assert_eq!(count(&server, &files.client, "blobs"), 3);
    files.delete("here").no_content();
    sweep(&server);
    assert_eq!(count(&server, &files.client, "blobs"), 3, "an older manifest has it");
    files.client.delete(&files.url("")).no_content();
    sweep(&server);
    assert_eq!(count(&server, &files.client, "blobs"), 2);
    assert_eq!(other.get("x").text, "elsewhere too");
    server.sql("DELETE FROM tool_calls WHERE workspace_id = ?1", &[ws]);
    sweep(&server);
    assert_eq!(count(&server, &files.client, "blobs"), 1);
    for queue in ["stale_trees", "stale_blobs"] {
        assert_eq!(count(&server, &files.client, queue), 0, "{queue}");
    }
}

#[test]
fn a_large_tree_is_swept_in_several_runs() {
    let server = Server::start("large", &[("AUTH", "open")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    let kept = Files { client: files.client.clone(), session: unique("session") };
    written(&files, "x", "x");
    written(&kept, "x", "kept");
    server.sql(
        "INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12500)
         SELECT s.workspace_id, s.tree_id, '/many/' || (i / 3), 'a' || (1 + i % 3), printf('%064d', i), 1
         FROM n JOIN sessions s ON s.workspace_id = ?1 AND s.id = ?2",
        &[json!(files.client.workspace()), json!(files.session)],
    );
    files.client.delete(&files.url("")).no_content();
    let mut left = vec![count(&server, &files.client, "file_entries")];
    for _ in 0..2 {
        sweep(&server);
        left.push(count(&server, &files.client, "file_entries"));
    }
    assert_eq!(left, [12_502, 2_502, 1]);
    for table in ["stale_trees", "stale_blobs"] {
        assert_eq!(count(&server, &files.client, table), 0, "{table}");
    }
    assert_eq!((count(&server, &files.client, "manifests"), count(&server, &files.client, "blobs")), (1, 1));
    assert_eq!(kept.get("x").text, "kept");
}

#[test]
fn what_is_lost_during_a_sweep_is_looked_at_again() {
    let server = Server::start("again", &[("AUTH", "open")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    let made = ["1", "2", "3"].map(|text| written(&files, "0", text));
    server.sql(
        "INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500)
         SELECT s.workspace_id, s.tree_id, '/many/' || i, 'a1', printf('%064d', i), 1
         FROM n JOIN sessions s ON s.workspace_id = ?1 AND s.id = ?2",
        &[json!(files.client.workspace()), json!(files.session)],
    );
    let lose = |manifest: &str| server.sql("DELETE FROM manifests WHERE id = ?1", &[json!(manifest)]);
    let left = || (count(&server, &files.client, "file_entries"), count(&server, &files.client, "stale_trees"));
    lose(&made[0]);
    sweep(&server);
    assert_eq!(left(), (10_502, 1));
    lose(&made[1]);
    let again = server.sql("SELECT again FROM stale_trees", &[]);
    assert_eq!(again[0]["again"], 1, "the look has passed by what was lost last");
    sweep(&server);
    sweep(&server);
    assert_eq!(left(), (10_501, 0));
    assert_eq!(files.get("0").text, "3");
    assert_eq!(count(&server, &files.client, "blobs"), 1);
}

#[test]
fn a_large_tree_does_not_keep_others_waiting() {
    let server = Server::start("fair", &[("AUTH", "open")]);
    let (large, small) = (Files::on(&server), Files::on(&server));
    written(&large, "x", "x");
    written(&small, "x", "x");
    server.sql(
        "INSERT INTO file_entries (workspace_id, tree_id, path, label)
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         SELECT s.workspace_id, s.tree_id, '/many/' || i, 'a1' FROM n JOIN sessions s ON s.workspace_id = ?1",
        &[json!(large.client.workspace())],
    );
    for files in [&large, &small] {
        files.client.delete(&files.url("")).no_content();
    }
    sweep(&server);
    assert!(count(&server, &large.client, "file_entries") > 0);
    for table in ["file_entries", "manifests", "sessions", "blobs", "stale_trees", "stale_blobs"] {
        assert_eq!(count(&server, &small.client, table), 0, "{table}");
    }
}

#[test]
fn retention_counts_from_when_a_manifest_ceased_to_be_present() {
    let server = Server::start("retention", &[("AUTH", "open"), ("FILE_MANIFEST_RETENTION_DAYS", "1")]);
    let files = Files::on(&server);
    let age = || server.sql("UPDATE manifests SET created_at = '2020-01-01T00:00:00.000Z'", &[]);
    let kept = || {
        sweep(&server);
        let listed = files.client.pages(&files.url("/manifests"), "manifests", 9);
        listed.iter().rev().map(|it| id(it, "id")).collect::<Vec<_>>()
    };
    let one = written(&files, "x", "1");
    age();
    let two = written(&files, "x", "2");
    assert_eq!(kept(), [one.clone(), two.clone()], "the first was present until now");
    age();
    files.client.post(&files.url("/checkout"), json!({"manifest_id": one})).ok();
    assert_eq!(kept(), [one.clone(), two.clone()], "so was the second");
    let three = written(&files, "x", "3");
    age();
    assert_eq!(kept(), [one, two, three.clone()]);
    server.sql("UPDATE past_presents SET ended_at = '2020-01-02T00:00:00.000Z'", &[]);
    assert_eq!(kept(), [three]);
    assert_eq!(server.sql("SELECT count(*) AS n FROM past_presents", &[])[0]["n"], 0);
    assert_eq!(files.get("x").text, "3");
}

/// Some writers, a client that checks out, a session that is deleted and made again, and the sweep, all at once.
#[test]
fn the_sweep_takes_nothing_from_those_who_race_with_it() {
    let server = Server::start("sweep-race", &[("AUTH", "open")]);
    let files = Files::on(&server);
    let passing = Files { client: files.client.clone(), session: unique("session") };
    let first = (written(&files, "first", "0"), "first".to_owned(), "0".to_owned());
    let acknowledged = Mutex::new(vec![first]);
    race(6, |runner| {
        for turn in 0..20 {
            match runner {
                0..3 => {
                    // The other session writes and deletes the same contents.
                    let (path, text) = (format!("{runner}/{}", turn % 4), format!("{}", turn % 7));
                    let manifest = written(&files, &path, &text);
                    acknowledged.lock().unwrap().push((manifest, path, text));
                }
                3 => {
                    let manifest = {
                        let known = acknowledged.lock().unwrap();
                        known[turn * 7 % known.len()].0.clone()
                    };
                    files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
                }
                4 => {
                    for text in ["1", "3", "only-here"] {
                        written(&passing, &format!("{text}/{turn}"), text);
                    }
                    passing.client.delete(&passing.url("")).no_content();
                }
                _ => sweep(&server),
            }
        }
    });
    let last = written(&passing, "last", "1");
    sweep(&server);

    let acknowledged = acknowledged.into_inner().unwrap();
    for (manifest, path, text) in &acknowledged {
        let read = files.get(&format!("{path}?manifest_id={manifest}"));
        assert_eq!((read.status, &read.text), (200, text), "{path} in {manifest}");
    }
    assert_eq!(passing.get(&format!("last?manifest_id={last}")).text, "1");
    for files in [&files, &passing] {
        let listed = files.client.pages(&files.url("/manifests"), "manifests", 200);
        for manifest in &listed {
            let url = files.url(&format!("/manifests/{}", id(manifest, "id")));
            let entries = files.client.pages(&url, "entries", 200);
            let bytes = entries.iter().map(|it| it["size"].as_u64().unwrap()).sum::<u64>();
            assert_eq!((&manifest["files"], &manifest["bytes"]), (&json!(entries.len()), &json!(bytes)), "{manifest}");
        }
    }
    assert_eq!(files.client.pages(&files.url("/manifests"), "manifests", 200).len(), acknowledged.len());
    let missing = server.sql(
        "SELECT count(*) AS n FROM file_entries e WHERE e.sha256 IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM blobs b
           WHERE b.workspace_id = e.workspace_id AND b.sha256 = e.sha256 AND b.data IS NOT NULL)",
        &[],
    );
    assert_eq!(missing[0]["n"], 0, "every entry has its contents");
    let used = server.sql("SELECT count(DISTINCT sha256) AS n FROM file_entries", &[]);
    assert_eq!(used[0]["n"], count(&server, &files.client, "blobs"), "and no others are kept");
}

/// A session with this many file manifests, each with an entry of its own, as that many writes would make it.
fn fill(server: &Server, files: &Files, manifests: u32) {
    written(files, "x", "x");
    let params = [json!(files.client.workspace()), json!(files.session), json!(manifests)];
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(?3 AS INTEGER))";
    let label = "char(96 + length(i)) || i";
    for statement in [
        format!(
            "INSERT INTO manifests (workspace_id, id, session_id, tree_id, line, seq, source, created_at, files, bytes)
             {numbers} SELECT s.workspace_id, s.id || '_' || i, s.id, s.tree_id, '', i, 'edit', s.created_at, i, i
             FROM n JOIN sessions s ON s.workspace_id = ?1 AND s.id = ?2"
        ),
        format!(
            "INSERT INTO file_entries (workspace_id, tree_id, path, label, sha256, size)
             {numbers} SELECT s.workspace_id, s.tree_id, '/many/' || i, {label}, e.sha256, 1
             FROM n JOIN sessions s ON s.workspace_id = ?1 AND s.id = ?2
             JOIN file_entries e ON e.workspace_id = ?1 AND e.tree_id = s.tree_id AND e.path = '/x'"
        ),
        "UPDATE sessions SET active_manifest_id = ?2 || '_' || CAST(?3 AS INTEGER),
           head_id = ?2 || '_' || CAST(?3 AS INTEGER) WHERE workspace_id = ?1 AND id = ?2"
            .to_owned(),
    ] {
        server.sql(&statement, &params);
    }
}

#[test]
fn a_large_session_is_deleted_at_once_and_freed_in_pieces() {
    let server = Server::start("large-session", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let files = Files::on(&server);
    fill(&server, &files, 100_000);
    let last = format!("{}_100000", files.session);
    let kept = branch(&files, &last).0;
    assert_eq!(files.get("many/99999").text, "x");
    let deleted = files.client.delete(&files.url(""));
    deleted.no_content();
    let (read, rows) = (deleted.cost("rows_read"), deleted.cost("rows_written"));
    assert!(read <= 20 && rows <= 10, "{read} rows were read, and {rows} written");

    // Nothing of the session is visible, whoever asks.
    let gone = || {
        for path in ["", "/manifests", &format!("/manifests/{last}"), &format!("/diff?from={last}&to={last}")] {
            files.client.get(&files.url(path)).refused(404, "NOT_FOUND");
        }
        files.get("many/99999").refused(404, "NOT_FOUND");
        files.get(&format!("x?manifest_id={last}")).refused(404, "NOT_FOUND");
        files.delete("x").refused(404, "NOT_FOUND");
        for action in ["/checkout", "/branch"] {
            files.client.post(&files.url(action), json!({"manifest_id": last})).refused(404, "NOT_FOUND");
        }
        files.client.delete(&files.url("")).refused(404, "NOT_FOUND");
        let listed = files.client.get("/api/sessions").ok();
        assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    };
    gone();
    sweep(&server);
    gone();
    let left = count(&server, &files.client, "manifests");
    assert!((80_000..100_000).contains(&left), "one run deletes a piece: {left} are left");

    // A session of the same name begins with nothing, and the sweep does not touch it.
    let new = written(&files, "y", "new");
    let listed = files.client.get(&files.url("/manifests"));
    assert_eq!(listed.ok()["manifests"].as_array().unwrap().len(), 1);
    assert!(listed.cost("rows_read") <= 50, "{} rows were read", listed.cost("rows_read"));
    files.get("x").refused(404, "NOT_FOUND");
    files.get(&format!("x?manifest_id={last}")).refused(404, "NOT_FOUND");
    files.client.post(&files.url("/checkout"), json!({"manifest_id": last})).refused(404, "NOT_FOUND");
    files.client.delete(&files.url("")).no_content();
    let newest = written(&files, "z", "newest");
    for _ in 0..30 {
        sweep(&server);
    }
    assert_eq!(count(&server, &files.client, "manifests"), 2, "the branch, and the session that was made again");
    assert_eq!(count(&server, &files.client, "dead_sessions"), 0);
    assert_eq!(files.get(&format!("z?manifest_id={newest}")).text, "newest");
    files.get(&format!("y?manifest_id={new}")).refused(404, "NOT_FOUND");
    assert_eq!((kept.get("many/99999").text.as_str(), kept.get("x").text.as_str()), ("x", "x"));
}

#[test]
fn a_large_directory_is_deleted_at_once_and_freed_in_pieces() {
    let server = Server::start("large-directory", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let files = Files::on(&server);
    fill(&server, &files, 50_001);
    let before = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
    let deleted = files.delete("many");
    deleted.no_content();
    let rows = deleted.cost("rows_written");
    assert!(rows <= 15, "{rows} rows were written");
    println!("deleting 50,000 files: {}", deleted.header("x-d1-cost").unwrap_or_default());
    let after = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");

    let names = |files: &Files, at: &str| {
        let listed = files.client.get(&files.url(&format!("/manifests/{at}?limit=5"))).ok();
        (listed["files"].as_u64().unwrap(), listed["entries"].as_array().unwrap().len())
    };
    let differs = |from: &str, to: &str| {
        let changes = files.client.get(&files.url(&format!("/diff?from={from}&to={to}&limit=3"))).ok();
        changes["changes"].as_array().unwrap().iter().map(|it| id(it, "path")).collect::<Vec<_>>()
    };
    let gone = || {
        assert_eq!(names(&files, &after), (1, 1));
        assert_eq!(names(&files, &before), (50_001, 5), "the file manifest before the deletion is as it was");
        for path in ["many", "many/2", "many/30000", "many/50001"] {
            files.get(&format!("{path}?manifest_id={after}")).refused(404, "NOT_FOUND");
        }
        assert_eq!(files.get(&format!("many/30000?manifest_id={before}")).text, "x");
        assert_eq!(differs(&before, &after), ["/many/10", "/many/100", "/many/1000"]);
        assert_eq!(differs(&after, &before), ["/many/10", "/many/100", "/many/1000"]);
    };
    gone();
    files.get("many").refused(404, "NOT_FOUND");
    files.delete("many").refused(404, "NOT_FOUND");

    // The directory is made again at once, also on a line that forks, and in a branch.
    let again = written(&files, "many/30000", "again");
    assert_eq!(names(&files, &again), (2, 2));
    assert_eq!(files.get("many/30000").text, "again");
    files.client.post(&files.url("/checkout"), json!({"manifest_id": after})).ok();
    let forked = written(&files, "many/40000", "forked");
    files.get("many/30000").refused(404, "NOT_FOUND");
    files.client.post(&files.url("/checkout"), json!({"manifest_id": again})).ok();
    let next = written(&files, "other", "next");
    let branched = branch(&files, &after).0;
    assert_eq!(branched.client.get(&branched.url("")).ok()["files"], 1);
    written(&branched, "many/2", "branched");
    let all = || {
        gone();
        assert_eq!((names(&files, &again).1, names(&files, &forked).1, names(&files, &next).1), (2, 2, 3));
        assert_eq!(files.get(&format!("many/30000?manifest_id={again}")).text, "again");
        files.get(&format!("many/40000?manifest_id={next}")).refused(404, "NOT_FOUND");
        files.get(&format!("many/2?manifest_id={next}")).refused(404, "NOT_FOUND");
        assert_eq!(files.get(&format!("many/40000?manifest_id={forked}")).text, "forked");
        assert_eq!(branched.get("many/2").text, "branched");
        branched.get("many/3").refused(404, "NOT_FOUND");
    };
    all();
    let cleared = || count(&server, &files.client, "cleared_directories");
    assert_eq!(cleared(), 1);
    sweep(&server);
    assert_eq!(cleared(), 1, "one run does a piece");
    all();
    for _ in 0..6 {
        sweep(&server);
    }
    assert_eq!(cleared(), 0);
    all();
    let last = written(&files, "many/2", "last");
    assert_eq!(names(&files, &last).1, 4);
    all();
}

/// A nested undo is a write, a checkout of the file manifest before it, and another write. Set PEGBOARD_UNDOS to try
/// more of them.
#[test]
fn nested_undos_keep_rows_small() {
    let undos = std::env::var("PEGBOARD_UNDOS").map_or(400, |it| it.parse::<usize>().unwrap());
    let server = Server::start("undos", &[("AUTH", "open")]);
    let files = Files::on(&server);
    for path in ["a", "b", "d/c"] {
        written(&files, path, path);
    }
    let size = || server.ask(json!({"sql": "SELECT 1", "params": []}))["meta"]["size_after"].as_u64().unwrap();
    let check_out = |manifest: &str| {
        files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
    };
    let window = 100;
    let mut sizes = vec![size()];
    let mut made = Vec::new();
    for number in 0..undos {
        let base = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
        written(&files, "a", &format!("undone {number}"));
        check_out(&base);
        made.push(written(&files, "b", &format!("kept {number}")));
        if (number + 1) % window == 0 {
            sizes.push(size());
        }
    }
    let grown = sizes.windows(2).map(|it| it[1] - it[0]).collect::<Vec<_>>();
    let (first, last) = (grown[0] as f64, grown[grown.len() - 1] as f64);
    println!("bytes per write: {} at the start, {} at the end", first / 200.0, last / 200.0);
    assert!(last <= 1.2 * first, "{grown:?}");
    for (number, manifest) in made.iter().enumerate().step_by(undos / 20) {
        assert_eq!(files.get(&format!("b?manifest_id={manifest}")).text, format!("kept {number}"));
        assert_eq!(files.get(&format!("a?manifest_id={manifest}")).text, "a");
    }
    // Two file manifests in different trees are compared like any others.
    let changes = files.client.get(&files.url(&format!("/diff?from={}&to={}", made[0], made[undos - 1]))).ok();
    let changed = changes["changes"].as_array().unwrap().iter().map(|it| id(it, "path")).collect::<Vec<_>>();
    assert_eq!(changed, ["/b"]);
}

/// After a line, a file manifest may see contents that only the entry at the end of an inner line still holds.
#[test]
fn a_write_after_a_sweep_changes_nothing_of_what_was() {
    let server = Server::start("nested", &[("AUTH", "open")]);
    let files = Files { client: server.client(&unique("ws")), session: unique("session") };
    let check_out = |manifest: &str| {
        files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
    };
    written(&files, "p", "first");
    let base = written(&files, "p", "second");
    let beyond = written(&files, "other", "x");
    check_out(&base);
    let outer = written(&files, "other", "outer");
    let outer_next = written(&files, "other", "outer again");
    // A line forks inside a line that goes on afterwards: only a branch does so.
    let (inner, made) = branch(&files, &outer);
    written(&inner, "p", "inner");
    for manifest in [&base, &outer, &id(&made, "active_manifest_id")] {
        server.sql("DELETE FROM manifests WHERE id = ?1", &[json!(manifest)]);
    }
    sweep(&server);
    let entries = server.sql("SELECT label FROM file_entries WHERE path = '/p' ORDER BY label", &[]);
    let labels = entries.iter().map(|it| id(it, "label")).collect::<Vec<_>>();
    assert_eq!(labels, ["a1", "a2.a1a1.a2a2", "a2.a1a1.a2~"], "the second contents stand nowhere but at an end");
    let before = |manifest: &str| files.get(&format!("p?manifest_id={manifest}")).text;
    assert_eq!((before(&beyond), before(&outer_next)), ("second".into(), "second".into()));
    written(&files, "p", "outer");
    assert_eq!((before(&beyond), before(&outer_next)), ("second".into(), "second".into()));
    assert_eq!(files.get("p").text, "outer");
}

type State = BTreeMap<String, String>;

/// The model: the expected files of sessions and file manifests, beside the real ones.
struct Model {
    server: Server,
    client: crate::harness::Client,
    /// The present and all file manifests of each session; and the sessions in the order of creation, because their
    /// names differ from run to run.
    sessions: HashMap<String, (Option<String>, Vec<String>)>,
    order: Vec<String>,
    manifests: HashMap<String, State>,
    sha256: HashMap<String, String>,
    dice: Dice,
}

const PATHS: [&str; 10] = ["/a", "/b", "/d", "/d/x", "/d/y", "/d/e/z", "/d0", "/d-1", "/f", "/f/g"];

impl Model {
    fn files(&self, session: &str) -> Files {
        Files { client: self.client.clone(), session: session.to_owned() }
    }

    fn add(&mut self, session: &str) {
        self.sessions.insert(session.to_owned(), (None, Vec::new()));
        self.order.push(session.to_owned());
    }

    fn remove_session(&mut self, session: &str) {
        self.sessions.remove(session);
        self.order.retain(|it| it != session);
    }

    fn commit(&mut self, session: &str, manifest: String, state: State) {
        self.manifests.insert(manifest.clone(), state);
        let (present, own) = self.sessions.get_mut(session).unwrap();
        own.push(manifest.clone());
        *present = Some(manifest);
    }

    fn step(&mut self, number: usize) {
        if self.sessions.len() < 3 || (self.sessions.len() < 10 && self.dice.below(20) == 0) {
            self.add(&unique("session"));
        }
        let session = self.dice.pick(&self.order).clone();
        let (present, own) = self.sessions[&session].clone();
        let state = present.map(|it| self.manifests[&it].clone()).unwrap_or_default();
        let path = *self.dice.pick(&PATHS);
        match self.dice.below(10) {
            _ if own.is_empty() => self.write(&session, path, number, state),
            0..5 => self.write(&session, path, number, state),
            5 | 6 => self.remove(&session, path, state),
            7 | 8 => {
                let manifest = self.dice.pick(&own).clone();
                let files = self.files(&session);
                files.client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
                self.sessions.get_mut(&session).unwrap().0 = Some(manifest);
            }
            _ => {
                let manifest = self.dice.pick(&own).clone();
                let (branched, made) = branch(&self.files(&session), &manifest);
                self.add(&branched.session);
                let state = self.manifests[&manifest].clone();
                self.commit(&branched.session, id(&made, "active_manifest_id"), state);
            }
        }
    }

    fn write(&mut self, session: &str, path: &str, number: usize, mut state: State) {
        // Some contents are repeated.
        let text = format!("{}", number % 50).repeat(1 + self.dice.below(3));
        let answer = self.files(session).put(&path[1..], text.clone());
        let below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
        if state.keys().any(|it| below(it, path) || below(path, it)) {
            answer.refused(409, "CONFLICT");
            return;
        }
        assert_eq!(answer.status, if state.contains_key(path) { 200 } else { 201 }, "{}", answer.text);
        let written = answer.json();
        assert_eq!(written["parent_manifest_id"], json!(self.sessions[session].0));
        self.sha256.insert(text.clone(), id(&written, "sha256"));
        state.insert(path.to_owned(), text);
        self.commit(session, id(&written, "manifest_id"), state);
    }

    fn remove(&mut self, session: &str, path: &str, mut state: State) {
        let files = self.files(session);
        let answer = files.delete(&path[1..]);
        let before = state.len();
        state.retain(|it, _| it != path && !it.starts_with(&format!("{path}/")));
        if state.len() == before {
            answer.refused(404, "NOT_FOUND");
            return;
        }
        answer.no_content();
        let manifest = id(&files.client.get(&files.url("")).ok(), "active_manifest_id");
        self.commit(session, manifest, state);
    }

    /// Reads every file manifest, and compares it with the model.
    fn check(&mut self) {
        for (session, (present, own)) in &self.sessions {
            let files = self.files(session);
            if own.is_empty() {
                continue;
            }
            assert_eq!(files.client.get(&files.url("")).ok()["active_manifest_id"], json!(present));
            let listed = files.client.pages(&files.url("/manifests"), "manifests", 200);
            let listed = listed.iter().rev().map(|it| id(it, "id")).collect::<Vec<_>>();
            assert_eq!(&listed, own);
            for manifest in own {
                let state = &self.manifests[manifest];
                let shown = files.client.get(&files.url(&format!("/manifests/{manifest}?limit=200"))).ok();
                let expected = state
                    .iter()
                    .map(|(path, text)| json!({"path": path, "sha256": self.sha256[text], "size": text.len()}))
                    .collect::<Vec<_>>();
                assert_eq!(shown["entries"], json!(expected), "{session} {manifest}");
                let bytes = state.values().map(String::len).sum::<usize>();
                assert_eq!((&shown["files"], &shown["bytes"]), (&json!(state.len()), &json!(bytes)));
            }
        }
    }

    /// Reads some files of each session, and compares some of its file manifests.
    fn probe(&mut self) {
        for session in self.order.clone() {
            let own = self.sessions[&session].1.clone();
            let files = self.files(&session);
            for _ in 0..own.len().min(8) {
                let (from, to) = (self.dice.pick(&own).clone(), self.dice.pick(&own).clone());
                let (before, after) = (&self.manifests[&from], &self.manifests[&to]);
                let changes = files.client.pages(&files.url(&format!("/diff?from={from}&to={to}")), "changes", 3);
                let expected = before.keys().chain(after.keys()).collect::<BTreeSet<_>>();
                let expected = expected.into_iter().filter(|it| before.get(*it) != after.get(*it)).collect::<Vec<_>>();
                let seen = changes.iter().map(|it| id(it, "path")).collect::<Vec<_>>();
                assert_eq!(seen.iter().collect::<Vec<_>>(), expected, "{from} {to}");
                let path = *self.dice.pick(&PATHS);
                let read = files.get(&format!("{}?manifest_id={to}", &path[1..]));
                match after.get(path) {
                    Some(text) => assert_eq!(&read.text, text),
                    None => assert!(read.status == 404 || read.json()["entries"].is_array()),
                }
            }
        }
    }

    /// Deletes some sessions, and lets retention delete half of the file manifests that are no session's present.
    fn forget(&mut self) {
        for session in self.order.clone() {
            if self.sessions[&session].1.is_empty() {
                self.remove_session(&session);
            } else if self.dice.below(4) == 0 {
                let files = self.files(&session);
                files.client.delete(&files.url("")).no_content();
                self.remove_session(&session);
            } else {
                self.age(&session);
            }
        }
        for _ in 0..4 {
            sweep(&self.server);
        }
        // An old file manifest that was kept must not be deleted in a later round, when it is no longer the present.
        self.server.sql("UPDATE manifests SET created_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')", &[]);
    }

    fn age(&mut self, session: &str) {
        let (present, own) = self.sessions.get_mut(session).unwrap();
        let mut kept = Vec::new();
        for manifest in own.drain(..) {
            if self.dice.below(2) == 0 {
                kept.push(manifest);
                continue;
            }
            let params = [json!(manifest)];
            self.server.sql("UPDATE manifests SET created_at = '2020-01-01T00:00:00.000Z' WHERE id = ?1", &params);
            if Some(&manifest) == present.as_ref() {
                kept.push(manifest);
            }
        }
        *own = kept;
    }

    /// The number of entries that no file manifest sees, except the entries at the end of a line that still has other
    /// entries.
    fn garbage(&self) -> usize {
        let rows = self.server.sql("SELECT tree_id, path, label FROM file_entries ORDER BY tree_id, path, label", &[]);
        let entries = rows.iter().map(|it| [id(it, "tree_id"), id(it, "path"), id(it, "label")]).collect::<Vec<_>>();
        let manifests = self.server.sql("SELECT tree_id, label FROM manifests", &[]);
        let manifests = manifests.iter().map(|it| (id(it, "tree_id"), id(it, "label"))).collect::<Vec<_>>();
        let same = |one: &[String; 3], other: &[String; 3]| one[..2] == other[..2];
        let is_needed = |index: usize, entry: &[String; 3]| {
            let next = entries.get(index + 1).filter(|it| same(it, entry));
            let seen = manifests
                .iter()
                .any(|(tree, label)| *tree == entry[0] && *label >= entry[2] && next.is_none_or(|it| *label < it[2]));
            let before = index.checked_sub(1).map(|it| &entries[it]).filter(|it| same(it, entry));
            let closes = entry[2].strip_suffix('~').is_some_and(|line| before.is_some_and(|it| it[2].as_str() > line));
            seen || closes
        };
        entries.iter().enumerate().filter(|(index, entry)| !is_needed(*index, entry)).count()
    }

    fn rows(&self, table: &str) -> u64 {
        count(&self.server, &self.client, table)
    }
}

/// After any pattern of writes, deletions, checkouts and branches every file manifest reads as it was made, even after
/// others have been deleted.
#[test]
fn every_manifest_ever_made_reads_as_it_was_made() {
    let server = Server::start("model", &[("AUTH", "open"), ("FILE_MANIFEST_RETENTION_DAYS", "1")]);
    let client = server.client(&unique("ws"));
    let mut model = Model {
        server,
        client,
        sessions: HashMap::new(),
        order: Vec::new(),
        manifests: HashMap::new(),
        sha256: HashMap::new(),
        dice: Dice(7),
    };
    for round in 0..3 {
        for step in 0..250 {
            model.step(round * 250 + step);
        }
        model.check();
        model.probe();
        model.forget();
        model.check();
        model.probe();
        if round == 0 {
            // In later rounds an entry may remain that became useless by a write, not by a deletion; it is deleted with
            // its tree.
            assert_eq!(model.garbage(), 0);
        }
        let used = model.server.sql("SELECT count(DISTINCT sha256) AS n FROM file_entries", &[]);
        assert_eq!(used[0]["n"], model.rows("blobs"));
    }
    for session in &model.order {
        let files = model.files(session);
        files.client.delete(&files.url("")).no_content();
    }
    for _ in 0..4 {
        sweep(&model.server);
    }
    for table in ["sessions", "manifests", "file_entries", "blobs", "blob_chunks", "stale_trees", "stale_blobs"] {
        assert_eq!(model.rows(table), 0, "{table}");
    }
}
