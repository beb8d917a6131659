//! Modules and the settings of a workspace in backups and restores, and what a discovery does after a restore.

use crate::backup::{Form, backup};
use crate::harness::{Client, ModuleServer, ROOT_TOKEN, Server, Tool, open, race, workspace};
use serde_json::{Value, json};

use std::thread;
use std::time::Duration;

/// Nothing listens at this address.
const CLOSED: &str = "http://127.0.0.1:9";

fn offered(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "parameters": {"type": "object"}})
}

fn set_guest_modules(client: &Client, names: Value) {
    let text = names.to_string();
    let sql = "INSERT INTO workspace_settings (workspace_id, default_guest_modules, revision) VALUES (?1, ?2, 1)";
    open().sql(sql, &[json!(client.workspace()), json!(text)]);
}

/// Two modules that do not answer, a credential that one of them names, and settings.
fn furnish(client: &Client) {
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN", "description": "Reads issues"})).created();
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Key": "a literal"});
    let first = json!({"name": "search", "url": CLOSED, "headers": headers, "slow": true, "timeout_seconds": 7});
    client.post("/api/modules", first).created();
    client.post("/api/modules", json!({"name": "books", "url": format!("{CLOSED}/b"), "enabled": false})).created();
    set_guest_modules(client, json!(["books"]));
}

/// A tool of a module, written straight into the database.
fn tool_of(module: &str, name: &str) -> Tool {
    let handler = json!({"type": "module", "module": module}).to_string();
    Tool::new(&format!("{module}.{name}"))
        .source("module")
        .with(json!({"handler_key": "module", "handler": handler, "description": "A tool of a module"}))
}

fn shown(client: &Client) -> Value {
    client.get("/api/modules").ok()["modules"].clone()
}

fn rows(client: &Client, columns: &str) -> Vec<Value> {
    let sql = format!("SELECT {columns} FROM upstreams WHERE workspace_id = ?1 ORDER BY name");
    open().sql(&sql, &[json!(client.workspace())])
}

fn refresh(client: &Client) -> Value {
    client.post("/api/refresh-tools", json!({})).ok()["modules"][0].clone()
}

