//! Registers a tool, or a new version of a tool.

use super::definition::ToolIn;
use super::handler::Handler;
use super::placement::{Placement, PlacementOutcome};
use super::store::versions::VersionPosition;
use super::tool::Tool;
use super::warnings::{Warning, warnings};
use super::{bump, rules, store};
use crate::callers::Scope;
use crate::db::DbFailure;
use crate::error::{Error, Place, Problem, Result};
use crate::text_enum::text_enum;

/// A registered version, with warnings for the registrant.
pub struct Registered {
    pub tool: Tool,
    pub warnings: Vec<Warning>,
}

/// What another room finds in a new version before it is stored.
#[derive(Default)]
pub struct Inspection {
    /// The reasons to refuse the version.
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
}

impl Inspection {
    pub fn refuse(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem { place: Place::Body, path: path.to_owned(), message: message.into() });
    }

    pub fn warn(&mut self, path: &str, message: &str) {
        self.warnings.push(Warning::new(path, message));
    }
}

text_enum! {
    /// The reason why a registration was refused. Refusals are counted by reason.
    RefusalReason {
        /// The registration itself breaks a rule.
        Invalid = "invalid",
        /// The registration needs a credential that is not defined.
        Credential = "credential",
        /// The version is not higher than every other version, or its step is too small.
        Version = "version",
        /// The version exists already.
        Exists = "exists",
        /// The id belongs to a built-in.
        Builtin = "builtin",
        /// Another request changed the tool meanwhile.
        Overtaken = "overtaken",
    }
}

/// The reason why a registration failed.
enum RegistrationRefusal {
    /// An error of the registrant. It is counted as a refusal.
    Counted(RefusalReason, Error),
    Other(Error),
}

type Attempt<T> = std::result::Result<T, RegistrationRefusal>;

