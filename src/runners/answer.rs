//! What another server answers: a text, up to a length.

use super::Failed;
use crate::error::Error;
use futures_util::StreamExt;
use worker::{Response, ResponseBody};

/// The longest answer that is read.
const MAX_BYTES: usize = 10 * 1024 * 1024;

/// How much of an error's text is told.
const TOLD_BYTES: usize = 500;

/// The answer's text, if it is one and not too long.
pub async fn text(response: &mut Response, whose: &str) -> Result<String, Failed> {
    if matches!(response.body(), ResponseBody::Empty) {
        return Ok(String::new());
    }
    let mut stream =
        response.stream().map_err(|cause| Error::Internal(format!("an answer cannot be read: {cause}")))?;
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|cause| Failed::Unreachable(format!("{whose} broke off its answer: {cause}")))?;
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BYTES {
            return Err(Failed::tool(format!("{whose} answered more than {MAX_BYTES} bytes")));
        }
    }
    String::from_utf8(bytes).map_err(|_| Failed::tool(format!("{whose} answered something that is not text")))
}

/// The beginning of a text that may be long.
pub fn told(text: &str) -> &str {
    &text[..text.floor_char_boundary(TOLD_BYTES)]
}
