//! The cost of requests in D1 round trips and rows, as the Worker counts them.

use crate::harness::{Client, Tool, closed, closed_workspace, open, workspace};
use serde_json::json;

/// A page of 50 may read this many rows; this is far less than the registry has.
const FEW_HUNDRED: u32 = 300;

#[test]
fn no_endpoint_takes_more_than_two_round_trips() {
    let root = closed_workspace();
    let owner = root.token(json!({"name": "owner", "level": "owner"}));
    let agent = owner.agent(json!({}));
    let path = format!("/api/agents/{agent}");
    let token = owner.post("/api/tokens", json!({"name": "x", "level": "guest"})).created();
    let token = token["id"].as_str().unwrap();
    Tool::new("limited").with(json!({"rate_limit": 5})).put(closed(), &root);

    let reads = [
        owner.get("/api/tools"),
        owner.get("/api/tools?q=file&category=filesystem&capabilities=net"),
        owner.get("/api/tools/read_file"),
        owner.get("/api/tools/read_file?version=1.0.0"),
        owner.get("/api/tools/read_file/description"),
        owner.post("/api/tools/read_file/validate", json!({"arguments": {}})),
        owner.get("/api/tools/limited/rate-limit"),
        owner.get(&path),
        owner.get(&format!("{path}/tools")),
        owner.get(&format!("{path}/toolbox")),
        owner.get("/api/tokens"),
        owner.get("/api/workspace"),
        owner.get("/api/whoami"),
        owner.get("/api/tool-calls/series?bucket=hour"),
    ];
    for answer in &reads {
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.cost("round_trips"), 1, "a read checks the token in the same batch");
        assert_eq!(answer.cost("rows_written"), 0);
    }
    let others = [
        owner.get("/api/agents"),
        owner.post("/api/agents", json!({"name": "x"})),
        owner.patch(&path, json!({"name": "y"})),
        owner.post(&format!("{path}/tools"), json!({"tool_id": "email_search", "config": {"default_limit": 3}})),
        owner.patch(&format!("{path}/tools/email_search"), json!({"config": {}})),
        owner.delete(&format!("{path}/tools/email_search")),
        owner.post("/api/tokens", json!({"name": "y", "level": "guest"})),
        owner.patch("/api/workspace", json!({"default_guest_modules": ["kit"]})),
        owner.delete(&format!("/api/tokens/{token}")),
        owner.delete(&path),
    ];
    for answer in &others {
        assert!(answer.status < 300, "{}", answer.text);
        assert_eq!(answer.cost("round_trips"), 2);
    }
    assert_eq!(owner.get("/healthz").cost("round_trips"), 0);
}

/// Ten thousand tools of many kinds, and as many in a second workspace.
fn large(client: &Client) {
    let workspace = json!(client.workspace());
    open().ask(json!({"batch": [
        {
            "sql": "INSERT INTO tools (workspace_id, id, source, created_at)
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
                    SELECT ?1, 'tool-' || i, 'registered', '2026-11-16T01:00:00.000Z' FROM n",
            "params": [workspace],
        },
        {
            "sql": "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description,
                      parameters_schema, handler_key, handler, category, risk_level, required_capabilities, execution_mode,
                      resource_class, credentials_required, side_effects, registered_at, registered_by, active)
                    SELECT ?1, key, 1, 0, 0, 'Tool ' || id, 'A tool that does the thing number ' || key || ' very well',
                      '{\"type\":\"object\"}', 'http', '{\"type\":\"http\",\"url\":\"https://example.com\"}', 'category-' || (key % 100),
                      CASE key % 5 WHEN 0 THEN 'safe' WHEN 1 THEN 'low' WHEN 2 THEN 'medium' WHEN 3 THEN 'high' ELSE 'critical' END,
                      json_array('cap-' || (key % 20), 'cap-' || (key % 7)),
                      CASE key % 100 WHEN 0 THEN 'browser' ELSE 'local' END,
                      CASE key % 50 WHEN 0 THEN 'compute' ELSE 'control' END,
                      json_array('KEY_' || (key % 200)),
                      json_array(json_object('effect_type', 'effect-' || (key % 150), 'description', 'd', 'reversible', json('true'), 'scope', 's')),
                      '2026-11-16T01:00:00.000Z', 'tests', iif(key % 1000 = 0, 0, 1)
                    FROM tools WHERE workspace_id = ?1",
            "params": [workspace],
        },
    ]}));
}

#[test]
fn a_page_of_ten_thousand_tools_reads_its_own_rows_whatever_the_filter() {
    let client = workspace();
    large(&client);
    large(&workspace());
    assert_eq!(
        open().sql("SELECT count(*) AS n FROM tools WHERE workspace_id = ?1", &[json!(client.workspace())])[0]["n"],
        10_000
    );
    let some_ids = (0..100).map(|it| format!("tool-{}", it * 97)).collect::<Vec<_>>().join(",");
    for query in [
        "",
        "category=category-42",
        "category=none",
        "max_risk=safe",
        "max_risk=critical",
        "capabilities=",
        "capabilities=cap-1",
        "capabilities=cap-1,cap-2,cap-3,cap-4,cap-5",
        "execution_mode=browser",
        "execution_mode=remote",
        "resource_class=compute",
        "credential=KEY_77",
        "side_effect=effect-33",
        "source=registered",
        "source=mcp",
        "include_inactive=true",
        "q=thing",
        "q=thing&category=category-42&max_risk=medium",
        "q=nothing-like-it",
        "category=category-42&execution_mode=remote",
        "max_risk=low&credential=KEY_77&side_effect=effect-33",
        &format!("ids={some_ids}"),
    ] {
        let answer = client.get(&format!("/api/tools?{query}"));
        answer.ok();
        assert_eq!(answer.cost("round_trips"), 1);
        let read = answer.cost("rows_read");
        assert!(read <= FEW_HUNDRED, "{query} read {read} rows");
    }
    let mut cursor = client.get("/api/tools?limit=200").ok()["next_cursor"].clone();
    for _ in 0..5 {
        let answer = client.get(&format!("/api/tools?limit=200&cursor={}", cursor.as_str().unwrap()));
        cursor = answer.ok()["next_cursor"].clone();
        assert!(answer.cost("rows_read") <= 1_000, "a deep page of 200 read {} rows", answer.cost("rows_read"));
    }
    let one = client.get("/api/tools/tool-5000");
    one.ok();
    assert!(one.cost("rows_read") <= 10, "one tool read {} rows", one.cost("rows_read"));
}

/// D1 counts a row of an index like a row of a table.
#[test]
fn a_written_file_costs_few_rows() {
    let client = workspace();
    let write = |text: &str| {
        let asked = json!({"path": "/d/x", "content": text});
        let body = json!({"tool_name": "write_file", "arguments": asked, "session_id": "small"});
        client.post("/api/execute", body)
    };
    write("first").ok();
    for text in ["second", "third", "first"] {
        let answer = write(text);
        answer.ok();
        let rows = answer.cost("rows_written");
        assert!(rows <= 14, "{rows} rows were written");
    }
}
