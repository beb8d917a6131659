//! JSON-RPC with one process: who waits for which answer.
//!
//! Requests of many clients share the process, so every request gets an id of the connection's own. Answers that nobody
//! waits for are dropped. What the process asks for is refused, so that it does not wait for ever.

use crate::message::{Message, MessageKind, raw, read};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// How many lines, and bytes, may wait until the process reads them.
const MAX_QUEUED_LINES: usize = 256;
const MAX_QUEUED_BYTES: usize = 64 << 20;

pub struct Connection {
    state: Mutex<ConnectionState>,
}

struct ConnectionState {
    /// None, when the process gets no more lines.
    lines: Option<mpsc::Sender<Vec<u8>>>,
    queued_bytes: usize,
    next_id: u64,
    waiting: HashMap<u64, Waiting>,
}

struct Waiting {
    /// The client's own id, as JSON; none for the bridge's own requests.
    client_id: Option<String>,
    answer: oneshot::Sender<Message>,
}

/// Why a request was not sent.
#[derive(Debug, PartialEq)]
pub enum NotSent {
    /// Too many requests wait already.
    Full,
    /// The process gets no more requests.
    Closed,
}

/// The process has ended, or is being ended.
#[derive(Debug)]
pub struct Lost;

impl Connection {
    /// The connection, and the lines that are to be written to the process.
    pub fn new() -> (Arc<Self>, mpsc::Receiver<Vec<u8>>) {
        let (lines, queued) = mpsc::channel(MAX_QUEUED_LINES);
        let state = ConnectionState { lines: Some(lines), queued_bytes: 0, next_id: 1, waiting: HashMap::new() };
        (Arc::new(Self { state: Mutex::new(state) }), queued)
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request. Dropping what is returned cancels the request.
    pub fn request(self: &Arc<Self>, message: Message) -> Result<Answer, NotSent> {
        let client_id = message.id().map(|id| id.get().to_owned());
        let mut state = self.state();
        let id = state.next_id;
        state.next_id += 1;
        let (answer, received) = oneshot::channel();
        state.send(&message.with_id(raw(&id)))?;
        state.waiting.insert(id, Waiting { client_id, answer });
        Ok(Answer { connection: self.clone(), id, received, cancels: true })
    }

    pub fn notify(&self, message: &Message) -> Result<(), NotSent> {
        self.state().send(message)
    }

    /// Passes a client's cancellation on, under the id that the process knows. Clients do not know each other's ids, so two
    /// of them may use the same one; then nothing is cancelled.
    pub fn cancel(&self, client_id: &RawValue) {
        let mut state = self.state();
        let mut found = state.waiting.iter().filter(|(_, it)| it.client_id.as_deref() == Some(client_id.get()));
        if let (Some((&id, _)), None) = (found.next(), found.next()) {
            state.cancel(id, "The client cancelled the request");
        }
    }

    /// A line that the process wrote. Returns what is worth a note.
    pub fn receive(&self, line: &[u8]) -> Option<String> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let excerpt = || String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        // Bytes that are not UTF-8 are no JSON either.
        let message = match Message::parse(line) {
            Ok(message) => message,
            Err(cause) => {
                return Some(format!("skipped a line of stdout, which is no message ({cause}): {}", excerpt()));
            }
        };
        match message.kind() {
            Some(MessageKind::Response) => {
                let waiting = message.id().and_then(read::<u64>).and_then(|id| self.state().waiting.remove(&id));
                // Otherwise nobody waits, or not any more.
                if let Some(waiting) = waiting {
                    let _ = waiting.answer.send(message);
                }
            }
            Some(MessageKind::Request { method }) => self.answer_process(&message, &method),
            // Progress, logs and changes of lists: there is no stream on which a client could get them.
            Some(MessageKind::Notification { .. }) => {}
            None => return Some(format!("skipped a line of stdout, which is no JSON-RPC: {}", excerpt())),
        }
        None
    }

    fn answer_process(&self, message: &Message, method: &str) {
        let Some(id) = message.id() else { return };
        let answer = match method {
            "ping" => Message::result(id, &raw(&json!({}))),
            _ => Message::error(Some(id), -32601, &format!("Pegboard does not offer {method}"), &Value::Null),
        };
        // A process that asks more than it reads gets no answers.
        let _ = self.state().send(&answer);
    }

    /// The writer has written a line.
    pub fn written(&self, bytes: usize) {
        let mut state = self.state();
        state.queued_bytes = state.queued_bytes.saturating_sub(bytes);
    }

    /// The process gets no more lines. Who waits for an answer may still get it.
    pub fn close_input(&self) {
        self.state().lines = None;
    }

    /// All who wait learn that there will be no answer.
    pub fn close(&self) {
        let mut state = self.state();
        state.lines = None;
        state.waiting.clear();
    }

    pub fn is_open(&self) -> bool {
        self.state().lines.is_some()
    }
}

