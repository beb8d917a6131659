//! `/api/tools`.

use crate::harness::{Client, Tool, open, workspace};
use serde_json::{Value, json};

const BUILTINS: [&str; 6] = ["execute_python", "read_file", "write_file", "list_files", "email_search", "email_get"];

fn ids(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[track_caller]
fn check(client: &Client, query: &str, expected: &[&str]) {
    assert_eq!(ids(&client.get(&format!("/api/tools?{query}")).ok()), expected, "{query}");
}

#[test]
fn the_builtins_are_in_every_workspace() {
    let list = workspace().get("/api/tools").ok();
    assert_eq!(ids(&list), BUILTINS);
    assert_eq!(list["next_cursor"], Value::Null);
}

#[test]
fn a_tool_has_every_field() {
    let tool = workspace().get("/api/tools/email_search").ok();
    let fields = tool.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(
        fields,
        [
            "id",
            "name",
            "description",
            "parameters_schema",
            "handler_key",
            "category",
            "created_at",
            "version",
            "active",
            "source",
            "returns_schema",
            "examples",
            "risk_level",
            "required_permission",
            "required_capabilities",
            "requires_approval",
            "rate_limit",
            "timeout_seconds",
            "execution_mode",
            "resource_class",
            "rollback_strategy",
            "credentials_required",
            "side_effects",
            "needs_approval",
            "registered_at",
            "registered_by",
            "deactivated_at",
            "deactivated_reason",
            "toolset_id",
            "server_id",
            "module",
            "renderer",
            "renderer_config",
            "enabled",
            "handler",
        ]
    );
    insta::assert_json_snapshot!(tool, {".parameters_schema" => "…", ".returns_schema" => "…", ".description" => "…"}, @r#"
    {
      "id": "email_search",
      "name": "Search Emails",
      "description": "…",
      "parameters_schema": "…",
      "handler_key": "email_search",
      "category": "email",
      "created_at": "2026-11-16T00:00:00.000Z",
      "version": "1.1.0",
      "active": true,
      "source": "builtin",
      "returns_schema": "…",
      "examples": [
        {
          "description": "Find mail about the price of gas",
          "params": {
            "query": "gas price",
            "inbox_id": "matt.motley@enron.com",
            "limit": 10
          },
          "expected_output": null
        }
      ],
      "risk_level": "safe",
      "required_permission": "guest",
      "required_capabilities": [],
      "requires_approval": false,
      "rate_limit": null,
      "timeout_seconds": 30,
      "execution_mode": "local",
      "resource_class": "state",
      "rollback_strategy": "none",
      "credentials_required": [],
      "side_effects": [],
      "needs_approval": false,
      "registered_at": "2026-11-17T00:00:00.000Z",
      "registered_by": "pegboard",
      "deactivated_at": null,
      "deactivated_reason": null,
      "toolset_id": null,
      "server_id": null,
      "module": null,
      "renderer": null,
      "renderer_config": null,
      "enabled": true,
      "handler": {
        "type": "builtin",
        "key": "email_search"
      }
    }
    "#);
}

#[test]
fn the_builtins_are_what_the_first_document_says() {
    let client = workspace();
    for (id, name, category, risk, level, class) in [
        ("execute_python", "Execute Python", "code", "low", "user", "compute"),
        ("read_file", "Read File", "filesystem", "safe", "guest", "state"),
        ("write_file", "Write File", "filesystem", "low", "user", "state"),
        ("list_files", "List Files", "filesystem", "safe", "guest", "state"),
        ("email_search", "Search Emails", "email", "safe", "guest", "state"),
        ("email_get", "Get Email", "email", "safe", "guest", "state"),
    ] {
        let tool = client.get(&format!("/api/tools/{id}")).ok();
        let found =
            ["name", "category", "risk_level", "required_permission", "resource_class", "handler_key", "version"]
                .map(|field| tool[field].as_str().unwrap());
        let version = if id == "email_search" { "1.1.0" } else { "1.0.0" };
        assert_eq!(found, [name, category, risk, level, class, id, version]);
        let schema: Value = serde_json::from_str(tool["parameters_schema"].as_str().unwrap()).unwrap();
        assert_eq!(schema["additionalProperties"], false, "{id}");
    }
    let schema = client.get("/api/tools/email_search").ok()["parameters_schema"].as_str().unwrap().to_owned();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema["required"], json!(["query", "inbox_id"]));
    let limit = &schema["properties"]["limit"];
    assert_eq!((&limit["default"], &limit["minimum"], &limit["maximum"]), (&json!(10), &json!(1), &json!(50)));
}

#[test]
fn each_filter_lets_through_what_it_says() {
    let client = workspace();
    let put = |tool: Tool| tool.put(open(), &client);
    put(Tool::new("alpha").with(json!({
        "category": "billing", "risk_level": "high", "required_capabilities": ["net", "pay"],
        "execution_mode": "remote", "resource_class": "compute", "credentials_required": ["STRIPE_KEY"],
        "side_effects": [{"effect_type": "charge", "description": "d", "reversible": false, "scope": "s"}],
    })));
    put(Tool::new("beta").with(json!({"required_capabilities": ["net"], "risk_level": "critical"})));
    put(Tool::new("gamma").inactive("operator_request").with(json!({"category": "billing"})));
    put(Tool::new("research.web").source("module").with(json!({"execution_mode": "browser"})));

    check(&client, "category=billing", &["alpha"]);
    check(&client, "category=billing&include_inactive=true", &["alpha", "gamma"]);
    check(&client, "category=email", &["email_search", "email_get"]);
    check(&client, "category=no-such", &[]);
    check(&client, "max_risk=safe", &["read_file", "list_files", "email_search", "email_get"]);
    check(&client, "max_risk=high&source=registered", &["alpha"]);
    check(&client, "max_risk=critical&source=registered", &["alpha", "beta"]);
    check(&client, "capabilities=&source=registered", &[]);
    check(&client, "capabilities=net&source=registered", &["beta"]);
    check(&client, "capabilities=net,%20pay,other&source=registered", &["alpha", "beta"]);
    check(&client, "execution_mode=remote", &["alpha"]);
    check(&client, "execution_mode=browser", &["research.web"]);
    check(&client, "resource_class=compute", &["execute_python", "alpha"]);
    check(&client, "credential=STRIPE_KEY", &["alpha"]);
    check(&client, "credential=stripe", &[]);
    check(&client, "side_effect=charge", &["alpha"]);
    check(&client, "source=module", &["research.web"]);
    check(&client, "source=builtin", &BUILTINS);
    check(&client, "ids=beta,read_file,nothing", &["read_file", "beta"]);
    check(&client, "ids=gamma", &[]);
    check(&client, "ids=gamma&include_inactive=true", &["gamma"]);
    check(&client, "ids=", &[]);
    check(&client, "category=billing&max_risk=low&include_inactive=true", &["gamma"]);
}

#[test]
fn a_bad_filter_is_refused_by_name() {
    let client = workspace();
    let long = "x".repeat(2001);
    for (query, parameter) in [
        ("max_risk=extreme", "max_risk"),
        ("execution_mode=LOCAL", "execution_mode"),
        ("resource_class=cpu", "resource_class"),
        ("source=", "source"),
        ("include_inactive=maybe", "include_inactive"),
        ("ids=ok,not%20ok", "ids"),
        ("colour=red", "colour"),
        (&format!("q={long}"), "q"),
    ] {
        let refused = client.get(&format!("/api/tools?{query}")).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), [parameter], "{query}");
    }
    client.get(&format!("/api/tools?q={}", "x".repeat(2000))).ok();
}

