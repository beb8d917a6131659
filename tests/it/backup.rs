//! Invariants, backups, and restores that are all or nothing.

use crate::harness::{Answer, Client, Server, Tool, Upstream, closed_workspace, open, race, workspace};
use serde_json::{Value, json};

/// A registry with at least one thing of every kind.
pub fn furnish(client: &Client) -> String {
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN", "description": "Reads issues"})).created();
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Key": "a literal"});
    let handler = json!({"type": "http", "url": "https://tools.example.com/x", "headers": headers});
    client.register(
        "x",
        "1.0.0",
        json!({"handler": handler, "examples": [{"description": "One", "params": {"text": "a"}}]}),
    );
    client.register("x", "1.1.0", json!({"returns_schema": {"type": "string"}, "rate_limit": 7}));
    client.register("y", "0.1.0", json!({
        "handler": {"type": "python", "code": "def run(arguments):\n    return 'ä\u{1F600}\\\"'\n", "function": "run"},
        "parameters_schema": "{ \"type\": \"object\" }",
    }));
    client.post("/api/tools/y/deactivate", json!({"reason": "deprecated"})).ok();
    let agent = client
        .agent(json!({"name": "Clerk", "capabilities": ["net"], "default_tools": false, "find_tools": true,
            "system_prompt": "Be brief.", "model": "m", "max_steps": 3, "temperature": 0.5}));
    client
        .post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "x", "config": {"default_text": "a"}}))
        .created();
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "read_file"})).created();
    agent
}

pub fn backup(client: &Client) -> Value {
    client.get("/api/registry/backup").ok()
}

/// The two forms of a backup.
#[derive(Clone, Copy)]
pub enum Form {
    Document,
    Lines,
}

impl Form {
    pub const LINES: &str = "application/x-ndjson";

    pub fn take(self, client: &Client) -> String {
        let answer = match self {
            Self::Document => client.get("/api/registry/backup"),
            Self::Lines => client.with_header("Accept", Self::LINES).get("/api/registry/backup"),
        };
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.text
    }

    pub fn restore(self, client: &Client, backup: &str) -> Answer {
        let client = match self {
            Self::Document => client.clone(),
            Self::Lines => client.with_header("Content-Type", Self::LINES),
        };
        client.send("POST", "/api/registry/restore", Some(backup.as_bytes().to_vec()))
    }
}

/// The registry as the API shows it.
pub fn shown(client: &Client) -> Value {
    let mut agents = client.pages("/api/agents", "agents", 50);
    for agent in &mut agents {
        let id = agent["id"].as_str().unwrap();
        agent["tools"] = client.get(&format!("/api/agents/{id}/tools")).ok();
    }
    json!({
        "tools": client.pages("/api/tools?include_inactive=true", "tools", 50),
        "x": client.get("/api/tools/x/versions").text,
        "y": client.get("/api/tools/y/versions").text,
        "agents": agents,
        "credentials": client.get("/api/credentials").ok(),
    })
}

#[test]
fn a_backup_restores_exactly_here_and_elsewhere() {
    restores_exactly(Form::Document);
}

#[test]
fn a_backup_as_lines_restores_exactly_here_and_elsewhere() {
    restores_exactly(Form::Lines);
}

