//! Tools of toolsets: functions in Python that work on the files of the session, and that find the files of their toolset
//! beside them.

use super::python::check_size;
use super::python_files::{COMMIT, FileProgram, ProgramSource, run_program};
use super::sandbox::{WAIT, may_have_begun};
use super::{Prepared, Run, RunFailure, RunTask, Runner};
use crate::callers::Scope;
use crate::ids::SERVER_SEPARATOR;
use crate::registry::Tool;
use serde_json::Value;
use std::time::Duration;

/// A function of a toolset.
struct ToolsetRunner {
    /// `module:function`
    entrypoint: String,
}

/// Refuses arguments that the sandbox would not accept.
pub fn prepare(entrypoint: String, arguments: &Value) -> Prepared {
    check_size("", arguments, &[])?;
    Ok(Box::new(ToolsetRunner { entrypoint }))
}

impl Runner for ToolsetRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(async {
            let id = task.tool.id.as_str();
            let toolset = id.split_once(SERVER_SEPARATOR).map_or(id, |(toolset, _)| toolset);
            let (module, function) = self.entrypoint.split_once(':').unwrap_or((&self.entrypoint, ""));
            let program = FileProgram {
                source: ProgramSource::Module { module },
                function,
                properties: None,
                toolset: Some(toolset),
            };
            run_program(scope, task, &program).await
        })
    }

    fn extra_wait(&self) -> Duration {
        WAIT + COMMIT
    }

    fn too_late(&self, _tool: &Tool) -> RunFailure {
        may_have_begun("its time is up")
    }
}