impl ConnectionState {
    fn send(&mut self, message: &Message) -> Result<(), NotSent> {
        let lines = self.lines.as_ref().ok_or(NotSent::Closed)?;
        let line = message.to_line().ok_or(NotSent::Full)?;
        let bytes = line.len();
        if self.queued_bytes + bytes > MAX_QUEUED_BYTES {
            return Err(NotSent::Full);
        }
        lines.try_send(line).map_err(|cause| match cause {
            mpsc::error::TrySendError::Full(_) => NotSent::Full,
            mpsc::error::TrySendError::Closed(_) => NotSent::Closed,
        })?;
        self.queued_bytes += bytes;
        Ok(())
    }

    fn cancel(&mut self, id: u64, reason: &str) {
        let params = json!({"requestId": id, "reason": reason});
        // Without room for it, the process goes on for nothing.
        let _ = self.send(&Message::new("notifications/cancelled", &params));
    }
}

/// The answer to a request, once it comes.
pub struct Answer {
    connection: Arc<Connection>,
    id: u64,
    received: oneshot::Receiver<Message>,
    cancels: bool,
}

impl Answer {
    pub async fn wait(&mut self) -> Result<Message, Lost> {
        (&mut self.received).await.map_err(|_| Lost)
    }

    /// The process is not told if nobody waits any more.
    pub fn without_cancelling(mut self) -> Self {
        self.cancels = false;
        self
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        let mut state = self.connection.state();
        if state.waiting.remove(&self.id).is_some() && self.cancels {
            state.cancel(self.id, "The client does not wait any more");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(value: Value) -> Message {
        Message::parse(value.to_string().as_bytes()).unwrap()
    }

    fn request(id: Value) -> Message {
        message(json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}))
    }

    fn sent(queued: &mut mpsc::Receiver<Vec<u8>>) -> Value {
        serde_json::from_slice(&queued.try_recv().expect("a line was sent")).unwrap()
    }

    #[tokio::test]
    async fn answers_find_who_waits_for_them_in_any_order() {
        let (connection, mut queued) = Connection::new();
        let mut first = connection.request(request(json!("a"))).unwrap();
        let mut second = connection.request(request(json!("a"))).unwrap();
        assert_eq!([sent(&mut queued)["id"].clone(), sent(&mut queued)["id"].clone()], [json!(1), json!(2)]);
        for line in [&br#"{"id":2,"result":"two"}"#[..], br#"{"id":7,"result":0}"#, br#"{"id":"1","result":0}"#, b" \r"]
        {
            assert_eq!(connection.receive(line), None);
        }
        assert_eq!(second.wait().await.unwrap().get("result").unwrap().get(), "\"two\"");
        assert_eq!(connection.state().waiting.len(), 1);
        assert!(connection.receive(b"{\"id\":1,\"result\":\"\xff\"}").unwrap().contains("no message"));
        assert!(connection.receive(br#"{"id":1}"#).unwrap().contains("no JSON-RPC"));
        connection.close();
        assert!(first.wait().await.is_err());
        assert_eq!(connection.request(request(json!(1))).err(), Some(NotSent::Closed));
    }

    #[tokio::test]
    async fn what_the_process_asks_for_is_answered_at_once() {
        let (connection, mut queued) = Connection::new();
        connection.receive(br#"{"id":"p","method":"ping"}"#);
        assert_eq!(sent(&mut queued), json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
        for method in ["sampling/createMessage", "elicitation/create", "roots/list"] {
            connection.receive(json!({"id": 1, "method": method}).to_string().as_bytes());
            assert_eq!(sent(&mut queued)["error"]["code"], -32601);
        }
        connection.receive(br#"{"method":"notifications/message","params":{}}"#);
        assert!(queued.try_recv().is_err());
    }

    #[tokio::test]
    async fn cancellations_name_the_id_that_the_process_knows() {
        let (connection, mut queued) = Connection::new();
        let [first, second, third] = ["a", "b", "b"].map(|id| connection.request(request(json!(id))).unwrap());
        for _ in 0..3 {
            sent(&mut queued);
        }
        connection.cancel(&serde_json::value::to_raw_value("a").unwrap());
        assert_eq!(sent(&mut queued)["params"]["requestId"], 1);
        connection.cancel(&serde_json::value::to_raw_value("b").unwrap());
        assert!(queued.try_recv().is_err(), "two requests have this id");
        drop(second);
        let told = sent(&mut queued);
        assert_eq!((&told["method"], &told["params"]["requestId"]), (&json!("notifications/cancelled"), &json!(2)));
        drop(third.without_cancelling());
        assert!(queued.try_recv().is_err() && connection.state().waiting.len() == 1);
        drop(first);
    }

    #[test]
    fn only_so_much_waits_for_a_process_that_does_not_read() {
        let (connection, _queued) = Connection::new();
        let large = message(json!({"method": "x", "params": "x".repeat(MAX_QUEUED_BYTES / 2)}));
        assert_eq!([connection.notify(&large), connection.notify(&large)], [Ok(()), Err(NotSent::Full)]);
        connection.written(MAX_QUEUED_BYTES / 2);
        assert_eq!(connection.notify(&large), Ok(()));
        let small = message(json!({"method": "x"}));
        connection.written(MAX_QUEUED_BYTES);
        let sent = (0..2 * MAX_QUEUED_LINES).take_while(|_| connection.notify(&small).is_ok()).count();
        assert_eq!(sent, MAX_QUEUED_LINES - 2);
    }
}
