//! The conversation with one server during one request of the Worker: which era it speaks, and how a question gets its
//! answer in that era.

use super::PeerAnswer;
use super::body::{self, EventBody};
use super::event_stream::OpenStream;
use super::exchange::{Exchange, PeerReply, PeerRequest, Verb};
use super::failure::{ClientFailure, FailureCause};
use super::link::Link;
use super::memory::{PeerEra, PeerMemory};
use super::peer::McpTransport;
use super::question::{Question, Words, cancellation};
use crate::json_rpc::{ReceivedMessage, RpcError, RpcErrorCode, RpcId, RpcMessage, RpcResponse};
use crate::mcp_protocol::{LATEST_LEGACY_REVISION, McpMethod};
use crate::memory_turn::MemoryTurn;
use crate::outgoing::excerpt;
use crate::random;
use std::time::Duration;

/// How much of the text of a refusal is read.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;
/// How many requests of a server are answered while the client waits for one answer.
const MAX_SERVER_REQUESTS: usize = 100;
/// How long a server is told that an answer is not wanted any more.
const CANCEL_TIME: Duration = Duration::from_secs(1);

pub struct Conversation<'a, E: Exchange> {
    pub exchange: &'a E,
    pub turn: &'a MemoryTurn,
    transport: McpTransport,
    pub memory: Option<PeerMemory>,
    /// The revision that a handshake offers.
    pub offer: &'static str,
    /// How many handshakes were made.
    pub handshakes: u32,
    /// Whether the question was sent, and may have had an effect.
    pub was_sent: bool,
    /// The request that is waited for, where the server wants to be told that nobody waits any more.
    pub in_flight: Option<(RpcId, Link)>,
    pub stream: Option<OpenStream<E::Body>>,
    /// The result of a server that may speak the modern era, or ignore what is new in it.
    pub unclear: Option<String>,
    last_id: u64,
    server_requests: usize,
}

/// What a server said to a request.
pub enum Spoken {
    Result(String),
    Error { status: u16, error: RpcError },
    Refused { status: u16, text: String },
}

/// Why a question got no result in one era.
pub enum EraFailure {
    /// The server does not speak this era, and did nothing.
    OtherEra(FailureCause),
    Final(FailureCause),
}

impl From<FailureCause> for EraFailure {
    fn from(cause: FailureCause) -> Self {
        Self::Final(cause)
    }
}

impl Spoken {
    pub fn status(&self) -> u16 {
        match self {
            Self::Result(_) => 200,
            Self::Error { status, .. } | Self::Refused { status, .. } => *status,
        }
    }

    pub fn code(&self) -> Option<RpcErrorCode> {
        match self {
            Self::Error { error, .. } => Some(error.code),
            Self::Result(_) | Self::Refused { .. } => None,
        }
    }

    /// The words of a refusal or an error.
    pub fn words(&self) -> &str {
        match self {
            Self::Result(_) => "",
            Self::Error { error, .. } => &error.message,
            Self::Refused { text, .. } => text,
        }
    }

    pub fn into_result(self) -> Result<String, FailureCause> {
        match self {
            Self::Result(text) => Ok(text),
            Self::Error { error, .. } => Err(FailureCause::Rpc(error)),
            Self::Refused { status, text } => Err(FailureCause::Refused { status, text }),
        }
    }
}

impl<'a, E: Exchange> Conversation<'a, E> {
    pub fn new(exchange: &'a E, transport: McpTransport, turn: &'a MemoryTurn, memory: Option<PeerMemory>) -> Self {
        let mut bytes = [0; 8];
        // The ids of several conversations in one session should differ. Without randomness they begin at 0.
        let _ = random::fill(&mut bytes[2..]);
        Self {
            exchange,
            turn,
            transport,
            memory,
            offer: LATEST_LEGACY_REVISION,
            handshakes: 0,
            was_sent: false,
            in_flight: None,
            stream: None,
            unclear: None,
            last_id: u64::from_be_bytes(bytes),
            server_requests: 0,
        }
    }

