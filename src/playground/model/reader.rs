//! Reads a model's response, in whatever pieces it arrives: a stream of events, or one JSON document. The content shows
//! which of the two it is, because some servers do not do what was asked, and some gateways name a wrong type.

use super::answer::{ModelAnswer, ModelDelta};
use super::assembly::{Assembly, BodyEnd, ModelLimits};
use super::chunk;
use super::fault::{ModelFault, error_in, kept, message};
use crate::event_reader::{EventReader, StreamEvent};
use crate::json_size::{MAX_VALUES, values};
use serde::de::IgnoredAny;
use serde_json::Value;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The data of a stream's last event.
const DONE: &str = "[DONE]";

/// How much of a body is kept for a message.
const MAX_BEGINNING_BYTES: usize = 1024;

pub struct ModelReader {
    limits: ModelLimits,
    body: Body,
    assembly: Assembly,
    /// The first bytes of the body, for a message about a body that is no answer.
    beginning: Vec<u8>,
    is_done: bool,
    /// A fault that is told later, because this piece told something before it.
    fault: Option<ModelFault>,
}

enum Body {
    /// Nothing but white space has arrived, and perhaps the beginning of a byte order mark.
    Unknown(Vec<u8>),
    Events(EventReader),
    Document(Vec<u8>),
}

impl ModelReader {
    pub fn new(limits: ModelLimits) -> Self {
        Self {
            limits,
            body: Body::Unknown(Vec::new()),
            assembly: Assembly::new(limits),
            beginning: Vec::new(),
            is_done: false,
            fault: None,
        }
    }

