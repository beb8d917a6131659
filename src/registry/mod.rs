//! The registry: registering, finding and showing tools and their versions, and the credentials that tools ask for. The
//! registry knows workspaces and callers, and nothing of agents.

mod bounded_pattern;
#[cfg(test)]
mod builtins;
mod bump;
mod compat;
#[cfg(test)]
mod counted_steps;
pub mod credential;
mod definition;
mod describe;
mod difference;
mod fields;
mod filter;
mod handler;
mod header_value;
pub mod invariants;
mod lifecycle;
mod log;
mod module_connection;
mod out;
mod placement;
mod policy;
mod portable;
mod preview;
mod record;
mod redact;
mod reference;
mod register;
mod replacement;
mod rules;
pub mod schema;
mod schema_bounds;
mod sealing;
mod server;
mod shown;
mod shown_schema;
mod store;
mod stored;
mod subschemas;
mod tool;
mod unknown;
mod validation_cost;
mod warnings;

pub use definition::{ToolIn, handler_json, is_registered_id};
pub use describe::describe;
pub use difference::RecordDifference;
pub use filter::ToolFilter;
pub use handler::{Builtin, Handler};
pub use header_value::HeaderValue;
pub use lifecycle::{VersionPlan, activate, compare_versions, deactivate, list_versions, roll_back};
pub use log::{VersionSwitch, shown_state};
pub use out::ToolOut;
pub use portable::is_portable;
pub use preview::{Preview, VersionComparison};
pub use record::{ToolRecord, VersionRecord};
pub use redact::scrub;
pub use reference::References;
pub use register::{Inspection, Registration, preview_registration, register};
pub use replacement::{
    RegistryRecords, RegistryReplacement, RegistryRows, credential_put, credential_removed, version_put,
    version_removed,
};
pub use rules::problems;
pub use sealing::seal_headers;
pub use server::{Server, StoredHeaders};
pub use shown_schema::SchemaForm;
pub use store::bounded::{TOOL_BYTES, is_cut, select_within_bytes};
pub use store::columns::version_json;
pub use store::columns::{CURRENT_POLICY, MISSING_CREDENTIALS, TOOL_COLUMNS};
pub use store::credentials::{after as credentials_after, all as find_credentials};
pub use store::lookup::ToolLookup;
pub use store::placing::named as version_name;
pub use store::refusals::{
    forget as forget_refusals, last_day as refusals, last_day_everywhere as refusals_everywhere,
};
pub use store::tools::{
    RELEVANCE, ToolForm, find_builtins, find_tool, find_tools, look_up_tools, read_tool, read_tools, search_tools,
    tool_exists,
};
pub use store::versions::{
    BUILTIN_KEY, after as versions_after, bytes_of_all as bytes_of_all_versions, find_all as find_all_versions,
    find_banned as find_banned_versions,
};
#[cfg(test)]
pub use tool::fixture;
pub use tool::{DeactivationReason, Example, ExecutionMode, ResourceClass, Risk, SideEffect, Source, Tool};
pub use warnings::{MAX_DEPTH as MAX_EXPORTED_DEPTH, Warning, is_key};

use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::durable::limiter::{self, RateWindow};
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version};
use crate::nearest::nearest;
use crate::page::{Page, PageRequest, bad_cursor};
use shown::ShownTool;

/// Returns a page of the tools that match the filter. With a search text, the best matches come first. Without one, the
/// tools are in order of creation, the built-ins first.
pub async fn list(scope: &Scope, filter: &ToolFilter, request: &PageRequest) -> Result<Page<Tool>> {
    let (tools, is_cut) = match find_listed(ToolForm::Read, scope, filter, request).await? {
        Some(rows) => (store::tools::read_tools(&rows)?, store::bounded::is_cut(&rows)?),
        None => (Vec::new(), false),
    };
    page(filter, request, tools, is_cut, |tool| tool.id.to_string())
}

/// The page of [`list`] as the caller may see it, in JSON.
pub async fn list_json(
    scope: &Scope,
    filter: &ToolFilter,
    request: &PageRequest,
    schemas: SchemaForm,
) -> Result<String> {
    let mut rows = find_listed(ToolForm::Shown(schemas), scope, filter, request).await?;
    if rows.as_ref().map(ShownTool::misses_large).transpose()? == Some(true) {
        rows = find_listed(ToolForm::ShownWithinBytes(schemas), scope, filter, request).await?;
    }
    let tools = rows.as_ref().map(ShownTool::read_all).transpose()?.unwrap_or_default();
    let is_cut = rows.as_ref().map(ShownTool::is_cut).transpose()? == Some(true);
    shown::page_json(&page(filter, request, tools, is_cut, |it| it.id.to_owned())?, scope.caller().await?.level)
}

