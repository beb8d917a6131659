//! The secret that every client must send, except for a look at the host's health.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use subtle::ConstantTimeEq;

const SCHEME: &str = "Bearer ";

/// Whether the request may use the host. The comparison takes the same time for every guess of the same length.
pub fn admits(secret: Option<&str>, headers: &HeaderMap) -> bool {
    let Some(secret) = secret else { return true };
    let given = headers.get(AUTHORIZATION).map(|it| it.as_bytes()).unwrap_or_default();
    let given = given.strip_prefix(SCHEME.as_bytes()).unwrap_or_default();
    given.ct_eq(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_opens() {
        let admits_with =
            |value: &str| admits(Some("abc"), &HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]));
        assert!(admits_with("Bearer abc"));
        for wrong in ["", "abc", "Bearer ", "Bearer ab", "Bearer abcd", "Bearer abC", "bearer abc", "Basic abc"] {
            assert!(!admits_with(wrong), "{wrong}");
        }
        assert!(!admits(Some("abc"), &HeaderMap::new()));
        assert!(admits(None, &HeaderMap::new()));
    }
}
