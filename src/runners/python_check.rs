//! Looks at the code of a new `python` tool before it is stored: asks the sandbox whether the code compiles, whether it
//! has the function, and what it imports. The sandbox looks at the code without running it.

use super::RunFailure;
use super::python_parameters::{FunctionParameters, PythonRoom};
use super::sandbox::{self, Limits, SandboxJob, SandboxOutput};
use crate::callers::Scope;
use crate::durable::sandbox::SandboxRoute;
use crate::error::shortened;
use crate::registry::schema::{self, Schema};
use crate::registry::{Handler, Inspection, PythonHandler, Tool};
use futures_util::future::{Either, select};
use serde::Deserialize;
use std::pin::pin;
use std::time::Duration;
use worker::Delay;

/// How long a registration waits for the sandbox in all, whether a container must start or not.
const WITHIN: Duration = Duration::from_secs(1);

const CODE: &str = "/handler/code";
const FUNCTION: &str = "/handler/function";

/// The sandbox's report about the code. The code cannot forge it, because it does not run.
#[derive(Deserialize)]
struct CodeReport {
    /// The reason why the code does not compile.
    fault: Option<CodeFault>,
    /// Whether the code has the function. None, if only a run would tell.
    function: Option<bool>,
    /// The functions that the code defines.
    functions: Vec<String>,
    /// The parameters of the function, as far as they can be seen.
    parameters: Option<FunctionParameters>,
    /// Whether the function prints and returns nothing.
    only_prints: bool,
    /// The modules that the code imports and that the sandbox does not have.
    imports: Vec<MissingImport>,
    importable: Vec<String>,
    /// Whether the standard library can be imported too.
    #[serde(default)]
    standard_library: bool,
}

#[derive(Deserialize)]
struct CodeFault {
    line: Option<u32>,
    message: String,
}

#[derive(Deserialize)]
struct MissingImport {
    name: String,
    line: u32,
}

/// Looks at a new version of a tool. Only Python is looked at. If the sandbox cannot be asked, a warning says so.
pub async fn inspect(scope: &Scope, tool: &Tool, handler: &Handler) -> Inspection {
    let PythonHandler { code, function, files, .. } = match handler {
        Handler::Python(python) => python,
        Handler::Builtin { .. }
        | Handler::Http { .. }
        | Handler::Rest(_)
        | Handler::Module { .. }
        | Handler::Mcp { .. }
        | Handler::Toolset { .. } => {
            return Inspection::default();
        }
    };
    let limits = Limits { timeout_seconds: 1 };
    let job = SandboxJob { code, function: Some(function), files: *files, limits, ..SandboxJob::default() };
    let asked = pin!(sandbox::send(scope, SandboxRoute::Check, &job));
    let output = match select(asked, Delay::from(WITHIN)).await {
        Either::Left((Ok(output), _)) => output,
        Either::Left((Err(failure), _)) => return unasked(code, function, &reason(failure)),
        Either::Right(_) => return unasked(code, function, "The sandbox did not answer within a second"),
    };
    match schema::compiled(&tool.parameters_schema) {
        Ok(schema) => judge(code, function, *files, &schema, output),
        Err(_) => unasked(code, function, "The schema of its parameters cannot be read"),
    }
}

fn reason(failure: RunFailure) -> String {
    match failure {
        RunFailure::Unreachable(message) => message,
        RunFailure::Tool(report) | RunFailure::Timeout(report) => report.message,
        RunFailure::Broken(_) => "The sandbox could not be asked".to_owned(),
    }
}

/// The outcome of a look that did not take place. The function is then looked for in the text of the code.
fn unasked(code: &str, function: &str, reason: &str) -> Inspection {
    let mut found = Inspection::default();
    found.warn(CODE, &format!("was not checked: {reason}"));
    if !code.contains(&format!("def {function}(")) {
        found.warn(CODE, "does not seem to define the function");
    }
    found
}

/// Turns the sandbox's response into problems and warnings.
fn judge(code: &str, function: &str, files: bool, schema: &Schema, output: SandboxOutput) -> Inspection {
    // If the compiler itself gives up, it would do so at every call.
    let gives_up = match output.error_kind.as_deref() {
        None => None,
        Some("memory") => Some("does not compile within the memory of the sandbox"),
        Some("killed") if output.exit.is_some() => Some("does not compile: it crashes the compiler"),
        Some(kind) => return unasked(code, function, &format!("The look at it ended with {}", shortened(kind))),
    };
    if let Some(message) = gives_up {
        let mut found = Inspection::default();
        found.refuse(CODE, message);
        return found;
    }
    match serde_json::from_value(output.result) {
        Ok(report) => judge_report(function, files, schema, report),
        Err(_) => unasked(code, function, "The sandbox answered something else"),
    }
}

