//! Mail for the benchmarks: searched inside one inbox, and read whole. It is the same for all workspaces, in a database of
//! its own (`migrations/benchmarks`), which a deployment may leave out.

mod search;
mod store;

pub use search::{Misfit, Search};

use crate::callers::Scope;
use crate::db::{DbFailure, Rows, Statement};
use crate::error::{Error, Result};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;
use utoipa::ToSchema;
use worker::console_error;

/// Why the mail could not be looked at.
#[derive(Debug)]
pub enum Fault {
    Unbound,
    Refused(DbFailure),
    Other(Error),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbound => f.write_str("BENCHMARKS_DB binding not configured"),
            Self::Refused(_) => f.write_str("Database query failed"),
            Self::Other(error) => error.fmt(f),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// To who asks for the mail itself, and not for a tool's result.
impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Unbound => Self::Unavailable("BENCHMARKS_DB binding not configured: see wrangler.toml"),
            Fault::Refused(DbFailure::NotMigrated) => Self::Unavailable(
                "The benchmarks' database has no tables yet: run wrangler d1 migrations apply BENCHMARKS_DB",
            ),
            Fault::Refused(failure) => failure.into(),
            Fault::Other(error) => error,
        }
    }
}

/// An inbox that can be searched.
#[derive(Serialize, ToSchema)]
pub struct Inbox {
    #[schema(example = "matt.motley@enron.com")]
    inbox: String,
    /// How many emails are in it.
    #[schema(example = 296)]
    emails: u32,
}

/// The emails that a search finds, the page and how many there are, as `email_search` answers them.
pub async fn search(scope: &Scope, search: &Search) -> std::result::Result<Value, Fault> {
    let [page, total] = ask(scope, [store::page(search), store::count(search)]).await?;
    let total = total.figures()?.first().map_or(0, |it| it.count);
    Ok(json!({"emails": page.all::<Value>()?, "total": total}))
}

/// One email whole, as `email_get` answers it.
pub async fn get(scope: &Scope, message_id: &str) -> std::result::Result<Option<Value>, Fault> {
    let [rows] = ask(scope, [store::find(message_id)]).await?;
    Ok(store::read_email(&rows)?)
}

/// The inboxes, by their addresses.
pub async fn inboxes(scope: &Scope) -> Result<Vec<Inbox>> {
    let [rows] = ask(scope, [store::inboxes()]).await?;
    Ok(rows.figures()?.into_iter().map(|it| Inbox { inbox: it.name, emails: it.count }).collect())
}

async fn ask<const N: usize>(scope: &Scope, statements: [Statement; N]) -> std::result::Result<[Rows; N], Fault> {
    match scope.ask_benchmarks(statements).await? {
        None => Err(Fault::Unbound),
        Some(Ok(rows)) => Ok(rows),
        Some(Err(failure)) => {
            console_error!("request {}: the mail could not be read: {failure:?}", scope.app().request_id());
            Err(Fault::Refused(failure))
        }
    }
}
