//! What the status of a model's server means, if it is no success.

use super::fault::{ModelFault, error_in, kept, message, told};
use crate::time::Timestamp;
use serde_json::Value;
use std::fmt;

/// The longest time that a server can make a turn wait.
const MAX_WAIT_SECONDS: u32 = 60;

/// The time to wait for a server that limits without saying for how long.
const USUAL_WAIT_SECONDS: u32 = 5;

/// Why the server did not answer. `words` are the server's own, from the body.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusFault {
    pub status: u16,
    pub kind: StatusFaultKind,
    words: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StatusFaultKind {
    /// The key is missing, wrong or not allowed to use the model.
    KeyRefused,
    /// There is no such model, or the URL is wrong.
    NotFound,
    /// There were too many requests, or the server is busy. The next one may come after this many seconds.
    TryAgain { seconds: u32 },
    /// The server does not know `stream_options`. It may be asked again without them.
    StreamOptions,
    /// The request was refused, and would be again.
    Refused,
    /// The server failed.
    Failed,
}

/// Classifies a response that is no success. `body` is the body or its beginning, and `retry_after` the header of this
/// name.
pub fn fault_of_status(status: u16, body: &str, retry_after: Option<&str>, now: Timestamp) -> StatusFault {
    let seconds = retry_after.and_then(|it| seconds(it, now));
    let kind = match status {
        400 | 422 if body.contains("stream_options") => StatusFaultKind::StreamOptions,
        401 | 403 => StatusFaultKind::KeyRefused,
        404 => StatusFaultKind::NotFound,
        429 => StatusFaultKind::TryAgain { seconds: seconds.unwrap_or(USUAL_WAIT_SECONDS) },
        503 => seconds.map_or(StatusFaultKind::Failed, |seconds| StatusFaultKind::TryAgain { seconds }),
        500.. => StatusFaultKind::Failed,
        _ => StatusFaultKind::Refused,
    };
    StatusFault { status, kind, words: words(body) }
}

impl StatusFault {
    /// The fault with the server's own words as `scrub` leaves them: a server may repeat the key of the request.
    pub fn scrubbed(mut self, scrub: impl Fn(String) -> String) -> Self {
        self.words = scrub(self.words);
        self
    }
}

/// A sentence for the person who chats.
impl fmt::Display for StatusFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status;
        match self.kind {
            StatusFaultKind::KeyRefused => write!(f, "The model's server refused the key (status {status})"),
            StatusFaultKind::NotFound => write!(
                f,
                "The model's server found nothing (status {status}): check the name of the model and the model's URL"
            ),
            StatusFaultKind::TryAgain { seconds } => write!(
                f,
                "The model's server takes no more requests for now (status {status}): try again in {seconds} seconds"
            ),
            StatusFaultKind::StreamOptions | StatusFaultKind::Refused => {
                write!(f, "The model's server refused the request (status {status})")
            }
            StatusFaultKind::Failed => write!(f, "The model's server failed (status {status})"),
        }?;
        match told(&self.words) {
            words if words.is_empty() => Ok(()),
            words => write!(f, ". It said: {words}"),
        }
    }
}

/// The seconds that the header asks for: a number, or the date of the next request.
fn seconds(retry_after: &str, now: Timestamp) -> Option<u32> {
    let text = retry_after.trim();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => seconds.ceil() as u32,
        Ok(_) => return None,
        Err(_) => Timestamp::parse_http_date(text)?.millis_since(now).div_ceil(1000),
    };
    Some(seconds.min(MAX_WAIT_SECONDS))
}

/// The server's own words in a body: the message of its error, or a plain text. A web page has none.
fn words(body: &str) -> String {
    let json = serde_json::from_str::<Value>(body).ok();
    if let Some(ModelFault::Told { message, .. }) = json.as_ref().and_then(error_in) {
        return message;
    }
    match json.as_ref().and_then(message) {
        Some(message) => message,
        None if body.trim_start().starts_with('<') => String::new(),
        None => kept(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(status: u16, body: &str, retry_after: Option<&str>) -> StatusFault {
        fault_of_status(status, body, retry_after, Timestamp::parse("1994-11-06T08:49:07.500Z").unwrap())
    }

    #[track_caller]
    fn check(status: u16, body: &str, kind: StatusFaultKind, shown: &str) {
        let fault = fault(status, body, None);
        assert_eq!(fault.kind, kind);
        assert_eq!(fault.to_string(), shown);
    }

    #[test]
    fn every_status_has_its_sentence() {
        check(
            401,
            r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#,
            StatusFaultKind::KeyRefused,
            "The model's server refused the key (status 401). It said: Incorrect API key provided",
        );
        check(403, "", StatusFaultKind::KeyRefused, "The model's server refused the key (status 403)");
        check(
            404,
            r#"{"error":"model 'x' not found"}"#,
            StatusFaultKind::NotFound,
            "The model's server found nothing (status 404): check the name of the model and the model's URL. It said: \
             model 'x' not found",
        );
        check(
            400,
            r#"{"message":"tools are not supported"}"#,
            StatusFaultKind::Refused,
            "The model's server refused the request (status 400). It said: tools are not supported",
        );
        check(302, "", StatusFaultKind::Refused, "The model's server refused the request (status 302)");
        check(502, "<html>Bad gateway</html>", StatusFaultKind::Failed, "The model's server failed (status 502)");
        check(
            500,
            "worker\ndied",
            StatusFaultKind::Failed,
            "The model's server failed (status 500). It said: worker died",
        );
        check(
            429,
            r#"{"error":{"message":"Slow down","code":429}}"#,
            StatusFaultKind::TryAgain { seconds: 5 },
            "The model's server takes no more requests for now (status 429): try again in 5 seconds. It said: Slow down",
        );
    }

    #[test]
    fn a_refusal_of_stream_options_is_told_apart() {
        let openai = r#"{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"x"}}"#;
        let fastapi = r#"{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}"#;
        assert_eq!(fault(400, openai, None).kind, StatusFaultKind::StreamOptions);
        assert_eq!(fault(422, fastapi, None).kind, StatusFaultKind::StreamOptions);
        assert_eq!(fault(500, openai, None).kind, StatusFaultKind::Failed);
    }

    #[test]
    fn the_time_to_wait_is_a_number_or_a_date_and_has_a_bound() {
        let wait = |header: &str| match fault(429, "", Some(header)).kind {
            StatusFaultKind::TryAgain { seconds } => seconds,
            other => panic!("{other:?}"),
        };
        assert_eq!(wait("7"), 7);
        assert_eq!(wait(" 0.2 "), 1);
        assert_eq!(wait("86400"), MAX_WAIT_SECONDS);
        assert_eq!(wait("1e300"), MAX_WAIT_SECONDS);
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), 30);
        assert_eq!(wait("Sun, 06 Nov 1994 08:00:00 GMT"), 0);
        for odd in ["", "soon", "-3", "NaN", "inf"] {
            assert_eq!(wait(odd), USUAL_WAIT_SECONDS, "{odd}");
        }
        assert_eq!(fault(503, "", Some("3")).kind, StatusFaultKind::TryAgain { seconds: 3 });
        assert_eq!(fault(503, "", None).kind, StatusFaultKind::Failed);
    }

    #[test]
    fn a_secret_can_be_taken_out() {
        let fault = fault(401, r#"{"error":"bad key sk-1234"}"#, None);
        assert!(!fault.scrubbed(|it| it.replace("sk-1234", "***")).to_string().contains("1234"));
    }
}
