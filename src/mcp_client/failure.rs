//! Why a question to a server got no result.

use crate::event_reader::EventFault;
use crate::json_rpc::{RpcError, RpcErrorCode};
use crate::outgoing::OutgoingFailure;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub struct ClientFailure {
    pub cause: FailureCause,
    /// Whether the question itself was sent. A failed handshake, for example, comes before it.
    pub was_sent: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FailureCause {
    /// The URL or a header cannot be sent.
    Unusable(String),
    /// No server responds at the URL. The runtime's own words may hold the URL.
    Unreachable(String),
    /// The connection broke, or a stream ended, before the answer was there.
    BrokenOff(String),
    TimedOut,
    /// The answer has more bytes, values, tools or pages than the client reads.
    TooLarge(String),
    /// The answer is not UTF-8.
    NotText,
    /// The server answered with an HTTP status, and with no message of MCP. `text` is the beginning of the body.
    Refused {
        status: u16,
        text: String,
    },
    /// The server does not keep to MCP. The text says how, and continues a sentence that begins with the server.
    Protocol(String),
    /// The tool wants input that the client did not offer. The text names what was asked for.
    InputRequired(String),
    /// The server's own error.
    Rpc(RpcError),
}

impl ClientFailure {
    /// Whether a call surely did not run, so that it may be sent again.
    pub fn surely_did_not_run(&self) -> bool {
        !self.was_sent || self.cause.is_refusal()
    }

    /// The failure with the server's own words as `scrub` leaves them: a server may repeat a secret of the request.
    pub fn scrubbed(mut self, scrub: impl Fn(String) -> String) -> Self {
        match &mut self.cause {
            FailureCause::Refused { text, .. } => *text = scrub(std::mem::take(text)),
            FailureCause::Rpc(error) => error.message = scrub(std::mem::take(&mut error.message)),
            FailureCause::InputRequired(words) | FailureCause::Protocol(words) => *words = scrub(std::mem::take(words)),
            FailureCause::Unusable(_)
            | FailureCause::Unreachable(_)
            | FailureCause::BrokenOff(_)
            | FailureCause::TimedOut
            | FailureCause::TooLarge(_)
            | FailureCause::NotText => {}
        }
        self
    }

    /// Whether the server says that it has no such tool. Its list has then changed.
    pub fn is_unknown_tool(&self) -> bool {
        match &self.cause {
            FailureCause::Rpc(error) => {
                [RpcErrorCode::INVALID_PARAMS, RpcErrorCode::METHOD_NOT_FOUND].contains(&error.code)
                    && tells_unknown_tool(&error.message)
            }
            _ => false,
        }
    }
}

/// Whether a server's text says that it has no such tool. Many servers say so in a result with `isError`, in words of
/// their SDK.
pub fn tells_unknown_tool(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("unknown tool") || (text.contains("tool") && text.contains("not found"))
}

impl FailureCause {
    /// Whether a server that answers so has surely not run what it was asked to run.
    fn is_refusal(&self) -> bool {
        match self {
            Self::Unusable(_) => true,
            Self::Refused { status, .. } => {
                matches!(status, 300..400 | 400 | 401 | 403 | 404 | 405 | 406 | 411 | 413 | 415 | 421 | 426 | 429)
            }
            Self::Rpc(error) => [
                RpcErrorCode::PARSE_ERROR,
                RpcErrorCode::INVALID_REQUEST,
                RpcErrorCode::METHOD_NOT_FOUND,
                RpcErrorCode::HEADER_MISMATCH,
                RpcErrorCode::MISSING_CAPABILITY,
                RpcErrorCode::UNSUPPORTED_REVISION,
            ]
            .contains(&error.code),
            Self::Unreachable(_)
            | Self::BrokenOff(_)
            | Self::TimedOut
            | Self::TooLarge(_)
            | Self::NotText
            | Self::Protocol(_)
            | Self::InputRequired(_) => false,
        }
    }
}

impl From<OutgoingFailure> for FailureCause {
    fn from(failure: OutgoingFailure) -> Self {
        match failure {
            OutgoingFailure::Unusable(cause) => Self::Unusable(cause),
            OutgoingFailure::Unreachable(cause) => Self::Unreachable(cause),
            OutgoingFailure::TimedOut => Self::TimedOut,
            OutgoingFailure::BrokenOff(cause) => Self::BrokenOff(cause),
            OutgoingFailure::TooLarge => Self::TooLarge("bytes".to_owned()),
            OutgoingFailure::NotText => Self::NotText,
        }
    }
}

impl From<EventFault> for FailureCause {
    fn from(fault: EventFault) -> Self {
        match fault {
            EventFault::TooLarge => Self::TooLarge("bytes".to_owned()),
            EventFault::NotText => Self::NotText,
        }
    }
}

/// A sentence without its subject, the server. The runtime's own words are left out, because they may hold the URL.
impl fmt::Display for FailureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable(_) => f.write_str("cannot be asked: its URL or a header cannot be sent"),
            Self::Unreachable(_) => f.write_str("could not be reached"),
            Self::BrokenOff(_) => f.write_str("broke off its answer"),
            Self::TimedOut => f.write_str("did not answer in time"),
            Self::TooLarge(what) => write!(f, "answered too many {what}"),
            Self::NotText => f.write_str("answered something that is not UTF-8"),
            Self::Refused { status, text } if text.is_empty() => write!(f, "answered with the status {status}"),
            Self::Refused { status, text } => write!(f, "answered with the status {status}: {text}"),
            Self::Protocol(problem) => f.write_str(problem),
            Self::InputRequired(asked) => write!(f, "asks for input that Pegboard cannot give: {asked}"),
            Self::Rpc(error) => write!(f, "answered with the error {}: {}", error.code.0, error.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_is_proof_that_a_call_did_not_run() {
        let rpc = |code| FailureCause::Rpc(RpcError::new(RpcErrorCode(code), "no"));
        let refused = |status| FailureCause::Refused { status, text: String::new() };
        let sent = |cause| ClientFailure { cause, was_sent: true }.surely_did_not_run();
        for cause in [refused(302), refused(400), refused(404), refused(429), rpc(-32601), rpc(-32020), rpc(-32600)] {
            assert!(sent(cause.clone()), "{cause:?}");
        }
        let unreachable = FailureCause::Unreachable(String::new());
        for cause in [refused(408), refused(500), refused(502), rpc(-32602), rpc(-32603), unreachable.clone()] {
            assert!(!sent(cause.clone()), "{cause:?}");
        }
        assert!(!sent(FailureCause::TimedOut) && !sent(FailureCause::BrokenOff(String::new())));
        assert!(ClientFailure { cause: unreachable, was_sent: false }.surely_did_not_run());
    }

    #[test]
    fn an_unknown_tool_is_told_in_the_words_of_the_sdks() {
        for text in ["Unknown tool: 'x'", "MCP error -32602: Tool x not found", "Tool 'x' not found."] {
            assert!(tells_unknown_tool(text), "{text}");
        }
        assert!(!tells_unknown_tool("File not found") && !tells_unknown_tool("The tool is broken"));
    }

    #[test]
    fn a_message_does_not_show_the_url() {
        let url = || "https://secret.example".to_owned();
        for cause in [FailureCause::Unusable(url()), FailureCause::Unreachable(url()), FailureCause::BrokenOff(url())] {
            assert!(!cause.to_string().contains("secret"), "{cause}");
        }
    }
}
