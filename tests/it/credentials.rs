//! Credentials: their definition, their use in headers, and that no response shows them.

use crate::harness::{
    Client, ROOT_TOKEN, Server, Tool, Upstream, closed_workspace, definition, open, unique, workspace,
};
use serde_json::{Value, json};

#[test]
fn a_credential_is_a_secret_that_the_worker_has() {
    let client = workspace();
    let made = client.post("/api/credentials", json!({"id": "GITHUB_TOKEN", "description": "Reads issues"})).created();
    assert_eq!(
        (&made["id"], &made["description"], &made["present"]),
        (&json!("GITHUB_TOKEN"), &json!("Reads issues"), &json!(true))
    );
    assert!(!made.to_string().contains("gh-value"));
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).refused(409, "ALREADY_EXISTS");
    client.post("/api/credentials", json!({"id": "STRIPE_KEY"})).created();
    let listed = client.pages("/api/credentials", "credentials", 1);
    assert_eq!(listed.iter().map(|it| it["id"].as_str().unwrap()).collect::<Vec<_>>(), ["GITHUB_TOKEN", "STRIPE_KEY"]);
    for id in ["NOT_A_SECRET", "SECRET_KEY", "ROOT_TOKEN", "AUTH", "DB", "constructor", "a b", "", "LENT_KEY"] {
        let refused = client.post("/api/credentials", json!({"id": id})).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/id"], "{id}");
    }
    client.delete("/api/credentials/STRIPE_KEY").no_content();
    client.delete("/api/credentials/STRIPE_KEY").refused(404, "NOT_FOUND");
    let log = client.changes();
    let told = log.iter().map(|it| format!("{} {}", it["action"].as_str().unwrap(), it["subject"].as_str().unwrap()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["create credential:GITHUB_TOKEN", "create credential:STRIPE_KEY", "delete credential:STRIPE_KEY"]
    );
}

#[test]
fn a_secret_can_be_lent_to_some_workspaces_only() {
    let lent = open().client("ws_of_nobody");
    lent.post("/api/credentials", json!({"id": "LENT_KEY"})).created();
    lent.delete("/api/credentials/LENT_KEY").no_content();
}

/// A server with tokens, where the secret LENT may be sent to port 1 of this machine by one workspace.
fn lending(name: &str) -> Server {
    let vars = [
        ("ROOT_TOKEN", ROOT_TOKEN),
        ("PRIVATE_URLS", "allow"),
        ("LENT", "lent-value"),
        ("ELSEWHERE", "elsewhere-value"),
        ("UNLISTED", "unlisted-value"),
        ("CREDENTIAL_WORKSPACES", "LENT=acme@127.0.0.1:1, ELSEWHERE=other@*"),
    ];
    Server::start(name, &vars)
}

fn asking(credential: &str, url: &str) -> Value {
    let headers = json!({"Authorization": format!("Bearer ${{{credential}}}")});
    json!({"handler": {"type": "http", "url": url, "headers": headers}, "parameters_schema": {"type": "object"}})
}

#[test]
fn a_secret_is_lent_to_nobody_unless_it_is_listed() {
    let server = lending("lending");
    let at = |workspace: &str| server.client(workspace).with_token(ROOT_TOKEN);
    let (acme, other) = (at("acme"), at("other"));
    let define = |client: &Client, id: &str| client.post("/api/credentials", json!({"id": id}));
    assert_eq!(define(&acme, "LENT").created()["present"], true);
    assert_eq!(define(&other, "ELSEWHERE").created()["present"], true);
    // A secret that is not lent is answered exactly as one that does not exist.
    let absent = define(&acme, "ABSENT");
    absent.refused(400, "VALIDATION_ERROR");
    for answer in [define(&acme, "UNLISTED"), define(&acme, "ELSEWHERE"), define(&other, "LENT")] {
        answer.refused(400, "VALIDATION_ERROR");
        assert_eq!(answer.text, absent.text);
    }
}

