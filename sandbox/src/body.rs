//! Reading a request's body, with a bound and a deadline.

use axum::body::Body;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::time::timeout;

/// A request with code of the greatest length, and arguments of some megabytes.
pub const MAX_BYTES: usize = 4 << 20;
/// So much is still read of a longer one: a client that cannot finish sending may not see the answer.
const DRAINED_BYTES: usize = 32 << 20;
const WITHIN: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub enum BadBody {
    TooLong,
    Broken,
}

pub async fn read(body: Body) -> Result<Vec<u8>, BadBody> {
    timeout(WITHIN, collect(body)).await.unwrap_or(Err(BadBody::Broken))
}

/// Of a request that is refused anyway.
pub async fn skip(body: Body) {
    let _ = timeout(WITHIN, collect(body)).await;
}

async fn collect(mut body: Body) -> Result<Vec<u8>, BadBody> {
    let mut bytes = Vec::new();
    let mut seen = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BadBody::Broken)?.into_data() else { continue };
        seen += data.len();
        if seen <= MAX_BYTES {
            bytes.extend_from_slice(&data);
        } else {
            bytes = Vec::new();
        }
        if seen > DRAINED_BYTES {
            break;
        }
    }
    if seen > MAX_BYTES { Err(BadBody::TooLong) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bodies_have_a_bound() {
        assert_eq!(read(Body::from("abc")).await.unwrap(), b"abc");
        assert_eq!(read(Body::from(vec![0; MAX_BYTES])).await.unwrap().len(), MAX_BYTES);
        assert!(matches!(read(Body::from(vec![0; MAX_BYTES + 1])).await, Err(BadBody::TooLong)));
    }
}
