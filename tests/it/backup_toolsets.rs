//! Toolsets in backups and restores: their files with the contents, their tools, overrides and MCP servers. And what holds
//! when a toolset is gone: invariants, versions that cannot come back, the registry as it was.

use crate::backup::{Form, backup};
use crate::harness::{Answer, Client, MODERN, McpPeer, bundle, workspace};
use serde_json::{Value, json};

const HELLO: &[u8] =
    b"from covalt_toolset import tool\n\n@tool\ndef hello(name: str = 'you') -> str:\n    return 'Hello ' + name\n";
const OTHER: &[u8] = b"from covalt_toolset import tool\n\n@tool\ndef other() -> str:\n    return 'other'\n";

fn manifest(id: &str, version: &str, more: Value) -> Value {
    let mut manifest = json!({
        "manifest_version": "1", "id": id, "name": "Kit \"ä\"", "version": version, "description": "A kit",
        "tools": [{"id": "hello", "entrypoint": "tools.hello:hello", "category": "greetings"},
            {"id": "other", "entrypoint": "tools.other:other"}],
        "tool_overrides": [
            {"tool_id": "other", "renderer": "html", "renderer_config": {"artifact": "artifacts/page.html"}},
            {"tool_id": "hello", "name_override": "Greeting", "enabled": true}],
    });
    for (name, value) in more.as_object().unwrap() {
        manifest[name] = value.clone();
    }
    manifest
}

fn import(client: &Client, query: &str, manifest: &Value, files: &[(&str, &[u8])]) -> Answer {
    client.send("POST", &format!("/api/toolsets{query}"), Some(bundle(manifest, files)))
}

/// A toolset with files of every kind, an MCP server, and an override by an admin; and a second toolset with some of the same
/// contents.
fn furnish(client: &Client, peer: &McpPeer) {
    let binary = (0..2_500_000_u32).map(|it| (it * 7 % 251) as u8).collect::<Vec<_>>();
    let text = "long \"text\"\n".repeat(150_000);
    let controls = "x".repeat(1 << 20) + &"\u{1}".repeat(300_000);
    let files: &[(&str, &[u8])] = &[
        ("tools/hello.py", HELLO),
        ("tools/other.py", OTHER),
        ("artifacts/page.html", b"<p>page</p>"),
        ("assets/copy.html", b"<p>page</p>"),
        ("assets/empty", b""),
        ("assets/binary", &binary),
        ("assets/text", text.as_bytes()),
        ("assets/controls", controls.as_bytes()),
    ];
    let server = json!({"id": "m", "url": peer.url(), "requires_confirmation": false, "risk_level": "low"});
    let more = json!({"mcp_servers": [server]});
    import(client, "?source_ref=git%20main", &manifest("kit", "1.0.0", more), files).created();
    let body = json!({"requires_approval": true, "description_override": "By an admin"});
    client.put("/api/toolsets/kit/overrides/m:echo", body.to_string()).ok();
    import(client, "", &manifest("another", "2.0.0-beta.1", json!({})), &files[..3]).created();
}

fn peer() -> McpPeer {
    let tool = json!({"name": "echo", "description": "A tool", "inputSchema": {"type": "object"}});
    McpPeer::start(MODERN, json!([tool]))
}

/// The toolset alone, which needs no server.
fn furnish_simply(client: &Client) {
    let files: &[(&str, &[u8])] =
        &[("tools/hello.py", HELLO), ("tools/other.py", OTHER), ("artifacts/page.html", b"<p>page</p>")];
    import(client, "", &manifest("kit", "1.0.0", json!({})), files).created();
}

