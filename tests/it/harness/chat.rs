//! The stream of a chat's turn, as a client reads it.

use super::Client;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use ureq::BodyReader;
use ureq::http::HeaderMap;

/// An open stream. Dropping it is leaving it.
pub struct ChatStream {
    pub headers: HeaderMap,
    lines: BufReader<BodyReader<'static>>,
    /// The events so far.
    pub events: Vec<Value>,
    /// How many comments came between them.
    pub comments: usize,
    is_done: bool,
}

impl Client {
    /// Posts a chat's request, and opens the stream of its turn. Panics if the request is refused.
    #[track_caller]
    pub fn open_chat(&self, session: &str, body: &Value) -> ChatStream {
        let path = format!("/api/playground/sessions/{session}/chat");
        self.open_stream("POST", &path, Some(body.to_string().into_bytes())).expect("a turn begins")
    }

    /// Opens the stream of the turn that is under way. None, if there is no such turn.
    #[track_caller]
    pub fn resume_chat(&self, session: &str) -> Option<ChatStream> {
        self.open_stream("GET", &format!("/api/playground/sessions/{session}/chat/any/stream"), None)
    }

    /// The stream; None for 204.
    #[track_caller]
    fn open_stream(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Option<ChatStream> {
        let mut response = self.begin(method, path, body).unwrap_or_else(|| panic!("{method} {path} got no answer"));
        if response.status() == 204 {
            return None;
        }
        if response.status() != 200 {
            panic!("{method} {path}: {} {:?}", response.status(), response.body_mut().read_to_string());
        }
        let headers = response.headers().clone();
        let lines = BufReader::new(response.into_body().into_reader());
        Some(ChatStream { headers, lines, events: Vec::new(), comments: 0, is_done: false })
    }
}

impl ChatStream {
    /// The next event. None at the end, which `[DONE]` must have announced.
    #[track_caller]
    pub fn next(&mut self) -> Option<Value> {
        let next = self.next_if_any();
        assert!(next.is_some() || self.is_done, "the stream broke off after {:?}", self.events);
        next
    }

    /// The next event. None also if the stream broke off.
    pub fn next_if_any(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let Some(data) = line.trim_end().strip_prefix("data: ") else {
                assert!(line == "\n" || line == ": keep-alive\n", "a line is data, a comment or empty: {line:?}");
                self.comments += usize::from(line.starts_with(':'));
                continue;
            };
            assert!(!self.is_done, "an event after [DONE]: {data}");
            if data == "[DONE]" {
                self.is_done = true;
                continue;
            }
            let event = serde_json::from_str::<Value>(data).unwrap_or_else(|_| panic!("an event is JSON: {data}"));
            self.events.push(event.clone());
            return Some(event);
        }
    }

    /// Reads on to the next event of this type.
    #[track_caller]
    pub fn until(&mut self, kind: &str) -> Value {
        loop {
            match self.next() {
                Some(event) if event["type"] == kind => return event,
                Some(_) => {}
                None => panic!("no {kind} in {:?}", self.events),
            }
        }
    }

    /// Reads to the end, and returns all events.
    #[track_caller]
    pub fn rest(mut self) -> Vec<Value> {
        while self.next().is_some() {}
        self.events
    }
}