    /// Asks a question in the era that the server speaks. Finds the era out, if it is not known or not true any more.
    pub async fn ask(&mut self, question: &Question) -> Result<String, FailureCause> {
        let mut first_failure = None;
        let all = [PeerEra::Modern, PeerEra::Legacy, PeerEra::EventStream];
        let known = match self.transport {
            McpTransport::Sse => Some(PeerEra::EventStream),
            McpTransport::StreamableHttp => self.memory.as_ref().map(|it| it.era),
        };
        let is_fixed = self.transport == McpTransport::Sse;
        let others = all.into_iter().filter(move |it| Some(*it) != known && !is_fixed);
        for era in known.into_iter().chain(others) {
            let asked = match era {
                PeerEra::Modern => self.ask_modern(question).await,
                PeerEra::Legacy => self.ask_legacy(question).await,
                PeerEra::EventStream => self.ask_over_stream(question).await,
            };
            match asked {
                Ok(result) => return Ok(result),
                Err(EraFailure::Final(cause)) => return Err(cause),
                Err(EraFailure::OtherEra(cause)) => {
                    first_failure.get_or_insert(cause);
                    self.was_sent = false;
                    self.memory = None;
                }
            }
            if era == PeerEra::Legacy
                && let Some(result) = self.unclear.take()
            {
                self.remember_modern(None);
                return Ok(result);
            }
        }
        Err(first_failure.unwrap_or_else(|| FailureCause::Protocol("speaks no known revision of MCP".to_owned())))
    }

    pub fn remembers(&self, era: PeerEra) -> bool {
        self.memory.as_ref().is_some_and(|it| it.era == era)
    }

    pub fn new_id(&mut self) -> RpcId {
        self.last_id += 1;
        RpcId::Number(self.last_id.into())
    }

    /// Posts a request, and waits for its answer. The link is the way for answers to the server's own requests, and for
    /// coming back to a stream that has ended. Returns the session that the server gave, too.
    pub async fn say(
        &mut self,
        words: &Words<'_>,
        headers: Vec<(String, String)>,
        link: Option<&Link>,
    ) -> Result<(Spoken, Option<String>), FailureCause> {
        let body = words.write();
        let request = PeerRequest { verb: Verb::Post, url: None, headers, body: Some(&body) };
        let mut reply = self.exchange.send(&request).await?;
        let session = reply.session.take();
        if is_stream(&reply) {
            let answer = self.answer_on_stream(EventBody::of(reply.body), words, link).await?;
            return Ok((answer, session));
        }
        let max_bytes = if is_success(reply.status) { words.max_bytes } else { MAX_REFUSAL_BYTES };
        let text = body::text(&mut reply.body, max_bytes, self.turn).await;
        let spoken = if is_success(reply.status) {
            self.answer_in_text(reply.status, &text?, words, link).await?
        } else {
            refusal(reply.status, text.as_deref().unwrap_or_default())
        };
        Ok((spoken, session))
    }

    async fn answer_in_text(
        &mut self,
        status: u16,
        text: &str,
        words: &Words<'_>,
        link: Option<&Link>,
    ) -> Result<Spoken, FailureCause> {
        if text.trim().is_empty() {
            let problem = format!("answered a request with the status {status} and an empty body");
            return Err(FailureCause::Protocol(problem));
        }
        for message in messages(text, link)? {
            // An error that names no request can only mean the one in the same exchange.
            if let ReceivedMessage::Response(RpcResponse { id: None, outcome: Err(error) }) = message {
                return Ok(Spoken::Error { status, error });
            }
            if let Some(spoken) = self.hear(message, &words.id, status, link).await? {
                return Ok(spoken);
            }
        }
        Err(FailureCause::Protocol("answered another request than the one that was sent".to_owned()))
    }

