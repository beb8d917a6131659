//! Why a model's answer cannot be used, and the error that a server tells in its body.

use crate::event_reader::EventFault;
use serde_json::Value;
use std::fmt;

/// How much of a server's own words is kept. All of it is scrubbed before a message shows its beginning, so that no part of
/// a secret is left at the place where the words are cut.
const MAX_KEPT_BYTES: usize = 4096;

/// How much of a server's own words a message shows.
const MAX_TOLD_BYTES: usize = 300;

#[derive(Clone, Debug, PartialEq)]
pub enum ModelFault {
    /// The server's own error, in place of an answer or in the middle of it.
    Told { message: String, code: Option<String> },
    /// A piece of the stream is not JSON. The text is its beginning.
    NotJson(String),
    /// The body is no answer of a model: a web page, for example. The text is its beginning.
    NoAnswer(String),
    /// The body is empty.
    Empty,
    /// The body ended before the answer did.
    BrokenOff,
    /// The body is not UTF-8.
    NotText,
    /// The answer is larger than the limit. The text names what is too large.
    TooLarge(&'static str),
    /// The answer has more calls than the limit.
    TooManyCalls(usize),
}

impl ModelFault {
    /// The fault with the server's own words as `scrub` leaves them: a server may repeat the key of the request.
    pub fn scrubbed(mut self, scrub: impl Fn(String) -> String) -> Self {
        match &mut self {
            Self::Told { message, code } => {
                *message = scrub(std::mem::take(message));
                *code = code.take().map(scrub);
            }
            Self::NotJson(words) | Self::NoAnswer(words) => *words = scrub(std::mem::take(words)),
            Self::Empty | Self::BrokenOff | Self::NotText | Self::TooLarge(_) | Self::TooManyCalls(_) => {}
        }
        self
    }
}

impl From<EventFault> for ModelFault {
    fn from(fault: EventFault) -> Self {
        match fault {
            EventFault::TooLarge => Self::TooLarge("a piece of it"),
            EventFault::NotText => Self::NotText,
        }
    }
}

/// A sentence for the person who chats.
impl fmt::Display for ModelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Told { message, code: None } => {
                write!(f, "The model's server reported an error: {}", told(message))
            }
            Self::Told { message, code: Some(code) } => {
                write!(f, "The model's server reported an error (code {}): {}", told(code), told(message))
            }
            Self::NotJson(text) => write!(f, "The model's server sent a piece that is not valid JSON: {}", told(text)),
            Self::NoAnswer(text) => write!(
                f,
                "The model's server answered with something that is no chat completion (check the model's URL): {}",
                told(text)
            ),
            Self::Empty => f.write_str("The model's server answered with an empty body"),
            Self::BrokenOff => f.write_str("The model's server broke off its answer before the end"),
            Self::NotText => f.write_str("The model's server answered with something that is not UTF-8 text"),
            Self::TooLarge(what) => write!(f, "The model's answer is too large: {what} is above the limit"),
            Self::TooManyCalls(limit) => write!(f, "The model asked for more than {limit} calls in one answer"),
        }
    }
}

