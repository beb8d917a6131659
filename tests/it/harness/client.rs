//! A caller: its workspace, its token if it has one, and the responses that it gets.

use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;
use ureq::http::{HeaderMap, Request, Response};
use ureq::{Agent, Body};

const LARGEST_ANSWER: u64 = 64 * 1024 * 1024;

#[derive(Clone)]
pub struct Client {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
    workspace: String,
}

impl Client {
    pub fn new(url: &str, workspace: &str) -> Self {
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0).build();
        Self { agent: config.into(), url: url.to_owned(), headers: Vec::new(), workspace: workspace.to_owned() }
            .with_header("X-Workspace-Id", workspace)
    }

    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// The same caller with this header, which replaces a header of the same name.
    pub fn with_header(&self, name: &str, value: &str) -> Self {
        let mut client = self.without_header(name);
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub fn without_header(&self, name: &str) -> Self {
        let mut client = self.clone();
        client.headers.retain(|(it, _)| !it.eq_ignore_ascii_case(name));
        client
    }

    pub fn with_token(&self, token: &str) -> Self {
        self.with_header("Authorization", &format!("Bearer {token}"))
    }

    /// The same caller, with requests to another workspace.
    pub fn in_workspace(&self, workspace: &str) -> Self {
        let mut client = self.with_header("X-Workspace-Id", workspace);
        client.workspace = workspace.to_owned();
        client
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None)
    }

    pub fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, Some(body.to_string().into_bytes()))
    }

    pub fn patch(&self, path: &str, body: Value) -> Answer {
        self.send("PATCH", path, Some(body.to_string().into_bytes()))
    }

    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) -> Answer {
        self.send("PUT", path, Some(bytes.into()))
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None)
    }

    pub fn send(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Answer {
        self.try_send(method, path, body).unwrap_or_else(|| panic!("{method} {path} got no answer"))
    }

    /// The response. None if there is none, because the server may be killed during the request.
    pub fn try_send(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Option<Answer> {
        let mut response = self.begin(method, path, body)?;
        let bytes = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec().ok()?;
        Some(Answer {
            request: format!("{method} {path}"),
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        })
    }

    /// The response as soon as its head is there, with a body that is still to be read.
    pub fn begin(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Option<Response<Body>> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let response = match body {
            Some(body) => self.agent.run(request.body(body).unwrap()),
            None => self.agent.run(request.body(()).unwrap()),
        };
        response.inspect_err(|error| eprintln!("{method} {path}: {error}")).ok()
    }

    /// Posts a body, and resets the connection without waiting for the response, as soon as `when` is true.
    ///
    /// The runtime sees that a client has left when the connection is reset. A connection that is closed with unread
    /// bytes is reset, so the response to another request is left unread before.
    pub fn post_and_leave(&self, path: &str, body: &Value, when: impl Fn() -> bool) {
        let host = self.url.strip_prefix("http://").unwrap();
        let body = body.to_string();
        let mut head = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
        assert!(stream.peek(&mut [0]).unwrap() > 0);
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        let mut patience = 1_000;
        while !when() {
            assert!(patience > 0, "POST {path} did not get so far");
            patience -= 1;
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Every item of a list, read page after page.
    pub fn pages(&self, path: &str, plural: &str, limit: usize) -> Vec<Value> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let joint = if path.contains('?') { '&' } else { '?' };
            let page = self.get(&format!("{path}{joint}limit={limit}{cursor}")).ok();
            let found = page[plural].as_array().unwrap();
            assert!(found.len() <= limit, "{path} answered {} items for a limit of {limit}", found.len());
            items.extend(found.iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    }

    /// Runs a tool.
    pub fn execute(&self, tool_name: &str, arguments: Value) -> Answer {
        self.call(json!({"tool_name": tool_name, "arguments": arguments}))
    }

    /// Runs a tool with this request body.
    pub fn call(&self, body: Value) -> Answer {
        self.post("/api/execute", body)
    }

    /// The record of the call with this result.
    pub fn record(&self, result: &Value) -> Value {
        self.get(&format!("/api/tool-calls/{}", result["call_id"].as_str().unwrap())).ok()
    }

    /// Makes an agent, and returns its id.
    pub fn agent(&self, body: Value) -> String {
        let mut fields = json!({"name": "Agent"});
        fields.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        id_of(self.post("/api/agents", fields).created())
    }

    /// Makes a token, and returns a caller that uses it.
    pub fn token(&self, body: Value) -> Self {
        let made = self.post("/api/tokens", body).created();
        self.with_token(made["token"].as_str().unwrap())
    }
}

fn id_of(thing: Value) -> String {
    thing["id"].as_str().unwrap().to_owned()
}

pub struct Answer {
    request: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    /// The bytes as text.
    pub text: String,
}

/// The contents of an error envelope.
#[derive(Debug)]
pub struct Refused {
    pub message: String,
    pub details: Value,
}

impl Refused {
    /// The paths that a validation error names.
    pub fn paths(&self) -> Vec<&str> {
        let problems = self.details["problems"].as_array().expect("a validation error lists problems");
        problems.iter().map(|it| it["path"].as_str().unwrap()).collect()
    }
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|_| panic!("{} answered {}, not JSON: {}", self.request, self.status, self.text))
    }

    #[track_caller]
    fn expect(&self, status: u16) {
        assert_eq!(self.status, status, "{} answered {}", self.request, self.text);
    }

    #[track_caller]
    pub fn ok(&self) -> Value {
        self.expect(200);
        self.json()
    }

    #[track_caller]
    pub fn created(&self) -> Value {
        self.expect(201);
        self.json()
    }

    #[track_caller]
    pub fn no_content(&self) {
        self.expect(204);
        assert_eq!(self.text, "");
    }

    /// The error. Panics unless it has this status and code, and exactly the form of the envelope.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Refused {
        self.expect(status);
        let body = self.json();
        let error = body["error"].as_object().unwrap_or_else(|| panic!("{} has no envelope: {body}", self.request));
        assert_eq!(body.as_object().unwrap().len(), 1);
        assert_eq!(error.keys().collect::<Vec<_>>(), ["code", "message", "details"]);
        assert_eq!(error["code"], code, "{} answered {}", self.request, self.text);
        assert!(error["details"].is_object() || error["details"].is_null());
        Refused { message: error["message"].as_str().unwrap().to_owned(), details: error["details"].clone() }
    }

    /// The ToolResult. Panics unless it has this status, and exactly the form of a ToolResult.
    #[track_caller]
    pub fn result(&self, status: u16) -> Value {
        self.expect(status);
        let body = self.json();
        let keys = [
            "call_id",
            "tool_name",
            "version",
            "success",
            "status",
            "result",
            "error",
            "duration_ms",
            "render_plan",
            "pre_manifest_id",
            "post_manifest_id",
        ];
        assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), keys, "{body}");
        assert_eq!(body["success"] == true, body["status"] == "success", "{body}");
        assert_eq!(body["error"].is_null(), body["status"] == "success", "{body}");
        body
    }

    /// The result of a call that succeeded.
    #[track_caller]
    pub fn success(&self) -> Value {
        let result = self.result(200);
        assert_eq!(result["success"], true, "{result}");
        result["result"].clone()
    }

    /// The ToolResult of a call that was refused or failed with this status and code.
    #[track_caller]
    pub fn failed(&self, status: u16, code: &str) -> Value {
        let result = self.result(status);
        assert_eq!(result["error"]["code"], code, "{result}");
        assert_eq!(result["error"].as_object().unwrap().keys().collect::<Vec<_>>(), ["code", "message", "details"]);
        result
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// One figure of the header with the cost of the request.
    #[track_caller]
    pub fn cost(&self, figure: &str) -> u32 {
        let cost = self.header("x-d1-cost").expect("the server tells what requests cost");
        let (_, number) = cost
            .split(", ")
            .filter_map(|it| it.split_once('='))
            .find(|(name, _)| *name == figure)
            .unwrap_or_else(|| panic!("{cost} has no {figure}"));
        number.parse().unwrap()
    }
}
