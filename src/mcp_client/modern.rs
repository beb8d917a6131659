//! The era since 2026-07-28: no handshake. Each request says all of itself, and repeats some of it in headers.

use super::conversation::{Conversation, EraFailure, Spoken};
use super::exchange::Exchange;
use super::failure::FailureCause;
use super::memory::{PeerEra, PeerMemory};
use super::question::{ACCEPT_BOTH, MAX_HANDSHAKE_BYTES, Question, Words, client_info};
use super::revisions::{self, HANDSHAKE_REVISIONS};
use crate::json_rpc::{RpcError, RpcErrorCode};
use crate::mcp_protocol::fields::{
    INPUT_REQUESTS, META, META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_REVISION, META_SERVER_INFO, REQUEST_STATE,
    RESULT_INPUT_REQUIRED,
};
use crate::mcp_protocol::{MODERN_REVISION, McpMethod, RepeatingHeader, encoded};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How often a server may say that it needs another round before its result is there.
const MAX_ROUNDS: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The fields of a result that are the protocol's own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultHead {
    result_type: Option<String>,
    request_state: Option<Value>,
    input_requests: Option<Map<String, Value>>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
    /// In the result of `server/discover`.
    server_info: Option<Value>,
    supported_versions: Option<Vec<String>>,
}