    /// Reads events until the answer is there. None, if the stream ends before.
    pub async fn listen(
        &mut self,
        events: &mut EventBody<E::Body>,
        id: &RpcId,
        link: Option<&Link>,
    ) -> Result<Option<Spoken>, FailureCause> {
        while let Some(event) = events.next(self.turn).await? {
            if event.kind != "message" || event.data.trim().is_empty() {
                continue;
            }
            for message in messages(&event.data, link)? {
                if let Some(spoken) = self.hear(message, id, 200, link).await? {
                    return Ok(Some(spoken));
                }
            }
        }
        Ok(None)
    }

    /// The answer, if the message is it. A request of the server is answered or refused, so that the server does not
    /// wait. Everything else is none of this conversation.
    async fn hear(
        &mut self,
        message: ReceivedMessage,
        id: &RpcId,
        status: u16,
        link: Option<&Link>,
    ) -> Result<Option<Spoken>, FailureCause> {
        match message {
            ReceivedMessage::Response(response) if response.id.as_ref() == Some(id) => {
                Ok(Some(match response.outcome {
                    Ok(result) => Spoken::Result(result),
                    Err(error) => Spoken::Error { status, error },
                }))
            }
            ReceivedMessage::Request { id, method } => {
                if let Some(link) = link {
                    self.respond(id, &method, link).await?;
                }
                Ok(None)
            }
            ReceivedMessage::Response(_) | ReceivedMessage::Notification => Ok(None),
        }
    }

    async fn respond(&mut self, id: RpcId, method: &str, link: &Link) -> Result<(), FailureCause> {
        self.server_requests += 1;
        if self.server_requests > MAX_SERVER_REQUESTS {
            return Err(FailureCause::Protocol("sends requests without end instead of an answer".to_owned()));
        }
        let outcome = match method == McpMethod::Ping.as_str() {
            true => Ok("{}".to_owned()),
            false => Err(RpcError::new(RpcErrorCode::METHOD_NOT_FOUND, "The client does not offer this method")),
        };
        let body = RpcMessage::Response(RpcResponse { id: Some(id), outcome }).write();
        // A server that does not take the response goes without it. The client only wants its answer.
        let _ = self.exchange.send(&link.post(&body)).await;
        Ok(())
    }

    /// Ends the conversation. `done` is none if its time is over.
    pub async fn end<T>(mut self, done: Option<Result<T, FailureCause>>) -> PeerAnswer<T> {
        if done.is_none()
            && let Some((id, link)) = self.in_flight.take()
        {
            let body = cancellation(&id);
            self.exchange.within(CANCEL_TIME, self.exchange.send(&link.post(&body))).await;
        }
        let was_sent = self.was_sent;
        let outcome = done.unwrap_or(Err(FailureCause::TimedOut)).map_err(|cause| ClientFailure { cause, was_sent });
        PeerAnswer { outcome, memory: self.memory }
    }
}

/// The messages in a text. Only servers of 2025-03-26 may send several at once.
fn messages(text: &str, link: Option<&Link>) -> Result<Vec<ReceivedMessage>, FailureCause> {
    let read = match link.is_some_and(|it| it.revision == "2025-03-26") {
        true => ReceivedMessage::read_batch(text),
        false => ReceivedMessage::read(text).map(|it| vec![it]),
    };
    read.map_err(|problem| FailureCause::Protocol(format!("sent a message that {problem}")))
}

/// What the text of a refusal says: an error of MCP, or something else.
fn refusal(status: u16, text: &str) -> Spoken {
    match ReceivedMessage::read(text) {
        Ok(ReceivedMessage::Response(RpcResponse { outcome: Err(error), .. })) => Spoken::Error { status, error },
        _ => Spoken::Refused { status, text: excerpt(text).to_owned() },
    }
}

pub fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// Whether the reply is a stream of events.
pub fn is_stream<B>(reply: &PeerReply<B>) -> bool {
    let media_type = reply.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default();
    is_success(reply.status) && media_type.trim().eq_ignore_ascii_case("text/event-stream")
}
