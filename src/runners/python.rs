//! Tools in Python: `execute_python`, which runs the caller's code, and tools with a `python` handler.

use super::sandbox::{self, Limits, MAX_ASKED_BYTES, SandboxJob, SandboxOutput, WAIT};
use super::{Prepared, Run, RunFailure, RunOutput, RunTask, Runner, ToolReport};
use crate::callers::Scope;
use crate::durable::sandbox::SandboxRoute;
use crate::registry::schema::{Schema, Violation};
use crate::registry::{PythonHandler, Tool};
use serde_json::{Value, json};
use std::rc::Rc;
use std::time::Duration;

/// The longest code that the sandbox accepts.
const MAX_CODE_BYTES: usize = 1024 * 1024;

/// How much of the code's output a failure contains: the last bytes before the failure.
const MAX_PRINTED_BYTES: usize = 4096;

/// How much of the output of a function that succeeds is kept: the first bytes.
const MAX_KEPT_BYTES: usize = 64 * 1024;

/// The parameter of `execute_python`.
const CODE: &str = "code";

/// `execute_python`: runs the caller's code. The result is the text that the code prints.
struct CodeRunner;

/// Refuses code that the sandbox would not accept.
pub fn prepare_code(arguments: &Value) -> Prepared {
    let bytes = arguments.get(CODE).and_then(Value::as_str).map_or(0, str::len);
    if bytes > MAX_CODE_BYTES {
        let message = format!("has {bytes} bytes; {MAX_CODE_BYTES} are allowed");
        return Err(vec![Violation { path: format!("/{CODE}"), message }]);
    }
    check_size("", arguments, &[])?;
    Ok(Box::new(CodeRunner))
}

impl Runner for CodeRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(async {
            let code = task.text(CODE).unwrap_or_default();
            let job = SandboxJob { code, limits: limits(task), ..SandboxJob::default() };
            Ok(RunOutput::plain(printed(&run(scope, &job).await?).into()))
        })
    }

    fn extra_wait(&self) -> Duration {
        WAIT
    }

    fn too_late(&self, _tool: &Tool) -> RunFailure {
        sandbox::too_late()
    }
}

/// A `python` handler: calls a function of the tool's own code with the arguments. The result is the value that the
/// function returns, and the record keeps the text that the function prints.
struct FunctionRunner {
    handler: PythonHandler,
    /// The schema of the arguments.
    parameters: Rc<Schema>,
}

/// Refuses arguments that the sandbox would not accept together with the tool's code.
pub fn prepare(handler: PythonHandler, parameters: Rc<Schema>, arguments: &Value) -> Prepared {
    check_size(&handler.code, arguments, &parameters.property_names())?;
    Ok(Box::new(FunctionRunner { handler, parameters }))
}

impl Runner for FunctionRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(async {
            let properties = self.parameters.property_names();
            let job = SandboxJob {
                code: &self.handler.code,
                function: Some(&self.handler.function),
                arguments: Some(task.arguments),
                properties: Some(&properties),
                files: false,
                limits: limits(task),
            };
            let output = run(scope, &job).await?;
            Ok(RunOutput { printed: kept(printed(&output)), ..RunOutput::plain(output.result) })
        })
    }

    fn extra_wait(&self) -> Duration {
        WAIT
    }

    fn too_late(&self, _tool: &Tool) -> RunFailure {
        sandbox::too_late()
    }
}

/// Refuses arguments that the sandbox would not accept together with the code.
pub fn check_size(code: &str, arguments: &Value, properties: &[&str]) -> Result<(), Vec<Violation>> {
    let parts = [&Value::from(code), arguments, &Value::from(properties)];
    let bytes = parts.iter().map(|it| it.to_string().len()).sum::<usize>();
    if bytes <= MAX_ASKED_BYTES {
        return Ok(());
    }
    let message = format!("are {bytes} bytes as JSON; {MAX_ASKED_BYTES} are allowed");
    Err(vec![Violation { path: String::new(), message }])
}