fn restores_exactly(form: Form) {
    let client = workspace();
    furnish(&client);
    let (before, seen, taken) = (backup(&client), shown(&client), form.take(&client));
    assert!(!taken.contains("a literal"), "a backup holds header values sealed");
    let unchanged = form.restore(&client, &taken).ok();
    assert_eq!(unchanged["changes"], 0);
    assert_eq!(client.changes().len() as u64, unchanged["seq"].as_u64().unwrap());

    let other = workspace();
    let restored = form.restore(&other, &taken).ok();
    assert_eq!((backup(&other), shown(&other)), (before.clone(), seen));
    assert_eq!(form.take(&other), taken);
    let log = other.changes();
    assert_eq!((&restored["changes"], &restored["seq"]), (&json!(log.len()), &json!(log.len())));
    assert!(log.iter().all(|it| it["action"] == "restore"), "{log:?}");
    let subjects = log.iter().map(|it| it["subject"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(subjects[..4], ["credential:GITHUB_TOKEN", "tool:x@1.0.0", "tool:x@1.1.0", "tool:y@0.1.0"]);
    assert!(!json!(log).to_string().contains("a literal"), "the log shows no header");
    // The restored registry works: its tools can be found, called and attached, and its past can be read.
    assert_eq!(other.get("/api/tools?q=words").ok()["tools"][0]["id"], "x");
    other.execute("x", json!({"text": "b"})).success();
    other.register("x", "1.2.0", json!({"returns_schema": {"type": "string"}, "rate_limit": 7}));
    let state = other.get(&format!("/api/registry/state?seq={}", restored["seq"])).ok();
    assert_eq!(state["versions"].as_array().unwrap().len(), 3);
}

/// The header values of the only version of `x`, in a backup.
fn key_of(backup: &mut Value) -> &mut Value {
    &mut backup["versions"][0]["handler"]["headers"]["X-Key"]
}

#[test]
fn a_backup_restores_only_under_the_same_key_or_with_the_values_given_again() {
    let upstream = Upstream::start();
    let handler =
        json!({"type": "http", "url": upstream.at("/echo"), "headers": {"X-Key": "s3cret", "Accept": "text/plain"}});
    let client = workspace();
    client.register("x", "1.0.0", json!({"handler": handler, "parameters_schema": {"type": "object"}}));
    let mut sealed = backup(&client);
    assert!(key_of(&mut sealed)["sealed"].is_string() && !sealed.to_string().contains("s3cret"), "{sealed}");

    // Under the same key, a restored tool sends the value.
    let other = workspace();
    other.post("/api/registry/restore", sealed.clone()).ok();
    other.execute("x", json!({})).success();
    let sent = |upstream: &Upstream| upstream.received().last().unwrap().headers.clone();
    assert!(sent(&upstream).contains(&("x-key".to_owned(), "s3cret".to_owned())));

    // Under another key, the restore is refused, and names every header. With the values, it works.
    let vars = [("AUTH", "open"), ("SECRET_KEY", "another"), ("PRIVATE_URLS", "allow")];
    let server = Server::start("another-key", &vars);
    let elsewhere = server.client("ws");
    let refused = elsewhere.post("/api/registry/restore", sealed.clone()).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/versions/0/handler/headers/Accept", "/versions/0/handler/headers/X-Key"]);
    assert!(refused.message.contains("give the value again"), "{}", refused.message);
    let mut given = sealed.clone();
    given["versions"][0]["handler"]["headers"] = json!({"X-Key": "again", "Accept": "text/plain"});
    elsewhere.post("/api/registry/restore", given.clone()).ok();
    elsewhere.execute("x", json!({})).success();
    assert!(sent(&upstream).contains(&("x-key".to_owned(), "again".to_owned())));
    assert!(!backup(&elsewhere).to_string().contains("again"));

    // Without a key, even the values themselves are refused.
    let keyless = Server::start("no-key", &[("AUTH", "open")]);
    let refused = keyless.client("ws").post("/api/registry/restore", given).refused(400, "VALIDATION_ERROR");
    assert!(refused.message.contains("wrangler secret put SECRET_KEY"), "{}", refused.message);

    // A value is sealed for one URL: a stolen backup cannot send the value to another server.
    let mut moved = sealed;
    moved["versions"][0]["handler"]["url"] = json!("https://thief.example");
    client.post("/api/registry/restore", moved).refused(400, "VALIDATION_ERROR");
}

#[test]
fn what_is_not_in_the_backup_goes() {
    whatever_is_not_there_goes(Form::Document);
}

#[test]
fn what_is_not_in_the_lines_goes() {
    whatever_is_not_there_goes(Form::Lines);
}

fn whatever_is_not_there_goes(form: Form) {
    let client = workspace();
    furnish(&client);
    let (before, seen, taken) = (backup(&client), shown(&client), form.take(&client));
    // Things of all kinds are changed, added and removed.
    client.register("x", "1.2.0", json!({"returns_schema": {"type": "string"}}));
    client.register("z", "1.0.0", json!({}));
    client.post("/api/tools/y/activate", json!({"version": "0.1.0"})).ok();
    let agent = client.agent(json!({"name": "Another"}));
    let token = client.post("/api/tokens", json!({"name": "t", "level": "user", "agent_id": agent})).created();
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "z"})).created();
    let clerk = before["agents"][0]["id"].as_str().unwrap();
    client.patch(&format!("/api/agents/{clerk}"), json!({"name": "Chief clerk"})).ok();
    client.delete(&format!("/api/agents/{clerk}/tools/read_file")).no_content();
    client.post("/api/credentials", json!({"id": "STRIPE_KEY"})).created();
    let seq = client.changes().len();

    let restored = form.restore(&client, &taken).ok();
    assert_eq!((backup(&client), shown(&client)), (before.clone(), seen));
    client.get("/api/tools/z").refused(404, "NOT_FOUND");
    client.with_token(token["token"].as_str().unwrap()).get("/api/tools").refused(401, "UNAUTHORIZED");
    let found = client.get("/api/tools?q=count+words").ok();
    assert_eq!(
        found["tools"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["x"]
    );
    let log = client.changes();
    assert_eq!(restored["changes"], log.len() - seq);
    let told = |it: &Value| (it["action"].as_str().unwrap().to_owned(), it["subject"].as_str().unwrap().to_owned());
    let mut told = log[seq..].iter().map(told).collect::<Vec<_>>();
    told.sort();
    let restore = |subject: String| ("restore".to_owned(), subject);
    let mut expected = vec![
        restore(format!("agent:{agent}")),
        restore(format!("agent:{clerk}")),
        restore(format!("attachment:{agent}/z")),
        restore(format!("attachment:{clerk}/read_file")),
        restore("credential:STRIPE_KEY".into()),
        restore("tool:x@1.1.0".into()),
        restore("tool:x@1.2.0".into()),
        restore("tool:y@0.1.0".into()),
        restore("tool:z@1.0.0".into()),
        ("revoke".to_owned(), format!("token:{}", token["id"].as_str().unwrap())),
    ];
    expected.sort();
    assert_eq!(told, expected);
    assert!(log.iter().enumerate().all(|(index, it)| it["seq"] == index + 1));
}