fn lines_of(text: &str) -> Vec<Value> {
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn text_of(lines: &[Value]) -> String {
    lines.iter().map(|it| format!("{it}\n")).collect()
}

/// The lines with `change`, and an end that counts them.
fn changed(taken: &str, change: impl FnOnce(&mut Vec<Value>)) -> String {
    let mut lines = lines_of(taken);
    let mut end = lines.pop().unwrap();
    change(&mut lines);
    for (kind, field) in [("content", "contents"), ("toolset", "toolsets"), ("override", "overrides")] {
        end["end"][field] = json!(lines.iter().filter(|it| it.get(kind).is_some()).count());
    }
    lines.push(end);
    text_of(&lines)
}

fn exported(client: &Client) -> Vec<u8> {
    let answer = client.get("/api/toolsets/kit/export");
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.bytes
}

fn subjects(client: &Client) -> Vec<String> {
    let mut subjects = client.changes().iter().map(|it| it["subject"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    subjects.sort_unstable();
    subjects
}

#[test]
fn lines_restore_toolsets_exactly_here_and_elsewhere() {
    let (client, peer, other) = (workspace(), peer(), workspace());
    furnish(&client, &peer);
    let (whole, taken) = (backup(&client), Form::Lines.take(&client));
    let toolset = &whole["toolsets"][0];
    let fields = toolset.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
    let expected = [
        "id",
        "name",
        "version",
        "description",
        "enabled",
        "installed_at",
        "source_ref",
        "manifest_version",
        "warnings",
        "files",
        "tools",
    ];
    assert_eq!(fields, expected);
    assert_eq!((&toolset["id"], &toolset["source_ref"]), (&json!("kit"), &json!("git main")));
    assert_eq!(toolset["files"].as_array().unwrap().len(), 8);
    assert_eq!(toolset["tools"][0]["category"], "greetings");
    let overrides = whole["overrides"].as_array().unwrap();
    let told = overrides.iter().map(|it| (it["tool_id"].as_str().unwrap(), it["by_admin"].as_bool().unwrap()));
    let expected = [("another:other", false), ("another:hello", false), ("kit:other", false), ("kit:hello", false)];
    assert_eq!(told.collect::<Vec<_>>(), [&expected[..], &[("m:echo", true)]].concat());

    // The contents of a toolset come before it, each once, and every line fits.
    let lines = lines_of(&taken);
    assert!(taken.lines().all(|it| it.len() < 2_000_000));
    let kinds = lines.iter().map(|it| it.as_object().unwrap().keys().next().unwrap().as_str()).collect::<Vec<_>>();
    let at = |kind: &str, id: &str| lines.iter().position(|it| it[kind]["id"] == id).unwrap();
    let (first, second) = (at("toolset", "another"), at("toolset", "kit"));
    assert_eq!(kinds[first - 3..=first], ["content", "content", "content", "toolset"]);
    assert_eq!(kinds[first + 1..first + 3], ["override", "override"]);
    assert!(kinds[first + 3..second].iter().all(|it| *it == "content"));
    let starts = lines[first + 3..second].iter().filter(|it| it["content"]["number"] == 0).count();
    assert_eq!(starts, 7, "two files have the same contents");
    assert_eq!(kinds[second + 1..], ["override", "override", "override", "end"]);

    let unchanged = Form::Lines.restore(&client, &taken);
    assert_eq!(unchanged.ok()["changes"], 0);
    assert_eq!(unchanged.cost("rows_written"), 0, "contents that are there are not written again");

    let seq = Form::Lines.restore(&other, &taken).ok()["seq"].clone();
    assert_eq!(backup(&other), whole);
    assert!(Form::Lines.take(&other) == taken);
    assert!(exported(&other) == exported(&client));
    let log = other.changes();
    assert!(log.iter().all(|it| it["action"] == "restore"), "{log:?}");
    let subjects = subjects(&other);
    for subject in ["toolset:another", "toolset:kit", "override:kit:hello", "override:m:echo", "mcp_server:m"] {
        assert_eq!(subjects.iter().filter(|it| *it == subject).count(), 1, "{subject}");
    }
    // The restored toolset works.
    assert_eq!(other.execute("kit:hello", json!({"name": "x"})).success(), "Hello x");
    assert_eq!(other.get("/api/tools/kit:hello").ok()["name"], "Greeting");
    assert_eq!(other.get("/api/toolsets/kit/files/artifacts/page.html").text, "<p>page</p>");
    assert_eq!(other.get("/api/registry/invariants").ok()["ok"], true);
    let state = other.get(&format!("/api/registry/state?seq={seq}")).ok();
    assert_eq!((state["toolsets"].as_array().unwrap().len(), state["overrides"].as_array().unwrap().len()), (2, 5));
}

#[test]
fn a_document_restores_toolsets_whose_contents_are_there() {
    let (client, other) = (workspace(), workspace());
    furnish_simply(&client);
    let (whole, zip) = (backup(&client), exported(&client));
    client.delete("/api/toolsets/kit").no_content();
    client.execute("kit:hello", json!({})).failed(409, "TOOL_DISABLED");
    // The sweep has not deleted the contents yet.
    client.post("/api/registry/restore", whole.clone()).ok();
    assert_eq!(backup(&client), whole);
    assert!(exported(&client) == zip);
    assert_eq!(client.execute("kit:hello", json!({})).success(), "Hello you");

    let refused = other.post("/api/registry/restore", whole.clone()).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), (0..3).map(|it| format!("/toolsets/0/files/{it}/sha256")).collect::<Vec<_>>());
    assert!(refused.message.contains("JSON Lines"), "{}", refused.message);
    assert_eq!(other.changes().len(), 0);
    // Some other file of the workspace may have them.
    for (index, contents) in [HELLO, OTHER, b"<p>page</p>"].into_iter().enumerate() {
        other.put(&format!("/api/sessions/s/files/{index}"), contents).created();
    }
    other.post("/api/registry/restore", whole.clone()).ok();
    assert_eq!(backup(&other), whole);
    assert!(exported(&other) == zip);
}

#[test]
fn what_differs_is_put_right() {
    [Form::Document, Form::Lines].into_iter().for_each(differences_are_put_right);
}

fn differences_are_put_right(form: Form) {
    let client = workspace();
    furnish_simply(&client);
    let (whole, taken) = (backup(&client), form.take(&client));
    let upgrade = manifest(
        "kit",
        "1.1.0",
        json!({"tools": [{"id": "other", "entrypoint": "tools.other:other"}],
        "tool_overrides": []}),
    );
    import(&client, "?replace=true", &upgrade, &[("tools/other.py", OTHER), ("assets/new", b"new")]).ok();
    client.put("/api/toolsets/kit/overrides/other", json!({"enabled": false}).to_string()).ok();
    client.post("/api/toolsets/kit/disable", json!({})).ok();
    let mut second = manifest("second", "1.0.0", json!({"tool_overrides": []}));
    second["tools"] = json!([]);
    import(&client, "", &second, &[]).created();
    let seq = client.changes().len();
    let dry = match form {
        Form::Document => client.clone(),
        Form::Lines => client.with_header("Content-Type", Form::LINES),
    };
    let dry = dry.send("POST", "/api/registry/restore?dry_run=true", Some(taken.clone().into_bytes()));
    assert_eq!((dry.cost("rows_written"), client.changes().len()), (0, seq));
    let told = dry.ok();
    let has = |list: &str, subject: &str| told[list]["subjects"].as_array().unwrap().contains(&json!(subject));
    assert!(has("created", "override:kit:hello") && has("changed", "toolset:kit"), "{told}");
    assert!(has("changed", "override:kit:other") && has("deleted", "toolset:second"), "{told}");

    assert_eq!(form.restore(&client, &taken).ok()["changes"], told["changes"]);
    assert_eq!(backup(&client), whole);
    assert_eq!(client.execute("kit:hello", json!({})).success(), "Hello you");
    let log = client.changes();
    let gone = log.iter().find(|it| it["subject"] == "toolset:second" && it["action"] == "restore").unwrap();
    assert_eq!((&gone["previous_state"]["id"], &gone["new_state"]), (&json!("second"), &Value::Null));
    // A decision on the toolset as it was before is refused, and the next one is not.
    import(&client, "?replace=true", &upgrade, &[("tools/other.py", OTHER)]).ok();
}

#[test]
fn a_backup_from_before_toolsets_leaves_them_alone() {
    for form in [Form::Document, Form::Lines] {
        let client = workspace();
        furnish_simply(&client);
        let taken = match form {
            Form::Document => {
                let mut document = backup(&client);
                document.as_object_mut().unwrap().retain(|name, _| name != "toolsets" && name != "overrides");
                document.to_string()
            }
            Form::Lines => {
                let mut lines = lines_of(&form.take(&client));
                let is_new = |it: &Value| ["content", "toolset", "override"].iter().any(|kind| it.get(*kind).is_some());
                lines.retain(|it| !is_new(it));
                let end = lines.last_mut().unwrap()["end"].as_object_mut().unwrap();
                end.retain(|name, _| !["contents", "toolsets", "overrides"].contains(&name.as_str()));
                text_of(&lines)
            }
        };
        client.register("y", "1.0.0", json!({}));
        let before = backup(&client);
        assert_eq!(form.restore(&client, &taken).ok()["changes"], 1, "only y goes");
        let after = backup(&client);
        assert_eq!((&after["toolsets"], &after["overrides"]), (&before["toolsets"], &before["overrides"]));

        // Elsewhere, the tools of the toolset would reach nothing.
        let refused = form.restore(&workspace(), &taken).refused(400, "VALIDATION_ERROR");
        assert!(refused.message.contains("its toolset kit is not installed"), "{}", refused.message);
    }
}

/// Restores a good document after `change`, and checks that nothing changes.
#[track_caller]
fn refused(client: &Client, change: impl Fn(&mut Value), path: &str, expected: &str) {
    let before = backup(client);
    let mut document = before.clone();
    change(&mut document);
    let refused = client.post("/api/registry/restore", document).refused(400, "VALIDATION_ERROR");
    assert!(refused.paths().contains(&path), "{:?}", refused.paths());
    assert!(refused.message.contains(expected), "{}", refused.message);
    assert_eq!(backup(client), before);
}

#[test]
fn a_backup_whose_toolsets_do_not_fit_together_is_refused() {
    let (client, peer) = (workspace(), peer());
    furnish(&client, &peer);
    let check = |change: fn(&mut Value), path: &str, expected: &str| refused(&client, change, path, expected);
    check(|it| it["toolsets"][0]["id"] = json!("Kit"), "/toolsets/0/id", "lower-case");
    check(|it| it["toolsets"][1]["id"] = json!("kit"), "/toolsets/1/id", "twice");
    check(|it| it["toolsets"][1]["id"] = json!("m"), "/toolsets/1/id", "share their ids");
    check(|it| it["toolsets"][0]["version"] = json!("1"), "/toolsets/0/version", "semantic");
    check(|it| it["toolsets"][0]["files"][0]["path"] = json!("../a"), "/toolsets/0/files/0/path", "`..`");
    check(|it| it["toolsets"][0]["files"][0]["size"] = json!(3), "/toolsets/0/files/0/size", "size of the contents");
    check(|it| it["toolsets"][0]["files"][0]["sha256"] = json!("0"), "/toolsets/0/files/0/sha256", "JSON Lines");
    check(|it| it["toolsets"][0]["tools"][0]["entrypoint"] = json!("x"), "/toolsets/0/tools/0", "declaration");
    check(
        |it| it["overrides"][0]["tool_id"] = json!("x:y"),
        "/overrides/0/tool_id",
        "is no tool of the toolset another",
    );
    check(|it| it["overrides"][0]["toolset_id"] = json!("x"), "/overrides/0/toolset_id", "none of the backup's");
    check(|it| it["overrides"][0]["renderer"] = Value::Null, "/overrides/0/renderer", "stand together");
    check(|it| it["mcp_servers"][0]["toolset_id"] = json!("x"), "/mcp_servers/0/toolset_id", "no toolset");
    let without = |it: &mut Value| drop(it.as_object_mut().unwrap().remove("toolsets"));
    refused(&client, without, "/overrides", "goes with toolsets");
    // An active tool needs its toolset, and its declaration.
    let undeclared = |it: &mut Value| {
        it["toolsets"][0]["tools"].as_array_mut().unwrap().remove(0);
        it["overrides"].as_array_mut().unwrap().retain(|it| it["tool_id"] != "kit:hello");
    };
    let versions = backup(&client)["versions"].clone();
    let place = |id: &str| versions.as_array().unwrap().iter().position(|it| it["tool_id"] == id).unwrap();
    let path = format!("/versions/{}", place("kit:hello"));
    refused(&client, undeclared, &path, "its toolset kit does not have the tool any more");
    let gone = |it: &mut Value| {
        it["toolsets"].as_array_mut().unwrap().pop();
        it["overrides"].as_array_mut().unwrap().retain(|it| it["toolset_id"] != "another");
    };
    refused(&client, gone, &format!("/versions/{}", place("another:hello")), "its toolset another is not installed");
}

#[test]
fn lines_whose_contents_are_not_whole_are_refused() {
    let client = workspace();
    furnish_simply(&client);
    let taken = Form::Lines.take(&client);
    let lines = lines_of(&taken);
    let first = lines.iter().position(|it| it.get("content").is_some()).unwrap();
    let toolset = lines.iter().position(|it| it.get("toolset").is_some()).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<Value>), line: usize, field: &str, expected: &str| {
        let other = workspace();
        let refused = Form::Lines.restore(&other, &changed(&taken, change)).refused(400, "VALIDATION_ERROR");
        let path = format!("/{}{field}", line + 1);
        assert!(refused.paths().contains(&path.as_str()), "{path} {:?}", refused.paths());
        assert!(refused.message.contains(expected), "{}", refused.message);
        assert_eq!(other.changes().len(), 0);
    };
    refused(&|it| it[first]["content"]["data"] = json!("x"), first, "", "another SHA-256");
    refused(&|it| it[first]["content"]["number"] = json!(1), first, "", "out of order");
    refused(&|it| it[first]["content"]["count"] = json!(2), first + 1, "", "out of order");
    refused(&|it| it[first]["content"]["encoding"] = json!("base64"), first, "", "base64");
    refused(&|it| drop(it.remove(first)), toolset - 1, "/files/0/sha256", "no line before the toolset");
    refused(&|it| it.insert(first, it[first].clone()), first + 1, "", "twice");
    let moved = |it: &mut Vec<Value>| {
        let content = it.remove(first);
        it.insert(toolset, content);
    };
    refused(&moved, toolset, "", "is followed by no toolset");
    refused(&|it| it.swap(toolset, toolset + 1), toolset, "/toolset_id", "not the one before this line");
    refused(&|it| it.swap(toolset + 1, toolset + 2), toolset + 2, "/tool_id", "out of order");
    refused(&|it| it[toolset]["toolset"]["files"][0]["size"] = json!(1), toolset, "/files/0/size", "size");
    // Contents that the workspace has need no line.
    let without = changed(&taken, |it| it.retain(|it| it.get("content").is_none()));
    assert_eq!(Form::Lines.restore(&client, &without).ok()["changes"], 0);
    client.delete("/api/toolsets/kit").no_content();
    Form::Lines.restore(&client, &without).ok();
    assert_eq!(Form::Lines.take(&client), taken);
    // A dry run stores nothing.
    let other = workspace().with_header("Content-Type", Form::LINES);
    let dry = other.send("POST", "/api/registry/restore?dry_run=true", Some(taken.clone().into_bytes()));
    assert_eq!((dry.ok()["created"]["subjects"].as_array().unwrap().is_empty(), dry.cost("rows_written")), (false, 0));
}