fn active_tools(client: &Client) -> Vec<String> {
    let tools = client.pages("/api/tools?source=module", "tools", 50);
    tools.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

fn held_back(client: &Client, module: &str) -> Vec<(String, String)> {
    let held = client.get(&format!("/api/modules/{module}/held-back")).ok();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    held["held_back"].as_array().unwrap().iter().map(|it| (text(&it["tool_id"]), text(&it["change"]))).collect()
}

/// The backup in the form, after `change` of the document. Lines are written from the document.
fn taken_with(form: Form, client: &Client, change: impl Fn(&mut Value)) -> String {
    let mut document = backup(client);
    change(&mut document);
    match form {
        Form::Document => document.to_string(),
        Form::Lines => lines_of(&document),
    }
}

/// A document without agents as lines. A document without `workspace` is an older one.
fn lines_of(document: &Value) -> String {
    let list = |name: &str, key: &str| {
        let mut list = document[name].as_array().cloned().unwrap_or_default();
        list.sort_by_key(|it| it[key].to_string());
        list
    };
    let mut lines = list("credentials", "id").iter().map(|it| json!({"credential": it})).collect::<Vec<_>>();
    for tool in list("tools", "id") {
        let versions = document["versions"].as_array().unwrap().iter().filter(|it| it["tool_id"] == tool["id"]);
        let versions = versions.map(|it| json!({"version": it})).collect::<Vec<_>>();
        lines.push(json!({"tool": tool}));
        lines.extend(versions);
    }
    let is_new = document.get("workspace").is_some();
    if is_new {
        lines.push(json!({"workspace": document["workspace"]}));
    }
    lines.extend(list("modules", "name").iter().map(|it| json!({"module": it})));
    let count = |kind: &str| lines.iter().filter(|it| it.get(kind).is_some()).count();
    let mut end = json!({"credentials": count("credential"), "agents": 0, "tools": count("tool"),
        "versions": count("version"), "attachments": 0});
    if is_new {
        (end["workspace"], end["modules"]) = (json!(1), json!(count("module")));
    }
    lines.push(json!({"end": end}));
    lines.iter().map(|it| format!("{it}\n")).collect()
}

#[test]
fn modules_and_settings_restore_exactly() {
    [Form::Document, Form::Lines].into_iter().for_each(restores_exactly);
}

fn restores_exactly(form: Form) {
    let client = workspace();
    furnish(&client);
    let (whole, taken) = (backup(&client), form.take(&client));
    assert_eq!(whole["workspace"], json!({"default_guest_modules": ["books"]}));
    let modules = whole["modules"].as_array().unwrap();
    // The oldest comes first, and header values are as they are stored.
    assert_eq!(modules.iter().map(|it| &it["name"]).collect::<Vec<_>>(), ["search", "books"]);
    assert_eq!(modules[0]["headers"]["Authorization"], "Bearer ${GITHUB_TOKEN}");
    assert!(modules[0]["headers"]["X-Key"]["sealed"].is_string() && !taken.contains("a literal"), "{taken}");
    let fields = modules[1].as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
    let expected = ["name", "kind", "url", "slow", "timeout_seconds", "headers", "enabled", "auto_accept", "include"];
    assert_eq!(fields[..9], expected, "no discovery is in a backup");
    assert_eq!(form.restore(&client, &taken).ok()["changes"], 0);

    let other = workspace();
    let restored = form.restore(&other, &taken).ok();
    assert_eq!((backup(&other), form.take(&other)), (whole, taken.clone()));
    let log = other.changes();
    assert_eq!(restored["changes"], log.len());
    let told = log.iter().map(|it| (it["action"].as_str().unwrap(), it["subject"].as_str().unwrap()));
    let mut told = told.collect::<Vec<_>>();
    told.sort_unstable();
    let expected = ["credential:GITHUB_TOKEN", "module:books", "module:search", "workspace:settings"];
    assert_eq!(told, expected.map(|it| ("restore", it)));
    let search = log.iter().find(|it| it["subject"] == "module:search").unwrap();
    assert_eq!(search["new_state"]["headers"], json!({"Authorization": "***", "X-Key": "***"}));
    assert_eq!((&search["new_state"]["url"], &search["previous_state"]), (&json!(CLOSED), &Value::Null));
    let settings = log.iter().find(|it| it["subject"] == "workspace:settings").unwrap();
    assert_eq!(settings["previous_state"], json!({"default_guest_modules": []}));
    assert_eq!(settings["new_state"], json!({"default_guest_modules": ["books"]}));
    assert!(!json!(log).to_string().contains("sealed"), "the log shows no header value");
    // The restored module has never been asked.
    let states = shown(&other);
    assert_eq!(states[1]["name"], "search");
    for it in states.as_array().unwrap() {
        assert_eq!(
            (&it["status"], &it["discovered_at"], &it["expires_at"]),
            (&json!("unseen"), &Value::Null, &Value::Null)
        );
    }
    // The literal value opens at its new place.
    assert_eq!(refresh(&other)["status"], "unseen", "it is disabled");
    let answer = other.post("/api/refresh-tools", json!({"modules": ["search"]})).ok();
    assert_eq!(answer["modules"][0]["error"], "The module could not be reached");
}

#[test]
fn what_differs_is_changed_and_what_is_missing_goes() {
    [Form::Document, Form::Lines].into_iter().for_each(differences_are_put_right);
}

fn differences_are_put_right(form: Form) {
    let client = workspace();
    furnish(&client);
    let (before, taken) = (backup(&client), form.take(&client));
    client.patch("/api/modules/search", json!({"url": format!("{CLOSED}/elsewhere"), "slow": false})).ok();
    client.delete("/api/modules/books").no_content();
    client.post("/api/modules", json!({"name": "later", "url": CLOSED})).created();
    // Something was found of the module, and a discovery is going on.
    open().sql(
        "UPDATE upstreams SET status = 'ok', discovered_at = '2026-11-16T01:00:00.000Z', fingerprint = 'f', lease = 'l',
           expires_at = '2999-01-01T00:00:00.000Z', leased_until = '2999-01-01T00:00:00.000Z'
         WHERE workspace_id = ?1 AND name = 'search'",
        &[json!(client.workspace())],
    );
    let seq = client.changes().len();
    let dry = match form {
        Form::Document => client.clone(),
        Form::Lines => client.with_header("Content-Type", Form::LINES),
    };
    let dry = dry.send("POST", "/api/registry/restore?dry_run=true", Some(taken.clone().into_bytes()));
    assert_eq!((dry.cost("rows_written"), client.changes().len()), (0, seq));
    let subjects = ["created", "changed", "deleted"].map(|it| dry.ok()[it]["subjects"].clone());
    assert_eq!(subjects, [json!(["module:books"]), json!(["module:search"]), json!(["module:later"])]);

    let revision = rows(&client, "revision")[1]["revision"].as_u64().unwrap();
    assert_eq!(form.restore(&client, &taken).ok()["changes"], 3);
    assert_eq!(backup(&client), before);
    let columns = "name, status, discovered_at, fingerprint, expires_at, lease, leased_until";
    let expected = |name: &str, status: &str, discovered: Value| {
        json!({"name": name, "status": status, "discovered_at": discovered, "fingerprint": null, "expires_at": null,
            "lease": null, "leased_until": null})
    };
    assert_eq!(
        rows(&client, columns),
        [expected("books", "unseen", Value::Null), expected("search", "ok", json!("2026-11-16T01:00:00.000Z")),]
    );
    assert!(rows(&client, "revision")[1]["revision"].as_u64().unwrap() > revision);
    let log = client.changes();
    let gone = log.iter().find(|it| it["subject"] == "module:later" && it["action"] == "restore").unwrap();
    assert_eq!((&gone["previous_state"]["url"], &gone["new_state"]), (&json!(CLOSED), &Value::Null));

    // An empty list is a list: all modules go.
    let none = taken_with(form, &client, |it| {
        it["modules"] = json!([]);
        it["workspace"] = json!({"default_guest_modules": []});
    });
    assert_eq!(form.restore(&client, &none).ok()["changes"], 3);
    assert_eq!(
        (shown(&client), backup(&client)["workspace"].clone()),
        (json!([]), json!({"default_guest_modules": []}))
    );
}

#[test]
fn a_backup_from_before_modules_leaves_them_alone() {
    for form in [Form::Document, Form::Lines] {
        let client = workspace();
        client.register("x", "1.0.0", json!({}));
        furnish(&client);
        tool_of("search", "web").put(open(), &client);
        let old = |it: &mut Value| {
            it.as_object_mut().unwrap().retain(|name, _| name != "modules" && name != "workspace");
        };
        let taken = taken_with(form, &client, old);
        client.register("y", "1.0.0", json!({}));
        let before = backup(&client);
        assert_eq!(form.restore(&client, &taken).ok()["changes"], 1, "only y goes");
        let after = backup(&client);
        assert_eq!((&after["modules"], &after["workspace"]), (&before["modules"], &before["workspace"]));

        // The modules that stay keep their credentials.
        let without = taken_with(form, &client, |it| {
            old(it);
            it["credentials"] = json!([]);
        });
        let refused = form.restore(&client, &without).refused(400, "VALIDATION_ERROR");
        let expected = "GITHUB_TOKEN is missing: the module search, which stays as it is, names it";
        assert!(refused.message.contains(expected), "{}", refused.message);
        assert_eq!(backup(&client), after);
    }
}

/// Restores a good backup after `change`, in both forms, and checks that nothing changes. `path` is the place in the
/// document, or within the line.
#[track_caller]
fn refused(change: impl Fn(&mut Value) + Copy, paths: [&str; 2], expected: &str) {
    for (form, path) in [Form::Document, Form::Lines].into_iter().zip(paths) {
        let client = workspace();
        furnish(&client);
        tool_of("search", "web").put(open(), &client);
        let wanted = taken_with(form, &client, change);
        let (before, log) = (backup(&client), client.changes());
        let refused = form.restore(&client, &wanted).refused(400, "VALIDATION_ERROR");
        assert!(refused.paths().contains(&path), "{path} is none of {:?}", refused.paths());
        assert!(refused.message.contains(expected), "{}", refused.message);
        assert_eq!((backup(&client), client.changes()), (before, log));
    }
}

#[test]
fn a_module_that_breaks_a_rule_changes_nothing() {
    // In the document, `search` comes before `books`. The lines: 1 credential, 2 tool, 3 its version, 4 settings,
    // 5 books, 6 search, 7 end.
    refused(|it| it["modules"][1]["name"] = json!("Books"), ["/modules/1/name", "/5/name"], "lower-case letters");
    refused(|it| it["modules"][0]["url"] = json!("ftp://x"), ["/modules/0/url", "/6/url"], "http");
    refused(|it| it["modules"][0]["url"] = json!("http://x/?a=b"), ["/modules/0/url", "/6/url"], "no query");
    refused(|it| it["modules"][1]["url"] = json!("http://x/"), ["/modules/1/url", "/5/url"], "no slash");
    refused(|it| it["modules"][1]["url"] = json!(7), ["/modules/1/url", "/5/url"], "url");
    refused(|it| it["modules"][1]["kind"] = json!("mcp"), ["/modules/1/kind", "/5/kind"], "manifest");
    refused(|it| it["modules"][1]["surprise"] = json!(1), ["/modules/1/surprise", "/5/surprise"], "surprise");
    let timeout = ["/modules/1/timeout_seconds", "/5/timeout_seconds"];
    refused(|it| it["modules"][1]["timeout_seconds"] = json!(0), timeout, "from 1 to 3600");
    let include = ["/modules/1/include", "/5/include"];
    refused(|it| it["modules"][1]["include"] = json!({"tags": ["a"]}), include, "openapi");
    let header = |name: &str, value: &str| {
        let (name, value) = (name.to_owned(), value.to_owned());
        move |it: &mut Value| it["modules"][1]["headers"] = json!({name.clone(): value.clone()})
    };
    refused(&header("a b", "c"), ["/modules/1/headers/a b", "/5/headers/a b"], "name of a header");
    refused(&header("X-Key", "***"), ["/modules/1/headers/X-Key", "/5/headers/X-Key"], "is masked");
    refused(&header("A", "${NONE}"), ["/modules/1/headers", "/5/headers"], "NONE is none of the backup's credentials");
    // A value is sealed for one URL.
    let moved = |it: &mut Value| it["modules"][0]["url"] = json!("https://thief.example");
    refused(moved, ["/modules/0/headers/X-Key", "/6/headers/X-Key"], "give the value again");
    let twice = |it: &mut Value| {
        let first = it["modules"][0].clone();
        it["modules"].as_array_mut().unwrap().push(first);
    };
    refused(twice, ["/modules/2/name", "/7/name"], "is there twice");
    let many = |it: &mut Value| {
        for index in 0..199 {
            let mut module = it["modules"][1].clone();
            module["name"] = json!(format!("zz{index:03}"));
            it["modules"].as_array_mut().unwrap().push(module);
        }
    };
    refused(many, ["/modules/200", "/205"], "more than the 200");
    for (names, paths) in [
        (json!(["A"]), ["/workspace/default_guest_modules/0", "/4/default_guest_modules/0"]),
        (json!(["a", "a"]), ["/workspace/default_guest_modules/1", "/4/default_guest_modules/1"]),
        (json!(vec!["a"; 201]), ["/workspace/default_guest_modules", "/4/default_guest_modules"]),
    ] {
        refused(|it| it["workspace"]["default_guest_modules"] = names.clone(), paths, "default_guest_modules");
    }
}

#[test]
fn a_tool_without_its_module_is_not_restored() {
    let without = |it: &mut Value| it["modules"].as_array_mut().unwrap().retain(|it| it["name"] != "search");
    let expected = "handler_targets_exist: search.web@1.0.0 its module search is not registered";
    refused(without, ["/versions/0", "/3"], expected);
    // A version that is not active needs no module.
    for form in [Form::Document, Form::Lines] {
        let client = workspace();
        furnish(&client);
        tool_of("search", "web").inactive("operator_request").put(open(), &client);
        form.restore(&client, &taken_with(form, &client, without)).ok();
        assert_eq!(backup(&client)["modules"].as_array().unwrap().len(), 1);
    }
    let id = |id: &str| {
        let id = id.to_owned();
        move |it: &mut Value| {
            it["tools"][0]["id"] = json!(id);
            it["versions"][0]["tool_id"] = json!(id);
        }
    };
    refused(&id("search"), ["/tools/0/id", "/2/id"], "a tool of the source module");
    refused(&id("Search.web"), ["/tools/0/id", "/2/id"], "a tool of the source module");
    refused(&id("books.web"), ["/versions/0/handler/module", "/3/handler/module"], "not the module of the tool");
    let registered = |it: &mut Value| {
        it["tools"][0]["source"] = json!("registered");
        it["tools"][0]["id"] = json!("web");
        it["versions"][0]["tool_id"] = json!("web");
    };
    refused(registered, ["/versions/0/handler/module", "/3/handler/module"], "not the module of the tool");
}

#[test]
fn lines_of_modules_have_one_order() {
    let client = workspace();
    furnish(&client);
    let lines =
        Form::Lines.take(&client).lines().map(|it| serde_json::from_str::<Value>(it).unwrap()).collect::<Vec<_>>();
    // The lines: 0 credential, 1 settings, 2 books, 3 search, 4 end.
    let counts = json!({"credentials": 1, "agents": 0, "tools": 0, "versions": 0, "attachments": 0, "workspace": 1,
        "modules": 2, "mcp_servers": 0, "toolsets": 0, "contents": 0, "overrides": 0});
    assert_eq!(lines[4]["end"], counts);
    let refuse = |change: &dyn Fn(&mut Vec<Value>), expected: &str| {
        let mut wanted = lines.clone();
        change(&mut wanted);
        let text = wanted.iter().map(|it| format!("{it}\n")).collect::<String>();
        let refused = Form::Lines.restore(&client, &text).refused(400, "VALIDATION_ERROR");
        assert!(refused.message.contains(expected), "{}", refused.message);
    };
    refuse(&|it| it.swap(2, 3), "/4/name: is out of order");
    refuse(&|it| it.swap(1, 2), "/2: is out of order: the workspace's settings come before its modules");
    refuse(&|it| it.swap(0, 1), "/2: is out of order: credentials come first");
    refuse(&|it| it.insert(2, it[1].clone()), "/3: is there twice");
    // The end tells that lines are missing: nothing is taken for an older backup by accident.
    refuse(&|it| drop(it.remove(3)), "/4: does not count");
    refuse(&|it| drop(it.drain(1..4)), "/2: does not count");
    assert_eq!(shown(&client).as_array().unwrap().len(), 2);
}

#[test]
fn modules_restore_only_under_the_same_key_or_with_the_values_given_again() {
    let client = workspace();
    furnish(&client);
    let mut sealed = backup(&client);
    sealed["modules"][0]["headers"]["Authorization"].take();
    sealed["modules"][0]["headers"].as_object_mut().unwrap().remove("Authorization");
    sealed["credentials"] = json!([]);
    let vars = [("AUTH", "open"), ("SECRET_KEY", "another"), ("PRIVATE_URLS", "allow")];
    let server = Server::start("another-key-modules", &vars);
    let elsewhere = server.client("ws");
    let refused = elsewhere.post("/api/registry/restore", sealed.clone()).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/modules/0/headers/X-Key"]);
    sealed["modules"][0]["headers"]["X-Key"] = json!("again");
    elsewhere.post("/api/registry/restore", sealed).ok();
    assert!(!backup(&elsewhere).to_string().contains("again"));

    // What a deployment does not allow any more stays, if it stays as it is.
    let server = Server::start("strict-modules", &[("ROOT_TOKEN", ROOT_TOKEN)]);
    let strict = server.client("ws").with_token(ROOT_TOKEN);
    let insert =
        "INSERT INTO upstreams (workspace_id, name, kind, url, slow, headers, enabled, auto_accept, created_at, revision)
        VALUES (?1, 'm', 'manifest', 'http://10.0.0.1', 0, '{}', 1, 0, '2026-11-16T01:00:00.000Z', 1)";
    server.sql(insert, &[json!("ws")]);
    let mut taken = backup(&strict);
    strict.post("/api/registry/restore", taken.clone()).ok();
    taken["modules"][0]["slow"] = json!(true);
    let refused = strict.post("/api/registry/restore", taken).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/modules/0/url"]);
}

#[test]
fn a_restored_module_was_accepted_before() {
    for form in [Form::Document, Form::Lines] {
        let module = ModuleServer::start(json!([
            offered("a", "The first tool of the module"),
            offered("b", "The second tool of the module"),
            offered("off", "A tool that an admin switches off"),
        ]));
        let client = workspace();
        client.post("/api/modules", json!({"name": "m", "url": module.url()})).created();
        client.post("/api/tools/m.off/deactivate", json!({"reason": "operator_request"})).ok();
        assert_eq!(active_tools(&client), ["m.a", "m.b"]);
        let taken = form.take(&client);

        let other = workspace();
        form.restore(&other, &taken).ok();
        assert_eq!(form.take(&other), taken);
        assert_eq!(shown(&other)[0]["status"], "unseen");
        assert!(shown(&other)[0]["discovered_at"].is_string(), "its tools were seen before");
        module.offer(json!([
            offered("a", "The first tool of the module"),
            offered("b", "Another description of the second tool"),
            offered("c", "A tool that nobody has accepted"),
            offered("off", "A tool that an admin switches off"),
        ]));
        let refreshed = refresh(&other);
        assert_eq!((&refreshed["status"], &refreshed["held_back"]), (&json!("ok"), &json!(2)));
        let expected = [("m.b", "changed"), ("m.c", "new")].map(|(id, change)| (id.to_owned(), change.to_owned()));
        assert_eq!(held_back(&other, "m"), expected);
        assert_eq!(active_tools(&other), ["m.a", "m.b"], "what was switched off stays off");
        assert_eq!(other.get("/api/tools/m.b").ok()["description"], "The second tool of the module");
    }
}

#[test]
fn a_module_that_was_never_seen_is_accepted_at_first_sight_after_a_restore() {
    let client = workspace();
    client.post("/api/modules", json!({"name": "m", "url": CLOSED})).created();
    let module = ModuleServer::start(json!([offered("a", "The first tool of the module")]));
    let mut taken = backup(&client);
    taken["modules"][0]["url"] = json!(module.url());
    let other = workspace();
    other.post("/api/registry/restore", taken).ok();
    assert_eq!(refresh(&other)["added"], 1);
    assert_eq!(active_tools(&other), ["m.a"]);
}

#[test]
fn a_restore_of_older_versions_makes_the_module_due() {
    for form in [Form::Document, Form::Lines] {
        let module = ModuleServer::start(json!([offered("a", "The first description of the tool")]));
        let client = workspace();
        client.post("/api/modules", json!({"name": "m", "url": module.url()})).created();
        let taken = form.take(&client);
        module.offer(json!([offered("a", "The second description of the tool")]));
        assert_eq!(refresh(&client)["held_back"], 1);
        client.post("/api/modules/m/accept", json!({})).ok();
        assert_eq!(refresh(&client)["held_back"], 0);
        assert_eq!(client.get("/api/tools/m.a").ok()["description"], "The second description of the tool");

        // The module is as it was, and its tool is an older version: the next discovery compares them again, although
        // the module says the same as before.
        assert_eq!(form.restore(&client, &taken).ok()["changes"], 2);
        assert_eq!(client.get("/api/tools/m.a").ok()["description"], "The first description of the tool");
        assert_eq!(rows(&client, "expires_at, fingerprint"), [json!({"expires_at": null, "fingerprint": null})]);
        assert_eq!(refresh(&client)["held_back"], 1);
    }
}

#[test]
fn a_change_after_a_restore_asks_at_the_new_address() {
    let [one, other] = ["one", "other"].map(|it| ModuleServer::start(json!([offered(it, "A tool of the module")])));
    let client = workspace();
    client.post("/api/modules", json!({"name": "m", "url": one.url(), "auto_accept": true})).created();
    let mut moved = backup(&client);
    moved["modules"][0]["url"] = json!(other.url());
    client.post("/api/registry/restore", moved).ok();
    // The cache still has the description of the first address.
    client.patch("/api/modules/m", json!({"slow": true})).ok();
    assert_eq!(active_tools(&client), ["m.other"]);
}

#[test]
fn no_race_leaves_an_active_tool_without_its_module() {
    let outcomes = (0..12).map(|round| {
        let client = workspace();
        client.post("/api/modules", json!({"name": "m", "url": CLOSED})).created();
        tool_of("m", "a").inactive("deprecated").put(open(), &client);
        let [deleted, activated] = <[u16; 2]>::try_from(race(2, |runner| match runner {
            0 => {
                thread::sleep(Duration::from_millis(round));
                client.delete("/api/modules/m").status
            }
            _ => client.post("/api/tools/m.a/activate", json!({"version": "1.0.0"})).status,
        }))
        .unwrap();
        assert!([204, 409].contains(&deleted) && [200, 409].contains(&activated), "{deleted} {activated}");
        assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true, "{deleted} {activated}");
        (deleted, activated)
    });
    let outcomes = outcomes.collect::<Vec<_>>();
    assert!(outcomes.iter().any(|it| it.0 == 204), "{outcomes:?}");
}

#[test]
fn invariants_name_the_module_that_is_missing() {
    let client = workspace();
    client.post("/api/modules", json!({"name": "here", "url": CLOSED})).created();
    tool_of("here", "a").put(open(), &client);
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
    tool_of("gone", "a").put(open(), &client);
    tool_of("gone", "b").inactive("operator_request").put(open(), &client);
    open().sql("DELETE FROM upstreams WHERE workspace_id = ?1 AND name = 'gone'", &[json!(client.workspace())]);
    let found = client.get("/api/registry/invariants");
    let targets = &found.ok()["invariants"][1];
    assert_eq!((&targets["name"], &targets["ok"]), (&json!("handler_targets_exist"), &json!(false)));
    let breach = json!({"tool_id": "gone.a", "version": "1.0.0", "message": "its module gone is not registered"});
    assert_eq!(targets["violations"], json!([breach]));
    assert_eq!(found.cost("round_trips"), 1);
    // No activation breaks the invariant.
    let refused = client.post("/api/tools/gone.b/activate", json!({"version": "1.0.0"})).refused(409, "CONFLICT");
    assert!(refused.message.contains("its module gone is not registered"), "{}", refused.message);
}