#[test]
fn what_went_comes_back_in_its_place() {
    let client = workspace();
    let agent = furnish(&client);
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "y"})).created();
    let before = backup(&client);
    let mut without = before.clone();
    for (list, name) in [("tools", "id"), ("versions", "tool_id"), ("attachments", "tool_id")] {
        without[list].as_array_mut().unwrap().retain(|it| it[name] != "x");
    }
    client.post("/api/registry/restore", without.clone()).ok();
    assert_eq!(backup(&client), without);
    client.post("/api/registry/restore", before.clone()).ok();
    assert_eq!(backup(&client), before);
    client.execute("x", json!({"text": "a"})).success();
}

#[test]
fn a_large_registry_is_restored_at_a_cost_in_proportion() {
    let (client, other) = (workspace(), workspace());
    open().ask(json!({"batch": [
        {
            "sql": "INSERT INTO tools (workspace_id, id, source, created_at)
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499)
                    SELECT ?1, 'tool-' || i, 'registered', '2026-11-16T01:00:00.000Z' FROM n",
            "params": [client.workspace()],
        },
        {
            "sql": "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema,
                      handler_key, handler, registered_at, registered_by, active)
                    SELECT ?1, key, 1, 0, 0, 'Tool ' || id, 'A tool that does the thing number ' || key, '{\"type\":\"object\"}', 'read_file',
                      '{\"type\":\"builtin\",\"key\":\"read_file\"}', created_at, 'tests', 1 FROM tools WHERE workspace_id = ?1",
            "params": [client.workspace()],
        },
    ]}));
    let whole = backup(&client);
    let made = other.post("/api/registry/restore", whole.clone());
    assert_eq!(made.ok()["changes"], 500);
    assert_eq!(backup(&other), whole);
    // Every version differs; then all versions are removed.
    let mut changed = whole;
    for version in changed["versions"].as_array_mut().unwrap() {
        version["timeout_seconds"] = json!(31);
    }
    for (wanted, most) in
        [(changed, 60), (json!({"tools": [], "versions": [], "agents": [], "attachments": [], "credentials": []}), 60)]
    {
        let answer = other.post("/api/registry/restore", wanted);
        assert_eq!(answer.ok()["changes"], 500);
        let read = answer.cost("rows_read");
        assert!(read < most * 500, "{read} rows read");
    }
}