#[test]
fn a_version_without_its_toolset_cannot_come_back() {
    let client = workspace();
    furnish_simply(&client);
    let activate = |id: &str| client.post(&format!("/api/tools/{id}/activate"), json!({"version": "1.0.0"}));
    // The toolset has the tool: an admin may switch it off and on.
    client.post("/api/tools/kit:hello/deactivate", json!({"reason": "operator_request"})).ok();
    activate("kit:hello").ok();
    let upgrade = manifest(
        "kit",
        "1.1.0",
        json!({"tools": [{"id": "other", "entrypoint": "tools.other:other"}],
        "tool_overrides": []}),
    );
    import(&client, "?replace=true", &upgrade, &[("tools/other.py", OTHER)]).ok();
    let refused = activate("kit:hello").refused(409, "CONFLICT");
    let expected = "kit:hello@1.0.0 cannot be active: its toolset kit does not have the tool any more";
    assert_eq!(refused.message, expected);
    let rolled_back = client.post("/api/tools/kit:hello/rollback", json!({"version": "1.0.0"}));
    assert_eq!(rolled_back.refused(409, "CONFLICT").message, expected);
    client.delete("/api/toolsets/kit").no_content();
    let refused = activate("kit:other").refused(409, "CONFLICT");
    assert_eq!(refused.message, "kit:other@1.0.0 cannot be active: its toolset kit is not installed");
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
}

