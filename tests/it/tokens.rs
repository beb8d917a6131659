//! `/api/tokens`, and the callers that tokens let in.

use crate::harness::{ROOT_TOKEN, Server, closed, closed_workspace, definition, open, unique, workspace};
use serde_json::{Value, json};

#[test]
fn without_a_token_nobody_is_let_in() {
    let stranger = closed().client(&unique("ws"));
    for path in ["/api/tools", "/api/agents", "/api/tokens"] {
        let answer = stranger.get(path);
        answer.refused(401, "UNAUTHORIZED");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    for authorization in
        ["Bearer", "Bearer ", "Basic cm9vdDpyb290", "root", "bearer peg_", &format!("Token {ROOT_TOKEN}")]
    {
        stranger.with_header("Authorization", authorization).get("/api/tools").refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn in_open_mode_a_bad_token_is_still_refused() {
    let client = workspace();
    client.get("/api/tools").ok();
    client.with_token("peg_tok_0_0").get("/api/tools").refused(401, "UNAUTHORIZED");
    client.with_token("nonsense").get("/api/tools").refused(401, "UNAUTHORIZED");
    let guest = client.token(json!({"name": "guest", "level": "guest"}));
    guest.post("/api/agents", json!({"name": "x"})).refused(403, "PERMISSION_DENIED");
}

#[test]
fn the_root_token_is_owner_everywhere() {
    for _ in 0..2 {
        let root = closed_workspace();
        root.get("/api/tokens").ok();
        root.post("/api/agents", json!({"name": "x"})).created();
    }
}

#[test]
fn a_token_is_shown_once_and_kept_as_a_hash() {
    let root = closed_workspace();
    let made = root
        .post("/api/tokens", json!({"name": "CI", "level": "admin", "expires_at": "2099-01-01T00:00:00+01:00"}))
        .created();
    let token = made["token"].as_str().unwrap();
    assert_eq!(made["expires_at"], "2098-12-31T23:00:00.000Z");
    assert_eq!(
        (&made["level"], &made["agent_id"], &made["created_by"]),
        (&json!("admin"), &Value::Null, &json!("root"))
    );

    let listed = root.get("/api/tokens");
    let mut shown = made.clone();
    shown.as_object_mut().unwrap().remove("token");
    assert_eq!(listed.ok(), json!({"tokens": [shown], "next_cursor": null}));
    let secret = token.rsplit_once('_').unwrap().1;
    assert_eq!(secret.len(), 64);
    assert!(!listed.text.contains(secret));

    for table in ["tokens", "changes"] {
        let rows = closed().sql(&format!("SELECT * FROM {table} WHERE workspace_id = ?1"), &[json!(root.workspace())]);
        assert!(!rows.is_empty() && !json!(rows).to_string().contains(secret), "{table} holds the token");
    }
}

#[test]
fn a_token_is_good_in_its_own_workspace_only() {
    let root = closed_workspace();
    let client = root.token(json!({"name": "a", "level": "owner"}));
    client.get("/api/tools").ok();
    client.in_workspace(&unique("ws")).get("/api/tools").refused(401, "UNAUTHORIZED");
    client.in_workspace(&unique("ws")).post("/api/agents", json!({"name": "x"})).refused(401, "UNAUTHORIZED");
}

#[test]
fn a_changed_token_is_not_the_token() {
    let root = closed_workspace();
    let made = root.post("/api/tokens", json!({"name": "a", "level": "owner"})).created();
    let token = made["token"].as_str().unwrap();
    let flipped = if token.ends_with('0') { "1" } else { "0" };
    for wrong in [
        format!("{}{flipped}", &token[..token.len() - 1]),
        format!("{token}0"),
        token[..token.len() - 1].to_owned(),
        token.to_uppercase(),
    ] {
        root.with_token(&wrong).get("/api/tools").refused(401, "UNAUTHORIZED");
        root.with_token(&wrong).post("/api/agents", json!({"name": "x"})).refused(401, "UNAUTHORIZED");
    }
    assert_eq!(root.get("/api/agents").ok()["agents"], json!([]));
    root.with_token(token).get("/api/tools").ok();
}

#[test]
fn a_token_that_was_not_made_here_costs_nothing() {
    let root = closed_workspace();
    let made = root.post("/api/tokens", json!({"name": "a", "level": "owner"})).created();
    let token = made["token"].as_str().unwrap();
    let (head, secret) = token.rsplit_once('_').unwrap();
    let forged = [
        "peg_tok_0_0".to_owned(),
        format!("{head}_{}", "0".repeat(64)),
        // The signature of another random number, and a random number with another signature.
        format!("{head}_{}{}", "0".repeat(32), &secret[32..]),
        format!("{head}_{}{}", &secret[..32], "0".repeat(32)),
        // The secret of another token.
        format!("peg_tok_{}_{secret}", "0".repeat(32)),
    ];
    let elsewhere = root.in_workspace(&unique("ws")).with_token(token);
    let requests = |client: &crate::harness::Client| {
        [
            client.get("/api/tools"),
            client.get("/api/registry/backup"),
            client.post("/api/tools", definition("x", "1.0.0", json!({}))),
            client.post("/api/registry/restore", json!({})),
            client.put("/api/sessions/s/files/f", "contents"),
            client.execute("list_files", json!({})),
        ]
    };
    for caller in forged.iter().map(|it| root.with_token(it)).chain([elsewhere]) {
        let answer = caller.post("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        assert_eq!((answer.status, &answer.json()["error"]["data"]["code"]), (401, &json!("UNAUTHORIZED")));
        assert_eq!((answer.cost("round_trips"), answer.cost("rows_read")), (0, 0));
        for answer in requests(&caller) {
            answer.refused(401, "UNAUTHORIZED");
            assert_eq!((answer.cost("round_trips"), answer.cost("rows_read")), (0, 0));
        }
    }
    assert_eq!(root.with_token(token).get("/api/tools").cost("round_trips"), 1);
}

#[test]
fn without_a_secret_key_no_token_is_made_and_the_answer_says_what_to_set() {
    for vars in [&[("AUTH", "open")][..], &[("ROOT_TOKEN", ROOT_TOKEN)]] {
        let server = Server::start(&unique("keyless"), vars);
        let client = match vars[0].0 {
            "AUTH" => server.client("ws"),
            _ => server.client("ws").with_token(ROOT_TOKEN),
        };
        let refused = client.post("/api/tokens", json!({"name": "a", "level": "user"})).refused(503, "UNAVAILABLE");
        assert!(refused.message.contains("wrangler secret put SECRET_KEY"), "{}", refused.message);
        assert_eq!(client.get("/api/tokens").ok()["tokens"], json!([]));
        // Tokens that were made under a key are no longer valid.
        let made = closed_workspace().post("/api/tokens", json!({"name": "a", "level": "user"})).created();
        client.with_token(made["token"].as_str().unwrap()).get("/api/tools").refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn a_revoked_token_ends_at_once() {
    let root = closed_workspace();
    let made = root.post("/api/tokens", json!({"name": "a", "level": "user"})).created();
    let client = root.with_token(made["token"].as_str().unwrap());
    client.get("/api/tools").ok();
    let path = format!("/api/tokens/{}", made["id"].as_str().unwrap());
    root.delete(&path).no_content();
    client.get("/api/tools").refused(401, "UNAUTHORIZED");
    root.delete(&path).refused(404, "NOT_FOUND");
    assert_eq!(root.get("/api/tokens").ok()["tokens"], json!([]));
}

#[test]
fn an_expired_token_is_refused() {
    let root = closed_workspace();
    let client = root.token(json!({"name": "a", "level": "user", "expires_at": "2099-01-01T00:00:00Z"}));
    client.get("/api/tools").ok();
    closed().sql(
        "UPDATE tokens SET expires_at = '2026-01-01T00:00:00.000Z' WHERE workspace_id = ?1",
        &[json!(root.workspace())],
    );
    client.get("/api/tools").refused(401, "UNAUTHORIZED");
}

#[test]
fn all_faults_of_a_token_look_the_same() {
    let root = closed_workspace();
    let made = root.post("/api/tokens", json!({"name": "a", "level": "user"})).created();
    let token = made["token"].as_str().unwrap().to_owned();
    let elsewhere = root.in_workspace(&unique("ws")).with_token(&token).get("/api/tools").text;
    root.delete(&format!("/api/tokens/{}", made["id"].as_str().unwrap())).no_content();
    let revoked = root.with_token(&token).get("/api/tools").text;
    let unknown = root.with_token("peg_tok_1_2").get("/api/tools").text;
    let nonsense = root.with_token("x").get("/api/tools").text;
    assert!(elsewhere == revoked && revoked == unknown && unknown == nonsense);
}

#[test]
fn a_bad_token_request_is_refused_and_makes_none() {
    let root = closed_workspace();
    for (body, place) in [
        (json!({"level": "user"}), "/name"),
        (json!({"name": "", "level": "user"}), "/name"),
        (json!({"name": "a"}), "/level"),
        (json!({"name": "a", "level": "root"}), "/level"),
        (json!({"name": "a", "level": "user", "expires_at": "tomorrow"}), "/expires_at"),
        (json!({"name": "a", "level": "user", "expires_at": "2020-01-01T00:00:00Z"}), "/expires_at"),
        (json!({"name": "a", "level": "user", "expires_at": 4}), "/expires_at"),
        (json!({"name": "a", "level": "user", "token": "mine"}), "/token"),
    ] {
        assert_eq!(root.post("/api/tokens", body.clone()).refused(400, "VALIDATION_ERROR").paths(), [place], "{body}");
    }
    for agent in ["agent_x", "not an id"] {
        root.post("/api/tokens", json!({"name": "a", "level": "user", "agent_id": agent})).refused(404, "NOT_FOUND");
    }
    let foreign = closed_workspace().agent(json!({}));
    root.post("/api/tokens", json!({"name": "a", "level": "user", "agent_id": foreign})).refused(404, "NOT_FOUND");
    assert_eq!(root.get("/api/tokens").ok()["tokens"], json!([]));
}

#[test]
fn a_bound_token_acts_as_its_agent_alone() {
    let root = closed_workspace();
    let (own, other) = (root.agent(json!({"name": "own"})), root.agent(json!({"name": "other"})));
    let client = root.token(json!({"name": "bound", "level": "owner", "agent_id": own}));

    assert_eq!(client.get(&format!("/api/agents/{own}")).ok()["name"], "own");
    let listed = client.get("/api/agents").ok();
    assert_eq!(listed["agents"].as_array().unwrap().len(), 1);
    assert_eq!(listed["agents"][0]["id"], own.as_str());
    client.get(&format!("/api/agents/{own}/toolbox")).ok();
    // A bound token chooses no tools, not even its own agent's.
    let tools = format!("/api/agents/{own}/tools");
    root.post(&tools, json!({"tool_id": "email_search", "config": {"default_limit": 5}})).created();
    let (before, seen) = (client.get(&tools).ok(), root.changes().len());
    client.post(&tools, json!({"tool_id": "read_file"})).refused(403, "PERMISSION_DENIED");
    let one = format!("{tools}/email_search");
    client.patch(&one, json!({"config": {"default_limit": 50}})).refused(403, "PERMISSION_DENIED");
    client.delete(&one).refused(403, "PERMISSION_DENIED");
    assert_eq!((client.get(&tools).ok(), root.changes().len()), (before, seen));

    for path in ["", "/tools", "/toolbox"] {
        client.get(&format!("/api/agents/{other}{path}")).refused(403, "PERMISSION_DENIED");
    }
    client
        .post(&format!("/api/agents/{other}/tools"), json!({"tool_id": "read_file"}))
        .refused(403, "PERMISSION_DENIED");
    // A bound token cannot raise its own limits, nor make an agent or a token without limits.
    client.get("/api/tokens").refused(403, "PERMISSION_DENIED");
    client.post("/api/tokens", json!({"name": "free", "level": "owner"})).refused(403, "PERMISSION_DENIED");
    client.patch(&format!("/api/agents/{own}"), json!({"max_risk": "critical"})).refused(403, "PERMISSION_DENIED");
    client.delete(&format!("/api/agents/{own}")).refused(403, "PERMISSION_DENIED");
    client.post("/api/agents", json!({"name": "free"})).refused(403, "PERMISSION_DENIED");
    assert_eq!(root.get("/api/agents").ok()["agents"].as_array().unwrap().len(), 2);
}

#[test]
fn tokens_come_in_pages() {
    let root = closed_workspace();
    for index in 0..5 {
        root.post("/api/tokens", json!({"name": format!("t{index}"), "level": "guest"})).created();
    }
    assert_eq!(root.pages("/api/tokens", "tokens", 2).len(), 5);
}

#[test]
fn open_mode_makes_tokens_too() {
    let client = workspace();
    let made = client.post("/api/tokens", json!({"name": "a", "level": "guest"})).created();
    assert_eq!(made["created_by"], "anonymous");
    let rows = open().sql("SELECT level FROM tokens WHERE workspace_id = ?1", &[json!(client.workspace())]);
    assert_eq!(rows, [json!({"level": "guest"})]);
}

#[test]
fn a_token_that_was_read_can_be_sent_back() {
    let root = closed_workspace();
    root.post("/api/tokens", json!({"name": "CI", "level": "user"})).created();
    let read = root.get("/api/tokens").ok()["tokens"][0].clone();
    let copy = root.post("/api/tokens", read.clone()).created();
    assert_eq!((&copy["name"], &copy["level"]), (&read["name"], &read["level"]));
    assert_ne!(copy["id"], read["id"]);
    let mut other = read;
    other["created_by"] = json!("somebody");
    assert_eq!(root.post("/api/tokens", other).refused(400, "VALIDATION_ERROR").paths(), ["/created_by"]);
    let secret = json!({"name": "x", "level": "user", "token": "peg_x"});
    assert_eq!(root.post("/api/tokens", secret).refused(400, "VALIDATION_ERROR").paths(), ["/token"]);
}