#[test]
fn an_approval_does_not_run_what_a_restore_has_put_in_its_place() {
    let client = workspace();
    client.register("x", "1.0.0", json!({"requires_approval": true}));
    let mut other = backup(&client);
    let asked = client.execute("x", json!({"text": "a"})).result(202);
    other["versions"][0]["handler"] = json!({"type": "builtin", "key": "read_file"});
    client.post("/api/registry/restore", other).ok();
    let approval = asked["error"]["details"]["approval_id"].as_str().unwrap();
    let answer = client.post(&format!("/api/approvals/{approval}/approve"), json!({}));
    assert_eq!(answer.status, 409, "{}", answer.text);
}

/// Restores a good backup after `change`, and checks that the restore is refused and changes nothing.
#[track_caller]
fn refused(change: impl Fn(&mut Value), expected: &str) {
    let client = workspace();
    furnish(&client);
    let mut wanted = backup(&client);
    client.agent(json!({"name": "Came later"}));
    let (before, log) = (backup(&client), client.changes());
    change(&mut wanted);
    let refused = client.post("/api/registry/restore", wanted).refused(400, "VALIDATION_ERROR");
    assert!(refused.message.contains(expected), "{}", refused.message);
    assert_eq!((backup(&client), client.changes()), (before, log));
}

#[test]
fn a_restore_that_breaks_an_invariant_changes_nothing() {
    refused(
        |it| {
            it["versions"][0]["active"] = json!(true);
            it["versions"][0]["deactivated_at"] = json!(null);
            it["versions"][0]["deactivated_reason"] = json!(null);
        },
        "one_active_version",
    );
    refused(|it| it["versions"][1]["handler"] = json!({"type": "builtin", "key": "gone"}), "handler");
    refused(
        |it| {
            it["credentials"] = json!([]);
            it["versions"][1]["credentials_required"] = json!(["GITHUB_TOKEN"]);
        },
        "credentials_defined",
    );
    refused(
        |it| {
            it["versions"][1]["deactivated_at"] = json!("2026-11-16T01:00:00.000Z");
            it["versions"][1]["deactivated_reason"] = json!("security");
        },
        "no_active_security_deactivation",
    );
}

#[test]
fn a_backup_that_does_not_fit_together_changes_nothing() {
    refused(|it| drop(it["tools"].as_array_mut().unwrap().remove(0)), "none of the backup's tools");
    refused(|it| drop(it["versions"].as_array_mut().unwrap().remove(2)), "has no version");
    refused(|it| drop(it["agents"].as_array_mut().unwrap().remove(0)), "none of the backup's agents");
    refused(|it| it["tools"][0]["id"] = json!("read_file"), "built-in");
    refused(|it| it["tools"][0]["source"] = json!("builtin"), "built-in");
    refused(|it| it["versions"][0]["version"] = json!("1.0"), "three numbers");
    refused(|it| it["versions"][0]["description"] = json!("short"), "/versions/0/description");
    refused(|it| it["versions"][0]["parameters_schema"] = json!("{"), "/versions/0/parameters_schema");
    refused(|it| it["versions"][0]["surprise"] = json!(1), "surprise");
    refused(|it| it["agents"][0]["name"] = json!(""), "/agents/0/name");
    refused(|it| it["attachments"][0]["config"] = json!({"x": "y".repeat(70_000)}), "/attachments/0/config");
    refused(|it| it["credentials"][0]["id"] = json!("a b"), "/credentials/0/id");
    refused(|it| it["agents"] = json!(null), "agents");
    for list in ["tools", "versions", "agents", "attachments", "credentials"] {
        let twice = |it: &mut Value| {
            let first = it[list][0].clone();
            it[list].as_array_mut().unwrap().push(first);
        };
        refused(twice, "twice");
    }
}

