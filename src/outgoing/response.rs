//! A response: its status, and its body, piece by piece or as one text, up to a number of bytes.

use super::OutgoingFailure;
use super::deadline::Deadline;
use crate::memory_turn::{LARGE_BYTES, MemoryTurn};
use futures_util::StreamExt;
use worker::{ByteStream, Response, ResponseBody};

/// How much of a response's text an error message repeats.
const EXCERPT_BYTES: usize = 500;

pub struct OutgoingResponse {
    status: u16,
    body: ResponseContent,
}

enum ResponseContent {
    /// A small body, which came with the head.
    Read(Vec<u8>),
    Unread {
        response: Response,
        deadline: Deadline,
    },
}

impl OutgoingResponse {
    pub fn read(status: u16, bytes: Vec<u8>) -> Self {
        Self { status, body: ResponseContent::Read(bytes) }
    }

    pub fn unread(response: Response, deadline: Deadline) -> Self {
        Self { status: response.status_code(), body: ResponseContent::Unread { response, deadline } }
    }

    pub fn status(&self) -> u16 {
        self.status
    }

    /// The response, for passing it on.
    pub fn into_response(self) -> worker::Result<Response> {
        match self.body {
            ResponseContent::Read(bytes) => Ok(Response::from_bytes(bytes)?.with_status(self.status)),
            ResponseContent::Unread { response, .. } => Ok(response),
        }
    }

    /// The whole body, if it is text of at most `max_bytes`. A large body is read when it is the call's turn.
    pub async fn text(self, max_bytes: usize, turn: &MemoryTurn) -> Result<String, OutgoingFailure> {
        let bytes = match self.body {
            ResponseContent::Read(bytes) if bytes.len() > max_bytes => return Err(OutgoingFailure::TooLarge),
            ResponseContent::Read(bytes) => bytes,
            ResponseContent::Unread { response, deadline } => {
                let mut body = BoundedBody::of(response, deadline, max_bytes)?;
                let mut bytes = Vec::new();
                while let Some(piece) = body.next().await? {
                    bytes.extend_from_slice(&piece);
                    if bytes.len() > LARGE_BYTES {
                        turn.take().await;
                    }
                }
                bytes
            }
        };
        String::from_utf8(bytes).map_err(|_| OutgoingFailure::NotText)
    }
}

/// A body that is read piece by piece as it arrives.
struct BoundedBody {
    /// None, if the response has no body.
    stream: Option<ByteStream>,
    bytes_left: usize,
    deadline: Deadline,
}

impl BoundedBody {
    fn of(mut response: Response, deadline: Deadline, max_bytes: usize) -> Result<Self, OutgoingFailure> {
        let stream = match response.body() {
            ResponseBody::Empty => None,
            ResponseBody::Body(_) | ResponseBody::Stream(_) => {
                let stream = response.stream();
                Some(stream.map_err(|cause| OutgoingFailure::BrokenOff(cause.to_string()))?)
            }
        };
        Ok(Self { stream, bytes_left: max_bytes, deadline })
    }

    /// The next piece. None at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, OutgoingFailure> {
        let Some(stream) = &mut self.stream else { return Ok(None) };
        let Some(piece) = self.deadline.hold(stream.next()).await? else { return Ok(None) };
        let piece = piece.map_err(|cause| OutgoingFailure::BrokenOff(cause.to_string()))?;
        self.bytes_left = self.bytes_left.checked_sub(piece.len()).ok_or(OutgoingFailure::TooLarge)?;
        Ok(Some(piece))
    }
}

/// The beginning of a response's text, for an error message.
pub fn excerpt(text: &str) -> &str {
    &text[..text.floor_char_boundary(EXCERPT_BYTES)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_ends_between_two_characters() {
        assert_eq!(excerpt("short"), "short");
        assert_eq!(excerpt(&"ä".repeat(300)).len(), 500);
        assert_eq!(excerpt(&format!("x{}", "ä".repeat(300))).len(), 499);
    }
}