#[test]
fn a_secret_goes_to_its_host_alone_and_over_https() {
    let (server, upstream) = (lending("lending-hosts"), Upstream::start());
    let acme = server.client("acme").with_token(ROOT_TOKEN);
    for id in ["LENT", "ELSEWHERE", "UNLISTED", "ABSENT"] {
        server.sql("INSERT INTO credentials VALUES ('acme', ?1, '', '2026-11-16T01:00:00.000Z')", &[json!(id)]);
    }
    let listed = acme.get("/api/credentials").ok();
    let present = |id: &str| {
        let found = listed["credentials"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap().clone();
        found["present"].clone()
    };
    assert_eq!(["LENT", "ELSEWHERE", "UNLISTED", "ABSENT"].map(present), [true, false, false, false]);

    let message = |id: &str, credential: &str, url: &str| {
        acme.register(id, "1.0.0", asking(credential, url));
        let failed = acme.execute(id, json!({})).failed(200, "UNREACHABLE");
        failed["error"]["message"].as_str().unwrap().replace(id, "TOOL").replace(credential, "SECRET")
    };
    // The request is sent, and nobody listens there.
    assert_eq!(
        message("lent", "LENT", "https://127.0.0.1:1/"),
        "TOOL could not be reached: no server answers at its URL"
    );
    let hidden = message("absent", "ABSENT", "https://127.0.0.1:1/");
    assert!(hidden.contains("SECRET has no value here"), "{hidden}");
    assert_eq!(message("t-port", "LENT", "https://127.0.0.1:2/"), hidden);
    assert_eq!(message("t-name", "LENT", "https://localhost:1/"), hidden);
    assert_eq!(message("unlisted", "UNLISTED", "https://127.0.0.1:1/"), hidden);
    assert_eq!(message("elsewhere", "ELSEWHERE", "https://127.0.0.1:1/"), hidden);

    for url in ["http://127.0.0.1:1/", &upstream.at("/headers")] {
        let refused = acme.post("/api/tools", definition("plain", "1.0.0", asking("LENT", url)));
        assert_eq!(refused.refused(400, "VALIDATION_ERROR").paths(), ["/handler/url"]);
        let handler = asking("LENT", url)["handler"].to_string();
        Tool::new("plain").with(json!({"handler": handler})).put(&server, &acme);
        let failed = acme.execute("plain", json!({})).failed(200, "UNREACHABLE");
        assert!(failed["error"]["message"].as_str().unwrap().contains("over https only"), "{failed}");
        server.sql("DELETE FROM tools WHERE workspace_id = 'acme' AND id = 'plain'", &[]);
    }
    assert!(upstream.received().is_empty());
}

#[test]
fn in_open_mode_a_secret_travels_in_the_clear_only_at_home() {
    let client = workspace();
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let away = definition("x", "1.0.0", asking("GITHUB_TOKEN", "http://tools.example.com/x"));
    assert_eq!(client.post("/api/tools", away).refused(400, "VALIDATION_ERROR").paths(), ["/handler/url"]);
    client.register("x", "1.0.0", asking("GITHUB_TOKEN", &Upstream::start().at("/headers")));
}

fn tool(url: &str) -> Value {
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Plain": "plain"});
    json!({"handler": {"type": "http", "url": url, "headers": headers}, "parameters_schema": {"type": "object"}})
}

#[test]
fn headers_get_their_values_when_the_tool_is_called_and_nobody_sees_them() {
    let (client, upstream) = (workspace(), Upstream::start());
    let undefined = client.post("/api/tools", definition("x", "1.0.0", tool(&upstream.at("/headers"))));
    let refused = undefined.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.paths(), ["/handler/headers"]);
    assert!(
        refused.message.contains("GITHUB_TOKEN is not a credential of this workspace: define it first"),
        "{refused:?}"
    );
    let absent = client.post("/api/credentials", json!({"id": "ABSENT_KEY"})).refused(400, "VALIDATION_ERROR");
    assert!(absent.message.contains("add a line ABSENT_KEY=the-secret to .dev.vars"), "{absent:?}");
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let made = client.register("x", "1.0.0", tool(&upstream.at("/headers")));
    assert_eq!(made["credentials_required"], json!(["GITHUB_TOKEN"]));
    assert_eq!(made["handler"]["headers"], json!({"Authorization": "***", "X-Plain": "***"}));

    let answer = client.execute("x", json!({})).result(200);
    let received = upstream.received();
    let sent = received[0].headers.iter().find(|(name, _)| name == "authorization").unwrap();
    assert_eq!(sent.1, "Bearer gh-value-1234");
    // The server repeats the secret, but the caller, the record and the log do not show it.
    assert!(answer["result"].to_string().contains("Bearer [redacted]"), "{answer}");
    for shown in [answer.to_string(), client.record(&answer).to_string(), json!(client.changes()).to_string()] {
        assert!(!shown.contains("gh-value-1234"), "{shown}");
    }
    assert_eq!(client.get("/api/tools?credential=GITHUB_TOKEN").ok()["tools"][0]["id"], "x");
}

