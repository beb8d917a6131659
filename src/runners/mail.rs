//! `email_search` and `email_get`.

use super::{Prepared, Run, RunFailure, RunOutput, RunTask, Runner};
use crate::callers::Scope;
use crate::mail::{self, MailFailure, MailSearch};
use crate::registry::schema::Violation;
use serde_json::Value;

struct EmailSearch {
    search: MailSearch,
}

/// Refuses arguments that are not a valid search.
pub fn prepare_search(arguments: &Value) -> Prepared {
    match MailSearch::read(arguments) {
        Ok(search) => Ok(Box::new(EmailSearch { search })),
        Err(misfit) => Err(vec![Violation { path: format!("/{}", misfit.parameter), message: misfit.reason }]),
    }
}

impl Runner for EmailSearch {
    fn run<'a>(&'a self, scope: &'a Scope, _task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(async { Ok(RunOutput::plain(mail::search(scope, &self.search).await?)) })
    }
}

struct EmailGet;

pub fn prepare_get() -> Prepared {
    Ok(Box::new(EmailGet))
}

impl Runner for EmailGet {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(async {
            let message_id = task.text("message_id").unwrap_or_default();
            let email = mail::get(scope, message_id).await?;
            email.map(RunOutput::plain).ok_or_else(|| RunFailure::tool(format!("Email not found: {message_id}")))
        })
    }
}

impl From<MailFailure> for RunFailure {
    fn from(fault: MailFailure) -> Self {
        match fault {
            MailFailure::Other(error) => Self::Broken(error),
            fault @ (MailFailure::Unbound | MailFailure::Refused(_)) => Self::tool(fault.to_string()),
        }
    }
}