impl From<Error> for RegistrationRefusal {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<DbFailure> for RegistrationRefusal {
    fn from(failure: DbFailure) -> Self {
        Self::Other(failure.into())
    }
}

fn refuse<T>(reason: RefusalReason, error: Error) -> Attempt<T> {
    Err(RegistrationRefusal::Counted(reason, error))
}

/// A registration as received. An unreadable registration is counted as a refusal too.
pub enum Registration {
    Read(Box<ToolIn>),
    Unreadable(Error),
}

impl From<Result<ToolIn>> for Registration {
    fn from(read: Result<ToolIn>) -> Self {
        read.map_or_else(Self::Unreadable, |it| Self::Read(Box::new(it)))
    }
}

/// Registers the given version, if the registration could be read. Takes two round trips. Refusals are counted. `warn`
/// and `inspect` belong to other rooms, on which the registry does not depend: `warn` adds a warning, and `inspect` looks
/// at a version that keeps all rules of the registry.
pub async fn register(
    scope: &Scope,
    given: Registration,
    warn: impl Fn(&Tool) -> Option<Warning>,
    inspect: impl AsyncFnOnce(&Tool, &Handler) -> Inspection,
) -> Result<Registered> {
    match try_register(scope, given, inspect).await {
        Ok(mut registered) => {
            registered.warnings.extend(warn(&registered.tool));
            Ok(registered)
        }
        Err(RegistrationRefusal::Other(error)) => Err(error),
        Err(RegistrationRefusal::Counted(reason, error)) => {
            scope.caller().await?.must_be_unbound()?;
            scope.write([store::refusals::count(scope.workspace(), reason.as_str(), scope.app().now())]).await??;
            Err(error)
        }
    }
}

async fn try_register(
    scope: &Scope,
    given: Registration,
    inspect: impl AsyncFnOnce(&Tool, &Handler) -> Inspection,
) -> Attempt<Registered> {
    let read = match given {
        Registration::Read(given) => {
            given.read(scope.operator(), scope.app().now(), scope.app().settings().sealer.as_ref())
        }
        Registration::Unreadable(error) => Err(error),
    };
    let (mut tool, handler) = match read {
        Ok(read) => read,
        Err(error) => return refuse(RefusalReason::Invalid, error),
    };
    let workspace = scope.workspace();
    let [current, position, same, undefined] = scope
        .read([
            store::tools::find_tool(workspace, &tool.id),
            store::versions::find_position(workspace, &tool.id),
            store::versions::exists(workspace, &tool.id, tool.version),
            store::credentials::undefined(workspace, &rules::possible_credentials(&tool)),
        ])
        .await?;
    // The rules compile schemas and try examples against them. So they come after the check of the caller.
    scope.caller().await?.must_be_unbound()?;
    let mut problems = rules::problems(&tool, &handler);
    problems.extend(handler.check(scope.app().url_rules()));
    if !problems.is_empty() {
        return refuse(RefusalReason::Invalid, Error::Invalid(problems));
    }
    if !same.is_empty()? {
        let message = format!("{}@{} is already registered", tool.id, tool.version);
        return refuse(RefusalReason::Exists, Error::AlreadyExists(message));
    }
    let undefined = store::credentials::read_ids(&undefined)?;
    if !undefined.is_empty() {
        return refuse(RefusalReason::Credential, undefined_credentials(&tool, &undefined));
    }
    let current = store::tools::read_tool(&current)?;
    let position = store::versions::read_position(&position)?;
    let mut placement = Placement::default();
    match (&current, &position) {
        (None, _) => placement.add_tool(&tool)?,
        (Some(current), Some(position)) => {
            tool.created_at = current.created_at;
            check_version(current, position, &tool)?;
            placement.add_version(current, position.revision, &tool)?;
        }
        // Every tool of the workspace itself has a position, so this tool is a built-in.
        (Some(_), None) => {
            let message = format!("{} is a built-in tool, which cannot be registered again", tool.id);
            return refuse(RefusalReason::Builtin, Error::Conflict(message));
        }
    }
    // The inspection may take long, so it comes after all other reasons to refuse.
    let inspection = inspect(&tool, &handler).await;
    if !inspection.problems.is_empty() {
        return refuse(RefusalReason::Invalid, Error::Invalid(inspection.problems));
    }
    match placement.write(scope).await? {
        PlacementOutcome::Done => {
            let mut warnings = warnings(&tool);
            warnings.extend(inspection.warnings);
            Ok(Registered { warnings, tool })
        }
        PlacementOutcome::Overtaken => refuse(RefusalReason::Overtaken, overtaken(&tool)),
        PlacementOutcome::Banned => {
            let message = format!("{}@{} was deactivated for security and cannot come back", tool.id, tool.version);
            refuse(RefusalReason::Exists, Error::Conflict(message))
        }
    }
}

/// A new version must be higher than all others. The step must be large enough for the differences.
fn check_version(current: &Tool, position: &VersionPosition, tool: &Tool) -> Attempt<()> {
    if tool.version < position.highest {
        let message = format!("must be higher than {}, the highest version of {}", position.highest, tool.id);
        return refuse(RefusalReason::Version, Error::body("/version", message));
    }
    bump::check(current, tool).or_else(|error| refuse(RefusalReason::Version, error))
}

fn overtaken(tool: &Tool) -> Error {
    Error::Conflict(format!("{} was changed by another request meanwhile; read it and try again", tool.id))
}

/// Returns one problem for each undefined credential, at its place in `credentials_required`.
pub fn undefined_credentials(tool: &Tool, undefined: &[String]) -> Error {
    let problems = tool.credentials_required.iter().enumerate().filter(|(_, it)| undefined.contains(it));
    let problems = problems.map(|(index, id)| Problem {
        place: Place::Body,
        path: format!("/credentials_required/{index}"),
        message: format!("{id} is not a credential of this workspace"),
    });
    Error::Invalid(problems.collect())
}
