//! Reading the change log; and the registry at any point of the log, compared with the registry as it really was.

use crate::harness::{Client, Dice, closed_workspace, definition, open, unique, workspace};
use serde_json::{Value, json};

/// The log as JSON Lines.
fn lines(client: &Client) -> Vec<Value> {
    let answer = client.with_header("Accept", "application/x-ndjson").get("/api/registry/changes");
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn pages_and_lines_are_the_same_log() {
    let client = workspace();
    for index in 0..7 {
        client.agent(json!({"name": format!("Agent {index}")}));
    }
    client.register("x", "1.0.0", json!({}));
    let all = client.pages("/api/registry/changes", "changes", 3);
    assert_eq!(all.len(), 8);
    let keys = [
        "seq",
        "timestamp",
        "action",
        "subject",
        "tool_id",
        "version",
        "operator",
        "operator_name",
        "reason",
        "previous_state",
        "new_state",
    ];
    assert_eq!(all[0].as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    assert_eq!(lines(&client), all);
    let newest = client.pages("/api/registry/changes?order=newest", "changes", 3);
    assert_eq!(newest.into_iter().rev().collect::<Vec<_>>(), all);
    assert_eq!(workspace().changes(), Vec::<Value>::new());
    assert_eq!(lines(&workspace()), Vec::<Value>::new());
}

#[test]
fn filters_cut_the_log() {
    let client = workspace();
    client.register("x", "1.0.0", json!({}));
    client.register("x", "1.1.0", json!({}));
    client.register("y", "1.0.0", json!({}));
    let agent = client.agent(json!({}));
    client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "x"})).created();
    let all = client.changes();
    let seqs = |query: &str| {
        let found = client.pages(&format!("/api/registry/changes?{query}"), "changes", 2);
        found.iter().map(|it| it["seq"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(seqs("tool_id=x"), [1, 2, 3, 6]);
    assert_eq!(seqs("subject=tool:x@1.0.0"), [1, 2]);
    assert_eq!(seqs("subject=tool:x@1.0.0&tool_id=y"), [0; 0]);
    assert_eq!(seqs("tool_id=x&order=newest"), [6, 3, 2, 1]);
    let since = all[3]["timestamp"].as_str().unwrap();
    assert!(seqs(&format!("since={since}")).contains(&4));
    assert_eq!(seqs("since=2999-01-01T00:00:00Z"), [0; 0]);
    assert_eq!(seqs("until=2000-01-01T00:00:00Z"), [0; 0]);
    assert_eq!(seqs(&format!("until={}", all[5]["timestamp"].as_str().unwrap())).len(), 6);
    for query in ["order=random", "limit=0", "cursor=zz", "cursor=41", "since=now", "actoin=x"] {
        client.get(&format!("/api/registry/changes?{query}")).refused(400, "VALIDATION_ERROR");
    }
    let lines = client.with_header("Accept", "application/x-ndjson");
    lines.get("/api/registry/changes?limit=5").refused(400, "VALIDATION_ERROR");
    assert_eq!(lines.get("/api/registry/changes?tool_id=y").text.lines().count(), 1);
}

#[test]
fn the_log_tells_operators_by_name_and_filters_by_operator_and_action() {
    let root = closed_workspace();
    let made = |name: &str| root.post("/api/tokens", json!({"name": name, "level": "admin"})).created();
    let (ada, bob) = (made("Ada"), made("Bob"));
    let caller = |token: &Value| root.with_token(token["token"].as_str().unwrap());
    let id = |token: &Value| token["id"].as_str().unwrap().to_owned();
    caller(&ada).register("x", "1.0.0", json!({}));
    caller(&bob).register("x", "1.1.0", json!({}));
    caller(&ada).register("y", "1.0.0", json!({}));
    root.delete(&format!("/api/tokens/{}", id(&bob))).no_content();

    // A token that was revoked keeps its name in the log.
    let log = root.changes();
    let told = log.iter().map(|it| (it["operator"].as_str().unwrap().to_owned(), it["operator_name"].clone()));
    let [ada_id, bob_id] = [id(&ada), id(&bob)];
    let (by_root, by_ada, by_bob) =
        (("root".to_owned(), json!(null)), (ada_id.clone(), json!("Ada")), (bob_id.clone(), json!("Bob")));
    let expected = [&by_root, &by_root, &by_ada, &by_bob, &by_bob, &by_ada, &by_root];
    assert_eq!(told.collect::<Vec<_>>(), expected.map(Clone::clone));
    assert_eq!(lines(&root), log);

    let seqs = |query: &str| {
        let by_page = root.pages(&format!("/api/registry/changes?{query}"), "changes", 1);
        let ndjson = root.with_header("Accept", "application/x-ndjson").get(&format!("/api/registry/changes?{query}"));
        let by_line = ndjson.text.lines().map(|it| serde_json::from_str(it).unwrap()).collect::<Vec<Value>>();
        assert_eq!(by_page, by_line, "{query}");
        by_page.iter().map(|it| it["seq"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(seqs("operator=root"), [1, 2, 7]);
    assert_eq!(seqs(&format!("operator={ada_id}")), [3, 6]);
    assert_eq!(seqs(&format!("operator={bob_id}&order=newest")), [5, 4]);
    assert_eq!(seqs("action=create"), [1, 2]);
    assert_eq!(seqs("action=register"), [3, 6]);
    assert_eq!(seqs("action=register&order=newest"), [6, 3]);
    assert_eq!(seqs("action=update&tool_id=x"), [5]);
    assert_eq!(seqs(&format!("action=register&operator={ada_id}&tool_id=y")), [6]);
    assert_eq!(seqs(&format!("operator={ada_id}&subject=token:{bob_id}")), [0; 0]);
    assert_eq!(seqs(&format!("operator=root&action=revoke&subject=token:{bob_id}")), [7]);
    assert_eq!(seqs("operator=Ada"), [3, 6], "a token also goes by its name");
    assert_eq!(seqs("operator=Bob&action=update"), [5], "also after it was revoked");
    assert_eq!(seqs("operator=Eve"), [0; 0]);
    assert_eq!(seqs("subject=tool:x"), [3, 4, 5], "without a version, all versions");
    assert_eq!(seqs("subject=tool:x&operator=Bob&order=newest"), [5, 4]);
    assert_eq!(seqs("subject=tool:x&tool_id=y"), [0; 0]);
    assert_eq!(seqs("subject=tool:"), [0; 0]);
    assert_eq!(seqs("operator=tok_none"), [0; 0]);
    root.get("/api/registry/changes?action=creat").refused(400, "VALIDATION_ERROR");
}

/// The cursor to the changes after this number.
fn cursor(seq: u32) -> String {
    seq.to_string().bytes().map(|it| format!("{it:02x}")).collect()
}

#[test]
fn a_filtered_page_is_bounded_in_a_long_log() {
    let root = closed_workspace();
    let server = crate::harness::closed();
    // 25,000 changes by one token. Another token and the operator root each made the 5 changes that end in 5000.
    server.ask(json!({"batch": [{
        "sql": "INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, operator, new_state)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
                SELECT ?1, i, '2026-11-16T01:00:00.000Z', iif(i % 5000, 'update', 'restore'), 'agent:a' || (i % 7), 'x',
                  CASE i % 10000 WHEN 0 THEN 'tok_rare' WHEN 5000 THEN 'root' ELSE 'tok_busy' END, '{}' FROM n",
        "params": [root.workspace()],
    }]}));
    server.sql("ANALYZE", &[]);
    let page = |query: &str, most: u32| {
        let answer = root.get(&format!("/api/registry/changes?{query}"));
        assert_eq!(answer.cost("round_trips"), 1);
        assert!(answer.cost("rows_read") <= most, "{query}: {} rows read", answer.cost("rows_read"));
        answer.ok()
    };
    let numbers = |found: &[Value]| found.iter().map(|it| it["seq"].as_u64().unwrap()).collect::<Vec<_>>();
    let all = |query: &str| numbers(&root.pages(&format!("/api/registry/changes?{query}"), "changes", 50));
    // The index by token finds the few changes of a token at once.
    assert_eq!(numbers(page("operator=tok_rare", 20)["changes"].as_array().unwrap()), [10_000, 20_000]);
    assert_eq!(page("operator=tok_busy&limit=50", 300)["changes"].as_array().unwrap().len(), 50);
    // A filter that fits most changes ends early.
    assert_eq!(page("action=update&limit=50", 400)["changes"].as_array().unwrap().len(), 50);
    assert_eq!(page("action=update&order=newest&limit=50", 400)["changes"].as_array().unwrap().len(), 50);
    // A page deep in the log costs as much as the first one.
    let deep = format!("&cursor={}", cursor(24_000));
    assert_eq!(page(&format!("limit=50{deep}"), 300)["changes"][0]["seq"], 24_001);
    assert_eq!(page(&format!("tool_id=x&limit=50{deep}"), 300)["changes"][0]["seq"], 24_001);
    assert_eq!(page(&format!("order=newest&operator=tok_busy&limit=50{deep}"), 300)["changes"][0]["seq"], 23_999);
    // A rare change is looked for in 10,000 rows at a time, along an index too.
    let rare = page("action=restore&operator=tok_busy", 21_000);
    assert_eq!((rare["changes"].as_array().unwrap().len(), rare["next_cursor"].is_string()), (0, true));
    assert_eq!(numbers(page("operator=root", 21_000)["changes"].as_array().unwrap()), [5_000]);
    assert_eq!(all("operator=root"), [5_000, 15_000, 25_000]);
    assert_eq!(all("operator=root&order=newest"), [25_000, 15_000, 5_000]);
    assert_eq!(all("action=restore"), [5_000, 10_000, 15_000, 20_000, 25_000]);
    assert_eq!(all("action=restore&tool_id=x&operator=tok_rare"), [10_000, 20_000]);
    let lines = root.with_header("Accept", "application/x-ndjson").get("/api/registry/changes?operator=root");
    assert_eq!(lines.text.lines().count(), 3);
}

#[test]
fn nothing_in_the_log_can_be_changed() {
    let client = workspace();
    client.register("x", "1.0.0", json!({}));
    for statement in ["UPDATE changes SET operator = 'nobody'", "DELETE FROM changes"] {
        let error = open().sql_error(&format!("{statement} WHERE workspace_id = '{}'", client.workspace()));
        assert!(error.contains("append-only"), "{error}");
    }
}

#[test]
fn large_states_make_smaller_pages() {
    let client = workspace();
    let state = json!({"text": "x".repeat(1_500_000)}).to_string();
    for seq in 1..=5 {
        open().sql(
            "INSERT INTO changes (workspace_id, seq, timestamp, action, subject, operator, new_state)
             VALUES (?1, ?2, '2026-11-16T01:00:00.000Z', 'create', 'agent:' || ?2, 'tests', ?3)",
            &[json!(client.workspace()), json!(seq), json!(state)],
        );
    }
    let first = client.get("/api/registry/changes").ok();
    assert!(first["changes"].as_array().unwrap().len() < 5 && first["next_cursor"].is_string());
    assert_eq!(client.changes().len(), 5);
    assert_eq!(lines(&client).len(), 5);
    assert_eq!(client.get("/api/registry/state").ok()["agents"].as_array().unwrap().len(), 5);
}

#[test]
fn a_state_is_asked_for_by_number_or_by_time() {
    let client = workspace();
    let empty = client.get("/api/registry/state").ok();
    assert_eq!(
        empty,
        json!({"seq": 0, "timestamp": null, "tools": [], "versions": [], "agents": [], "attachments": [],
            "credentials": [], "modules": [], "mcp_servers": [], "toolsets": [], "overrides": [],
            "workspace": {"default_guest_modules": []}})
    );
    client.register("x", "1.0.0", json!({}));
    std::thread::sleep(std::time::Duration::from_millis(5));
    client.register("x", "1.1.0", json!({}));
    let log = client.changes();
    let active = |query: &str| {
        let state = client.get(&format!("/api/registry/state?{query}")).ok();
        let tool = &state["tools"][0];
        (state["seq"].clone(), if tool["active"] == true { tool["version"].clone() } else { Value::Null })
    };
    assert_eq!(active("seq=0"), (json!(0), json!(null)));
    assert_eq!(active("seq=1"), (json!(1), json!("1.0.0")));
    assert_eq!(active("seq=2"), (json!(2), json!(null)));
    assert_eq!(client.get("/api/registry/state?seq=2").ok()["tools"][0]["version"], "1.0.0");
    assert_eq!(active("seq=3"), (json!(3), json!("1.1.0")));
    assert_eq!(active(&format!("at={}", log[0]["timestamp"].as_str().unwrap())), (json!(1), json!("1.0.0")));
    assert_eq!(active(&format!("at={}", log[2]["timestamp"].as_str().unwrap())), (json!(3), json!("1.1.0")));
    assert_eq!(active("at=2000-01-01T00:00:00Z"), (json!(0), json!(null)));
    assert_eq!(active("at=2000-01-01"), (json!(0), json!(null)), "a date is its first moment");
    assert_eq!(active("at=2000-01-01T00:00:00+01:00"), (json!(0), json!(null)), "a query turns + into a space");
    let refused = client.get("/api/registry/state?at=2999-01-01T00:00:00Z").refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["at"]);
    assert!(refused.message.contains("must not be in the future: it is 20"), "{}", refused.message);
    client.get("/api/registry/state?seq=4").refused(404, "NOT_FOUND");
    client.get("/api/registry/state?seq=1&at=2026-01-01T00:00:00Z").refused(400, "VALIDATION_ERROR");
    client.get("/api/registry/state?seq=-1").refused(400, "VALIDATION_ERROR");
}

/// The live tables, in the form of a state.
fn live(client: &Client) -> Value {
    let backup = client.get("/api/registry/backup").ok();
    let list = |name: &str| backup[name].as_array().unwrap().clone();
    let tools = list("tools");
    let mut versions = list("versions")
        .into_iter()
        .map(|mut version| {
            let id = version["tool_id"].clone();
            let tool = tools.iter().find(|it| it["id"] == id).unwrap();
            let fields = version.as_object_mut().unwrap();
            fields.remove("tool_id");
            fields.insert("id".into(), id);
            fields.insert("created_at".into(), tool["created_at"].clone());
            fields.insert("source".into(), tool["source"].clone());
            let handler = &mut fields["handler"];
            let key = if handler["type"] == "builtin" { handler["key"].clone() } else { handler["type"].clone() };
            for (_, value) in handler.get_mut("headers").and_then(Value::as_object_mut).into_iter().flatten() {
                *value = json!("***");
            }
            fields.insert("handler_key".into(), key);
            let risky = ["high", "critical"].iter().any(|it| fields["risk_level"] == *it);
            for name in ["toolset_id", "server_id", "module", "renderer", "renderer_config"] {
                fields.insert(name.into(), Value::Null);
            }
            fields.insert("enabled".into(), true.into());
            fields.insert("needs_approval".into(), (risky || fields["requires_approval"] == true).into());
            version
        })
        .collect::<Vec<_>>();
    let number = |it: &Value| {
        let parts = it["version"].as_str().unwrap().split('.').map(|it| it.parse::<u32>().unwrap());
        (it["id"].as_str().unwrap().to_owned(), parts.collect::<Vec<_>>())
    };
    versions.sort_by_key(number);
    let current = |id: &Value| {
        let of_tool = || versions.iter().filter(|it| it["id"] == *id);
        of_tool().find(|it| it["active"] == true).or(of_tool().next_back()).unwrap()
    };
    let mut states = tools
        .iter()
        .map(|it| {
            let mut tool = json!({});
            for name in ["id", "created_at", "version", "active", "source"] {
                tool[name] = current(&it["id"])[name].clone();
            }
            tool
        })
        .collect::<Vec<_>>();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    states.sort_by_key(|it| text(it, "id"));
    let mut agents = list("agents");
    agents.sort_by_key(|it| text(it, "id"));
    let mut attachments = list("attachments");
    for it in &mut attachments {
        it.as_object_mut().unwrap().remove("created_at");
    }
    attachments.sort_by_key(|it| format!("{}/{}", text(it, "agent_id"), text(it, "tool_id")));
    let mut credentials = list("credentials");
    credentials.sort_by_key(|it| text(it, "id"));
    let mut modules = list("modules");
    for (_, value) in modules.iter_mut().flat_map(|it| it["headers"].as_object_mut().unwrap()) {
        *value = json!("***");
    }
    modules.sort_by_key(|it| text(it, "name"));
    // The log shows the settings of the model only where they are set.
    let modules_of_guests = client.get("/api/workspace").ok()["default_guest_modules"].clone();
    json!({
        "tools": states, "versions": versions, "agents": agents, "attachments": attachments, "credentials": credentials,
        "modules": modules, "mcp_servers": list("mcp_servers"), "toolsets": list("toolsets"), "overrides": [],
        "workspace": {"default_guest_modules": modules_of_guests},
    })
}

/// The part of a state that a list shows, to check that `live` matches the responses of the API.
fn check_against_lists(client: &Client, live: &Value) {
    let versions = live["versions"].as_array().unwrap();
    for version in versions {
        let (id, number) = (version["id"].as_str().unwrap(), version["version"].as_str().unwrap());
        assert_eq!(&client.get(&format!("/api/tools/{id}?version={number}")).ok(), version);
    }
    let mut agents = client.pages("/api/agents", "agents", 50);
    agents.sort_by_key(|it| it["id"].as_str().unwrap().to_owned());
    for agent in &mut agents {
        agent.as_object_mut().unwrap().remove("default_tools_in_use").unwrap();
    }
    assert_eq!(json!(agents), live["agents"]);
    // The tools of a state are the listed tools, in the same words.
    let listed = client.pages("/api/tools?include_inactive=true&source=registered", "tools", 50);
    assert_eq!(listed.len(), live["tools"].as_array().unwrap().len());
    for state in live["tools"].as_array().unwrap() {
        let tool = listed.iter().find(|it| it["id"] == state["id"]).unwrap();
        assert!(state.as_object().unwrap().iter().all(|(name, value)| tool[name] == *value), "{state} {tool}");
    }
}

/// One step of a random history. Many steps are refused, and a refused step must leave no trace.
fn step(client: &Client, dice: &mut Dice, backups: &[Value]) {
    let tool = (*dice.pick(&["alpha", "beta", "gamma", "alpha-b", "alpha_2"])).to_owned();
    let number = format!("{}.{}.{}", 1 + dice.below(2), dice.below(4), dice.below(12));
    let agents = client.get("/api/agents").ok()["agents"].clone();
    let some_agent = |dice: &mut Dice| {
        let agents = agents.as_array().unwrap();
        if agents.is_empty() {
            "agent_none".to_owned()
        } else {
            agents[dice.below(agents.len())]["id"].as_str().unwrap().to_owned()
        }
    };
    let highest = |client: &Client| {
        let versions = client.get(&format!("/api/tools/{tool}/versions"));
        if versions.status == 200 {
            versions.ok()["versions"][0]["version"].as_str().unwrap().to_owned()
        } else {
            "1.0.0".to_owned()
        }
    };
    let module = (*dice.pick(&["alpha", "alpha-b", "mail"])).to_owned();
    // Nothing listens at the address.
    let url = format!("http://127.0.0.1:9/{}", dice.below(3));
    match dice.below(24) {
        0..=3 => {
            let headers = json!({"type": "http", "url": "https://tools.example.com/x", "headers": {"X-Key": "s3cret"}});
            let handler = [headers, json!({"type": "builtin", "key": "read_file"})][dice.below(2)].clone();
            let fields = json!({
                "handler": handler,
                "description": format!("Does the thing number {}", dice.below(100)),
                "timeout_seconds": 10 + dice.below(3),
                "credentials_required": if dice.below(4) == 0 { json!(["GITHUB_TOKEN"]) } else { json!([]) },
            });
            client.post("/api/tools", definition(&tool, &number, fields));
        }
        4 | 5 => {
            // Most of the time, a version that is high enough.
            let next = highest(client)
                .rsplit_once('.')
                .map(|(rest, last)| format!("{rest}.{}", last.parse::<u32>().unwrap() + 1))
                .unwrap();
            client.post("/api/tools", definition(&tool, &next, json!({"timeout_seconds": 30 + dice.below(5)})));
        }
        6 => drop(client.post(&format!("/api/tools/{tool}/rollback"), json!({"version": number, "reason": "back"}))),
        7 | 8 => drop(client.post(&format!("/api/tools/{tool}/activate"), json!({"version": highest(client)}))),
        9 | 10 => {
            let reason = dice.pick(&["version_update", "security", "deprecated", "operator_request", "deprecated"]);
            client.post(&format!("/api/tools/{tool}/deactivate"), json!({"reason": reason}));
        }
        11 => drop(client.post("/api/agents", json!({"name": format!("Agent {}", dice.below(9))}))),
        12 => drop(client.patch(&format!("/api/agents/{}", some_agent(dice)), json!({"capabilities": ["net"]}))),
        13 => drop(client.delete(&format!("/api/agents/{}", some_agent(dice)))),
        14 | 15 => {
            let tool = if dice.below(3) == 0 { "email_search" } else { &tool };
            client.post(&format!("/api/agents/{}/tools", some_agent(dice)), json!({"tool_id": tool}));
        }
        16 => {
            let path = format!("/api/agents/{}/tools/{tool}", some_agent(dice));
            client.patch(&path, json!({"config": {"max_result_bytes": 1 + dice.below(5)}}));
        }
        17 => drop(client.delete(&format!("/api/agents/{}/tools/{tool}", some_agent(dice)))),
        18 => {
            if client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).status != 201 {
                client.delete("/api/credentials/GITHUB_TOKEN");
            }
        }
        19 => {
            let headers = json!({"X-Key": format!("secret {}", dice.below(9))});
            client.post("/api/modules", json!({"name": module, "url": url, "headers": headers}));
        }
        20 => drop(client.patch(&format!("/api/modules/{module}"), json!({"url": url, "slow": dice.below(2) == 0}))),
        21 => drop(client.delete(&format!("/api/modules/{module}"))),
        22 => {
            let modules = ["research", "files"][..dice.below(3)].to_vec();
            client.patch("/api/workspace", json!({"default_guest_modules": modules}));
        }
        _ => {
            if !backups.is_empty() && dice.below(2) == 0 {
                client.post("/api/registry/restore", backups[dice.below(backups.len())].clone());
            }
        }
    }
}

#[test]
fn the_log_alone_tells_every_state_of_a_random_history() {
    let client = workspace();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut recorded: Vec<(u64, Value)> = Vec::new();
    let mut backups = Vec::new();
    for count in 0..350 {
        step(&client, &mut dice, &backups);
        let seq =
            client.get("/api/registry/changes?order=newest&limit=1").ok()["changes"][0]["seq"].as_u64().unwrap_or(0);
        let now = live(&client);
        if let Some((before, state)) = recorded.last()
            && *before == seq
        {
            assert_eq!(state, &now, "step {count} wrote no change, and changed nothing");
            continue;
        }
        if count % 50 == 49 {
            check_against_lists(&client, &now);
            backups.push(client.get("/api/registry/backup").ok());
        }
        recorded.push((seq, now));
    }
    assert!(recorded.len() > 120, "only {} steps changed something", recorded.len());

    // Only the log is copied to another workspace, where it tells everything about the past.
    let log = lines(&client);
    assert!(log.iter().enumerate().all(|(index, it)| it["seq"] == index + 1));
    let times = log.iter().map(|it| it["timestamp"].as_str().unwrap()).collect::<Vec<_>>();
    assert!(times.is_sorted());
    let other = open().client(&unique("replayed"));
    let rows = log.iter().map(|it| {
        let state = |name: &str| if it[name].is_null() { Value::Null } else { it[name].to_string().into() };
        json!({
            "sql": "INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, reason,
                      previous_state, new_state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            "params": [other.workspace(), it["seq"], it["timestamp"], it["action"], it["subject"], it["tool_id"], it["version"],
                it["operator"], it["reason"], state("previous_state"), state("new_state")],
        })
    });
    let answer = open().ask(json!({"batch": rows.collect::<Vec<_>>()}));
    assert!(answer["error"].is_null(), "{answer}");
    for (seq, expected) in recorded.iter().filter(|(seq, _)| *seq > 0) {
        let mut state = other.get(&format!("/api/registry/state?seq={seq}")).ok();
        let fields = state.as_object_mut().unwrap();
        assert_eq!(fields.remove("seq"), Some(json!(seq)));
        assert_eq!(fields.remove("timestamp"), Some(log[*seq as usize - 1]["timestamp"].clone()));
        assert_eq!(&state, expected, "after the change {seq}");
    }
}

#[test]
fn a_state_shows_the_modules_and_the_settings_as_they_were() {
    let client = workspace();
    let module = json!({"name": "research", "url": "http://127.0.0.1:9", "headers": {"X-Key": "s3cret"}});
    client.post("/api/modules", module).created();
    let mut wanted = client.get("/api/registry/backup").ok();
    client.patch("/api/modules/research", json!({"slow": true})).ok();
    wanted["workspace"] = json!({"default_guest_modules": ["research"]});
    wanted["modules"] = json!([]);
    client.post("/api/registry/restore", wanted).ok();
    let at = |seq: u32| {
        let answer = client.get(&format!("/api/registry/state?seq={seq}"));
        assert_eq!(answer.cost("round_trips"), 2, "one for the moment, and one for all kinds of subjects");
        let state = answer.ok();
        let modules = state["modules"].as_array().unwrap();
        let slow = modules.iter().map(|it| it["slow"].as_bool().unwrap()).collect::<Vec<_>>();
        assert!(modules.iter().all(|it| it["headers"] == json!({"X-Key": "***"})), "{modules:?}");
        (slow, state["workspace"].clone())
    };
    let settings = json!({"default_guest_modules": ["research"]});
    let defaults = || json!({"default_guest_modules": []});
    assert_eq!(at(0), (vec![], defaults()));
    assert_eq!(at(1), (vec![false], defaults()));
    assert_eq!(at(2), (vec![true], defaults()));
    assert_eq!(at(3), (vec![], defaults()));
    assert_eq!(at(4), (vec![], settings));
    assert!(!client.get("/api/registry/state").text.contains("s3cret"));
}

#[test]
fn a_state_costs_what_it_holds_and_not_its_history() {
    let root = closed_workspace();
    let server = crate::harness::closed();
    let workspace = json!(root.workspace());
    // Ten thousand changes of five hundred subjects.
    server.ask(json!({"batch": [{
        "sql": "INSERT INTO changes (workspace_id, seq, timestamp, action, subject, tool_id, version, operator, new_state)
                WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
                SELECT ?1, i + 1, '2026-11-16T01:00:00.000Z', 'update', 'tool:tool-' || (i % 500) || '@1.0.0', 'tool-' || (i % 500), '1.0.0', 'tests',
                  json_object('id', 'tool-' || (i % 500), 'version', '1.0.0', 'source', 'registered', 'active', json('true'),
                    'created_at', '2026-11-16T01:00:00.000Z', 'change', i) FROM n",
        "params": [workspace],
    }]}));
    server.sql("ANALYZE", &[]);
    let answer = root.get("/api/registry/state?seq=9000");
    let state = answer.ok();
    assert_eq!(state["tools"].as_array().unwrap().len(), 500);
    assert!(
        state["versions"].as_array().unwrap().iter().all(|it| (8_500..9_000).contains(&it["change"].as_u64().unwrap()))
    );
    let (trips, read) = (answer.cost("round_trips"), answer.cost("rows_read"));
    assert!(trips <= 3 && read <= 5_000, "{trips} round trips, {read} rows read");

    let page = root.get("/api/registry/changes?limit=50");
    assert_eq!(page.cost("round_trips"), 1);
    assert!(page.cost("rows_read") <= 300, "{} rows read", page.cost("rows_read"));
    let page = root.get("/api/registry/changes?tool_id=tool-7&order=newest&limit=10");
    assert!(page.cost("rows_read") <= 100, "{} rows read", page.cost("rows_read"));
}