#[test]
fn search_finds_words_of_id_name_and_description() {
    let client = workspace();
    let put = |id: &str, name: &str, description: &str| {
        Tool::new(id).with(json!({"name": name, "description": description})).put(open(), &client);
    };
    put("invoice_send", "Send invoice", "Sends an invoice to a customer by post");
    put("invoice_void", "Void invoice", "Takes an invoice back");
    put("weather", "Weather", "Tells the weather, and never sends an invoice");

    check(&client, "q=void", &["invoice_void"]);
    check(&client, "q=invoice%20customer", &["invoice_send"]);
    check(&client, "q=%22takes%20an%20invoice%22", &["invoice_void"]);
    check(&client, "q=invoice%20-void%20-weather", &["invoice_send"]);
    check(&client, "q=weath*", &["weather"]);
    // The words of all workspaces count for the rank of a match, so the better match must be better by its place.
    check(&client, "q=customer%20OR%20void&ids=invoice_send,invoice_void,weather&limit=1", &["invoice_void"]);
    check(&client, "q=email&category=filesystem", &[]);
    check(&client, "q=", &[]);
    check(&client, "q=!!!", &[]);
    check(&client, "q=-void", &[]);
    // A match in the name ranks higher than a match in the description.
    let found = client.get("/api/tools?q=invoice").ok();
    assert_eq!(ids(&found).last(), Some(&"weather"));
    // The words of filters cannot be searched for.
    check(&client, "q=sbuiltin", &[]);
}

