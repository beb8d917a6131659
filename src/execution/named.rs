//! A tool by whatever name a call could have for it.

use super::call::Wanted;
use crate::callers::Scope;
use crate::error::Result;
use crate::registry::{self, Tool};

/// The tool that a call of this name would be about; none, if there is none.
pub async fn named(scope: &Scope, name: &str) -> Result<Option<Tool>> {
    let Some(wanted) = Wanted::parse(name) else {
        scope.caller().await?;
        return Ok(None);
    };
    let [rows] = scope.read([registry::look_up_tools(scope.workspace(), wanted.sought(), wanted.version)]).await?;
    Ok(wanted.choose(registry::read_tools(&rows)?))
}
