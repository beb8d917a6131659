//! A server for tests: a function that answers each request, without a network and without a clock.

use super::exchange::{Exchange, PeerReply, PeerRequest, ReplyBody, Verb};
use crate::outgoing::OutgoingFailure;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A request that the server saw.
#[derive(Clone, Debug)]
pub struct Seen {
    pub verb: Verb,
    pub url: Option<String>,
    headers: Vec<(String, String)>,
    pub body: Value,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    pub fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub fn has_meta(&self) -> bool {
        self.body["params"]["_meta"].is_object()
    }

    /// The verb, and the method or the id of the message, for comparing what was sent.
    fn title(&self) -> String {
        let verb = match self.verb {
            Verb::Get => "GET",
            Verb::Delete => "DELETE",
            Verb::Post if self.body.get("method").is_none() => return "response".to_owned(),
            Verb::Post if self.has_meta() => return format!("modern {}", self.method()),
            Verb::Post => return self.method().to_owned(),
        };
        verb.to_owned()
    }

    pub fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    pub fn error(&self, code: i64, message: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": code, "message": message}})
    }
}

/// What the server answers.
pub enum Answer {
    Json(u16, Value),
    /// JSON, with a session.
    Session(Value, &'static str),
    Text(u16, &'static str),
    /// A stream of events, in pieces. It ends after them.
    Events(Vec<Vec<u8>>),
    /// A stream of events that stays open. Its events are pushed later.
    OpenStream(Events),
    /// No answer, ever.
    Silence,
    Unreachable,
}

pub type Events = Rc<RefCell<VecDeque<Vec<u8>>>>;

/// One event that holds a message.
pub fn event(message: &Value) -> Vec<u8> {
    format!("event: message\ndata: {message}\n\n").into_bytes()
}

pub struct ScriptedPeer<F> {
    answer: RefCell<F>,
    pub seen: RefCell<Vec<Seen>>,
    pub pauses: RefCell<Vec<Duration>>,
}

impl<F: FnMut(&Seen) -> Answer> ScriptedPeer<F> {
    pub fn new(answer: F) -> Self {
        Self { answer: RefCell::new(answer), seen: RefCell::default(), pauses: RefCell::default() }
    }

    pub fn titles(&self) -> Vec<String> {
        self.seen.borrow().iter().map(Seen::title).collect()
    }

    /// The last request with this method.
    pub fn last(&self, method: &str) -> Seen {
        self.seen.borrow().iter().rev().find(|it| it.method() == method).unwrap().clone()
    }
}

impl<F: FnMut(&Seen) -> Answer> Exchange for ScriptedPeer<F> {
    type Body = ScriptedBody;

    async fn send(&self, request: &PeerRequest<'_>) -> Result<PeerReply<ScriptedBody>, OutgoingFailure> {
        let body = request.body.map_or(Value::Null, |it| serde_json::from_str(it).unwrap());
        let seen =
            Seen { verb: request.verb, url: request.url.map(str::to_owned), headers: request.headers.clone(), body };
        self.seen.borrow_mut().push(seen.clone());
        assert!(self.seen.borrow().len() < 300, "the client asks without end");
        let answer = (self.answer.borrow_mut())(&seen);
        let json =
            |status, value: &Value, session| (status, "application/json", session, vec![value.to_string().into()]);
        let (status, content_type, session, pieces) = match answer {
            Answer::Json(status, value) => json(status, &value, None),
            Answer::Session(value, session) => json(200, &value, Some(session.to_owned())),
            Answer::Text(status, text) => (status, "text/plain", None, vec![text.as_bytes().to_vec()]),
            Answer::Events(pieces) => (200, "text/event-stream; charset=utf-8", None, pieces),
            Answer::OpenStream(events) => {
                let body = ScriptedBody { pieces: events, is_open: true };
                let content_type = Some("text/event-stream".to_owned());
                return Ok(PeerReply { status: 200, content_type, session: None, body });
            }
            Answer::Silence => pending().await,
            Answer::Unreachable => return Err(OutgoingFailure::Unreachable("no".to_owned())),
        };
        let body = ScriptedBody { pieces: Rc::new(RefCell::new(pieces.into())), is_open: false };
        Ok(PeerReply { status, content_type: Some(content_type.to_owned()), session, body })
    }

    /// A step that does not end at once never ends here: its time is over.
    async fn within<T>(&self, _: Duration, step: impl Future<Output = T>) -> Option<T> {
        let mut step = pin!(step);
        poll_fn(|context| match step.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    async fn pause(&self, time: Duration) {
        self.pauses.borrow_mut().push(time);
    }

    fn same_origin_url(&self, reference: &str) -> Option<String> {
        reference.starts_with('/').then(|| format!("https://peer.example{reference}"))
    }
}

pub struct ScriptedBody {
    pieces: Events,
    is_open: bool,
}

impl ReplyBody for ScriptedBody {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, OutgoingFailure> {
        let piece = self.pieces.borrow_mut().pop_front();
        if piece.is_none() && self.is_open {
            pending::<()>().await;
        }
        Ok(piece)
    }
}

/// Runs a future that never waits.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("the client waits without a limit"),
    }
}