#[test]
fn no_search_text_is_an_error() {
    let client = workspace();
    for text in [
        "\"",
        "\"\"",
        "a\"b",
        "NEAR(a b, 3)",
        "a AND",
        "(",
        ")",
        "a NOT",
        "facets:x",
        "{a b}:c",
        "^a",
        "a*b*",
        "-",
        "--",
        "\0",
        "'; DROP TABLE tools; --",
        "OR OR OR",
        "\u{202e}x",
        "🤖",
        "a\u{0}\"b",
        "*",
        "\\",
        "%",
        "a:b",
    ] {
        let encoded = text.bytes().map(|it| format!("%{it:02x}")).collect::<String>();
        client.get(&format!("/api/tools?q={encoded}")).ok();
    }
}

#[test]
fn pages_lead_to_the_end_and_miss_nothing() {
    let client = workspace();
    for index in 0..7 {
        Tool::new(&format!("tool-{index}")).put(open(), &client);
    }
    for (query, count) in [("", 13), ("source=registered", 7), ("q=tool", 7), ("q=the%20OR%20file", 12)] {
        let path = format!("/api/tools?{query}");
        let all = client.get(&path).ok();
        assert_eq!(ids(&all).len(), count, "{query}");
        for limit in [1, 2, 3, 7, 13, 14] {
            assert_eq!(json!(client.pages(&path, "tools", limit)), all["tools"], "{query} by {limit}");
        }
    }
}

#[test]
fn the_name_of_a_builtin_is_taken_everywhere() {
    let message = open().sql_error(
        "INSERT INTO tools (workspace_id, id, source, created_at) VALUES ('x', 'read_file', 'registered', 't')",
    );
    assert!(message.contains("the name of a built-in"), "{message}");
}

#[test]
fn a_search_of_a_thousand_words_is_answered() {
    let client = workspace();
    let words = "a%20".repeat(1_000);
    client.get(&format!("/api/tools?q={words}")).ok();
    let refused = client.get("/api/tools?q=x&cursor=34323934393637323935").refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["cursor"]);
}

#[test]
fn a_cursor_of_another_workspace_leads_nowhere() {
    let (here, there) = (workspace(), workspace());
    for index in 0..3 {
        Tool::new(&format!("{}-{index}", here.workspace())).put(open(), &here);
    }
    let page = here.get("/api/tools?source=registered&limit=1").ok();
    let cursor = page["next_cursor"].as_str().unwrap();
    there.get(&format!("/api/tools?cursor={cursor}")).refused(400, "VALIDATION_ERROR");
}

#[test]
fn a_tool_of_another_workspace_is_as_unknown_as_any() {
    let (here, there) = (workspace(), workspace());
    Tool::new("private").put(open(), &here);
    here.get("/api/tools/private").ok();
    for path in ["", "?version=1.0.0", "/description", "/rate-limit"] {
        let foreign = there.get(&format!("/api/tools/private{path}"));
        let unknown = there.get(&format!("/api/tools/unknown{path}"));
        assert_eq!((foreign.status, foreign.text.replace("private", "unknown")), (404, unknown.text));
    }
    check(&there, "ids=private", &[]);
    check(&there, "q=private", &[]);
}

