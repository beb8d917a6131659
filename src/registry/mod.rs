//! The registry: tools, found and shown. It knows workspaces and callers, and nothing of agents.

mod describe;
mod filter;
mod handler;
mod out;
mod redact;
mod row;
pub mod schema;
mod store;
mod tool;

pub use describe::describe;
pub use filter::ToolFilter;
pub use handler::Handler;
pub use out::ToolOut;
pub use redact::scrub;
pub use row::{TOOL_COLUMNS, ToolRow};
pub use store::{find_tool, find_tools, find_version, read_tool, read_tools, tool_exists};
#[cfg(test)]
pub use tool::fixture;
pub use tool::{DeactivationReason, ExecutionMode, ResourceClass, Risk, Source, Tool};

use crate::callers::Scope;
use crate::durable::limiter::{self, Standing};
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version};
use crate::page::{Page, PageRequest, bad_cursor};
use schema::Checked;
use serde_json::{Map, Value};

/// A page of the tools that the filter lets through: best matches first where it has a search text,
/// else in order of creation, the built-ins first.
pub async fn list(scope: &Scope, filter: &ToolFilter, request: &PageRequest) -> Result<Page<Tool>> {
    let Some(expression) = filter.to_fts5(scope.workspace()) else {
        scope.caller().await?;
        return Ok(request.page(Vec::new(), |_: &Tool| String::new()));
    };
    if filter.text.is_some() {
        let found = store::search_tools(scope.workspace(), filter, &expression, request)?;
        let [rows] = scope.read([found]).await?;
        return request.ranked_page(store::read_tools(&rows)?);
    }
    let [rows, position] = scope
        .read([
            store::list_tools(scope.workspace(), filter, &expression, request)?,
            store::tool_exists(scope.workspace(), request.after()),
        ])
        .await?;
    if request.after().is_some() && position.is_empty()? {
        return Err(bad_cursor());
    }
    Ok(request.page(store::read_tools(&rows)?, |tool| tool.id.to_string()))
}

/// The tool at its active version (with none active, at its highest), or at the one that is asked for.
pub async fn get(scope: &Scope, id: &ToolId, version: Option<Version>) -> Result<Tool> {
    let statement = match version {
        None => store::find_tool(scope.workspace(), id),
        Some(version) => store::find_version(scope.workspace(), id, version),
    };
    let [rows] = scope.read([statement]).await?;
    store::read_tool(&rows)?.ok_or_else(|| match version {
        None => Error::not_found("Tool", id),
        Some(version) => Error::not_found("Tool", format!("{id}@{version}")),
    })
}

/// Holds arguments against the tool's schema. A call's handler may ask more of them: the file tools want a usable path.
pub async fn validate(scope: &Scope, id: &ToolId, arguments: Map<String, Value>) -> Result<Checked> {
    let tool = get(scope, id, None).await?;
    Ok(schema::compiled(&tool.parameters_schema)?.check(Value::Object(arguments)))
}

/// The tool's rate limit, if it has one, and how it stands.
pub async fn rate_limit(scope: &Scope, id: &ToolId) -> Result<Option<(u32, Standing)>> {
    let Some(limit) = get(scope, id, None).await?.rate_limit else { return Ok(None) };
    let standing = limiter::peek(scope.app(), scope.workspace(), id, limit).await?;
    Ok(Some((limit, standing)))
}
