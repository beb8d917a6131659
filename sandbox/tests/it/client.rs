//! Sends requests to a server.

use serde_json::{Value, json};
use std::time::Duration;

/// A client of one server.
pub struct Client {
    pub address: String,
    agent: ureq::Agent,
}

impl Client {
    pub fn of(address: String) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A kept-alive connection would die with a supervisor that is killed.
            .max_idle_connections(0)
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .into();
        Self { address, agent }
    }

    pub fn health(&self) -> Value {
        let mut response = self.agent.get(format!("http://{}/health", self.address)).call().unwrap();
        assert_eq!(response.status(), 200);
        response.body_mut().read_json().unwrap()
    }

    pub fn send(&self, body: &Value) -> ureq::http::Response<ureq::Body> {
        self.send_to("/run", body)
    }

    fn send_to(&self, path: &str, body: &Value) -> ureq::http::Response<ureq::Body> {
        self.agent.post(format!("http://{}{path}", self.address)).send_json(body).unwrap()
    }

    /// The response to a request that must be accepted.
    #[track_caller]
    pub fn post(&self, body: &Value) -> Value {
        self.post_to("/run", body)
    }

    /// The response to a look at code, which must be accepted.
    #[track_caller]
    pub fn check(&self, body: &Value) -> Value {
        self.post_to("/check", body)
    }

    #[track_caller]
    fn post_to(&self, path: &str, body: &Value) -> Value {
        let mut response = self.send_to(path, body);
        let text = response.body_mut().with_config().limit(4 << 20).read_to_string().unwrap();
        assert_eq!(response.status(), 200, "{text}");
        assert!(text.len() < 2 << 20, "{}", text.len());
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    pub fn run_code(&self, code: &str) -> Value {
        self.post(&json!({"code": code}))
    }

    pub fn raw(&self) -> std::net::TcpStream {
        let stream = std::net::TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }
}
