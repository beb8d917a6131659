//! Stages 3 and 7: arguments with their defaults, and results, against the tool's schemas.

use super::authorize::Granted;
use super::outcome::{Code, Failure, Stop};
use super::record::Journal;
use crate::callers::Scope;
use crate::error::Result;
use crate::formats;
use crate::ids::ToolId;
use crate::registry::schema::{self, CheckedDocument, Schema, Violation};
use crate::registry::{self, Risk, Tool};
use crate::runners;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// How many violations the message tells; the details have them all.
const TOLD: usize = 5;

/// A call that can run: it may be made, and its arguments fit.
pub struct Input<'a> {
    pub tool: &'a Tool,
    pub arguments: Rc<Value>,
}

impl Input<'_> {
    /// Whether somebody must approve it first.
    pub fn needs_approval(&self) -> bool {
        self.tool.requires_approval || self.tool.risk_level >= Risk::High
    }
}

/// Holds arguments against a tool's schema, and runs nothing. A call's handler may ask more of them: the file tools want a
/// usable path.
pub async fn check_arguments(scope: &Scope, id: &ToolId, arguments: Map<String, Value>) -> Result<CheckedDocument> {
    let tool = registry::get(scope, id, None).await?;
    let schema = schema::compiled(&tool.parameters_schema)?;
    let mut given = Value::Object(arguments);
    formats::arguments::restore(&schema, &mut given);
    Ok(schema.check(given))
}

/// The attachment's defaults first, then the schema's own, then the schema itself.
pub fn arguments<'a>(granted: &Granted<'a>, journal: &mut Journal) -> std::result::Result<Input<'a>, Stop> {
    let tool = &granted.target.tool;
    let config = granted.target.standing.as_ref().and_then(|it| it.config.as_ref());
    let schema = journal.parameters()?;
    let mut given = journal.take_arguments();
    if let (Some(config), Value::Object(fields)) = (config, &mut given) {
        config.fill(fields);
    }
    let mut checked = schema.check(given);
    if checked.violations.is_empty() {
        checked.violations = runners::check(tool, &checked.document)?;
    }
    let arguments = journal.put_arguments(checked.document);
    match checked.violations.as_slice() {
        [] => Ok(Input { tool, arguments }),
        violations => Err(failure(Code::InvalidArguments, "The arguments do not fit", violations).into()),
    }
}

/// What is wrong with a result, if anything is.
pub fn result(returns: Option<&Schema>, result: &Value) -> Option<Failure> {
    match returns?.violations(result).as_slice() {
        [] => None,
        violations => Some(failure(Code::InvalidResult, "The tool's result does not fit", violations)),
    }
}

fn failure(code: Code, what: &str, violations: &[Violation]) -> Failure {
    let told = violations.iter().take(TOLD).map(|it| match it.path.as_str() {
        "" => it.message.clone(),
        path => format!("{path}: {}", it.message),
    });
    let more = match violations.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!("{what}: {}{more}", told.collect::<Vec<_>>().join("; "));
    Failure::new(code, message).with(json!({"violations": violations}))
}
