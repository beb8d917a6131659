//! Reading resources, and completion.

use super::{BOTH, LEGACY, MODERN, Mcp};
use crate::harness::{Tool, closed_workspace, open, workspace};
use serde_json::{Value, json};

fn read(mcp: &Mcp, uri: &str) -> Value {
    mcp.result("resources/read", json!({"uri": uri}))["contents"][0].clone()
}

#[test]
fn the_files_of_the_session_are_resources() {
    let client = workspace();
    client.put("/api/sessions/s/files/data/a%20b.csv", "1,2");
    client.put("/api/sessions/s/files/picture", vec![0_u8, 159, 146, 150]);
    client.put("/api/sessions/other/files/x", "y");
    for revision in BOTH {
        let mcp = Mcp::new(&client, revision).in_session("s");
        let listed = mcp.result("resources/list", json!({}))["resources"].clone();
        assert_eq!(
            listed,
            json!([
                {"uri": "session://s/data/a%20b.csv", "name": "a b.csv", "title": "/data/a b.csv", "size": 3, "mimeType": "text/csv"},
                {"uri": "session://s/picture", "name": "picture", "title": "/picture", "size": 4},
            ])
        );
        let csv = json!({"uri": "session://s/data/a%20b.csv", "mimeType": "text/csv", "text": "1,2"});
        assert_eq!(read(&mcp, "session://s/data/a%20b.csv"), csv);
        let picture = json!({"uri": "session://s/picture", "mimeType": "application/octet-stream", "blob": "AJ+Slg=="});
        assert_eq!(read(&mcp, "session://s/picture"), picture);
        assert_eq!(read(&mcp, "session://other/x")["text"], "y");
        let empty = Mcp::new(&client, revision).in_session("unused");
        assert_eq!(empty.result("resources/list", json!({}))["resources"], json!([]));
    }
}

#[test]
fn many_files_come_in_pages() {
    let client = workspace();
    for number in 0..201 {
        client.put(&format!("/api/sessions/default/files/{number:03}"), "x");
    }
    let mcp = Mcp::new(&client, MODERN);
    let first = mcp.result("resources/list", json!({}));
    assert_eq!(first["resources"].as_array().unwrap().len(), 200);
    let second = mcp.result("resources/list", json!({"cursor": first["nextCursor"]}));
    assert_eq!(second["resources"][0]["name"], "200");
    assert!(second.get("nextCursor").is_none());
    assert_eq!(mcp.fault(200, "resources/list", json!({"cursor": "7a"}))["code"], -32602);
}

#[test]
fn a_file_may_be_kept_under_the_address_it_came_from() {
    let client = workspace();
    let mcp = Mcp::new(&client, MODERN);
    mcp.call("write_file", json!({"path": "https://example.com/a.txt", "content": "a copy"}));
    assert_eq!(read(&mcp, "https://example.com/a.txt")["text"], "a copy");
    assert_eq!(
        mcp.result("resources/list", json!({}))["resources"][0]["uri"],
        "session://default/https%3A/example.com/a.txt"
    );
}

#[test]
fn tools_and_their_parameters_are_resources() {
    let client = workspace();
    let agent = client.agent(json!({"max_risk": "safe"}));
    for revision in BOTH {
        let mcp = Mcp::new(&client, revision);
        let templates = mcp.result("resources/templates/list", json!({}))["resourceTemplates"].clone();
        let templates = templates.as_array().unwrap().iter().map(|it| it["uriTemplate"].clone()).collect::<Vec<_>>();
        assert_eq!(
            templates,
            ["session://{session}/{+path}", "tool://{tool}", "tool://{tool}/{parameter}{?value}", "call://{call}"]
        );
        let text = |uri: &str| serde_json::from_str::<Value>(read(&mcp, uri)["text"].as_str().unwrap()).unwrap();
        assert_eq!(text("tool://email_search")["name"], "email_search");
        assert_eq!(text("tool://email_search/limit")["maximum"], 50);
        let limited = Mcp::of_agent(&client, &agent, revision);
        assert!(read(&limited, "tool://read_file")["text"].is_string());
        limited.fault(200, "resources/read", json!({"uri": "tool://write_file"}));
    }
}

#[test]
fn what_is_not_there_is_told_as_each_revision_has_it() {
    let client = workspace();
    for (revision, code) in [(LEGACY, -32002), (MODERN, -32602)] {
        let mcp = Mcp::new(&client, revision);
        for uri in [
            "session://default/none",
            "session://a b/x",
            "tool://none",
            "tool://email_search/none",
            "call://call_none",
            "test://none",
            "nonsense",
            "",
        ] {
            let fault = mcp.fault(200, "resources/read", json!({"uri": uri}));
            assert_eq!((&fault["code"], &fault["data"]["uri"]), (&json!(code), &json!(uri)), "{fault}");
        }
        assert_eq!(mcp.fault(200, "resources/read", json!({}))["code"], -32602);
    }
}