impl<E: Exchange> Conversation<'_, E> {
    pub async fn ask_modern(&mut self, question: &Question) -> Result<String, EraFailure> {
        // A call is no probe: if it failed, nobody would know whether it ran.
        if question.is_call() && !self.remembers(PeerEra::Modern) {
            self.discover().await?;
        }
        let is_known = self.remembers(PeerEra::Modern);
        let mut params = with_meta(question.params.clone());
        let mut pause = FIRST_PAUSE;
        for _ in 0..=MAX_ROUNDS {
            let text = self.ask_round(question, &params).await?;
            let head = head(&text)?;
            // A server of an older revision may answer without a handshake. One that takes a handshake gets it.
            if !is_known && head.result_type.is_none() && head.server_info().is_none() {
                self.unclear = Some(text);
                let problem = "does not speak the revision 2026-07-28".to_owned();
                return Err(EraFailure::OtherEra(FailureCause::Protocol(problem)));
            }
            self.remember_modern(head.server_info());
            if head.result_type.as_deref() != Some(RESULT_INPUT_REQUIRED) {
                return Ok(text);
            }
            if let Some(requests) = head.input_requests.filter(|it| !it.is_empty()) {
                return Err(FailureCause::InputRequired(asked_for(&requests)).into());
            }
            let Some(state) = head.request_state else {
                let problem = format!("wants input, and sends neither {INPUT_REQUESTS} nor {REQUEST_STATE}");
                return Err(FailureCause::Protocol(problem).into());
            };
            // The next round goes on with what the server has begun. It is no second call.
            params.insert(REQUEST_STATE.to_owned(), state);
            self.exchange.pause(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(FailureCause::Protocol(format!("wants more than {MAX_ROUNDS} further rounds for one request")).into())
    }

    /// One request of a question, which a server may ask for again under another revision.
    async fn ask_round(&mut self, question: &Question, params: &Map<String, Value>) -> Result<String, EraFailure> {
        let is_known = self.remembers(PeerEra::Modern);
        let mut was_refused = false;
        loop {
            let headers = headers(question.method, params, &question.param_headers);
            self.was_sent = true;
            let spoken = self.say_modern(question.method, params, headers, question.max_bytes).await;
            match judged(spoken, is_known, was_refused)? {
                Judged::Result(text) => return Ok(text),
                Judged::Again => was_refused = true,
                Judged::Speaks(cause) => {
                    self.remember_modern(None);
                    return Err(cause.into());
                }
                Judged::Offer(revision, cause) => {
                    self.offer = revision;
                    return Err(EraFailure::OtherEra(cause));
                }
            }
        }
    }

    /// Finds out whether the server speaks this era, by a request without an effect.
    async fn discover(&mut self) -> Result<(), EraFailure> {
        let method = McpMethod::Discover;
        let (params, mut was_refused) = (with_meta(Map::new()), false);
        loop {
            let headers = headers(method, &params, &[]);
            let spoken = self.say_modern(method, &params, headers, MAX_HANDSHAKE_BYTES).await;
            match judged(spoken, false, was_refused)? {
                Judged::Result(text) => {
                    let head = head(&text)?;
                    if head.supported_versions.as_ref().is_some_and(|it| !it.iter().any(|it| it == MODERN_REVISION)) {
                        let problem = "does not speak the revision 2026-07-28".to_owned();
                        return Err(EraFailure::OtherEra(FailureCause::Protocol(problem)));
                    }
                    self.remember_modern(head.server_info());
                    return Ok(());
                }
                Judged::Again => was_refused = true,
                Judged::Speaks(_) => {
                    self.remember_modern(None);
                    return Ok(());
                }
                Judged::Offer(revision, cause) => {
                    self.offer = revision;
                    return Err(EraFailure::OtherEra(cause));
                }
            }
        }
    }

    async fn say_modern(
        &mut self,
        method: McpMethod,
        params: &Map<String, Value>,
        headers: Vec<(String, String)>,
        max_bytes: usize,
    ) -> Result<Spoken, FailureCause> {
        let words = Words { id: self.new_id(), method, params, max_bytes };
        self.say(&words, headers, None).await.map(|(spoken, _)| spoken)
    }

    pub fn remember_modern(&mut self, told: Option<&Value>) {
        let known = self.memory.take().and_then(|it| it.server_info);
        let (revision, server_info) = (MODERN_REVISION.to_owned(), told.cloned().or(known));
        self.memory = Some(PeerMemory { era: PeerEra::Modern, revision, session: None, server_info });
    }
}

impl ResultHead {
    /// The server's name and version, wherever the result has them.
    fn server_info(&self) -> Option<&Value> {
        self.meta.as_ref().and_then(|it| it.get(META_SERVER_INFO)).or(self.server_info.as_ref())
    }
}

/// The parameters of a request that says all of itself. The client offers nothing of its own.
fn with_meta(mut params: Map<String, Value>) -> Map<String, Value> {
    let meta = json!({META_REVISION: MODERN_REVISION, META_CLIENT_CAPABILITIES: {}, META_CLIENT_INFO: client_info()});
    params.insert(META.to_owned(), meta);
    params
}

/// What an answer means in this era.
enum Judged {
    Result(String),
    /// The server refuses the revision, and lists it: it wants to be asked again.
    Again,
    /// The server speaks this era, and refuses the request.
    Speaks(FailureCause),
    /// The server wants a handshake for this revision.
    Offer(&'static str, FailureCause),
}

/// `is_known` says that the server spoke this era before.
fn judged(spoken: Result<Spoken, FailureCause>, is_known: bool, was_refused: bool) -> Result<Judged, EraFailure> {
    let spoken = match spoken {
        // A server of another era may answer anything.
        Err(cause @ FailureCause::Protocol(_)) if !is_known => return Err(EraFailure::OtherEra(cause)),
        Err(cause) => return Err(EraFailure::Final(cause)),
        Ok(Spoken::Result(text)) => return Ok(Judged::Result(text)),
        Ok(spoken) => spoken,
    };
    if let Spoken::Error { error, .. } = &spoken
        && error.code == RpcErrorCode::UNSUPPORTED_REVISION
    {
        return revision_refused(error, was_refused).map_err(EraFailure::Final);
    }
    let (status, code) = (spoken.status(), spoken.code());
    let is_modern = matches!(code, Some(RpcErrorCode::HEADER_MISMATCH | RpcErrorCode::MISSING_CAPABILITY))
        || (status == 404 && code == Some(RpcErrorCode::METHOD_NOT_FOUND));
    let is_other = if is_known { tells_other_era(&spoken) } else { !matches!(status, 401 | 403 | 407 | 429) };
    let cause = match spoken.into_result() {
        Ok(text) => return Ok(Judged::Result(text)),
        Err(cause) => cause,
    };
    match (is_modern, is_other) {
        (true, _) => Ok(Judged::Speaks(cause)),
        (false, true) => Err(EraFailure::OtherEra(cause)),
        (false, false) => Err(EraFailure::Final(cause)),
    }
}

/// Whether a server that spoke this era before has surely not understood the request.
fn tells_other_era(spoken: &Spoken) -> bool {
    let is_telling = match spoken {
        Spoken::Result(_) => false,
        Spoken::Refused { .. } => true,
        Spoken::Error { error, .. } => {
            [RpcErrorCode::INVALID_REQUEST, RpcErrorCode::METHOD_NOT_FOUND, RpcErrorCode::REFUSED].contains(&error.code)
        }
    };
    is_telling && matches!(spoken.status(), 400 | 404 | 405)
}

/// What to do about a server that refuses the revision.
fn revision_refused(error: &RpcError, was_refused: bool) -> Result<Judged, FailureCause> {
    let supported = revisions::supported_in(error);
    if supported.iter().any(|it| it == MODERN_REVISION) {
        return if was_refused { Err(FailureCause::Rpc(error.clone())) } else { Ok(Judged::Again) };
    }
    match HANDSHAKE_REVISIONS.into_iter().find(|it| supported.iter().any(|other| other == it)) {
        Some(revision) => Ok(Judged::Offer(revision, FailureCause::Rpc(error.clone()))),
        None => Err(FailureCause::Rpc(error.clone())),
    }
}

fn headers(method: McpMethod, params: &Map<String, Value>, more: &[(String, String)]) -> Vec<(String, String)> {
    let name = method.named_by().and_then(|it| params.get(it)).and_then(Value::as_str);
    let own = [
        ("Accept", Some(ACCEPT_BOTH.to_owned())),
        (RepeatingHeader::Revision.name(), Some(MODERN_REVISION.to_owned())),
        (RepeatingHeader::Method.name(), Some(method.as_str().to_owned())),
        (RepeatingHeader::Name.name(), name.map(encoded)),
    ];
    let own = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    own.chain(more.iter().cloned()).collect()
}

fn head(text: &str) -> Result<ResultHead, EraFailure> {
    let read = serde_json::from_str::<ResultHead>(text);
    read.map_err(|cause| FailureCause::Protocol(format!("sent a result that cannot be read: {cause}")).into())
}

/// The methods that a server wants the client to carry out.
fn asked_for(requests: &Map<String, Value>) -> String {
    let methods = requests.values().map(|it| it.get("method").and_then(Value::as_str).unwrap_or("unknown"));
    let mut methods = methods.take(5).collect::<Vec<_>>();
    methods.dedup();
    methods.join(", ")
}
