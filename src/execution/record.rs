//! Stage 9: what came of a call is written before its answer leaves.

use super::call::{Key, Opened};
use super::outcome::{Failure, Status, Stop, ToolResult, cut};
use super::payload::{Kind, Recorded};
use super::resolve::Target;
use super::row::CallRow;
use super::store;
use crate::callers::Scope;
use crate::db::Statement;
use crate::error::{Error, Result};
use crate::files;
use crate::formats;
use crate::ids::{CallId, SessionId};
use crate::registry::schema::{self, Schema};
use crate::registry::scrub;
use crate::runners::Manifests;
use crate::time::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;
use std::rc::Rc;
use worker::console_error;

/// What is known of a call so far, for its record.
#[derive(Default)]
pub struct Journal {
    tool_id: Option<String>,
    version: Option<String>,
    arguments: Rc<Value>,
    /// What tells the secrets among them; until it is known they are not recorded.
    parameters: Option<Rc<Schema>>,
    returns: Option<Rc<Schema>>,
    pub max_result_bytes: Option<u32>,
    pub manifests: Manifests,
    pub duration_ms: u32,
    /// Whether the tool promises objects.
    typed: bool,
    /// Whether the run saw that the session is there.
    pub session_seen: bool,
}

impl Journal {
    pub fn of(call: &mut Opened) -> Self {
        let arguments = Value::Object(std::mem::take(&mut call.asked.arguments));
        Self { arguments: Rc::new(arguments), max_result_bytes: call.asked.max_result_bytes, ..Self::default() }
    }

    /// Of a call that has waited for its approval.
    pub fn resumed(call: &CallRow) -> Self {
        Self { max_result_bytes: call.max_result_bytes, ..Self::default() }
    }

    /// The tool is known, and with it what is secret. Whether a call goes on or not, its record has the arguments in the words
    /// of the schema, which are the words that secrets are told by.
    pub fn resolved(&mut self, target: &Target) -> Result<()> {
        let config = target.standing.as_ref().and_then(|it| it.config.as_ref());
        self.max_result_bytes = self.max_result_bytes.or(config.and_then(|it| it.max_result_bytes()));
        self.tool_id = Some(target.tool.id.to_string());
        self.version = Some(target.tool.version.to_string());
        let parameters = schema::compiled(&target.tool.parameters_schema)?;
        let mut given = self.take_arguments();
        formats::arguments::restore(&parameters, &mut given);
        self.put_arguments(given);
        self.parameters = Some(parameters);
        self.returns = target.tool.returns_schema.as_deref().map(schema::compiled).transpose()?;
        self.typed = self.returns.as_ref().is_some_and(|it| formats::mcp::is_promise(it.definition()));
        Ok(())
    }

    /// What the arguments must fit.
    pub fn parameters(&self) -> Result<Rc<Schema>> {
        self.parameters.clone().ok_or_else(|| Error::Internal("a call was checked before its tool was known".into()))
    }

    /// What the result must fit, if anything.
    pub fn returns(&self) -> Option<&Schema> {
        self.returns.as_deref()
    }

    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    pub fn take_arguments(&mut self) -> Value {
        Rc::unwrap_or_clone(std::mem::take(&mut self.arguments))
    }

    pub fn put_arguments(&mut self, arguments: Value) -> Rc<Value> {
        self.arguments = Rc::new(arguments);
        self.arguments.clone()
    }

    /// The arguments as they are recorded, and the secrets that were among them; none, where it is not known what is
    /// secret.
    fn recorded_arguments(&self) -> Result<(Option<Recorded>, Vec<String>)> {
        let Some(schema) = &self.parameters else { return Ok((None, Vec::new())) };
        if !schema.has_secrets() {
            return Ok((Some(Recorded::new(Kind::Arguments, self.arguments.to_string())?), Vec::new()));
        }
        let mut shown = Value::clone(&self.arguments);
        let secrets = schema.redact(&mut shown);
        Ok((Some(Recorded::new(Kind::Arguments, shown.to_string())?), secrets))
    }

    /// The result as it is recorded: without what its schema calls secret, and without the arguments' secrets.
    fn recorded_result(&self, result: &RawValue, secrets: &[String]) -> Result<Recorded> {
        match self.returns.as_ref().filter(|it| it.has_secrets()) {
            None => Recorded::new(Kind::Result, scrub(secrets, result.get().to_owned())),
            Some(schema) => {
                let mut shown = serde_json::from_str(result.get())
                    .map_err(|cause| Error::Internal(format!("a result is not JSON: {cause}")))?;
                schema.redact(&mut shown);
                Recorded::new(Kind::Result, scrub(secrets, shown.to_string()))
            }
        }
    }

    /// Whether the arguments hold what must not lie open in the record.
    pub fn has_secrets(&self) -> bool {
        self.parameters.as_ref().is_some_and(|it| it.has_secrets())
    }
}

