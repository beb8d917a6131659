//! Tools in every format, and calls by exported names and properties.

use crate::harness::{Client, Tool, Upstream, open, workspace};
use serde_json::{Value, json};

const FORMATS: [&str; 6] = ["openai", "openai_responses", "anthropic", "gemini", "langchain", "mcp"];

fn name(tool: &Value) -> &str {
    tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap()
}

/// The exported name of the only tool that matches.
fn exported(client: &Client, id: &str) -> String {
    let tools = client.get(&format!("/api/tools?format=anthropic&ids={id}")).ok();
    name(&tools["tools"][0]).to_owned()
}

#[test]
fn every_list_comes_in_every_format() {
    let client = workspace();
    let agent = client.agent(json!({}));
    for format in FORMATS {
        let tools = client.get(&format!("/api/tools?format={format}&limit=3")).ok();
        assert_eq!(tools.as_object().unwrap().keys().collect::<Vec<_>>(), ["tools", "next_cursor"]);
        assert_eq!(tools["tools"].as_array().unwrap().len(), 3, "{format}");
        assert_eq!(client.pages(&format!("/api/tools?format={format}"), "tools", 2).len(), 6);
        let toolbox = client.get(&format!("/api/agents/{agent}/toolbox?format={format}")).ok();
        assert_eq!(toolbox.as_object().unwrap().keys().collect::<Vec<_>>(), ["tools", "next_cursor"]);
        let names = toolbox["tools"].as_array().unwrap().iter().map(name).collect::<Vec<_>>();
        assert_eq!(names, ["execute_python", "read_file", "write_file", "list_files"], "{format}");
    }
    let text = client.get("/api/tools?format=text&ids=read_file,list_files");
    assert_eq!(text.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(text.text.starts_with("Tool: read_file\n") && text.text.contains("\nTool: list_files\n"), "{}", text.text);
    assert!(!text.text.contains("next_cursor"));
    let first = client.get("/api/tools?format=text&limit=4").text;
    let (_, cursor) = first.trim_end().rsplit_once("\nnext_cursor: ").unwrap();
    let last = client.get(&format!("/api/tools?format=text&limit=4&cursor={cursor}")).text;
    assert_eq!((first.matches("Tool: ").count(), last.matches("Tool: ").count()), (4, 2));
    assert!(!last.contains("next_cursor"));
    let json = client.get(&format!("/api/agents/{agent}/toolbox?format=json")).ok();
    assert!(json["tools"][0]["parameters_schema"].is_string());
    for path in ["/api/tools?format=yaml".to_owned(), format!("/api/agents/{agent}/toolbox?format=yaml")] {
        assert_eq!(client.get(&path).refused(400, "VALIDATION_ERROR").paths(), ["format"]);
    }
}

#[test]
fn strict_mode_is_asked_for() {
    let client = workspace();
    client.register(
        "free",
        "1.0.0",
        json!({"parameters_schema": {"type": "object", "properties": {"map": {"type": "object"}}}}),
    );
    let tools = client.get("/api/tools?format=openai&strict=true&ids=email_search,free").ok();
    let (mail, free) = (&tools["tools"][0]["function"], &tools["tools"][1]["function"]);
    assert_eq!((&mail["strict"], &free["strict"]), (&json!(true), &json!(false)));
    assert_eq!(mail["parameters"]["additionalProperties"], false);
    assert_eq!(mail["parameters"]["properties"]["limit"]["type"], json!(["integer", "null"]));
    let plain = client.get("/api/tools?format=openai&ids=email_search").ok();
    assert_eq!(plain["tools"][0]["function"]["strict"], false);
}

#[test]
fn a_tool_is_called_by_its_id_or_by_the_name_that_it_is_handed_out_under() {
    let client = workspace();
    let long = "x".repeat(100);
    let ids = ["research.web_search", "kit:analyze", "srv:Get-Page", "7zip", long.as_str()];
    for id in ids {
        let of_others = id.find(['.', ':']).map(|at| if id[at..].starts_with('.') { "module" } else { "toolset" });
        let source = of_others.unwrap_or("registered");
        Tool::new(id).builtin("list_files").source(source).put(open(), &client);
    }
    // Many tools share the beginning of the name, so that the beginning alone does not identify a tool.
    for end in ["a", "b"] {
        Tool::new(&format!("{long}{end}")).builtin("read_file").put(open(), &client);
    }
    let agent = client.agent(json!({"default_tools": false, "allowed_modules": ["research"]}));
    for id in ids {
        let name = exported(&client, id);
        assert!(name.len() <= 64 && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it)), "{name}");
        for called in [id, &name, &format!("{name}@1.0.0")] {
            let result = client.execute(called, json!({})).result(200);
            assert_eq!((&result["success"], &result["tool_name"]), (&json!(true), &json!(id)), "{called}: {result}");
            assert_eq!(client.record(&result)["tool_name"], id);
        }
        // A tool of a module needs no attachment.
        let unattached = client.call(json!({"tool_name": name, "agent_id": agent}));
        match id.contains('.') {
            true => drop(unattached.success()),
            false => drop(unattached.failed(403, "NOT_ATTACHED")),
        }
        client
            .post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": id, "config": {"default_path": "/"}}))
            .created();
        client.call(json!({"tool_name": name, "agent_id": agent})).success();
        client.execute(&format!("{name}@9.9.9"), json!({})).failed(404, "UNKNOWN_TOOL");
        // Another workspace has no such tool.
        workspace().execute(&name, json!({})).failed(404, "UNKNOWN_TOOL");
    }
    let toolbox = client.get(&format!("/api/agents/{agent}/toolbox?format=openai")).ok();
    assert_eq!(toolbox["tools"].as_array().unwrap().len(), ids.len());
    client.execute("research_web_search_HAAAAAAAAAAAA", json!({})).failed(404, "UNKNOWN_TOOL");
}