#[test]
fn the_active_version_is_shown_else_the_highest() {
    let client = workspace();
    Tool::new("grown").inactive("version_update").put(open(), &client);
    let at = |minor: u32| json!({"minor": minor, "description": format!("Version of minor {minor}")});
    Tool::new("grown").with(at(2)).put(open(), &client);
    Tool::new("grown").inactive("deprecated").with(at(10)).put(open(), &client);

    let tool = client.get("/api/tools/grown").ok();
    assert_eq!((&tool["version"], &tool["active"]), (&json!("1.2.0"), &json!(true)));
    let old = client.get("/api/tools/grown?version=1.0.0").ok();
    assert_eq!((&old["active"], &old["deactivated_reason"]), (&json!(false), &json!("version_update")));
    let refused = client.get("/api/tools/grown?version=9.9.9").refused(404, "NOT_FOUND");
    assert_eq!(refused.message, "Tool not found: grown@9.9.9. Did you mean grown@1.2.0?");
    for bad in ["1", "1.0", "v1.0.0", "1.0.0-rc", ""] {
        let refused = client.get(&format!("/api/tools/grown?version={bad}")).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["version"]);
    }

    open().sql(
        "UPDATE tool_versions SET active = 0, deactivated_at = '2026-11-16T03:00:00.000Z', deactivated_reason = 'security'
         WHERE workspace_id = ?1 AND active = 1",
        &[json!(client.workspace())],
    );
    let tool = client.get("/api/tools/grown").ok();
    assert_eq!((&tool["version"], &tool["active"]), (&json!("1.10.0"), &json!(false)));
    check(&client, "ids=grown", &[]);
    check(&client, "ids=grown&include_inactive=true", &["grown"]);
}

#[test]
fn the_database_holds_one_active_version() {
    let client = workspace();
    Tool::new("single").put(open(), &client);
    let key = &open().sql("SELECT key FROM tools WHERE workspace_id = ?1", &[json!(client.workspace())])[0]["key"];
    let message = open().sql_error(&format!(
        "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description, parameters_schema,
           handler_key, handler, registered_at, registered_by, active)
         VALUES ('{}', {key}, 2, 0, 0, 'n', 'd', '{{}}', 'http', '{{}}', 't', 'b', 1)",
        client.workspace()
    ));
    assert!(message.contains("UNIQUE constraint failed"), "{message}");
}

#[test]
fn unknown_and_impossible_ids_are_not_found() {
    let client = workspace();
    assert_eq!(client.get("/api/tools/nope").refused(404, "NOT_FOUND").message, "Tool not found: nope");
    for id in ["%20", "a%2Fb", "..%2f..", "%00", "'%20OR%201=1", "read_file%20", "READ_FILE", &"x".repeat(300)] {
        client.get(&format!("/api/tools/{id}")).refused(404, "NOT_FOUND");
    }
}