/// A call's row, once it is closed.
pub struct Closing {
    pub version: Option<String>,
    pub status: Status,
    /// None for a call that did not run.
    pub duration_ms: Option<u32>,
    pub finished_at: Option<Timestamp>,
    pub manifests: Manifests,
    pub error: Option<String>,
    pub arguments: Option<Recorded>,
    pub result: Option<Recorded>,
    pub max_result_bytes: Option<u32>,
}

/// Which call is closed.
pub struct Which<'a> {
    pub id: &'a CallId,
    /// As it was recorded when the call was opened.
    pub tool_name: String,
    pub session: &'a SessionId,
    /// The key that the call came with, to be freed if it is refused.
    pub key: Option<&'a Key>,
}

type Ended = std::result::Result<Box<RawValue>, Stop>;

/// Writes what came of the call, and gives the answer.
pub async fn close(scope: &Scope, which: &Which<'_>, journal: Journal, ended: Ended) -> Result<ToolResult> {
    let mut asking = Vec::new();
    let refused = matches!(ended, Err(Stop::Refused(_) | Stop::Broken(_)));
    let (status, result, error) = match ended {
        Ok(result) => (Status::Success, Some(result), None),
        Err(Stop::Refused(failure) | Stop::Failed(failure)) => (Status::Error, None, Some(failure)),
        Err(Stop::Broken(error)) => {
            log(scope, which.id, &error);
            (Status::Error, None, Some(Failure::of(&error, scope.app().request_id())))
        }
        Err(Stop::Pending(asked)) => {
            asking = asked.statements;
            (Status::PendingApproval, None, Some(asked.failure))
        }
    };
    let ran = !refused && status != Status::PendingApproval;
    let closing = Closing {
        duration_ms: ran.then_some(journal.duration_ms),
        ..closing(scope, &journal, status, result.as_deref(), error.as_ref())?
    };
    let mut statements = vec![store::calls::close(scope.workspace(), which.id, &closing)];
    let tool_name = journal.tool_id.as_ref().unwrap_or(&which.tool_name);
    if *tool_name != which.tool_name {
        statements.push(store::calls::rename(scope.workspace(), which.id, tool_name));
    }
    statements.extend(asking);
    statements.extend(blobs(scope, which.id, &closing));
    if let Some(key) = which.key
        && refused
    {
        statements.push(store::keys::free(scope.workspace(), scope.operator(), key, which.id));
    }
    if ran && !journal.session_seen {
        statements.push(files::spring_up(scope.workspace(), which.session, scope.app().now())?);
    }
    scope.write_all(statements).await??;
    Ok(ToolResult {
        call_id: which.id.to_string(),
        tool_name: tool_name.clone(),
        success: status == Status::Success,
        status,
        result: result.map(|it| cut(it, journal.max_result_bytes, which.id)),
        error,
        duration_ms: journal.duration_ms,
        render_plan: None,
        pre_manifest_id: journal.manifests.pre.as_ref().map(String::from),
        post_manifest_id: journal.manifests.post.as_ref().map(String::from),
        version: journal.version,
        typed: journal.typed,
    })
}

fn closing(
    scope: &Scope,
    journal: &Journal,
    status: Status,
    result: Option<&RawValue>,
    error: Option<&Failure>,
) -> Result<Closing> {
    let app = scope.app();
    let (arguments, secrets) = journal.recorded_arguments()?;
    Ok(Closing {
        version: journal.version.clone(),
        status,
        duration_ms: None,
        finished_at: (status != Status::PendingApproval).then(|| app.now().plus_millis(app.elapsed_millis())),
        manifests: journal.manifests.clone(),
        error: error.map(Failure::to_json).transpose()?.map(|it| scrub(&secrets, it)),
        arguments,
        result: result.map(|it| journal.recorded_result(it, &secrets)).transpose()?,
        max_result_bytes: journal.max_result_bytes,
    })
}

/// The statements that keep what is too large for the row.
fn blobs(scope: &Scope, id: &CallId, closing: &Closing) -> Vec<Statement> {
    let documents = [(Kind::Arguments, &closing.arguments), (Kind::Result, &closing.result)];
    let large = documents.iter().filter_map(|(kind, it)| Some((*kind, it.as_ref()?.blob.as_ref()?)));
    large
        .flat_map(|(kind, blob)| {
            let mut statements = blob.insert(scope.workspace(), scope.app().now());
            statements.push(store::calls::tie_blob(scope.workspace(), id, kind, blob));
            statements
        })
        .collect()
}

/// The cause of a failure that is ours, for the log alone.
pub fn log(scope: &Scope, id: &CallId, error: &Error) {
    if let Error::Internal(cause) = error {
        console_error!("request {} failed in the call {id}: {cause}", scope.app().request_id());
    }
}
