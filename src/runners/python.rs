//! Tools that are Python: `execute_python`, whose code is the caller's, and those with a `python` handler.

use super::sandbox::{self, Job, Limits, MAX_ASKED_BYTES, Ran};
use super::{Failed, Output, Said, Task};
use crate::callers::Scope;
use crate::registry::schema::Violation;
use serde_json::{Value, json};

/// The longest code that the sandbox takes.
const MAX_CODE_BYTES: usize = 1024 * 1024;

/// How much of what was printed before a failure is told: its end.
const TOLD_BYTES: usize = 4096;

/// The parameter of `execute_python`.
const CODE: &str = "code";

/// Whether the sandbox would take what a call of `execute_python` gives.
pub fn check_code(arguments: &Value) -> Vec<Violation> {
    let bytes = arguments.get(CODE).and_then(Value::as_str).map_or(0, str::len);
    if bytes > MAX_CODE_BYTES {
        let message = format!("has {bytes} bytes; {MAX_CODE_BYTES} are allowed");
        return vec![Violation { path: format!("/{CODE}"), message }];
    }
    check_arguments("", arguments)
}

/// Whether the sandbox would take the arguments together with a tool's own code.
pub fn check_arguments(code: &str, arguments: &Value) -> Vec<Violation> {
    let bytes = Value::from(code).to_string().len() + arguments.to_string().len();
    if bytes <= MAX_ASKED_BYTES {
        return Vec::new();
    }
    vec![Violation {
        path: String::new(),
        message: format!("are {bytes} bytes as JSON; {MAX_ASKED_BYTES} are allowed"),
    }]
}

/// Runs code, and answers what it prints.
pub async fn execute(scope: &Scope, task: &Task<'_>) -> Result<Output, Failed> {
    let code = task.text(CODE).unwrap_or_default();
    let ran = ran(scope, &Job { code, function: None, arguments: None, limits: limits(task) }).await?;
    Ok(Output::plain(printed(&ran).into()))
}

/// Calls a function of a tool's own code with the arguments, and answers what it returns.
pub async fn call(scope: &Scope, task: &Task<'_>, code: &str, function: &str) -> Result<Output, Failed> {
    let job = Job { code, function: Some(function), arguments: Some(task.arguments), limits: limits(task) };
    Ok(Output::plain(ran(scope, &job).await?.result))
}

fn limits(task: &Task<'_>) -> Limits {
    Limits { timeout_seconds: task.tool.timeout_seconds }
}

/// What ran to its end, and well.
async fn ran(scope: &Scope, job: &Job<'_>) -> Result<Ran, Failed> {
    let ran = sandbox::run(scope, job).await?;
    let Some(kind) = &ran.error_kind else { return Ok(ran) };
    if kind == "killed" && ran.exit.is_none() {
        return Err(Failed::Unreachable("The sandbox was restarted meanwhile: call again".into()));
    }
    let message = ran.error.clone().unwrap_or_else(|| format!("The code failed: {kind}"));
    let output = printed(&ran);
    let from = output.ceil_char_boundary(output.len().saturating_sub(TOLD_BYTES));
    let said = Said { message, details: Some(json!({"kind": kind, "output": output[from..]})) };
    Err(if kind == "timeout" { Failed::Timeout(said) } else { Failed::Tool(said) })
}

/// All that was printed: stdout, then stderr.
fn printed(ran: &Ran) -> String {
    let mut text = String::new();
    for (name, stream, cut) in
        [("stdout", &ran.stdout, ran.truncated.stdout), ("stderr", &ran.stderr, ran.truncated.stderr)]
    {
        if !stream.is_empty() && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(stream);
        if cut {
            text.push_str(&format!("\n[{name} was longer: the rest is cut off]\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runners::sandbox::Truncated;

    fn check_printed(stdout: &str, stderr: &str, cut: bool, expected: &str) {
        let truncated = Truncated { stdout: cut, stderr: false };
        let (stdout, stderr) = (stdout.to_owned(), stderr.to_owned());
        let ran = Ran { error_kind: None, error: None, stdout, stderr, result: Value::Null, exit: Some(0), truncated };
        assert_eq!(printed(&ran), expected);
    }

    #[test]
    fn both_streams_are_one_text() {
        check_printed("", "", false, "");
        check_printed("a\n", "", false, "a\n");
        check_printed("a", "b\n", false, "a\nb\n");
        check_printed("a\n", "b", false, "a\nb");
        check_printed("", "b", false, "b");
        check_printed("a", "b", true, "a\n[stdout was longer: the rest is cut off]\nb");
    }

    #[test]
    fn what_the_sandbox_would_not_take_is_told_before() {
        assert_eq!(check_code(&json!({"code": "x".repeat(MAX_CODE_BYTES)})), []);
        assert_eq!(check_code(&json!({"code": "x".repeat(MAX_CODE_BYTES + 1)}))[0].path, "/code");
        // Each of these is six bytes in JSON.
        assert_eq!(check_code(&json!({"code": "\u{1}".repeat(MAX_CODE_BYTES)}))[0].path, "");
        assert_eq!(check_arguments("def f(a): ...", &json!({"a": "x".repeat(MAX_ASKED_BYTES)})).len(), 1);
        assert_eq!(check_arguments("def f(a): ...", &json!({"a": 1})), []);
    }
}