#[test]
fn a_description_is_text_for_a_prompt() {
    let answer = workspace().get("/api/tools/list_files/description");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    insta::assert_snapshot!(answer.text, @r#"
    Tool: list_files
    Description: List the files and directories in a directory of the session, with sizes.
    Category: filesystem
    Risk Level: safe
    Requires Approval: False

    Parameters:
    {
      "type": "object",
      "properties": {
        "path": {
          "type": "string",
          "description": "Directory to list (default: /)",
          "default": "/"
        }
      },
      "additionalProperties": false
    }

    Examples:
    [
      {
        "description": "List a directory",
        "params": {
          "path": "/data"
        },
        "expected_output": "Contents of /data:\n[DIR]  /data/inputs\n[FILE] /data/config.json (256 bytes)\n[FILE] /data/report.txt (1024 bytes)"
      }
    ]
    "#);
}

#[test]
fn the_approval_that_is_shown_is_the_one_that_calls_wait_for() {
    let client = workspace();
    let agent = client.agent(json!({"max_risk": "critical"}));
    for (id, risk, asks, waits) in [
        ("plain", "medium", 0, false),
        ("asking", "safe", 1, true),
        ("risky", "high", 0, true),
        ("deadly", "critical", 0, true),
    ] {
        let columns = json!({"risk_level": risk, "requires_approval": asks});
        Tool::new(id).builtin("list_files").with(columns).put(open(), &client);
        client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": id})).created();
        assert_eq!(client.execute(id, json!({})).status, if waits { 202 } else { 200 }, "{id}");
        let shown = |tool: &Value| {
            assert_eq!(tool["id"], id);
            assert_eq!(
                (&tool["needs_approval"], &tool["requires_approval"]),
                (&json!(waits), &json!(asks == 1)),
                "{id}"
            );
        };
        shown(&client.get(&format!("/api/tools/{id}")).ok());
        shown(&client.get(&format!("/api/tools?ids={id}")).ok()["tools"][0]);
        shown(&client.get(&format!("/api/tools/{id}/versions")).ok()["versions"][0]);
        let word = if waits { "Requires Approval: True\n" } else { "Requires Approval: False\n" };
        let toolbox = format!("/api/agents/{agent}/toolbox?q={id}");
        shown(&client.get(&toolbox).ok()["tools"][0]);
        for text in [
            client.get(&format!("/api/tools/{id}/description")).text,
            client.get(&format!("/api/tools?format=text&ids={id}")).text,
            client.get(&format!("{toolbox}&format=text")).text,
        ] {
            assert!(text.contains(&format!("Tool: {id}\n")) && text.contains(word), "{text}");
        }
    }
}

#[test]
fn arguments_are_validated_with_defaults_and_run_nothing() {
    let client = workspace();
    let validate =
        |arguments: Value| client.post("/api/tools/email_search/validate", json!({"arguments": arguments})).ok();
    assert_eq!(
        validate(json!({"query": "gas", "inbox_id": "a@b"})),
        json!({"valid": true, "errors": [], "arguments": {
            "query": "gas", "inbox_id": "a@b", "limit": 10, "match": "auto", "order": "rank",
        }})
    );
    let answer = validate(json!({"query": 7, "limit": 80, "colour": "red"}));
    assert_eq!(answer["valid"], false);
    let errors = answer["errors"].as_array().unwrap();
    let mut places = errors.iter().map(|it| it["path"].as_str().unwrap()).collect::<Vec<_>>();
    places.sort_unstable();
    assert_eq!(places, ["", "", "/limit", "/query"]);
    assert!(errors.iter().any(|it| it["message"] == "80 is greater than the maximum of 50"));

    let listed = client.post("/api/tools/list_files/validate", json!({})).ok();
    assert_eq!(listed["arguments"], json!({"path": "/"}));
    client.post("/api/tools/nope/validate", json!({"arguments": {}})).refused(404, "NOT_FOUND");
    let refused =
        client.post("/api/tools/read_file/validate", json!({"arguments": [1]})).refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/arguments"]);
}

#[test]
fn rate_limits_are_shown() {
    let client = workspace();
    let none = json!({"limit": null, "remaining": null, "retry_after": null});
    assert_eq!(client.get("/api/tools/read_file/rate-limit").ok(), none);
    Tool::new("limited").with(json!({"rate_limit": 5})).put(open(), &client);
    let unused = json!({"limit": 5, "remaining": 5, "retry_after": 0});
    assert_eq!(client.get("/api/tools/limited/rate-limit").ok(), unused);
}

#[test]
fn handlers_are_for_admins_and_their_headers_for_nobody() {
    let root = crate::harness::closed_workspace();
    Tool::new("secretive").put(crate::harness::closed(), &root);
    for level in ["guest", "user"] {
        let client = root.token(json!({"name": level, "level": level}));
        for path in ["/api/tools/secretive", "/api/tools?ids=secretive"] {
            let answer = client.get(path);
            answer.ok();
            assert!(
                !answer.text.contains("s3cret") && !answer.text.contains("\"handler\""),
                "{level}: {}",
                answer.text
            );
        }
    }
    let admin = root.token(json!({"name": "admin", "level": "admin"}));
    let tool = admin.get("/api/tools/secretive").ok();
    assert_eq!(tool["handler"], json!({"type": "http", "url": "https://example.com/run", "headers": {"X-Key": "***"}}));
}

#[test]
fn schemas_can_be_objects_on_every_route_that_shows_tools() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let text = "{ \"type\": \"object\",\n \"properties\": {\"a\": {\"type\": \"number\", \"maximum\": 1.50}} }";
    let object = serde_json::from_str::<Value>(text).unwrap();
    let fields = json!({"parameters_schema": text, "returns_schema": {"type": "string"}});
    let body = crate::harness::definition("x", "1.0.0", fields);
    let check = |tool: &Value| {
        assert_eq!((&tool["parameters_schema"], &tool["returns_schema"]), (&object, &json!({"type": "string"})));
    };
    check(&client.post("/api/tools?schemas=object", body).created());
    let attached = format!("/api/agents/{agent}/tools");
    check(&client.post(&format!("{attached}?schemas=object"), json!({"tool_id": "x"})).created());
    check(&client.patch(&format!("{attached}/x?schemas=object"), json!({"config": {}})).ok());
    check(&client.get("/api/tools/x?schemas=object").ok());
    check(&client.get("/api/tools/x?schemas=object&version=1.0.0").ok());
    for (list, plural) in [
        ("/api/tools?source=registered&schemas=object".to_owned(), "tools"),
        ("/api/tools?q=count&schemas=object".to_owned(), "tools"),
        ("/api/tools/x/versions?schemas=object".to_owned(), "versions"),
        (format!("{attached}?schemas=object"), "tools"),
        (format!("/api/agents/{agent}/toolbox?schemas=object"), "tools"),
    ] {
        check(&client.get(&list).ok()[plural][0]);
    }
    check(&client.post("/api/tools/x/deactivate?schemas=object", json!({"reason": "deprecated"})).ok());
    check(&client.post("/api/tools/x/activate?schemas=object", json!({"version": "1.0.0"})).ok());
    // A built-in has no schema of its result, or one; a list of all tools has objects only.
    for tool in client.get("/api/tools?schemas=object").ok()["tools"].as_array().unwrap() {
        assert!(tool["parameters_schema"].is_object() && !tool["returns_schema"].is_string(), "{tool}");
    }
    // The text is what the registrant gave, to the letter.
    assert_eq!(client.get("/api/tools/x?schemas=text").ok()["parameters_schema"], text);
    assert_eq!(client.get("/api/tools/x").ok()["parameters_schema"], text);
    client.get("/api/tools/x?schemas=yaml").refused(400, "VALIDATION_ERROR");
    let [plain, objects] = ["", "?schemas=object"].map(|it| client.get(&format!("/api/tools{it}")));
    for figure in ["round_trips", "rows_read"] {
        assert_eq!(objects.cost(figure), plain.cost(figure), "{figure}");
    }
}