    /// Reads the next piece of the body. Returns what became known with it. After a fault, only the fault is returned.
    pub fn read(&mut self, piece: &[u8]) -> Result<Vec<ModelDelta>, ModelFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let mut deltas = Vec::new();
        match self.take(piece, &mut deltas) {
            Err(fault) if deltas.is_empty() => {
                self.fault = Some(fault.clone());
                Err(fault)
            }
            Err(fault) => {
                self.fault = Some(fault);
                Ok(deltas)
            }
            Ok(()) => Ok(deltas),
        }
    }

    /// Whether nothing more is to be read: the server has said that the stream is over, or a fault is known, which
    /// [`ModelReader::end`] returns. Some servers keep the connection open after that.
    pub fn is_done(&self) -> bool {
        self.is_done || self.fault.is_some()
    }

    /// Ends the body. Returns what became known with its end, and the whole answer.
    pub fn end(mut self) -> Result<(Vec<ModelDelta>, ModelAnswer), ModelFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let mut deltas = Vec::new();
        let end = match std::mem::replace(&mut self.body, Body::Unknown(Vec::new())) {
            Body::Unknown(_) => return Err(ModelFault::Empty),
            Body::Events(mut reader) => {
                self.take_last_events(&mut reader, &mut deltas)?;
                if self.is_done { BodyEnd::Done } else { BodyEnd::Silent }
            }
            Body::Document(bytes) => {
                self.take_document(&bytes, &mut deltas)?;
                BodyEnd::Document
            }
        };
        if !self.assembly.is_answer() {
            return Err(self.no_answer(end));
        }
        let answer = self.assembly.end(end, &mut deltas)?;
        Ok((deltas, answer))
    }

    fn take(&mut self, piece: &[u8], deltas: &mut Vec<ModelDelta>) -> Result<(), ModelFault> {
        let room = MAX_BEGINNING_BYTES.saturating_sub(self.beginning.len());
        self.beginning.extend(piece.iter().take(room));
        match &mut self.body {
            Body::Unknown(before) => {
                before.extend_from_slice(piece);
                let content = without_mark(before.trim_ascii_start()).trim_ascii_start();
                let is_open = BYTE_ORDER_MARK.starts_with(content);
                let content = content.to_vec();
                if is_open {
                    *before = content;
                    return Ok(());
                }
                self.body = match content.first() {
                    Some(b'{' | b'[') => Body::Document(Vec::new()),
                    Some(_) | None => Body::Events(EventReader::new(self.limits.document_bytes)),
                };
                self.take_content(&content, deltas)
            }
            Body::Events(_) | Body::Document(_) => self.take_content(piece, deltas),
        }
    }

    fn take_content(&mut self, piece: &[u8], deltas: &mut Vec<ModelDelta>) -> Result<(), ModelFault> {
        match &mut self.body {
            Body::Unknown(_) => Ok(()),
            Body::Events(reader) => {
                let events = reader.read(piece)?;
                self.take_events(events, deltas)
            }
            Body::Document(bytes) => {
                if bytes.len() + piece.len() > self.limits.document_bytes {
                    return Err(ModelFault::TooLarge("the document"));
                }
                bytes.extend_from_slice(piece);
                Ok(())
            }
        }
    }

    fn take_events(&mut self, events: Vec<StreamEvent>, deltas: &mut Vec<ModelDelta>) -> Result<(), ModelFault> {
        for event in events {
            let data = event.data.trim();
            if self.is_done || data.is_empty() {
                continue;
            }
            if data == DONE {
                self.is_done = true;
                continue;
            }
            let json = parsed(data, |_| ModelFault::NotJson(kept(data)));
            if event.kind == "error" {
                return Err(error_event(data, json.ok().as_ref()));
            }
            self.assembly.take(chunk::read(&json?)?, deltas)?;
        }
        Ok(())
    }

    /// Takes an event that lacks its empty line, as long as it is whole.
    fn take_last_events(&mut self, reader: &mut EventReader, deltas: &mut Vec<ModelDelta>) -> Result<(), ModelFault> {
        if self.is_done {
            return Ok(());
        }
        let mut last = reader.read(b"\n\n").map_err(|_| ModelFault::BrokenOff)?;
        // A cut `[DONE]` says no more than the end of the body.
        last.retain(|it| it.data == DONE || !DONE.starts_with(it.data.trim()));
        if last.iter().any(|it| it.kind != "error" && it.data != DONE && !is_json(&it.data)) {
            return Err(ModelFault::BrokenOff);
        }
        self.take_events(last, deltas)
    }

    fn take_document(&mut self, bytes: &[u8], deltas: &mut Vec<ModelDelta>) -> Result<(), ModelFault> {
        let text = str::from_utf8(bytes).map_err(|cause| match cause.error_len() {
            Some(_) => ModelFault::NotText,
            // The last character is not whole.
            None => ModelFault::BrokenOff,
        })?;
        let explain = |cause: &serde_json::Error| {
            if cause.is_eof() { ModelFault::BrokenOff } else { ModelFault::NoAnswer(self.beginning()) }
        };
        let json = parsed(text, explain)?;
        self.assembly.take(chunk::read(&json)?, deltas)
    }

    /// The fault of a body that held no piece of an answer.
    fn no_answer(&self, end: BodyEnd) -> ModelFault {
        let beginning = self.beginning();
        let is_silent =
            beginning.lines().all(|it| it.trim().is_empty() || it.starts_with(':') || it.contains("[DONE]"));
        match end {
            BodyEnd::Done | BodyEnd::Silent if is_silent => ModelFault::Empty,
            BodyEnd::Done | BodyEnd::Silent | BodyEnd::Document => ModelFault::NoAnswer(beginning),
        }
    }

    fn beginning(&self) -> String {
        String::from_utf8_lossy(&self.beginning).into_owned()
    }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// The value of a JSON text. `explain` says what it means that the text is no JSON.
fn parsed(json: &str, explain: impl FnOnce(&serde_json::Error) -> ModelFault) -> Result<Value, ModelFault> {
    if values(json.as_bytes()) > MAX_VALUES {
        return Err(ModelFault::TooLarge("the number of its values"));
    }
    serde_json::from_str(json).map_err(|cause| explain(&cause))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The fault that an event of the kind `error` tells, whatever its data is.
fn error_event(data: &str, json: Option<&Value>) -> ModelFault {
    json.and_then(error_in).unwrap_or_else(|| ModelFault::Told {
        message: json.and_then(message).unwrap_or_else(|| kept(data)),
        code: None,
    })
}
