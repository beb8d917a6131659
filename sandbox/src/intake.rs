//! Takes a call in: checks its type, takes a ticket for it, and reads its body.

use crate::body;
use crate::gate::{Gate, Ticket};
use crate::refusal::{Refusal, is_json};
use axum::body::Body;
use axum::http::HeaderMap;

/// The ticket comes before the body, so that memory never holds more bodies than calls.
pub async fn take(gate: &Gate, headers: &HeaderMap, body: Body, most: usize) -> Result<(Ticket, Vec<u8>), Refusal> {
    let body = json_body(headers, body).await?;
    match gate.ticket() {
        Ok(ticket) => Ok((ticket, body::read(body, most).await?)),
        Err(full) => {
            body::skip(body).await;
            Err(full.into())
        }
    }
}

/// The body of a request that says that it is JSON.
pub async fn json_body(headers: &HeaderMap, body: Body) -> Result<Body, Refusal> {
    if is_json(headers) {
        return Ok(body);
    }
    body::skip(body).await;
    Err(Refusal::MediaType)
}