#[test]
fn a_call_by_either_name_costs_the_same_round_trips() {
    let client = workspace();
    Tool::put_all((0..40).map(|it| Tool::new(&format!("other-{it}"))), open(), &client);
    Tool::new("kit:list").source("toolset").builtin("list_files").put(open(), &client);
    let name = exported(&client, "kit:list");
    // The first call finds no session, and costs less.
    client.execute("kit:list", json!({})).success();
    let (by_id, by_name) = (client.execute("kit:list", json!({})), client.execute(&name, json!({})));
    assert_eq!(by_id.cost("round_trips"), by_name.cost("round_trips"));
    let (by_id, by_name) = (by_id.cost("rows_read"), by_name.cost("rows_read"));
    assert!(by_name <= by_id + 15, "{by_name} rows instead of {by_id}: the others are not read");
}

#[test]
fn a_call_by_the_handed_out_name_waits_and_is_repeated_like_any_other() {
    let client = workspace();
    let waits = json!({"requires_approval": 1});
    Tool::new("kit:waits").source("toolset").builtin("list_files").with(waits).put(open(), &client);
    let call = json!({"tool_name": exported(&client, "kit:waits"), "idempotency_key": "k"});
    let pending = client.call(call.clone()).result(202);
    assert_eq!(pending["tool_name"], "kit:waits");
    assert_eq!(client.call(call.clone()).result(202)["call_id"], pending["call_id"]);
    let approval = pending["error"]["details"]["approval_id"].as_str().unwrap();
    client.post(&format!("/api/approvals/{approval}/approve"), json!({})).success();
    assert_eq!(client.call(call).result(200)["call_id"], pending["call_id"]);
}

#[test]
fn properties_come_back_under_their_own_names() {
    let client = workspace();
    let upstream = Upstream::start();
    let schema = json!({"type": "object", "properties": {
        "first name": {"type": "string"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"größe": {"type": "number"}}, "required": ["größe"]}},
        "note": {"type": "string"},
        "map": {"type": "object"},
    }, "required": ["first name"], "additionalProperties": false});
    let handler = json!({"type": "http", "url": upstream.at("/echo")});
    client.register("odd", "1.0.0", json!({"parameters_schema": schema, "handler": handler}));
    let tool = client.get("/api/tools?format=gemini&ids=odd").ok()["tools"][0].clone();
    let properties = &tool["parameters"]["properties"];
    let key =
        |of: &Value, start: &str| of.as_object().unwrap().keys().find(|it| it.starts_with(start)).unwrap().clone();
    let (name, size) = (key(properties, "first_name_H"), key(&properties["rows"]["items"]["properties"], "gr__e_H"));
    assert_eq!(tool["parameters"]["required"], json!([name]));
    let given = json!({name: "A", "rows": [{size.as_str(): 1.5}], "note": null, "map": "{\"a\": [1]}"});
    let expected = json!({"first name": "A", "rows": [{"größe": 1.5}], "map": {"a": [1]}});
    let result = client.execute("odd", given).result(200);
    assert_eq!(result["result"]["arguments"], expected);
    assert_eq!(client.record(&result)["arguments"], expected);
    // The stored names work as well.
    client.execute("odd", expected).success();
    client.execute("odd", json!({"first name": null})).failed(400, "INVALID_ARGUMENTS");
}

#[test]
fn a_call_that_is_refused_leaves_no_secret_in_its_record() {
    let client = workspace();
    let secret = json!({"type": "string", "writeOnly": true});
    let schema = json!({"type": "object", "properties": {
        "headers": {"type": "object", "additionalProperties": secret}, "api key": secret, "city": {"type": "string"},
    }, "additionalProperties": {"type": "string"}});
    client.register("weather", "1.0.0", json!({"parameters_schema": schema}));
    let properties =
        client.get("/api/tools?format=gemini&ids=weather").ok()["tools"][0]["parameters"]["properties"].clone();
    let key = properties.as_object().unwrap().keys().find(|it| it.starts_with("api_key_H")).unwrap().clone();
    let agent = client.agent(json!({}));
    for headers in [r#"{"Authorization": "Bearer hunter2"}"#, r#"{"Authorization": "Bearer hunter2"#] {
        let arguments = json!({"headers": headers, key.as_str(): "hunter2", "city": "Rome"});
        let call = json!({"tool_name": "weather", "arguments": arguments, "agent_id": agent});
        let record = client.record(&client.call(call).failed(403, "NOT_ATTACHED"));
        assert_eq!(
            (&record["arguments"]["city"], &record["arguments"]["api key"]),
            (&json!("Rome"), &json!("[redacted]"))
        );
        assert!(!record.to_string().contains("hunter2"), "{record}");
    }
}

