//! The body of `POST /run`. It is parsed strictly: a misspelt field is refused, not ignored.

use crate::json;
use crate::limits::Limits;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;

pub const MAX_CODE_BYTES: usize = 1 << 20;

const MAX_SHARE_BYTES: usize = 256;

/// A valid request.
#[derive(Debug)]
pub struct Request {
    /// The task in the child's format.
    pub task: Vec<u8>,
    pub limits: Limits,
    /// The calls of one share together hold at most half of the slots while others wait.
    pub share: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestIn {
    code: String,
    function: Option<String>,
    arguments: Option<Box<RawValue>>,
    limits: Option<LimitsIn>,
    share: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsIn {
    timeout_seconds: Option<f64>,
    memory_mb: Option<u64>,
}

#[derive(Serialize)]
struct Task<'a> {
    code: &'a str,
    #[serde(flatten)]
    call: Option<FunctionCall<'a>>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    function: &'a str,
    arguments: &'a RawValue,
}

impl Request {
    /// The request, or the problem in it.
    pub fn parse(body: &[u8], most: Limits) -> Result<Self, String> {
        let request: RequestIn = serde_json::from_slice(body).map_err(|cause| cause.to_string())?;
        if request.code.len() > MAX_CODE_BYTES {
            return Err(format!("code: {} bytes, and {MAX_CODE_BYTES} are allowed", request.code.len()));
        }
        let none = RawValue::from_string("{}".into()).map_err(|cause| cause.to_string())?;
        let call = match (&request.function, &request.arguments) {
            (None, None) => None,
            (None, Some(_)) => return Err("arguments: they need a function that they are for".into()),
            (Some(function), arguments) => {
                let arguments = arguments.as_deref().unwrap_or(&none);
                if function.is_empty() {
                    return Err("function: a name is needed".into());
                }
                if !arguments.get().starts_with('{') {
                    return Err("arguments: an object is needed".into());
                }
                json::check(arguments).map_err(|cause| format!("arguments: {cause}"))?;
                Some(FunctionCall { function, arguments })
            }
        };
        let task = serde_json::to_vec(&Task { code: &request.code, call }).map_err(|cause| cause.to_string())?;
        let share = request.share.unwrap_or_default();
        if share.len() > MAX_SHARE_BYTES {
            return Err(format!("share: {} bytes, and {MAX_SHARE_BYTES} are allowed", share.len()));
        }
        Ok(Self { task, limits: lowered(request.limits.as_ref(), most)?, share })
    }
}

fn lowered(asked: Option<&LimitsIn>, most: Limits) -> Result<Limits, String> {
    let Some(asked) = asked else { return Ok(most) };
    let timeout = match asked.timeout_seconds {
        Some(seconds) if seconds > 0.0 => Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
        Some(_) => return Err("limits.timeout_seconds: more than 0 is needed".into()),
        None => None,
    };
    if asked.memory_mb == Some(0) {
        return Err("limits.memory_mb: at least 1 is needed".into());
    }
    Ok(most.lowered(timeout, asked.memory_mb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const MOST: Limits = Limits { timeout: Duration::from_secs(5), memory_bytes: 50 << 20 };

    fn parse(body: &Value) -> Result<Request, String> {
        Request::parse(body.to_string().as_bytes(), MOST)
    }

    fn task(body: Value) -> Value {
        serde_json::from_slice(&parse(&body).unwrap().task).unwrap()
    }

    #[test]
    fn what_the_child_reads() {
        assert_eq!(task(json!({"code": ""})), json!({"code": ""}));
        assert_eq!(task(json!({"code": "x", "function": null, "limits": null})), json!({"code": "x"}));
        let called = json!({"code": "x", "function": "f", "arguments": {"a": [1]}});
        assert_eq!(task(called.clone()), called);
        assert_eq!(task(json!({"code": "x", "function": "f"})), json!({"code": "x", "function": "f", "arguments": {}}));
    }

    #[test]
    fn numbers_arrive_as_they_were_written() {
        let body = br#"{"code":"","function":"f","arguments":{"n":123456789012345678901234567890.50}}"#;
        let request = Request::parse(body, MOST).unwrap();
        assert!(String::from_utf8(request.task).unwrap().contains("123456789012345678901234567890.50"));
    }

    #[test]
    fn limits_are_lowered() {
        let request = parse(&json!({"code": "", "limits": {"timeout_seconds": 0.25, "memory_mb": 20}})).unwrap();
        assert_eq!(request.limits, Limits { timeout: Duration::from_millis(250), memory_bytes: 20 << 20 });
        let request = parse(&json!({"code": "", "limits": {"timeout_seconds": 1e300, "memory_mb": u64::MAX}})).unwrap();
        assert_eq!(request.limits, MOST);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (body, told) in [
            (json!({}), "missing field `code`"),
            (json!({"code": 1}), "expected a string"),
            (json!({"code": "", "function": ""}), "function: "),
            (json!({"code": "", "arguments": {}}), "arguments: "),
            (json!({"code": "", "function": "f", "arguments": [1]}), "arguments: an object"),
            (json!({"code": "", "cod": ""}), "unknown field `cod`"),
            (json!({"code": "", "limits": {"timeout_seconds": 0}}), "limits.timeout_seconds"),
            (json!({"code": "", "limits": {"timeout_seconds": -1}}), "limits.timeout_seconds"),
            (json!({"code": "", "limits": {"memory_mb": 0}}), "limits.memory_mb"),
            (json!({"code": "", "limits": {"memory_mb": -1}}), "invalid value"),
            (json!({"code": "x".repeat(MAX_CODE_BYTES + 1)}), "code: "),
        ] {
            let error = parse(&body).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
        for body in [
            &b"\xff"[..],
            b"",
            b"[]",
            br#"{"code":"\ud800"}"#,
            br#"{"code":"","function":"f","arguments":{"a":"\ud800"}}"#,
        ] {
            assert!(Request::parse(body, MOST).is_err());
        }
    }

    /// Mutations of good requests, from a fixed seed: none may panic, and an accepted request must be a valid task.
    #[test]
    fn any_bytes_are_either_refused_or_sound() {
        let seeds = [
            r#"{"code":"print(1)"}"#,
            r#"{"code":"def f(a): return a","function":"f","arguments":{"a":[1,2.5,"\u00e9",null,{"b":true}]}}"#,
            r#"{"code":"","limits":{"timeout_seconds":0.5,"memory_mb":10}}"#,
        ];
        let mut random = crate::fuzz::Random(7);
        let mut taken = 0;
        for round in 0..20_000 {
            let mut bytes = seeds[round % seeds.len()].as_bytes().to_vec();
            for _ in 0..random.below(4) {
                random.mutate(&mut bytes);
            }
            if let Ok(request) = Request::parse(&bytes, MOST) {
                taken += 1;
                let task: Value = serde_json::from_slice(&request.task).unwrap();
                assert!(task["code"].is_string());
                assert_eq!(task.get("function").is_some(), task.get("arguments").is_some_and(Value::is_object));
                assert!(request.limits.timeout <= MOST.timeout && !request.limits.timeout.is_zero());
                assert!(request.limits.memory_bytes <= MOST.memory_bytes);
            }
        }
        assert!(taken > 500, "{taken}");
    }
}
