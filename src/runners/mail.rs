//! `email_search` and `email_get`.

use super::{Failed, Output, Task};
use crate::callers::Scope;
use crate::mail::{self, MailFailure, MailSearch};
use crate::registry::schema::Violation;
use serde_json::Value;

/// Whether that can be searched for.
pub fn check(arguments: &Value) -> Vec<Violation> {
    let fault = MailSearch::read(arguments).err();
    fault.into_iter().map(|it| Violation { path: format!("/{}", it.parameter), message: it.reason }).collect()
}

pub async fn search(scope: &Scope, task: &Task<'_>) -> Result<Output, Failed> {
    let search = MailSearch::read(task.arguments)
        .map_err(|it| Failed::tool(format!("The argument {} cannot be used: {}", it.parameter, it.reason)))?;
    Ok(Output::plain(mail::search(scope, &search).await?))
}

pub async fn get(scope: &Scope, task: &Task<'_>) -> Result<Output, Failed> {
    let message_id = task.text("message_id").unwrap_or_default();
    let email = mail::get(scope, message_id).await?;
    email.map(Output::plain).ok_or_else(|| Failed::tool(format!("Email not found: {message_id}")))
}

impl From<MailFailure> for Failed {
    fn from(fault: MailFailure) -> Self {
        match fault {
            MailFailure::Other(error) => Self::Broken(error),
            fault => Self::tool(fault.to_string()),
        }
    }
}
