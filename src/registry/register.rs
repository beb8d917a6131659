//! A tool, or a new version of one, comes in.

use super::definition::ToolIn;
use super::handler::Handler;
use super::store::versions::{At, Position};
use super::tool::{DeactivationReason, Tool};
use super::warnings::{Warning, warnings};
use super::{bump, log, rules, store};
use crate::callers::Scope;
use crate::changes::Action;
use crate::db::Failure;
use crate::error::{Error, Place, Problem, Result};
use crate::text_enum::text_enum;

/// A version that came in, and what its registrant should know.
pub struct Registered {
    pub tool: Tool,
    pub warnings: Vec<Warning>,
}

text_enum! {
    /// Why a registration was refused, for the counts.
    Reason {
        /// It breaks a rule by itself.
        Invalid = "invalid",
        /// It needs a credential that is not defined.
        Credential = "credential",
        /// Its version is not higher than every other, or its step too small.
        Version = "version",
        /// There is that version already.
        Exists = "exists",
        /// The id is a built-in's.
        Builtin = "builtin",
        /// Another request changed the tool meanwhile.
        Overtaken = "overtaken",
    }
}

/// Why nothing came of a registration.
enum Refusal {
    /// Its registrant's doing, which is counted.
    Counted(Reason, Error),
    Other(Error),
}

type Tried<T> = std::result::Result<T, Refusal>;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Other(failure.into())
    }
}

fn refuse<T>(reason: Reason, error: Error) -> Tried<T> {
    Err(Refusal::Counted(reason, error))
}

/// Registers what is given, if it could be read. Two round trips; refusals are counted.
pub async fn register(scope: &Scope, given: Result<ToolIn>) -> Result<Registered> {
    match try_register(scope, given).await {
        Ok(registered) => Ok(registered),
        Err(Refusal::Other(error)) => Err(error),
        Err(Refusal::Counted(reason, error)) => {
            scope.caller().await?.must_be_unbound()?;
            scope.write([store::refusals::count(scope.workspace(), reason.as_str(), scope.app().now())]).await??;
            Err(error)
        }
    }
}

async fn try_register(scope: &Scope, given: Result<ToolIn>) -> Tried<Registered> {
    let now = scope.app().now();
    let read =
        given.and_then(|it| it.into_tool(scope.operator(), now)).and_then(|tool| Ok((Handler::of(&tool)?, tool)));
    let (handler, mut tool) = match read {
        Ok(read) => read,
        Err(error) => return refuse(Reason::Invalid, error),
    };
    let mut problems = rules::problems(&tool, &handler);
    problems.extend(handler.check(scope.app().settings().private_urls));
    if !problems.is_empty() {
        return refuse(Reason::Invalid, Error::Invalid(problems));
    }

    let workspace = scope.workspace();
    let [current, position, same, undefined] = scope
        .read([
            store::tools::find_tool(workspace, &tool.id),
            store::versions::find_position(workspace, &tool.id),
            store::versions::exists(workspace, &tool.id, tool.version),
            store::credentials::undefined(workspace, &tool.credentials_required),
        ])
        .await?;
    scope.caller().await?.must_be_unbound()?;
    if !same.is_empty()? {
        let message = format!("{}@{} is already registered", tool.id, tool.version);
        return refuse(Reason::Exists, Error::AlreadyExists(message));
    }
    let undefined = store::credentials::read_ids(&undefined)?;
    if !undefined.is_empty() {
        return refuse(Reason::Credential, undefined_credentials(&tool, &undefined));
    }
    let warnings = warnings(&tool, &handler);
    match store::tools::read_tool(&current)?.zip(store::versions::read_position(&position)?) {
        Some((current, position)) => {
            tool.created_at = current.created_at;
            add_version(scope, current, &position, &tool).await?;
        }
        None if store::tools::read_tool(&current)?.is_some() => {
            let message = format!("{} is a built-in tool, which cannot be registered again", tool.id);
            return refuse(Reason::Builtin, Error::Conflict(message));
        }
        None => add_tool(scope, &tool).await?,
    }
    Ok(Registered { tool, warnings })
}

/// The first version of a tool that was not there.
async fn add_tool(scope: &Scope, tool: &Tool) -> Tried<()> {
    let defined = store::credentials::are_defined(scope.workspace(), &tool.credentials_required);
    let change = log::change(Action::Register, tool)?.only_if(defined);
    let written = scope
        .write([
            change.record(&scope.author().await?),
            store::versions::insert_tool(scope.workspace(), tool),
            store::versions::insert_first(scope.workspace(), tool)?,
        ])
        .await?;
    match written {
        Ok([_, inserted, _]) if inserted.changes() > 0 => Ok(()),
        // Its credentials are gone, or the tool has come: either way it was overtaken.
        Ok(_) | Err(Failure::Duplicate) => refuse(Reason::Overtaken, overtaken(tool)),
        Err(failure) => refuse_banned(tool, failure),
    }
}

/// A later version, which takes the place of the active one.
async fn add_version(scope: &Scope, current: Tool, position: &Position, tool: &Tool) -> Tried<()> {
    if tool.version < position.highest {
        let message = format!("must be higher than {}, the highest version of {}", position.highest, tool.id);
        return refuse(Reason::Version, Error::body("/version", message));
    }
    if let Err(error) = bump::check(&current, tool) {
        return refuse(Reason::Version, error);
    }
    let at = At {
        workspace: scope.workspace(),
        id: &tool.id,
        revision: position.revision,
        credentials: &tool.credentials_required,
    };
    let author = scope.author().await?;
    let mut changes = Vec::new();
    let mut writes = Vec::new();
    let update = log::change(Action::Update, tool)?.from(&log::Switch::from(&current))?;
    if current.active {
        let replaced = current.switched_off(DeactivationReason::VersionUpdate, scope.app().now());
        let change = log::change(Action::Deactivate, &replaced)?
            .from(&log::Switch::from(&current))?
            .because(Some(DeactivationReason::VersionUpdate.as_str()));
        changes.push(change);
        writes.push(store::versions::switch(&at, &replaced));
    }
    changes.push(update);
    writes.push(store::versions::insert(&at, tool)?);
    let mut statements = changes.into_iter().map(|it| it.only_if(at.holds()).record(&author)).collect::<Vec<_>>();
    statements.extend(writes);
    statements.push(store::versions::move_on(&at));
    match scope.write_all(statements).await? {
        Ok(rows) if rows.last().is_some_and(|it| it.changes() > 0) => Ok(()),
        Ok(_) => refuse(Reason::Overtaken, overtaken(tool)),
        Err(failure) => refuse_banned(tool, failure),
    }
}

fn refuse_banned(tool: &Tool, failure: Failure) -> Tried<()> {
    match failure {
        Failure::Banned => {
            let message = format!("{}@{} was deactivated for security and cannot come back", tool.id, tool.version);
            refuse(Reason::Exists, Error::Conflict(message))
        }
        failure => Err(failure.into()),
    }
}

fn overtaken(tool: &Tool) -> Error {
    Error::Conflict(format!("{} was changed by another request meanwhile; read it and try again", tool.id))
}

/// Says of each credential that is not defined where it is asked for.
pub fn undefined_credentials(tool: &Tool, undefined: &[String]) -> Error {
    let problems = tool.credentials_required.iter().enumerate().filter(|(_, it)| undefined.contains(it));
    let problems = problems.map(|(index, id)| Problem {
        place: Place::Body,
        path: format!("/credentials_required/{index}"),
        message: format!("{id} is not a credential of this workspace"),
    });
    Error::Invalid(problems.collect())
}
