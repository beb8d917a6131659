//! Mail for the benchmarks. A search looks inside one inbox, and an email is read whole. The mail is the same for all
//! workspaces. The mail has a database of its own (`migrations/benchmarks`), which a deployment may leave out.

mod finding;
mod note;
mod person;
mod search;
mod store;

pub use finding::search;
pub use search::MailSearch;

use crate::callers::Scope;
use crate::db::{DbFailure, Rows, Statement};
use crate::error::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use utoipa::ToSchema;
use worker::console_error;

/// Why the mail could not be read.
#[derive(Debug)]
pub enum MailFailure {
    Unbound,
    Refused(DbFailure),
    Other(Error),
}

impl fmt::Display for MailFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbound => f.write_str("BENCHMARKS_DB binding not configured"),
            Self::Refused(_) => f.write_str("Database query failed"),
            Self::Other(error) => error.fmt(f),
        }
    }
}

impl From<Error> for MailFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// For a caller that asks for the mail itself, not for a tool's result.
impl From<MailFailure> for Error {
    fn from(fault: MailFailure) -> Self {
        match fault {
            MailFailure::Unbound => Self::Unavailable("BENCHMARKS_DB binding not configured: see wrangler.toml"),
            MailFailure::Refused(DbFailure::NotMigrated) => Self::Unavailable(
                "The benchmarks' database has no tables yet: run wrangler d1 migrations apply BENCHMARKS_DB",
            ),
            MailFailure::Refused(failure) => failure.into(),
            MailFailure::Other(error) => error,
        }
    }
}

/// An inbox that can be searched.
#[derive(Serialize, ToSchema)]
pub struct Inbox {
    #[schema(example = "matt.motley@enron.com")]
    inbox: String,
    /// How many emails are in the inbox.
    #[schema(example = 296)]
    emails: u32,
}

/// One whole email, in the form in which `email_get` responds.
pub async fn get(scope: &Scope, message_id: &str) -> std::result::Result<Option<Value>, MailFailure> {
    let [rows] = ask(scope, [store::find(message_id)]).await?;
    Ok(store::read_email(&rows)?)
}

/// All inboxes, sorted by their addresses.
pub async fn inboxes(scope: &Scope) -> Result<Vec<Inbox>> {
    let [rows] = ask(scope, [store::inboxes()]).await?;
    Ok(rows.figures()?.into_iter().map(|it| Inbox { inbox: it.name, emails: it.count }).collect())
}

async fn ask<const N: usize>(scope: &Scope, statements: [Statement; N]) -> std::result::Result<[Rows; N], MailFailure> {
    match scope.ask_benchmarks(statements).await? {
        None => Err(MailFailure::Unbound),
        Some(Ok(rows)) => Ok(rows),
        Some(Err(failure)) => {
            console_error!("request {}: the mail could not be read: {failure:?}", scope.app().request_id());
            Err(MailFailure::Refused(failure))
        }
    }
}