#[test]
fn arguments_are_checked_as_a_call_would_take_them() {
    let client = workspace();
    let schema = json!({"type": "object", "properties": {
        "first name": {"type": "string"}, "map": {"type": "object"}, "note": {"type": "string"},
    }, "required": ["first name"], "additionalProperties": false});
    client.register("odd", "1.0.0", json!({"parameters_schema": schema}));
    let tool = client.get("/api/tools?format=anthropic&ids=odd").ok()["tools"][0].clone();
    let given = json!({tool["input_schema"]["required"][0].as_str().unwrap(): "A", "map": "{\"a\": 1}", "note": null});
    let checked = client.post("/api/tools/odd/validate", json!({"arguments": given})).ok();
    assert_eq!(checked, json!({"valid": true, "errors": [], "arguments": {"first name": "A", "map": {"a": 1}}}));
}

#[test]
fn a_schema_that_is_not_shown_is_warned_of() {
    let client = workspace();
    let of = |count: usize| {
        let properties =
            (0..count).map(|it| (format!("p{it}"), json!({"$ref": "#/$defs/x"}))).collect::<serde_json::Map<_, _>>();
        json!({"type": "object", "properties": properties, "$defs": {"x": {"description": "x".repeat(9_000)}}})
    };
    let warned = |id: &str, schema: Value| {
        let registered = client.register(id, "1.0.0", json!({"parameters_schema": schema}));
        let warnings = registered["warnings"].as_array().unwrap();
        warnings.iter().any(|it| it["message"].as_str().unwrap().starts_with("is so large"))
    };
    assert!(warned("bomb", of(40)) && !warned("fine", of(10)));
    let tool = client.get("/api/tools?format=openai&ids=bomb").ok()["tools"][0].clone();
    assert_eq!(tool["function"]["parameters"], json!({"type": "object", "properties": {}}));
}

#[test]
fn a_toolbox_is_searched_by_any_of_the_words() {
    let client = workspace();
    let agent = client.agent(json!({}));
    let path = format!("/api/agents/{agent}/toolbox");
    let ids = |query: &str| {
        let tools = client.get(&format!("{path}?{query}")).ok();
        tools["tools"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // The agent's default tools.
    assert_eq!(ids("q=list%20files")[0], "list_files");
    assert_eq!(ids("q=list%20files&limit=1"), ["list_files"]);
    assert!(ids("q=what%20runs%20python%20code").contains(&"execute_python".to_owned()));
    assert!(ids("q=search%20emails").iter().all(|it| !it.starts_with("email")), "it has none of these");
    for (asked, expected) in [
        ("which files are there", "list_files"),
        ("read files", "read_file"),
        ("write the files", "write_file"),
        ("run some python", "execute_python"),
        ("I want to look at what is in the file", "read_file"),
    ] {
        let found = ids(&format!("q={}", asked.replace(' ', "%20")));
        assert_eq!(found[0], expected, "{asked}: {found:?}");
    }
    for (id, words) in [
        ("invoice", "Sends an invoice to a customer"),
        ("weather", "Tells the weather of a city"),
        ("risky", "Sends a rocket"),
    ] {
        let risk = if id == "risky" { "critical" } else { "low" };
        client.register(id, "1.0.0", json!({"name": id, "description": words, "risk_level": risk}));
        client.post(&path.replace("toolbox", "tools"), json!({"tool_id": id})).created();
    }
    assert_eq!(ids("q=please%20send%20customers%20their%20invoices"), ["invoice"]);
    assert_eq!(ids("q=weather%20OR%20invoice").len(), 2);
    assert_eq!(ids("q=sends%20-invoice"), Vec::<String>::new(), "what it may not use is not found");
    assert_eq!(ids("q=python"), Vec::<String>::new());
    assert_eq!(ids("q=!!"), Vec::<String>::new());
    assert_eq!(ids("limit=1").len(), 1);
    let formatted = client.get(&format!("{path}?q=city&format=openai")).ok();
    assert_eq!(name(&formatted["tools"][0]), "weather");
    assert_eq!(client.get(&format!("{path}?q=city")).cost("round_trips"), 1);
    client.get(&format!("{path}?limit=0")).refused(400, "VALIDATION_ERROR");
    client.get(&format!("{path}?q={}", "x".repeat(2_001))).refused(400, "VALIDATION_ERROR");
    client.get("/api/agents/nobody/toolbox?q=!!").refused(404, "NOT_FOUND");
}