#[test]
fn an_unknown_tool_or_agent_gets_the_nearest_name() {
    let client = workspace();
    client.register("word_count", "1.0.0", json!({}));
    let agent = client.agent(json!({"name": "Mail clerk"}));
    for (asked, nearest) in [
        ("/api/tools/word_cuont", "word_count"),
        ("/api/tools/Word_Count/versions", "word_count"),
        ("/api/tools/emial_search/rate-limit", "email_search"),
        ("/api/tools/read%20file", "read_file"),
        ("/api/agents/Mail%20clerc", &agent),
        ("/api/agents/Mail%20clerk", &agent),
        (&format!("/api/agents/{}x/toolbox", &agent[..37]), &agent),
    ] {
        let answer = client.get(asked);
        let refused = answer.refused(404, "NOT_FOUND");
        assert_eq!(refused.details, json!({"nearest": nearest}), "{asked}");
        assert!(refused.message.ends_with(&format!(". Did you mean {nearest}?")), "{}", refused.message);
        assert!(answer.cost("round_trips") <= 2, "{asked}");
    }
    let attached = client.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "word-count"}));
    assert_eq!(attached.refused(404, "NOT_FOUND").details["nearest"], "word_count");
    for far in ["/api/tools/calculator", "/api/tools/calculator?version=9.9.9", "/api/agents/agent_x"] {
        assert_eq!(client.get(far).refused(404, "NOT_FOUND").details, Value::Null, "{far}");
    }
    // No name of another workspace is suggested.
    assert_eq!(workspace().get("/api/tools/word_cuont").refused(404, "NOT_FOUND").details, Value::Null);
    let call = client.execute("word_cuont", json!({})).failed(404, "UNKNOWN_TOOL");
    assert_eq!(call["error"]["message"], "Tool not found: word_cuont. Did you mean word_count?");
    assert_eq!(call["error"]["details"], json!({"nearest": "word_count"}));
    let body = json!({"tool_name": "list_files", "agent_id": format!("{}x", &agent[..37])});
    let call = client.call(body).failed(404, "UNKNOWN_AGENT");
    assert_eq!(call["error"]["details"], json!({"nearest": agent}));
}

#[test]
fn a_bound_token_gets_no_other_agent_suggested() {
    let root = crate::harness::closed_workspace();
    let (own, other) = (root.agent(json!({})), root.agent(json!({"name": "Secret clerk"})));
    let bound = root.token(json!({"name": "bound", "level": "user", "agent_id": own}));
    for asked in ["Secret%20clerk".to_owned(), format!("{}x", &other[..37])] {
        let answer = bound.get(&format!("/api/agents/{asked}"));
        assert!(!answer.text.contains(&other), "{}", answer.text);
    }
    assert_eq!(bound.get(&format!("/api/agents/{}!", &own[..37])).refused(404, "NOT_FOUND").details["nearest"], own);
    let stranger = root.without_header("Authorization");
    let answer = stranger.get("/api/tools/read%20file");
    assert!(!answer.text.contains("read_file"), "{}", answer.text);
}
