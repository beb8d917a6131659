//! The bodies of `POST /run` and `POST /check`. They are parsed strictly: a misspelt field is refused, not ignored.

use crate::json;
use crate::limits::Limits;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;

pub const MAX_CODE_BYTES: usize = 1 << 20;

pub const MAX_SHARE_BYTES: usize = 256;

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
struct RunIn {
    code: String,
    function: Option<String>,
    arguments: Option<Box<RawValue>>,
    properties: Option<Vec<String>>,
    limits: Option<LimitsIn>,
    share: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckIn {
    code: String,
    function: String,
    /// Whether the code is for the second room.
    files: Option<bool>,
    limits: Option<LimitsIn>,
    share: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsIn {
    pub timeout_seconds: Option<f64>,
    memory_mb: Option<u64>,
}

#[derive(Serialize)]
struct Task<'a> {
    code: &'a str,
    #[serde(flatten)]
    work: Work<'a>,
}

/// What the child does with the code, besides running it.
#[derive(Serialize)]
#[serde(untagged)]
enum Work<'a> {
    Nothing {},
    Call {
        function: &'a str,
        arguments: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        properties: Option<&'a [String]>,
    },
    /// Looks for the function of this name, and runs nothing.
    Check {
        check: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        files: bool,
    },
}

impl Request {
    /// The request to run code, or the problem in it.
    pub fn to_run(body: &[u8], most: Limits) -> Result<Self, String> {
        let request: RunIn = serde_json::from_slice(body).map_err(|cause| cause.to_string())?;
        let none = RawValue::from_string("{}".into()).map_err(|cause| cause.to_string())?;
        let properties = request.properties.as_deref();
        let work = match (&request.function, &request.arguments) {
            (None, None) if properties.is_some() => return Err("properties: they need a function".into()),
            (None, None) => Work::Nothing {},
            (None, Some(_)) => return Err("arguments: they need a function that they are for".into()),
            (Some(function), arguments) => {
                let arguments = arguments.as_deref().unwrap_or(&none);
                if !arguments.get().starts_with('{') {
                    return Err("arguments: an object is needed".into());
                }
                json::check(arguments).map_err(|cause| format!("arguments: {cause}"))?;
                Work::Call { function: named(function)?, arguments, properties }
            }
        };
        Self::new(&Task { code: &request.code, work }, request.limits.as_ref(), request.share, most)
    }

    /// The request to look at code, or the problem in it.
    pub fn to_check(body: &[u8], most: Limits) -> Result<Self, String> {
        let request: CheckIn = serde_json::from_slice(body).map_err(|cause| cause.to_string())?;
        let work = Work::Check { check: named(&request.function)?, files: request.files.unwrap_or(false) };
        Self::new(&Task { code: &request.code, work }, request.limits.as_ref(), request.share, most)
    }

    fn new(task: &Task, limits: Option<&LimitsIn>, share: Option<String>, most: Limits) -> Result<Self, String> {
        if task.code.len() > MAX_CODE_BYTES {
            return Err(format!("code: {} bytes, and {MAX_CODE_BYTES} are allowed", task.code.len()));
        }
        let share = share.unwrap_or_default();
        if share.len() > MAX_SHARE_BYTES {
            return Err(format!("share: {} bytes, and {MAX_SHARE_BYTES} are allowed", share.len()));
        }
        let task = serde_json::to_vec(task).map_err(|cause| cause.to_string())?;
        Ok(Self { task, limits: lowered(limits, most)?, share })
    }
}

pub fn named(function: &str) -> Result<&str, String> {
    if function.is_empty() { Err("function: a name is needed".into()) } else { Ok(function) }
}

pub fn lowered(asked: Option<&LimitsIn>, most: Limits) -> Result<Limits, String> {
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
        Request::to_run(body.to_string().as_bytes(), MOST)
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
        let named = json!({"code": "x", "function": "f", "arguments": {}, "properties": ["a", "b"]});
        assert_eq!(task(named.clone()), named);
        let check = Request::to_check(br#"{"code":"x","function":"f","share":"s"}"#, MOST).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&check.task).unwrap(), json!({"code": "x", "check": "f"}));
        assert_eq!(check.share, "s");
        let check = Request::to_check(br#"{"code":"x","function":"f","files":true}"#, MOST).unwrap();
        let expected = json!({"code": "x", "check": "f", "files": true});
        assert_eq!(serde_json::from_slice::<Value>(&check.task).unwrap(), expected);
    }

    #[test]
    fn numbers_arrive_as_they_were_written() {
        let body = br#"{"code":"","function":"f","arguments":{"n":123456789012345678901234567890.50}}"#;
        let request = Request::to_run(body, MOST).unwrap();
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
            (json!({"code": "", "properties": []}), "properties: "),
            (json!({"code": "", "check": "f"}), "unknown field `check`"),
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
            assert!(Request::to_run(body, MOST).is_err());
        }
    }

    #[test]
    fn what_is_wrong_with_a_check_is_said() {
        for (body, told) in [
            (json!({"code": ""}), "missing field `function`"),
            (json!({"code": "", "function": ""}), "function: "),
            (json!({"code": "", "function": "f", "arguments": {}}), "unknown field `arguments`"),
            (json!({"code": "x".repeat(MAX_CODE_BYTES + 1), "function": "f"}), "code: "),
            (json!({"code": "", "function": "f", "share": "x".repeat(257)}), "share: "),
            (json!({"code": "", "function": "f", "limits": {"memory_mb": 0}}), "limits.memory_mb"),
        ] {
            let error = Request::to_check(body.to_string().as_bytes(), MOST).unwrap_err();
            assert!(error.contains(told), "{error}");
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
            if let Ok(request) = Request::to_run(&bytes, MOST) {
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