#[test]
fn variables_of_templates_are_completed() {
    let client = workspace();
    let complete = |mcp: &Mcp, variable: &str, begun: &str, settled: Value| {
        let params = json!({
            "ref": {"type": "ref/resource", "uri": "tool://{tool}/{parameter}{?value}"},
            "argument": {"name": variable, "value": begun}, "context": {"arguments": settled},
        });
        mcp.result("completion/complete", params)["completion"]["values"].clone()
    };
    for revision in BOTH {
        let mcp = Mcp::new(&client, revision);
        assert_eq!(complete(&mcp, "tool", "email", json!({})), json!(["email_get", "email_search"]));
        assert_eq!(
            complete(&mcp, "parameter", "sent", json!({"tool": "email_search"})),
            json!(["sent_after", "sent_before"])
        );
        let order = json!({"tool": "email_search", "parameter": "order"});
        assert_eq!(complete(&mcp, "value", "", order.clone()), json!(["rank", "date"]));
        assert_eq!(complete(&mcp, "value", "D", order), json!(["date"]));
        for settled in
            [json!({}), json!({"tool": "none", "parameter": "x"}), json!({"tool": "email_search", "parameter": "x"})]
        {
            assert_eq!(complete(&mcp, "value", "", settled), json!([]));
        }
        assert_eq!(complete(&mcp, "unheard_of", "", json!({})), json!([]));
        for params in [
            json!({}),
            json!({"ref": {"type": "ref/tool", "name": "x"}, "argument": {"name": "a", "value": ""}}),
            json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a"}}),
        ] {
            assert_eq!(mcp.fault(200, "completion/complete", params)["code"], -32602);
        }
    }
}

fn names_begun(mcp: &Mcp, begun: &str) -> Value {
    let params =
        json!({"ref": {"type": "ref/resource", "uri": "tool://{tool}"}, "argument": {"name": "tool", "value": begun}});
    mcp.result("completion/complete", params)["completion"].clone()
}

#[test]
fn names_are_completed_from_all_tools() {
    let client = workspace();
    Tool::put_all((0..210).map(|it| Tool::new(&format!("alpha_{it:03}"))), open(), &client);
    Tool::new("zeta_last").put(open(), &client);
    let mcp = Mcp::new(&client, MODERN);
    assert_eq!(names_begun(&mcp, "zeta_l"), json!({"values": ["zeta_last"], "total": 1, "hasMore": false}));
    let many = names_begun(&mcp, "alpha_");
    assert_eq!((many["values"].as_array().unwrap().len(), &many["hasMore"]), (100, &json!(true)));
    assert!(many.get("total").is_none(), "not all were counted: {many}");
    // An agent with `find_tools` has names as well.
    let agent = client.agent(json!({"find_tools": true}));
    let names = names_begun(&Mcp::of_agent(&client, &agent, MODERN), "read");
    assert_eq!(names, json!({"values": ["read_file"], "total": 1, "hasMore": false}));
}

#[test]
fn a_bound_token_reads_the_files_of_its_agents_sessions() {
    let owner = closed_workspace();
    let agent = owner.agent(json!({}));
    let bound = owner.token(json!({"name": "b", "level": "user", "agent_id": agent}));
    owner.put("/api/sessions/default/files/secret", "x").created();
    bound.put("/api/sessions/own/files/f", "y").created();
    for revision in BOTH {
        let (hidden, own) = (Mcp::new(&bound, revision), Mcp::new(&bound, revision).in_session("own"));
        assert_eq!(hidden.result("resources/list", json!({}))["resources"], json!([]));
        for uri in ["session://default/secret", "session://default/none"] {
            let fault = hidden.fault(200, "resources/read", json!({"uri": uri}));
            assert_eq!(fault["message"], "Resource not found");
        }
        assert_eq!(own.result("resources/list", json!({}))["resources"][0]["title"], "/f");
        assert_eq!(read(&own, "session://own/f")["text"], "y");
    }
}

#[test]
fn a_tool_is_read_in_one_round_trip() {
    let owner = closed_workspace();
    let user = owner.token(json!({"name": "u", "level": "user"}));
    for client in [&owner, &user] {
        let read = Mcp::new(client, LEGACY).send("resources/read", json!({"uri": "tool://read_file"}));
        assert!(read.headers["x-d1-cost"].to_str().unwrap().starts_with("round_trips=1,"), "{:?}", read.headers);
    }
}
