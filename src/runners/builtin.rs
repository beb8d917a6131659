//! The tools that are code of the Worker itself: which is whose.

use super::{Failed, Output, Task, files, mail, python};
use crate::callers::Scope;
use crate::registry::Builtin;
use crate::registry::schema::Violation;
use crate::text_enum::TextEnum;
use serde_json::Value;

/// Whether the arguments make sense to the handler.
pub fn check(key: &str, arguments: &Value) -> Vec<Violation> {
    match Builtin::parse(key) {
        Some(Builtin::ExecutePython) => python::check_code(arguments),
        Some(Builtin::ReadFile | Builtin::WriteFile) => files::check(arguments, false),
        Some(Builtin::ListFiles) => files::check(arguments, true),
        Some(Builtin::EmailSearch) => mail::check(arguments),
        Some(Builtin::EmailGet) | None => Vec::new(),
    }
}

pub async fn run(scope: &Scope, task: &Task<'_>, key: &str) -> Result<Output, Failed> {
    match Builtin::parse(key) {
        Some(Builtin::ExecutePython) => python::execute(scope, task).await,
        Some(Builtin::ReadFile) => files::read(scope, task).await,
        Some(Builtin::WriteFile) => files::write(scope, task).await,
        Some(Builtin::ListFiles) => files::list(scope, task).await,
        Some(Builtin::EmailSearch) => mail::search(scope, task).await,
        Some(Builtin::EmailGet) => mail::get(scope, task).await,
        None => Err(Failed::Unreachable(format!("The handler {key} is not part of this deployment"))),
    }
}
