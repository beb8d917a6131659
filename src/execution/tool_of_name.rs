//! Finds a tool by any name that a call could use for it.

use super::call::CalledName;
use crate::callers::Scope;
use crate::error::Result;
use crate::registry::{self, Tool};

/// The tool that a call with this name would run, if it exists.
pub async fn tool_of_name(scope: &Scope, name: &str) -> Result<Option<Tool>> {
    let Some(called) = CalledName::parse(name) else {
        scope.caller().await?;
        return Ok(None);
    };
    let [rows] = scope.read([registry::look_up_tools(scope.workspace(), called.lookup(), called.version)]).await?;
    Ok(called.choose(registry::read_tools(&rows)?))
}