pub fn limits(task: &RunTask<'_>) -> Limits {
    Limits { timeout_seconds: task.tool.timeout_seconds }
}

/// Runs the job. Code that fails, or does not end, is an error.
async fn run(scope: &Scope, job: &SandboxJob<'_>) -> Result<SandboxOutput, RunFailure> {
    let output = sandbox::send(scope, SandboxRoute::Run, job).await?;
    if output.was_cut_short() {
        return Err(RunFailure::Unreachable("The sandbox was restarted meanwhile: call again".into()));
    }
    match failure(&output) {
        Some(failed) => Err(failed),
        None => Ok(output),
    }
}

/// The failure of code that did not end well.
pub fn failure(output: &SandboxOutput) -> Option<RunFailure> {
    let kind = output.error_kind.as_ref()?;
    let message = output.error.clone().unwrap_or_else(|| format!("The code failed: {kind}"));
    let report = report(message, kind, output);
    Some(if kind == "timeout" { RunFailure::Timeout(report) } else { RunFailure::Tool(report) })
}

/// A report with the end of what the code printed.
pub fn report(message: String, kind: &str, output: &SandboxOutput) -> ToolReport {
    let text = printed(output);
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_PRINTED_BYTES));
    let details = Some(json!({"kind": kind, "output": text[from..]}));
    ToolReport { message, details, ..ToolReport::default() }
}

/// The printed text of a function that succeeded, for the record. None, if the function printed nothing.
pub fn kept(mut text: String) -> Option<String> {
    const CUT: &str = "\n[the rest is cut off]\n";
    if text.len() > MAX_KEPT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_KEPT_BYTES - CUT.len()));
        text.push_str(CUT);
    }
    Some(text).filter(|it| !it.is_empty())
}

/// The whole printed text: stdout, then stderr.
pub fn printed(output: &SandboxOutput) -> String {
    let mut text = String::new();
    for (name, stream, cut) in
        [("stdout", &output.stdout, output.truncated.stdout), ("stderr", &output.stderr, output.truncated.stderr)]
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
    use crate::registry::schema;
    use crate::runners::sandbox::Truncated;

    fn check_printed(stdout: &str, stderr: &str, cut: bool, expected: &str) {
        let truncated = Truncated { stdout: cut, stderr: false };
        let (stdout, stderr) = (stdout.to_owned(), stderr.to_owned());
        let (error_kind, error, result, exit) = (None, None, Value::Null, Some(0));
        let output = SandboxOutput { error_kind, error, stdout, stderr, result, exit, truncated };
        assert_eq!(printed(&output), expected);
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
    fn the_output_of_a_success_is_kept_up_to_64_kib() {
        assert_eq!(kept(String::new()), None);
        assert_eq!(kept("x".repeat(64 * 1024)).unwrap(), "x".repeat(64 * 1024));
        let long = kept("ä".repeat(64 * 1024)).unwrap();
        assert!(long.len() <= 64 * 1024 && long.ends_with("ä\n[the rest is cut off]\n"));
    }

    #[test]
    fn what_the_sandbox_would_not_take_is_told_before() {
        let fault = |prepared: Prepared| prepared.err().map(|it| it[0].path.clone());
        let code = |code: String| fault(prepare_code(&json!({"code": code})));
        assert_eq!(code("x".repeat(MAX_CODE_BYTES)), None);
        assert_eq!(code("x".repeat(MAX_CODE_BYTES + 1)).as_deref(), Some("/code"));
        // Each of these characters has six bytes in JSON.
        assert_eq!(code("\u{1}".repeat(MAX_CODE_BYTES)).as_deref(), Some(""));
        let any = schema::compiled("{}").unwrap();
        let handler = PythonHandler { code: "def f(a): ...".into(), function: "f".into(), ..PythonHandler::default() };
        let arguments = |arguments: Value| fault(prepare(handler.clone(), any.clone(), &arguments));
        assert_eq!(arguments(json!({"a": "x".repeat(MAX_ASKED_BYTES)})).as_deref(), Some(""));
        assert_eq!(arguments(json!({"a": 1})), None);
    }
}
