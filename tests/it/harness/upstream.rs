//! A small real HTTP server for tools with an HTTP handler. Its response depends on the path. It keeps every request
//! that it received.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// One request as it came in.
#[derive(Clone, Debug)]
pub struct Received {
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

pub struct Upstream {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Upstream {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                thread::spawn(move || serve(stream, &kept));
            }
        });
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
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.split('?').next()?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    kept.lock().unwrap().push(Received { headers: headers.clone(), body: body.clone() });

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
        "/slow" => {
            thread::sleep(Duration::from_secs(5));
            ("200 OK", json!("too late").to_string())
        }
        "/empty" => ("204 No Content", String::new()),
        "/many" => ("200 OK", format!("[{}0]", "0,".repeat(300_000))),
        "/broken" => ("500 Internal Server Error", "it broke".to_owned()),
        "/elsewhere" => ("302 Found\r\nLocation: /echo", String::new()),
        "/huge" => ("200 OK", json!("x".repeat(11 * 1024 * 1024)).to_string()),
        other => ("404 Not Found", format!("nothing at {other}")),
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len()).ok()
}
