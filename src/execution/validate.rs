//! The third stage: checks the arguments, with defaults filled in, against the tool's schema and the rules of its
//! handler. The check of a result is here too; it is part of the run.

use super::authorize::GrantedCall;
use super::details;
use super::outcome::{CallFailure, CallStop, Code};
use super::resolve::ResolvedCall;
use crate::callers::Scope;
use crate::error::Result;
use crate::formats;
use crate::ids::ToolId;
use crate::registry;
use crate::registry::schema::{self, CheckedDocument, Schema, Violation};
use crate::runners::{self, Runner};
use serde_json::{Map, Value, json};

/// How many violations the message lists. The details list all of them.
const MAX_IN_MESSAGE: usize = 5;

/// A granted call with valid arguments.
pub struct CheckedCall<'a> {
    call: &'a ResolvedCall,
    runner: Box<dyn Runner>,
}

impl<'a> CheckedCall<'a> {
    pub fn call(&self) -> &'a ResolvedCall {
        self.call
    }

    pub fn into_runner(self) -> Box<dyn Runner> {
        self.runner
    }
}

/// Checks arguments against a tool's schema without running the tool. A real call may fail by further rules of the
/// handler: the file tools, for example, need a valid path.
pub async fn check_arguments(scope: &Scope, id: &ToolId, arguments: Map<String, Value>) -> Result<CheckedDocument> {
    let tool = registry::get(scope, id, None).await?;
    let schema = schema::compiled(&tool.parameters_schema)?;
    let mut given = Value::Object(arguments);
    formats::arguments::restore(&schema, &mut given);
    Ok(schema.check(given))
}

/// Fills in the attachment's defaults, then the schema's defaults, and then checks the arguments.
pub fn arguments(granted: GrantedCall<'_>) -> std::result::Result<CheckedCall<'_>, CallStop> {
    let call = granted.into_call();
    if let Some(fault) = call.fault_as_given.take() {
        return Err(fault.into());
    }
    let config = call.target.standing.as_ref().and_then(|it| it.config.as_ref());
    let mut given = std::mem::take(&mut call.arguments);
    if let (Some(config), Value::Object(fields)) = (config, &mut given) {
        config.fill(fields);
    }
    let checked = call.parameters.check(given);
    call.arguments = checked.document;
    if !checked.violations.is_empty() {
        return Err(misfit(call, &checked.violations).into());
    }
    let runner = prepare(call)?;
    Ok(CheckedCall { call, runner })
}

/// The runner of a call with valid arguments, if the arguments also keep the rules of the handler.
pub fn prepare(call: &ResolvedCall) -> std::result::Result<Box<dyn Runner>, CallStop> {
    Ok(runners::prepare(&call.target.tool, &call.arguments)?.map_err(|it| misfit(call, &it))?)
}

/// The failure of arguments that do not fit. Arguments that the schema does not name are told too: one of them may be the
/// misspelt name of one that is missing.
fn misfit(call: &ResolvedCall, violations: &[Violation]) -> CallFailure {
    let mut failure = failure(Code::InvalidArguments, "The arguments do not fit", violations);
    let unknown = details::unknown_arguments(call);
    if let (Some(Value::Object(details)), false) = (&mut failure.details, unknown.is_empty()) {
        let quoted = unknown.iter().take(MAX_IN_MESSAGE).map(|it| format!("{it:?}")).collect::<Vec<_>>();
        failure.message.push_str(&format!("; the schema does not name {}", quoted.join(", ")));
        details.insert("unknown".to_owned(), unknown.into());
    }
    failure
}

/// The failure of a result that does not fit its schema.
pub fn result(returns: Option<&Schema>, result: &Value) -> Option<CallFailure> {
    match returns?.violations(result).as_slice() {
        [] => None,
        violations => Some(failure(Code::InvalidResult, "The tool's result does not fit", violations)),
    }
}

fn failure(code: Code, what: &str, violations: &[Violation]) -> CallFailure {
    let told = violations.iter().take(MAX_IN_MESSAGE).map(|it| match it.path.as_str() {
        "" => it.message.clone(),
        path => format!("{path}: {}", it.message),
    });
    let more = match violations.len().saturating_sub(MAX_IN_MESSAGE) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!("{what}: {}{more}", told.collect::<Vec<_>>().join("; "));
    CallFailure::new(code, message).with(json!({"violations": violations}))
}