/// A literal value may be a secret, whatever its header is called.
#[test]
fn literal_values_of_headers_are_not_repeated() {
    let (client, upstream) = (workspace(), Upstream::start());
    let headers = json!({"X-Foo": "otherkey99", "X-Region": "eu", "Authorization": "Bearer literal-token"});
    let handler = json!({"type": "http", "url": upstream.at("/headers"), "headers": headers});
    client.register("x", "1.0.0", json!({"handler": handler, "parameters_schema": {"type": "object"}}));
    let answer = client.execute("x", json!({})).result(200);
    for shown in [answer.to_string(), client.record(&answer).to_string()] {
        assert!(!shown.contains("otherkey99") && !shown.contains("literal-token"), "{shown}");
        assert!(shown.contains("[redacted]") && shown.contains("\"eu\""), "{shown}");
    }
}

#[test]
fn one_in_use_stays_and_a_version_without_its_credential_does_not_come_back() {
    let client = workspace();
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    client.register("x", "1.0.0", json!({"credentials_required": ["GITHUB_TOKEN"]}));
    let refused = client.delete("/api/credentials/GITHUB_TOKEN").refused(409, "CONFLICT");
    assert!(refused.message.contains('x'), "{}", refused.message);
    client.register("x", "1.0.1", json!({}));
    client.delete("/api/credentials/GITHUB_TOKEN").no_content();
    let seen = client.changes().len();
    let refused = client.post("/api/tools/x/rollback", json!({"version": "1.0.0"})).refused(409, "CONFLICT");
    assert!(refused.message.contains("GITHUB_TOKEN"), "{}", refused.message);
    assert_eq!(client.changes().len(), seen);
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    client.post("/api/tools/x/rollback", json!({"version": "1.0.0"})).ok();
}

#[test]
fn a_pinned_call_does_not_get_what_is_gone() {
    let (client, upstream) = (workspace(), Upstream::start());
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    client.register("x", "1.0.0", tool(&upstream.at("/headers")));
    client.register("x", "1.0.1", json!({"parameters_schema": {"type": "object"}}));
    client.execute("x@1.0.0", json!({})).success();
    client.delete("/api/credentials/GITHUB_TOKEN").no_content();
    let failed = client.execute("x@1.0.0", json!({})).failed(200, "UNREACHABLE");
    assert!(failed["error"]["message"].as_str().unwrap().contains("GITHUB_TOKEN"), "{failed}");
    assert_eq!(upstream.received().len(), 1);
}

#[test]
fn a_secret_that_was_given_as_it_is_is_not_repeated_either() {
    let (client, upstream) = (workspace(), Upstream::start());
    let headers = json!({"X-Api-Key": "literal/secret", "Accept": "application/json"});
    let handler = json!({"type": "http", "url": upstream.at("/headers"), "headers": headers});
    client.register("x", "1.0.0", json!({"handler": handler, "parameters_schema": {"type": "object"}}));
    let result = client.execute("x", json!({})).success().to_string();
    assert!(!result.contains("literal/secret") && result.contains("application/json"), "{result}");
}

