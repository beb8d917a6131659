//! A small real HTTP server for tools that call servers. Its response depends on the path. It keeps every request
//! that it received.

use super::received::{Received, listen};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub struct Upstream {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Upstream {
    pub fn start() -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        let url = listen(move |stream| serve(stream, &kept));
        Self { url, received }
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

/// Serves one request. A broken connection is no failure: the client may have given up.
fn serve(mut stream: TcpStream, kept: &Mutex<Vec<Received>>) -> Option<()> {
    let request = Received::read(&stream)?;
    kept.lock().unwrap().push(request.clone());
    let path = request.path().to_owned();
    let Received { method, target, headers, body } = request;
    let (status, text) = match path.as_str() {
        "/echo" => ("200 OK", body.to_string()),
        // A module that returns the call itself.
        "/execute" => ("200 OK", json!({"tool_name": body["tool_name"], "success": true, "result": body}).to_string()),
        "/headers" => ("200 OK", json!(headers).to_string()),
        "/text" => ("200 OK", "plain words".to_owned()),
        "/blocks" => ("200 OK", r#"{"content":[{"type":"text","text":"a block"}]}"#.to_owned()),
        "/later" => {
            thread::sleep(Duration::from_secs(2));
            ("200 OK", json!("done").to_string())
        }
        // Only the first request is answered late.
        "/first-slow" => {
            if kept.lock().unwrap().iter().filter(|it| it.path() == path).count() == 1 {
                thread::sleep(Duration::from_secs(2));
            }
            ("200 OK", json!("quick").to_string())
        }
        "/slow" => {
            thread::sleep(Duration::from_secs(5));
            ("200 OK", json!("too late").to_string())
        }
        "/empty" => ("204 No Content", String::new()),
        "/large" => ("200 OK", json!("x".repeat(600_000)).to_string()),
        "/many" => ("200 OK", format!("[{}0]", "0,".repeat(300_000))),
        rest if rest.starts_with("/rest/") => {
            ("200 OK", json!({"method": method, "target": target, "body": body}).to_string())
        }
        "/broken" => ("500 Internal Server Error", "it broke".to_owned()),
        "/elsewhere" => ("302 Found\r\nLocation: /echo", String::new()),
        "/huge" => ("200 OK", json!("x".repeat(11 * 1024 * 1024)).to_string()),
        other => ("404 Not Found", format!("nothing at {other}")),
    };
    let sent = if method == "HEAD" { "" } else { &text };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{sent}", text.len()).ok()
}
