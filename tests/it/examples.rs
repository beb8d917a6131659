//! Every example of openapi.json, sent as it is to a server as a fresh `scripts/dev` starts it: with the sample mail, and
//! with the workspace `sample`, to which the examples refer.
//!
//! Examples change things: one deletes the agent that another one reads. So each request has a workspace of its own, which
//! holds the rows of `samples/workspace.sql` under another name. The order of the requests does not matter then, and only
//! the name of the workspace differs from the example.

use crate::harness::{Answer, Client, Server, unique};
use serde_json::{Value, json};
use std::sync::OnceLock;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Operations that need somebody's module, MCP server or model to run. None of them runs beside a fresh server.
const NEED_A_SERVER: [&str; 3] = ["chat", "execute_module_tool", "refresh_mcp_server"];

/// A server as a fresh `scripts/dev` starts it.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    let vars = [("AUTH", "open"), ("SECRET_KEY", "a secret of the tests"), ("SAMPLE_KEY", "not-a-secret")];
    SERVER.get_or_init(|| Server::start_with_samples("examples", &vars))
}

/// The statements of the sample, for another workspace.
fn sample_for(workspace: &str) -> Vec<Value> {
    let text = std::fs::read_to_string("samples/workspace.sql").unwrap();
    let lines = text.lines().filter(|it| !it.starts_with("--")).collect::<Vec<_>>().join("\n");
    let statements = lines.replace("'sample'", &format!("'{workspace}'"));
    let statements = statements.split(";\n").map(|it| it.trim_end_matches(';').trim()).filter(|it| !it.is_empty());
    statements.map(|it| json!({"sql": it, "params": []})).collect()
}

/// A caller in a workspace that is as `sample` is at first.
fn fresh(server: &Server) -> Client {
    let client = server.client(&unique("sample"));
    let answer = server.ask(json!({"batch": sample_for(client.workspace())}));
    assert!(answer["error"].is_null(), "{answer}");
    client
}

/// One operation of openapi.json.
struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    description: &'a Value,
}

impl Operation<'_> {
    fn parameters(&self, place: &str, required: bool) -> Vec<(&str, &str)> {
        let all = self.description["parameters"].as_array().into_iter().flatten();
        let wanted = all.filter(|it| it["in"] == place && (it["required"] == true) == required);
        let named = wanted.filter_map(|it| Some((it["name"].as_str()?, it["example"].as_str()?)));
        named.collect()
    }

    /// Sends the examples of all required parameters, with an optional one and a body of this type.
    fn send(&self, server: &Server, optional: Option<(&str, &str)>, body: Option<(&str, &Value)>) -> Answer {
        let client = fresh(server);
        let mut path = self.path.to_owned();
        for (name, example) in self.parameters("path", true) {
            let value = if name == "workspace" { client.workspace() } else { example };
            path = path.replace(&format!("{{{name}}}"), &encoded(value));
        }
        assert!(!path.contains('{'), "{path} has a parameter without an example");
        let query = self.parameters("query", true).into_iter().chain(optional);
        let query = query.map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&");
        let url = if query.is_empty() { path } else { format!("{path}?{query}") };
        let method = self.method.to_uppercase();
        let answer = match body {
            None => client.send(&method, &url, None),
            Some((kind, example)) => {
                let text = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
                client.with_header("Content-Type", kind).send(&method, &url, Some(text.into_bytes()))
            }
        };
        let succeeded = (200..300).contains(&answer.status);
        let documented = self.description["responses"].get(answer.status.to_string()).is_some();
        assert!(succeeded && documented, "{method} {url} {body:?} answered {}: {}", answer.status, answer.text);
        answer
    }
}

/// A value in a URL, as `/docs` sends it.
fn encoded(value: &str) -> String {
    let is_plain = |it: &u8| it.is_ascii_alphanumeric() || b"-_.~".contains(it);
    value.bytes().map(|it| if is_plain(&it) { char::from(it).to_string() } else { format!("%{it:02X}") }).collect()
}

#[test]
fn every_example_works_on_a_fresh_server() {
    let server = server();
    let document = server.client("sample").get("/openapi.json").ok();
    let workspace = &document["components"]["parameters"]["Workspace"];
    assert_eq!(workspace["example"], "sample");
    // scripts/dev loads this workspace, and each request below gets a copy of it.
    assert_eq!(server.client("sample").get("/api/agents/agent_sample").ok()["name"], "Mail clerk");
    let mut sent = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in METHODS {
            let Some(description) = item.get(method) else { continue };
            let operation = Operation { method, path, description };
            let bodies = description["requestBody"]["content"].as_object();
            let examples = bodies.into_iter().flatten().map(|(kind, it)| {
                assert!(!it["example"].is_null(), "{method} {path} has no example of {kind}");
                (kind.as_str(), &it["example"])
            });
            let examples = examples.collect::<Vec<_>>();
            if NEED_A_SERVER.iter().any(|it| description["operationId"] == **it) {
                continue;
            }
            let first = examples.first().copied();
            let answer = operation.send(server, None, first);
            // A call may fail although its response succeeds.
            if let Ok(body) = serde_json::from_str::<Value>(&answer.text) {
                assert_ne!(body["success"], false, "{method} {path}: {body}");
                assert!(body["error"].is_null(), "{method} {path}: {body}");
            }
            sent += 1;
            for body in examples.iter().skip(1) {
                operation.send(server, None, Some(*body));
                sent += 1;
            }
            for parameter in operation.parameters("query", false) {
                operation.send(server, Some(parameter), first);
                sent += 1;
            }
        }
    }
    assert!(sent > 80, "only {sent} requests were sent");
}

#[test]
fn the_sample_is_a_registry_that_the_api_could_have_made() {
    let server = server();
    let client = server.client("sample");
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
    // The sample has a definition that waits for an admin, and nothing else to warn of.
    let health = client.get("/api/registry/health").ok();
    let alerts = health["alerts"].as_array().unwrap().iter().map(|it| &it["condition"]).collect::<Vec<_>>();
    assert_eq!((&health["status"], alerts), (&json!("warning"), vec![&json!("definitions_held_back")]), "{health}");
    // The log tells the same registry as the tables do.
    let state = client.get("/api/registry/state").ok();
    for version in state["versions"].as_array().unwrap() {
        let (id, number) = (version["id"].as_str().unwrap(), version["version"].as_str().unwrap());
        let mut shown = client.get(&format!("/api/tools/{id}?version={number}")).ok();
        if version["source"] == "toolset" {
            // The override of a tool is a subject of its own.
            (shown["renderer"], shown["renderer_config"]) = (Value::Null, Value::Null);
        }
        assert_eq!(&shown, version);
    }
    // The backup in the example of a restore is the backup of the sample: a restore changes nothing.
    let document = client.get("/openapi.json").ok();
    let restore = &document["paths"]["/api/registry/restore"]["post"]["requestBody"]["content"];
    assert_eq!(restore["application/json"]["example"], client.get("/api/registry/backup").ok());
    assert_eq!(client.post("/api/registry/restore", restore["application/json"]["example"].clone()).ok()["changes"], 0);
    assert_eq!(client.get("/api/sessions/notebook/files/notes/today.txt").text, "gas is down\n");
}
