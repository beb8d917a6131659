//! Tools of modules. A call is posted to the module's `/execute`, and the module answers whether the call succeeded. The
//! texts of the errors are a contract with the clients of earlier module registries.

use super::http::{check_size, server};
use super::{MAX_RESPONSE_BYTES, Prepared, Run, RunFailure, RunOutput, RunTask, Runner, ToolReport};
use crate::callers::Scope;
use crate::error::Error;
use crate::outgoing::{OutgoingFailure, OutgoingRequest, Route, excerpt};
use crate::registry::{StoredHeaders, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;

struct ModuleRunner;

pub fn prepare() -> Prepared {
    Ok(Box::new(ModuleRunner))
}

impl Runner for ModuleRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(execute(scope, task))
    }

    fn too_late(&self, tool: &Tool) -> RunFailure {
        timed_out(tool)
    }
}

#[derive(Serialize)]
struct ModuleCall<'a> {
    tool_name: &'a str,
    arguments: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<&'a str>,
}

#[derive(Deserialize)]
struct ModuleAnswer {
    success: bool,
    #[serde(default)]
    result: Value,
    error: Option<String>,
}

async fn execute(scope: &Scope, task: &RunTask<'_>) -> Result<RunOutput, RunFailure> {
    // A tool without its module is not active, so a call gets here only if the module was deleted this moment.
    let Some(module) = &task.tool.upstream else {
        return Err(RunFailure::Unreachable(error_text("the module is not registered any more")));
    };
    let url = module.url.as_deref().unwrap_or_default();
    let headers = StoredHeaders { values: &module.headers, url };
    let server = server(scope, task, &format!("{url}/execute"), &[headers])?;
    let call = ModuleCall { tool_name: task.tool.id.as_str(), arguments: task.arguments, user_id: task.user_id };
    let body = serde_json::to_string(&call).map_err(|cause| Error::Internal(format!("a call is not JSON: {cause}")))?;
    let request = OutgoingRequest { headers: server.headers.clone(), ..OutgoingRequest::post(&server.url, &body) };
    let response = request.send(Route::Network).await.map_err(|it| failed(task.tool, it))?;
    let status = response.status();
    let text = response.text(MAX_RESPONSE_BYTES, scope.memory_turn()).await.map_err(|it| failed(task.tool, it))?;
    let text = server.scrub(text);
    if status != 200 {
        return Err(RunFailure::tool(format!("Module returned status {status}: {}", excerpt(&text))));
    }
    check_size(task, &text)?;
    answered(&text)
}

/// The result that the module's answer holds.
fn answered(text: &str) -> Result<RunOutput, RunFailure> {
    let answer = serde_json::from_str::<ModuleAnswer>(text)
        .map_err(|cause| RunFailure::tool(error_text(&format!("the module's answer cannot be read: {cause}"))))?;
    if answer.success {
        return Ok(RunOutput::plain(answer.result));
    }
    let message = answer.error.unwrap_or_else(|| "The module reported a failure without a message".to_owned());
    // A tool that fails may still explain itself in its result.
    let details = Some(answer.result).filter(|it| !it.is_null());
    Err(RunFailure::Tool(ToolReport { message, details, ..ToolReport::default() }))
}

fn failed(tool: &Tool, failure: OutgoingFailure) -> RunFailure {
    match failure {
        OutgoingFailure::TimedOut => timed_out(tool),
        OutgoingFailure::Unusable(cause) => {
            RunFailure::Broken(Error::Internal(format!("a module's request could not be made: {cause}")))
        }
        // The runtime's own words may hold the module's address.
        OutgoingFailure::Unreachable(_) => RunFailure::Unreachable(error_text("the module could not be reached")),
        OutgoingFailure::BrokenOff(_) => RunFailure::Unreachable(error_text("the module broke off its answer")),
        OutgoingFailure::TooLarge => {
            RunFailure::tool(error_text(&format!("the module answered more than {MAX_RESPONSE_BYTES} bytes")))
        }
        OutgoingFailure::NotText => RunFailure::tool(error_text("the module answered something that is not text")),
    }
}

fn timed_out(tool: &Tool) -> RunFailure {
    let message = format!("Tool execution timed out ({}s).", tool.timeout_seconds);
    RunFailure::Timeout(ToolReport { message, ..ToolReport::default() })
}

fn error_text(cause: &str) -> String {
    format!("Tool execution error: {cause}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::fixture;
    use serde_json::json;

    fn failure(answer: &str) -> (String, Option<Value>) {
        match answered(answer) {
            Err(RunFailure::Tool(report)) => (report.message, report.details),
            _ => unreachable!("{answer} is no failure of the tool"),
        }
    }

    #[test]
    fn a_success_is_the_result_alone() {
        let output = answered(r#"{"tool_name": "a.b", "success": true, "result": {"n": 1}, "error": null}"#);
        assert_eq!(output.map(|it| it.result).ok(), Some(json!({"n": 1})));
        assert_eq!(answered(r#"{"success": true}"#).map(|it| it.result).ok(), Some(Value::Null));
    }

    #[test]
    fn a_failure_has_the_modules_own_words() {
        assert_eq!(failure(r#"{"success": false, "error": "No such file"}"#), ("No such file".to_owned(), None));
        let (message, details) = failure(r#"{"success": false, "result": {"row": 3}}"#);
        assert_eq!(message, "The module reported a failure without a message");
        assert_eq!(details, Some(json!({"row": 3})));
    }

    #[test]
    fn an_answer_in_another_form_is_told() {
        for answer in ["7", "", "{}", r#"{"success": "yes"}"#] {
            assert!(
                failure(answer).0.starts_with("Tool execution error: the module's answer cannot be read"),
                "{answer}"
            );
        }
    }

    #[test]
    fn the_texts_are_those_of_the_contract() {
        let RunFailure::Timeout(late) = timed_out(&fixture("x")) else { unreachable!("it is late") };
        assert_eq!(late.message, "Tool execution timed out (30s).");
        let RunFailure::Unreachable(message) = failed(&fixture("x"), OutgoingFailure::Unreachable("x".into())) else {
            unreachable!("it is unreachable")
        };
        assert_eq!(message, "Tool execution error: the module could not be reached");
    }
}