fn judge_report(function: &str, files: bool, schema: &Schema, report: CodeReport) -> Inspection {
    let mut found = Inspection::default();
    if let Some(fault) = &report.fault {
        let line = fault.line.map(|it| format!("line {it}: ")).unwrap_or_default();
        found.refuse(CODE, format!("does not compile: {line}{}", fault.message));
        return found;
    }
    match report.function {
        Some(true) => {}
        Some(false) => {
            let others = match report.functions.as_slice() {
                [] => "no function at its top level".to_owned(),
                names => names.join(", "),
            };
            found.refuse(FUNCTION, format!("is not defined by the code, which defines {others}"));
        }
        None => found.warn(CODE, &format!("may or may not define {function}: only a call will tell")),
    }
    let library = if report.standard_library { "the standard library, " } else { "" };
    let importable = report.importable.join(", ");
    for MissingImport { name, line } in &report.imports {
        let name = shortened(name);
        found.warn(CODE, &format!("line {line} imports {name}, and only {library}{importable} can be imported"));
    }
    let room = if files { PythonRoom::Files } else { PythonRoom::Plain };
    for message in report.parameters.into_iter().flat_map(|it| it.warnings(room, function, schema)) {
        found.warn(CODE, &message);
    }
    if report.only_prints {
        let message =
            format!("{function} returns no value: the result is null, and the printed text is only in the record");
        found.warn(CODE, &message);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runners::sandbox::Truncated;
    use serde_json::{Value, json};

    fn output(error_kind: Option<&str>, exit: Option<i32>, result: Value) -> SandboxOutput {
        SandboxOutput {
            error_kind: error_kind.map(str::to_owned),
            error: None,
            stdout: String::new(),
            stderr: String::new(),
            result,
            exit,
            truncated: Truncated { stdout: false, stderr: false },
        }
    }

    /// The paths of the problems, and the number of warnings.
    fn judged(output: SandboxOutput) -> (Vec<String>, usize) {
        let schema = Schema::compile(json!({"properties": {"a": {}, "b": {}}})).unwrap();
        let found = judge("def run(a): ...", "run", false, &schema, output);
        (found.problems.into_iter().map(|it| it.path).collect(), found.warnings.len())
    }

    fn report(change: Value) -> SandboxOutput {
        let mut report = json!({
            "fault": null, "function": true, "functions": ["run"], "parameters": null,
            "only_prints": false, "imports": [], "importable": ["json"],
        });
        report.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        output(None, Some(0), report)
    }

    #[test]
    fn what_cannot_run_is_refused_at_its_place() {
        assert_eq!(judged(report(json!({}))), (vec![], 0));
        let fault = json!({"fault": {"line": 2, "message": "SyntaxError: x"}, "function": null});
        assert_eq!(judged(report(fault)), (vec!["/handler/code".to_owned()], 0));
        assert_eq!(judged(report(json!({"function": false}))), (vec!["/handler/function".to_owned()], 0));
        for (kind, exit) in [("memory", Some(1)), ("killed", Some(-11))] {
            assert_eq!(judged(output(Some(kind), exit, Value::Null)), (vec!["/handler/code".to_owned()], 0));
        }
    }

    #[test]
    fn what_may_run_is_only_warned_about() {
        assert_eq!(judged(report(json!({"function": null}))), (vec![], 1));
        assert_eq!(judged(report(json!({"imports": [{"name": "os", "line": 1}]}))), (vec![], 1));
        assert_eq!(judged(report(json!({"only_prints": true}))), (vec![], 1));
        let parameters = json!({
            "names": ["a"], "required": ["a"], "takes_one": true, "by_keyword": true, "takes_all": true,
        });
        assert_eq!(judged(report(json!({"parameters": parameters}))), (vec![], 1));
        for (kind, exit) in [("timeout", Some(-9)), ("killed", None), ("exception", Some(1))] {
            assert_eq!(judged(output(Some(kind), exit, Value::Null)), (vec![], 1));
        }
        assert_eq!(judged(output(None, Some(0), json!({"other": 1}))), (vec![], 1));
        assert_eq!(unasked("x = 1", "run", "nobody").warnings.len(), 2);
    }
}