/// Returns the rows of a page, or none if no tool can match the filter.
async fn find_listed(
    form: ToolForm,
    scope: &Scope,
    filter: &ToolFilter,
    request: &PageRequest,
) -> Result<Option<Rows>> {
    let workspace = scope.workspace();
    if filter.selects_all_active() {
        return in_order(scope, store::tools::list_active_tools(form, workspace, request), request).await.map(Some);
    }
    let Some(expression) = filter.to_fts5(workspace) else {
        scope.caller().await?;
        return Ok(None);
    };
    if filter.text.is_some() {
        let [rows] = scope.read([store::tools::search_tools(form, workspace, filter, &expression, request)?]).await?;
        return Ok(Some(rows));
    }
    in_order(scope, store::tools::list_tools(form, workspace, filter, &expression, request)?, request).await.map(Some)
}

/// Reads a page in order of creation, and refuses a cursor that names no tool.
async fn in_order(scope: &Scope, listed: Statement, request: &PageRequest) -> Result<Rows> {
    if request.after().is_none() {
        let [rows] = scope.read([listed]).await?;
        return Ok(rows);
    }
    let [rows, position] = scope.read([listed, store::tools::tool_exists(scope.workspace(), request.after())]).await?;
    if position.is_empty()? {
        return Err(bad_cursor());
    }
    Ok(rows)
}

fn page<T>(
    filter: &ToolFilter,
    request: &PageRequest,
    tools: Vec<T>,
    is_cut: bool,
    id: impl Fn(&T) -> String,
) -> Result<Page<T>> {
    if filter.text.is_some() { request.ranked_page(tools, is_cut) } else { Ok(request.cut_page(tools, is_cut, id)) }
}

/// Returns the tool at the given version. Without one: at the active version, or at the highest if none is active.
pub async fn get(scope: &Scope, id: &ToolId, version: Option<Version>) -> Result<Tool> {
    let [rows] = scope.read([look_up_tools(scope.workspace(), ToolLookup::Id(id), version)]).await?;
    store::tools::read_tool(&rows)?.ok_or_else(|| not_found(id, version))
}

/// The tool of [`get`] as the caller may see it, in JSON.
pub async fn get_json(scope: &Scope, id: &ToolId, version: Option<Version>, schemas: SchemaForm) -> Result<String> {
    let [rows] = scope.read([store::tools::show_tool(scope.workspace(), id, version, schemas)]).await?;
    let tools = ShownTool::read_all(&rows)?;
    match (tools.first(), version) {
        (Some(tool), _) => Ok(tool.to_json(scope.caller().await?.level)),
        (None, None) => Err(not_found(id, None)),
        (None, Some(version)) => {
            // The tool may have other versions, and everybody may see the current one.
            let current = get(scope, id, None).await?.version;
            let (kind, nearest) = ("Tool", Some(format!("{id}@{current}")));
            Err(Error::NotFound { kind, id: format!("{id}@{version}"), nearest })
        }
    }
}

/// The id of the tool that is nearest to a name that no tool has. In a large registry, only ids that are near in the
/// order of the alphabet are considered. A failure is no suggestion.
pub async fn nearest_tool(scope: &Scope, name: &str) -> Option<String> {
    let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
    let [rows] = scope.read([store::tools::neighbours(scope.workspace(), name)]).await.ok()?;
    let ids = store::credentials::read_ids(&rows).ok()?;
    let is_known = ids.iter().any(|it| it == name);
    nearest(name, ids.iter().map(String::as_str)).filter(|_| !is_known).map(str::to_owned)
}

fn not_found(id: &ToolId, version: Option<Version>) -> Error {
    match version {
        None => Error::not_found("Tool", id),
        Some(version) => Error::not_found("Tool", format!("{id}@{version}")),
    }
}

/// Returns the tool's rate limit and its present window, if the tool has a rate limit.
pub async fn rate_limit(scope: &Scope, id: &ToolId) -> Result<Option<(u32, RateWindow)>> {
    let Some(limit) = get(scope, id, None).await?.rate_limit else { return Ok(None) };
    let standing = limiter::peek(scope.app(), scope.workspace(), id, limit).await?;
    Ok(Some((limit, standing)))
}