#[test]
fn a_literal_header_value_is_sealed_at_rest_and_the_log_shows_no_parameter_of_the_url() {
    let (client, upstream) = (workspace(), Upstream::start());
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let headers = json!({"X-Api-Key": "literal/secret", "Authorization": "Bearer ${GITHUB_TOKEN}", "X-Mixed": "mixed-${GITHUB_TOKEN}"});
    let url = upstream.at("/echo?key=query-secret&plain");
    let fields =
        json!({"handler": {"type": "http", "url": url, "headers": headers}, "parameters_schema": {"type": "object"}});
    let made = client.register("x", "1.0.0", fields);
    assert_eq!(made["handler"]["url"], upstream.at("/echo?key=***&***"));

    let stored = open().sql("SELECT handler FROM tool_versions WHERE workspace_id = ?1", &[json!(client.workspace())]);
    let stored = stored[0]["handler"].as_str().unwrap();
    assert!(!stored.contains("literal/secret") && !stored.contains("mixed-"), "{stored}");
    assert!(stored.contains("Bearer ${GITHUB_TOKEN}"), "{stored}");
    let log = json!(client.changes()).to_string();
    assert!(!log.contains("query-secret") && log.contains("key=***"), "{log}");
    assert!(!client.get("/api/registry/state").text.contains("query-secret"));

    client.execute("x", json!({})).success();
    let received = upstream.received();
    let sent = |name: &str| received[0].headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str());
    assert_eq!(sent("x-api-key"), Some("literal/secret"));
    assert_eq!(sent("x-mixed"), Some("mixed-gh-value-1234"));
    assert_eq!(sent("authorization"), Some("Bearer gh-value-1234"));
}

#[test]
fn without_a_secret_key_a_literal_header_value_is_refused() {
    for vars in [&[("AUTH", "open")][..], &[("ROOT_TOKEN", ROOT_TOKEN)]] {
        let server = Server::start(&unique("keyless"), vars);
        let client = server.client("ws").with_token(ROOT_TOKEN);
        let client = if vars[0].0 == "AUTH" { server.client("ws") } else { client };
        let with = |headers: Value| {
            let handler = json!({"type": "http", "url": "https://a.example", "headers": headers});
            client.post("/api/tools", definition("x", "1.0.0", json!({"handler": handler})))
        };
        let refused = with(json!({"X-Key": "literal"})).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), ["/handler/headers/X-Key"]);
        assert!(refused.message.contains("npx wrangler secret put SECRET_KEY"), "{}", refused.message);
        with(json!({})).created();
    }
}

#[test]
fn a_credential_of_another_workspace_is_none_of_this_one() {
    let (one, other) = (workspace(), workspace());
    one.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let refused = other.post("/api/tools", definition("x", "1.0.0", json!({"credentials_required": ["GITHUB_TOKEN"]})));
    refused.refused(400, "VALIDATION_ERROR");
    other.delete("/api/credentials/GITHUB_TOKEN").refused(404, "NOT_FOUND");
    assert_eq!(other.get("/api/credentials").ok()["credentials"], json!([]));
}

#[test]
fn credentials_take_two_round_trips() {
    let admin = closed_workspace().token(json!({"name": "a", "level": "admin"}));
    for answer in
        [admin.post("/api/credentials", json!({"id": "HOUSE_KEY"})), admin.delete("/api/credentials/HOUSE_KEY")]
    {
        assert!(answer.status < 300, "{}", answer.text);
        assert_eq!(answer.cost("round_trips"), 2);
    }
    assert_eq!(admin.get("/api/credentials").cost("round_trips"), 1);
}

#[test]
fn a_credential_that_was_read_exists_already_and_differs_elsewhere() {
    let client = workspace();
    client.post("/api/credentials", json!({"id": "GITHUB_TOKEN"})).created();
    let read = client.get("/api/credentials").ok()["credentials"][0].clone();
    client.post("/api/credentials", read.clone()).refused(409, "ALREADY_EXISTS");
    let mut other = read.clone();
    other["present"] = json!(false);
    assert_eq!(client.post("/api/credentials", other).refused(400, "VALIDATION_ERROR").paths(), ["/present"]);
    let elsewhere = workspace().post("/api/credentials", read).refused(400, "VALIDATION_ERROR");
    assert_eq!(elsewhere.paths(), ["/created_at"]);
    workspace().post("/api/credentials", json!({"id": "GITHUB_TOKEN", "present": true})).created();
}