#[test]
fn a_backup_from_before_does_not_bring_back_what_is_not_secure() {
    let client = workspace();
    furnish(&client);
    let (before, lines) = (backup(&client), Form::Lines.take(&client));
    client.post("/api/tools/x/deactivate", json!({"version": "1.1.0", "reason": "security"})).ok();
    let (now, seq) = (backup(&client), client.changes().len());
    let document = client.post("/api/registry/restore", before.clone()).refused(409, "CONFLICT");
    for refused in [document, Form::Lines.restore(&client, &lines).refused(409, "CONFLICT")] {
        assert!(refused.message.contains("x@1.1.0"), "{}", refused.message);
    }
    assert_eq!((backup(&client), client.changes().len()), (now.clone(), seq));
    // Not even after the version itself has been deleted.
    let mut without = now;
    without["versions"].as_array_mut().unwrap().remove(1);
    client.post("/api/registry/restore", without).ok();
    client.get("/api/tools/x?version=1.1.0").refused(404, "NOT_FOUND");
    client.post("/api/registry/restore", before).refused(409, "CONFLICT");
    let again = crate::harness::definition("x", "1.1.0", json!({"returns_schema": {"type": "string"}}));
    client.post("/api/tools", again).refused(409, "CONFLICT");
}

#[test]
fn a_restore_that_was_overtaken_does_nothing() {
    overtaken(Form::Document);
}

#[test]
fn a_restore_of_lines_that_was_overtaken_does_nothing() {
    overtaken(Form::Lines);
}

fn overtaken(form: Form) {
    let client = workspace();
    furnish(&client);
    let one = form.take(&client);
    client.register("z", "1.0.0", json!({}));
    let other = form.take(&client);
    let statuses = race(8, |index| match index % 4 {
        0 => form.restore(&client, &one).status,
        1 => form.restore(&client, &other).status,
        2 => client.post("/api/agents", json!({"name": "Racer"})).status,
        _ => client.post("/api/tools/x/rollback", json!({"version": "1.0.0"})).status,
    });
    assert!(statuses.iter().all(|it| [200, 201, 409].contains(it)), "{statuses:?}");
    let log = client.changes();
    assert!(log.iter().enumerate().all(|(index, it)| it["seq"] == index + 1));
    // Whichever request won: log and tables agree, and all invariants hold.
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
    let (state, live) = (client.get("/api/registry/state").ok(), backup(&client));
    let count = |it: &Value, name: &str| it[name].as_array().unwrap().len();
    for name in ["tools", "versions", "agents", "attachments"] {
        assert_eq!(count(&state, name), count(&live, name), "{name}");
    }
    for version in state["versions"].as_array().unwrap() {
        let (id, number) = (version["id"].as_str().unwrap(), version["version"].as_str().unwrap());
        assert_eq!(&client.get(&format!("/api/tools/{id}?version={number}")).ok(), version);
    }
}

