//! Reads a request's body, with a size limit and a timeout.

use axum::body::Body;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::time::timeout;

/// The bound in the first room: enough for code of the greatest length, and for some megabytes of arguments.
pub const MAX_BYTES: usize = 4 << 20;
/// This much of a longer body is still read, because a client that cannot finish sending may not see the response.
const DRAINED_BYTES: usize = 32 << 20;
const WITHIN: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub enum BadBody {
    TooLong { most: usize },
    Broken,
}

pub async fn read(body: Body, most: usize) -> Result<Vec<u8>, BadBody> {
    timeout(WITHIN, collect(body, most)).await.unwrap_or(Err(BadBody::Broken))
}

/// Discards the body of a request that is refused anyway.
pub async fn skip(body: Body) {
    let _ = timeout(WITHIN, drain(body, 0)).await;
}

async fn collect(mut body: Body, most: usize) -> Result<Vec<u8>, BadBody> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BadBody::Broken)?.into_data() else { continue };
        let seen = bytes.len() + data.len();
        if seen > most {
            drop((bytes, data));
            drain(body, seen).await;
            return Err(BadBody::TooLong { most });
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Counts the bytes, and keeps none.
async fn drain(mut body: Body, mut seen: usize) {
    while seen <= DRAINED_BYTES {
        match body.frame().await {
            Some(Ok(frame)) => seen += frame.data_ref().map_or(0, |data| data.len()),
            Some(Err(_)) | None => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bodies_have_a_bound() {
        assert_eq!(read(Body::from("abc"), 3).await.unwrap(), b"abc");
        assert_eq!(read(Body::from(vec![0; MAX_BYTES]), MAX_BYTES).await.unwrap().len(), MAX_BYTES);
        assert!(matches!(read(Body::from(vec![0; MAX_BYTES + 1]), MAX_BYTES).await, Err(BadBody::TooLong { .. })));
    }
}
