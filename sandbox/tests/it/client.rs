//! Sends requests to a server.

use data_encoding::BASE64;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
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
            // Longer than the longest run that is allowed, which is 120 seconds.
            .timeout_global(Some(Duration::from_secs(150)))
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

    pub fn send_to(&self, path: &str, body: &Value) -> ureq::http::Response<ureq::Body> {
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
        let (status, answer, length) = self.exchange(path, body);
        assert_eq!(status, 200, "{answer}");
        assert!(length < 2 << 20, "{length}");
        answer
    }

    /// The status and the body of a response, and the length of the body.
    pub fn exchange(&self, path: &str, body: &Value) -> (u16, Value, usize) {
        self.try_exchange(path, body).unwrap()
    }

    /// The same; or how the connection broke.
    pub fn try_exchange(&self, path: &str, body: &Value) -> Result<(u16, Value, usize), String> {
        let sent = self.agent.post(format!("http://{}{path}", self.address)).send_json(body);
        let mut response = sent.map_err(|cause| format!("{path}: {cause}"))?;
        let text = response.body_mut().with_config().limit(32 << 20).read_to_string();
        let text = text.map_err(|cause| format!("{path}: {cause}"))?;
        let length = text.len();
        Ok((response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::String(text)), length))
    }

    /// The response to a request of the second room that must be accepted.
    #[track_caller]
    pub fn post_files(&self, path: &str, body: &Value) -> Value {
        let (status, answer, length) = self.exchange(path, body);
        assert_eq!(status, 200, "{answer:.2000}");
        assert!(length < 6 << 20, "{length}");
        answer
    }

    /// A call on files, with `fields` besides its share, its code and its function `run`.
    #[track_caller]
    pub fn run_on_files(&self, share: &str, code: &str, fields: &Value) -> Value {
        let mut body = json!({"share": share, "code": code, "function": "run"});
        for (name, value) in fields.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        if !body["module"].is_null() {
            body.as_object_mut().unwrap().remove("code");
        }
        self.post_files("/files/run", &body)
    }

    /// Sends contents in pieces that the server accepts, and returns the file as requests name it.
    #[track_caller]
    pub fn put(&self, share: &str, path: &str, bytes: &[u8]) -> Value {
        let sha256 = hash(bytes);
        // A multiple of three, so that the texts can be joined.
        let pieces: Vec<&[u8]> = if bytes.is_empty() { vec![bytes] } else { bytes.chunks(6 << 20).collect() };
        for (number, piece) in pieces.iter().enumerate() {
            let (count, data) = (pieces.len(), BASE64.encode(piece));
            let piece = json!({"sha256": sha256, "encoding": "base64", "number": number, "count": count, "data": data});
            self.post_files("/files/contents", &json!({"share": share, "pieces": [piece]}));
        }
        named(path, bytes)
    }

    /// Sends the contents of several small files at once, and returns the files as requests name them.
    #[track_caller]
    pub fn put_all(&self, share: &str, files: &[(String, String)]) -> Value {
        if files.is_empty() {
            return json!([]);
        }
        let pieces = files.iter().map(|(_, text)| {
            json!({"sha256": hash(text.as_bytes()), "encoding": "utf8", "number": 0, "count": 1, "data": text})
        });
        self.post_files("/files/contents", &json!({"share": share, "pieces": pieces.collect::<Vec<_>>()}));
        files.iter().map(|(path, text)| named(path, text.as_bytes())).collect()
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

pub fn hash(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}

/// A file as requests name it.
pub fn named(path: &str, bytes: &[u8]) -> Value {
    json!([path, hash(bytes), bytes.len()])
}