#[test]
fn the_registry_as_it_was_has_its_toolsets() {
    let client = workspace();
    furnish_simply(&client);
    let installed = client.changes().len();
    client.put("/api/toolsets/kit/overrides/hello", json!({"enabled": false}).to_string()).ok();
    let overridden = client.changes().len();
    client.delete("/api/toolsets/kit").no_content();
    let state = |seq: usize| client.get(&format!("/api/registry/state?seq={seq}")).ok();
    let first = state(installed);
    let toolset = &first["toolsets"][0];
    assert_eq!((&toolset["id"], &toolset["tools"]), (&json!("kit"), &json!(["hello", "other"])));
    assert_eq!((&toolset["files"][0]["path"], &toolset["enabled"]), (&json!("artifacts/page.html"), &json!(true)));
    let overrides = |state: &Value| {
        let list = state["overrides"].as_array().unwrap();
        list.iter().map(|it| (it["tool_id"].clone(), it["enabled"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(overrides(&first), [(json!("kit:hello"), json!(true)), (json!("kit:other"), Value::Null)]);
    assert_eq!(overrides(&state(overridden))[0].1, false);
    let now = client.get("/api/registry/state").ok();
    assert_eq!((&now["toolsets"], &now["overrides"]), (&json!([]), &json!([])));
}
