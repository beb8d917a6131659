//! Registers a tool, or a new version of a tool. A registration is decided on one reading of the tool; then it is
//! written, or a dry run tells what would be written.

use super::definition::{ReadTool, ToolIn, handler_json};
use super::handler::Handler;
use super::out::ToolOut;
use super::placement::{Placement, PlacementOutcome};
use super::preview::Preview;
use super::store::versions::VersionPosition;
use super::tool::Tool;
use super::warnings::{Warning, warnings};
use super::{bump, rules, store};
use crate::callers::{Level, Scope};
use crate::db::DbFailure;
use crate::error::{Error, Place, Problem, Result, add_new};
use crate::read_only::{ReadOnly, shown};
use crate::text_enum::text_enum;

/// How many problems one response names.
const MAX_PROBLEMS: usize = 50;

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

impl RegistrationRefusal {
    fn into_error(self) -> Error {
        match self {
            Self::Counted(_, error) | Self::Other(error) => error,
        }
    }
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
pub struct Registration {
    /// The parts that could be read. None if none could.
    pub given: Option<Box<ToolIn>>,
    pub read_only: ReadOnly,
    /// The faults of the parts that could not be read.
    pub problems: Vec<Problem>,
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
    let registered = match decide(scope, given, inspect).await {
        Ok(decided) => decided.write(scope, warn).await,
        Err(refusal) => Err(refusal),
    };
    match registered {
        Ok(registered) => Ok(registered),
        Err(RegistrationRefusal::Other(error)) => Err(error),
        Err(RegistrationRefusal::Counted(reason, error)) => {
            scope.caller().await?.must_be_unbound()?;
            scope.write([store::refusals::count(scope.workspace(), reason.as_str(), scope.app().now())]).await??;
            Err(error)
        }
    }
}

/// Tells what [`register`] would do with the same registration. Writes nothing, and counts no refusal.
pub async fn preview_registration(
    scope: &Scope,
    given: Registration,
    warn: impl Fn(&Tool) -> Option<Warning>,
    inspect: impl AsyncFnOnce(&Tool, &Handler) -> Inspection,
) -> Result<(Tool, Preview)> {
    let decided = decide(scope, given, inspect).await.map_err(RegistrationRefusal::into_error)?;
    let warnings = decided.warnings(warn);
    let sealer = scope.app().settings().sealer.as_ref();
    let preview = Preview::of(decided.current.as_ref(), &decided.tool, sealer, warnings)?;
    Ok((decided.tool, preview))
}

/// A registration that keeps all rules, before it is written.
struct DecidedRegistration {
    tool: Tool,
    /// The warnings of the inspection.
    inspected: Vec<Warning>,
    current: Option<Tool>,
    placement: Placement,
}

async fn decide(
    scope: &Scope,
    given: Registration,
    inspect: impl AsyncFnOnce(&Tool, &Handler) -> Inspection,
) -> Attempt<DecidedRegistration> {
    let Registration { given, read_only, mut problems } = given;
    let Some(given) = given else { return refuse(RefusalReason::Invalid, Error::Invalid(problems)) };
    let ReadTool { mut tool, mut handler, problems: of_form } = given.read(scope.operator(), scope.app().now())?;
    add_new(&mut problems, of_form);
    let workspace = scope.workspace();
    let [current, position, taken, undefined] = scope
        .read([
            store::tools::find_tool(workspace, &tool.id),
            store::versions::find_position(workspace, &tool.id),
            store::versions::find_taken(workspace, &tool.id, tool.version),
            store::credentials::undefined(workspace, &rules::possible_credentials(&tool)),
        ])
        .await?;
    // The rules compile schemas and try examples against them. So they come after the check of the caller.
    scope.caller().await?.must_be_unbound()?;
    let current = store::tools::read_tool(&current)?;
    if let Some(current) = &current {
        tool.created_at = current.created_at;
    }
    let present = current.as_ref().map(Handler::of).transpose()?;
    add_new(&mut problems, handler.unmask(present.as_ref()));
    add_new(&mut problems, rules::problems(&tool, &handler));
    add_new(&mut problems, handler.check(scope.app().url_rules()));
    add_new(&mut problems, seal(scope, &handler, &mut tool)?);
    let seen = current.iter().chain([&tool]).map(|it| shown(&ToolOut::seen_by(Level::Admin, it.clone())));
    add_new(&mut problems, read_only.problems(&seen.collect::<Result<Vec<_>>>()?));
    let reason = if problems.is_empty() { RefusalReason::Credential } else { RefusalReason::Invalid };
    add_new(&mut problems, undefined_credentials(&tool, &handler, &store::credentials::read_ids(&undefined)?));
    if !problems.is_empty() {
        problems.truncate(MAX_PROBLEMS);
        return refuse(reason, Error::Invalid(problems));
    }
    refuse_taken(&tool, &store::versions::read_taken(&taken)?)?;
    let mut placement = Placement::default();
    match (&current, &store::versions::read_position(&position)?) {
        (None, _) => placement.add_tool(&tool)?,
        (Some(current), Some(position)) => {
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
    Ok(DecidedRegistration { tool, inspected: inspection.warnings, current, placement })
}

impl DecidedRegistration {
    fn warnings(&self, warn: impl Fn(&Tool) -> Option<Warning>) -> Vec<Warning> {
        let own = warnings(&self.tool).into_iter();
        own.chain(self.inspected.iter().cloned()).chain(warn(&self.tool)).collect()
    }

    async fn write(self, scope: &Scope, warn: impl Fn(&Tool) -> Option<Warning>) -> Attempt<Registered> {
        let warnings = self.warnings(warn);
        let tool = self.tool;
        match self.placement.write(scope).await? {
            PlacementOutcome::Done => Ok(Registered { warnings, tool }),
            PlacementOutcome::Overtaken => refuse(RefusalReason::Overtaken, overtaken(&tool)),
            PlacementOutcome::Banned => refuse(RefusalReason::Exists, banned(&tool)),
        }
    }
}

/// Puts the handler into the version as it is stored. Returns the problems of header values that cannot be sealed.
fn seal(scope: &Scope, handler: &Handler, tool: &mut Tool) -> Result<Vec<Problem>> {
    match handler.sealed(scope.app().settings().sealer.as_ref()) {
        Ok(sealed) => tool.handler = handler_json(&sealed)?,
        Err(Error::Invalid(problems)) => return Ok(problems),
        Err(other) => return Err(other),
    }
    Ok(Vec::new())
}

/// The number of a version is used once.
fn refuse_taken(tool: &Tool, taken: &store::versions::TakenVersion) -> Attempt<()> {
    if taken.is_registered {
        let message = format!("{}@{} is already registered", tool.id, tool.version);
        return refuse(RefusalReason::Exists, Error::AlreadyExists(message));
    }
    if taken.is_banned { refuse(RefusalReason::Exists, banned(tool)) } else { Ok(()) }
}

/// A new version must be higher than all others. The step must be large enough for the differences.
fn check_version(current: &Tool, position: &VersionPosition, tool: &Tool) -> Attempt<()> {
    if tool.version < position.highest {
        let message = format!("must be higher than {}, the highest version of {}", position.highest, tool.id);
        return refuse(RefusalReason::Version, Error::body("/version", message));
    }
    bump::check(current, tool).or_else(|error| refuse(RefusalReason::Version, error))
}

fn banned(tool: &Tool) -> Error {
    Error::Conflict(format!("{}@{} was deactivated for security and cannot come back", tool.id, tool.version))
}

fn overtaken(tool: &Tool) -> Error {
    Error::Conflict(format!("{} was changed by another request meanwhile; read it and try again", tool.id))
}

/// Returns a problem for the undefined credentials that headers name, and one for each other, at its place in
/// `credentials_required`.
fn undefined_credentials(tool: &Tool, handler: &Handler, undefined: &[String]) -> Vec<Problem> {
    let in_headers = |id: &&String| handler.credentials().contains(&id.as_str());
    let problem = |path: String, id: &str| Problem {
        place: Place::Body,
        path,
        message: format!(
            "{id} is not a credential of this workspace: define it first, with POST /api/credentials {{\"id\": …}}"
        ),
    };
    let named = undefined.iter().filter(in_headers).map(String::as_str).collect::<Vec<_>>().join(", ");
    let of_headers = (!named.is_empty()).then(|| problem("/handler/headers".to_owned(), &named));
    let places = tool.credentials_required.iter().enumerate();
    let others = places.filter(|(_, id)| undefined.contains(id) && !in_headers(id));
    of_headers.into_iter().chain(others.map(|(at, id)| problem(format!("/credentials_required/{at}"), id))).collect()
}