/// The error that a body or a piece of a stream tells, whatever the server's form for it is.
pub fn error_in(body: &Value) -> Option<ModelFault> {
    match body {
        // Gemini's compatibility layer puts its error into a list.
        Value::Array(list) => error_in(list.first()?),
        Value::Object(fields) => match fields.get("error") {
            Some(error @ Value::Object(inner)) if !inner.is_empty() => {
                let message = message(error).unwrap_or_else(|| kept(&error.to_string()));
                Some(ModelFault::Told { message, code: code(error) })
            }
            Some(Value::String(text)) if !text.is_empty() => {
                Some(ModelFault::Told { message: kept(text), code: code(body) })
            }
            _ => bare_error(body),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The error of a server that has no field `error`.
fn bare_error(body: &Value) -> Option<ModelFault> {
    if ["choices", "response", "result"].iter().any(|it| body.get(*it).is_some_and(|it| !it.is_null())) {
        return None;
    }
    // Cloudflare's own API has a list of errors. A message alone may be any notice.
    let error = body.get("errors").and_then(|it| it.get(0)).unwrap_or(body);
    let says_so = ["object", "type"].iter().any(|it| error.get(*it).is_some_and(|it| it == "error"));
    let is_error = says_so || error.get("code").is_some() || error.get("detail").is_some();
    let message = message(error).filter(|_| is_error)?;
    Some(ModelFault::Told { message, code: code(error) })
}

/// The message of an error. FastAPI has `detail`, a text or a list.
pub fn message(error: &Value) -> Option<String> {
    let detail = error.get("detail");
    let text = error.get("message").or(detail).or(error.get("msg"));
    let text = text.and_then(Value::as_str).or_else(|| detail?.get(0)?.get("msg")?.as_str())?;
    Some(kept(text))
}

fn code(error: &Value) -> Option<String> {
    ["code", "type"].iter().find_map(|it| code_in(error.get(*it)))
}

/// A code is a text with some servers, and a number with others.
fn code_in(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(kept(text)).filter(|it| !it.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// As much of a server's own words as is kept.
pub fn kept(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_KEPT_BYTES)].to_owned()
}

/// The beginning of a server's own words, in one line.
pub fn told(text: &str) -> String {
    let words = text.split(|it: char| it.is_whitespace() || it.is_control()).filter(|it| !it.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MAX_TOLD_BYTES {
            line.truncate(line.floor_char_boundary(MAX_TOLD_BYTES));
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(body: Value) -> Option<(String, Option<String>)> {
        match error_in(&body)? {
            ModelFault::Told { message, code } => Some((message, code)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_is_found_in_the_form_of_every_server() {
        let told = |message: &str, code: Option<&str>| Some((message.to_owned(), code.map(str::to_owned)));
        assert_eq!(error(json!({"error": {"message": "m", "code": "c", "type": "t"}})), told("m", Some("c")));
        assert_eq!(error(json!({"error": {"message": "m", "code": 429}})), told("m", Some("429")));
        assert_eq!(error(json!({"error": {"message": "m", "code": null, "type": "t"}})), told("m", Some("t")));
        assert_eq!(error(json!({"error": "m"})), told("m", None));
        assert_eq!(error(json!({"error": {"odd": 1}})), told(r#"{"odd":1}"#, None));
        assert_eq!(error(json!([{"error": {"message": "m", "code": 400}}])), told("m", Some("400")));
        assert_eq!(error(json!({"object": "error", "message": "m", "code": 400})), told("m", Some("400")));
        assert_eq!(error(json!({"type": "error", "message": "m"})), told("m", Some("error")));
        assert_eq!(error(json!({"detail": "m"})), told("m", None));
        assert_eq!(error(json!({"detail": [{"loc": ["body"], "msg": "m", "type": "t"}]})), told("m", None));
        let cloudflare = json!({"result": null, "success": false, "errors": [{"code": 7009, "message": "m"}]});
        assert_eq!(error(cloudflare), told("m", Some("7009")));
        assert_eq!(error(json!({"error": {"message": "m"}, "choices": [{"delta": {}}]})), told("m", None));
    }

    #[test]
    fn what_is_no_error_is_none() {
        for body in [
            json!({}),
            json!([]),
            json!(1),
            json!({"error": null, "choices": []}),
            json!({"error": {}, "message": null}),
            json!({"error": ""}),
            json!({"type": "notice", "message": "You wait in a queue"}),
            json!({"choices": [], "message": "fine"}),
            json!({"response": "x", "errors": [{"message": "m"}]}),
            json!({"errors": [], "result": {}}),
        ] {
            assert_eq!(error(body.clone()), None, "{body}");
        }
    }

    #[test]
    fn words_of_a_server_are_one_short_line() {
        assert_eq!(told(" a\n\tb\u{0}c\r\n"), "a b c");
        let long = told(&"ä".repeat(1_000));
        assert!(long.ends_with('…') && long.len() < MAX_TOLD_BYTES + 4, "{long}");
    }

    #[test]
    fn a_secret_can_be_taken_out() {
        let fault = ModelFault::Told { message: format!("{}k-1234", "x".repeat(MAX_TOLD_BYTES - 3)), code: None };
        let shown = fault.scrubbed(|it| it.replace("k-1234", "***")).to_string();
        assert!(shown.ends_with("x***"), "{shown}");
        let fault = ModelFault::Told { message: "no".into(), code: Some("bad k-1234".into()) };
        assert!(fault.scrubbed(|it| it.replace("k-1234", "***")).to_string().contains("(code bad ***)"));
    }
}