#[test]
fn invariants_name_what_breaks_them() {
    let client = workspace();
    furnish(&client);
    let whole = client.get("/api/registry/invariants").ok();
    assert_eq!(whole["ok"], true);
    let names =
        whole["invariants"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(
        names,
        ["one_active_version", "handler_targets_exist", "credentials_defined", "no_active_security_deactivation"]
    );
    Tool::new("lost").builtin("gone").with(json!({"credentials_required": ["NOBODYS"]})).put(open(), &client);
    let broken = client.get("/api/registry/invariants").ok();
    assert_eq!(broken["ok"], false);
    let oks = broken["invariants"].as_array().unwrap().iter().map(|it| it["ok"].as_bool().unwrap()).collect::<Vec<_>>();
    assert_eq!(oks, [true, false, false, true]);
    assert_eq!(broken["invariants"][1]["violations"][0]["tool_id"], "lost");
}

#[test]
fn backup_and_restore_ask_who_is_calling_and_take_two_round_trips_at_most() {
    let owner = closed_workspace().token(json!({"name": "o", "level": "owner"}));
    owner.register("x", "1.0.0", json!({}));
    let taken = owner.get("/api/registry/backup");
    assert_eq!(taken.cost("round_trips"), 1 + 1);
    let other = closed_workspace().token(json!({"name": "o", "level": "owner"}));
    let restored = other.post("/api/registry/restore", taken.ok());
    restored.ok();
    assert_eq!(restored.cost("round_trips"), 1 + 2);
}

#[test]
fn who_may_not_back_up_makes_the_worker_read_nothing() {
    let root = closed_workspace();
    let agent = root.agent(json!({}));
    for _ in 0..20 {
        root.agent(json!({}));
    }
    let callers = [
        root.token(json!({"name": "a", "level": "admin"})),
        root.token(json!({"name": "b", "level": "owner", "agent_id": agent})),
    ];
    for caller in callers {
        let taken = caller.get("/api/registry/backup");
        taken.refused(403, "PERMISSION_DENIED");
        // A body that could not be restored, and one that is too large, are not looked at.
        let restored = [&b"{"[..], &vec![b' '; 17 * 1024 * 1024]]
            .map(|body| caller.send("POST", "/api/registry/restore", Some(body.to_vec())));
        for answer in restored.iter().chain([&taken]) {
            answer.refused(403, "PERMISSION_DENIED");
            assert_eq!((answer.cost("round_trips"), answer.cost("rows_read")), (1, 1));
        }
    }
}

#[test]
fn a_dry_run_of_a_restore_tells_the_subjects_and_writes_nothing() {
    dry_run_of(Form::Document);
}

#[test]
fn a_dry_run_of_lines_tells_the_subjects_and_writes_nothing() {
    dry_run_of(Form::Lines);
}

fn dry_run_of(form: Form) {
    let client = workspace();
    let agent = furnish(&client);
    let taken = form.take(&client);
    let dry = |client: &Client, backup: &str| {
        let client = match form {
            Form::Document => client.clone(),
            Form::Lines => client.with_header("Content-Type", Form::LINES),
        };
        let answer = client.send("POST", "/api/registry/restore?dry_run=true", Some(backup.as_bytes().to_vec()));
        assert_eq!(answer.cost("rows_written"), 0, "{}", answer.text);
        answer
    };
    let none = json!({"count": 0, "subjects": []});
    let same = dry(&client, &taken).ok();
    assert_eq!(same["dry_run"], true);
    assert_eq!([&same["created"], &same["changed"], &same["deleted"]], [&none, &none, &none]);

    let other = workspace();
    let created = dry(&other, &taken).ok();
    let log = other.changes();
    assert_eq!((&created["seq"], log.len()), (&json!(0), 0));
    let restored = form.restore(&other, &taken).ok();
    assert_eq!(restored.get("dry_run"), None);
    let mut subjects = other.changes().iter().map(|it| it["subject"].clone()).collect::<Vec<_>>();
    let mut told = created["created"]["subjects"].as_array().unwrap().clone();
    subjects.sort_unstable_by_key(Value::to_string);
    told.sort_unstable_by_key(Value::to_string);
    assert_eq!(told, subjects);
    assert_eq!((&created["changes"], &created["created"]["count"]), (&restored["changes"], &restored["changes"]));

    client.post("/api/tools/x/deactivate", json!({"reason": "deprecated"})).ok();
    client.delete(&format!("/api/agents/{agent}/tools/x")).no_content();
    let new = client.agent(json!({}));
    let (shown_before, seq) = (shown(&client), client.changes().len());
    let differs = dry(&client, &taken).ok();
    assert_eq!(differs["changed"], json!({"count": 1, "subjects": ["tool:x@1.1.0"]}));
    assert_eq!(differs["created"], json!({"count": 1, "subjects": [format!("attachment:{agent}/x")]}));
    assert_eq!(differs["deleted"], json!({"count": 1, "subjects": [format!("agent:{new}")]}));
    assert_eq!((&differs["changes"], &differs["seq"]), (&json!(3), &json!(seq)));
    assert_eq!((shown(&client), client.changes().len()), (shown_before, seq));
    assert_eq!(dry(&client, "{").status, 400);
    assert_eq!(form.restore(&client, &taken).ok()["changes"], 3);
}
