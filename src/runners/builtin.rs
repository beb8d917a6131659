//! Handlers whose code is part of the Worker. The runner of each built-in is in the file of its subject.

use super::files::{self, FileVerb};
use super::{Prepared, Run, RunFailure, RunTask, Runner, mail, python};
use crate::callers::Scope;
use crate::registry::Builtin;
use crate::text_enum::TextEnum;
use serde_json::Value;

pub fn prepare(key: String, arguments: &Value) -> Prepared {
    match Builtin::parse(&key) {
        Some(Builtin::ExecutePython) => python::prepare_code(arguments),
        Some(Builtin::ReadFile) => files::prepare(FileVerb::Read, arguments),
        Some(Builtin::WriteFile) => files::prepare(FileVerb::Write, arguments),
        Some(Builtin::ListFiles) => files::prepare(FileVerb::List, arguments),
        Some(Builtin::EmailSearch) => mail::prepare_search(arguments),
        Some(Builtin::EmailGet) => mail::prepare_get(),
        None => Ok(Box::new(LostBuiltin { key })),
    }
}

/// The runner of a built-in that this deployment does not have. Every call fails.
struct LostBuiltin {
    key: String,
}

impl Runner for LostBuiltin {
    fn run<'a>(&'a self, _scope: &'a Scope, _task: &'a RunTask<'a>) -> Run<'a> {
        let message = format!("The handler {} is not part of this deployment", self.key);
        Box::pin(async { Err(RunFailure::Unreachable(message)) })
    }
}
