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
    /// The headers that the request wanted to keep.
    headers: Vec<(&'static str, String)>,
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
        Self { status, headers: Vec::new(), body: ResponseContent::Read(bytes) }
    }

    pub fn unread(response: Response, deadline: Deadline) -> Self {
        let status = response.status_code();
        Self { status, headers: Vec::new(), body: ResponseContent::Unread { response, deadline } }
    }

    pub(super) fn with_headers(self, headers: Vec<(&'static str, String)>) -> Self {
        Self { headers, ..self }
    }

    pub fn status(&self) -> u16 {
        self.status
    }

    /// The value of a header that the request wanted to keep.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str())
    }

    /// The response, for passing it on.
    pub fn into_response(self) -> worker::Result<Response> {
        match self.body {
            ResponseContent::Read(bytes) => Ok(Response::from_bytes(bytes)?.with_status(self.status)),
            ResponseContent::Unread { response, .. } => Ok(response),
        }
    }

    /// The body in pieces, of at most `max_bytes` together.
    pub fn into_pieces(self, max_bytes: usize) -> Result<BodyPieces, OutgoingFailure> {
        let source = match self.body {
            ResponseContent::Read(bytes) => PieceSource::Read(Some(bytes)),
            ResponseContent::Unread { mut response, deadline } => match response.body() {
                ResponseBody::Empty => PieceSource::Read(None),
                ResponseBody::Body(_) | ResponseBody::Stream(_) => {
                    let stream = response.stream().map_err(|cause| OutgoingFailure::BrokenOff(cause.to_string()))?;
                    PieceSource::Stream { stream, deadline }
                }
            },
        };
        Ok(BodyPieces { source, bytes_left: max_bytes })
    }

    /// The whole body, if it is text of at most `max_bytes`. A large body is read when it is the call's turn.
    pub async fn text(self, max_bytes: usize, turn: &MemoryTurn) -> Result<String, OutgoingFailure> {
        let mut body = self.into_pieces(max_bytes)?;
        let mut bytes = Vec::new();
        while let Some(piece) = body.next().await? {
            if bytes.is_empty() {
                bytes = piece;
            } else {
                bytes.extend_from_slice(&piece);
            }
            if bytes.len() > LARGE_BYTES && !body.is_read() {
                turn.take().await;
            }
        }
        String::from_utf8(bytes).map_err(|_| OutgoingFailure::NotText)
    }
}

/// A body that is read piece by piece as it arrives. Dropping it ends the transfer.
pub struct BodyPieces {
    source: PieceSource,
    bytes_left: usize,
}

enum PieceSource {
    /// A body without a stream: nothing, or one piece.
    Read(Option<Vec<u8>>),
    Stream {
        stream: ByteStream,
        deadline: Deadline,
    },
}

impl BodyPieces {
    /// The next piece. None at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, OutgoingFailure> {
        let piece = match &mut self.source {
            PieceSource::Read(piece) => piece.take(),
            PieceSource::Stream { stream, deadline } => {
                let piece = deadline.hold(stream.next()).await?.transpose();
                piece.map_err(|cause| OutgoingFailure::BrokenOff(cause.to_string()))?
            }
        };
        let length = piece.as_ref().map_or(0, Vec::len);
        self.bytes_left = self.bytes_left.checked_sub(length).ok_or(OutgoingFailure::TooLarge)?;
        Ok(piece)
    }

    /// Whether the whole body was here before the first piece was asked for.
    fn is_read(&self) -> bool {
        matches!(self.source, PieceSource::Read(_))
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
