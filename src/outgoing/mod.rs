//! The one HTTP client of the Worker: every request that the Worker makes goes through here.
//!
//! The client knows which addresses may be called (`address`), which headers may be sent and how credentials get into
//! them (`headers`), how a request is sent and for how long (`request`, `deadline`, `abort`), and how much of a response is read
//! (`response`). The client does not know the caller, or the purpose of a request.

mod abort;
mod address;
mod deadline;
mod headers;
mod request;
mod response;

pub use abort::AbortOnDrop;
pub use address::{
    UrlRules, check_url, is_same_server, is_this_machine, is_trusted, may_carry_credentials, origin_of, same_origin_url,
};
pub use headers::{credentials_in, fault_of_header, fill_in, is_literal, is_sensitive};
pub use request::{OutgoingRequest, Redirects, RequestBody, Route};
pub use response::{BodyPieces, OutgoingResponse, excerpt};

use std::fmt;

/// Why a request got no response, or why the response could not be read.
#[derive(Clone, Debug)]
pub enum OutgoingFailure {
    /// The URL or a header cannot be sent.
    Unusable(String),
    /// No server responds at the URL.
    Unreachable(String),
    /// The deadline passed before the last byte was read.
    TimedOut,
    /// The connection broke in the middle of the response.
    BrokenOff(String),
    /// The response has more bytes than the caller wants to read.
    TooLarge,
    /// The response is not UTF-8.
    NotText,
}

/// The text for the log. The code that knows the purpose of the request writes the message for the caller.
impl fmt::Display for OutgoingFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable(cause) | Self::Unreachable(cause) | Self::BrokenOff(cause) => f.write_str(cause),
            Self::TimedOut => f.write_str("the deadline has passed"),
            Self::TooLarge => f.write_str("the response is too large"),
            Self::NotText => f.write_str("the response is not text"),
        }
    }
}
