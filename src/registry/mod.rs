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
mod out;
mod placement;
mod policy;
mod portable;
mod preview;
mod record;
mod redact;
mod reference;
mod register;
mod renderers;
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
mod tool_context;
mod unknown;
mod unknown_tool;
mod upstream_connection;
mod validation_cost;
mod warnings;

pub use bump::VersionStep;
pub use definition::{ToolIn, handler_json, is_registered_id};
pub use describe::describe;
pub use difference::RecordDifference;
pub use filter::ToolFilter;
pub use handler::{
    Builtin, Handler, PythonHandler, QueryStyle, RestBody, RestHandler, RestMethod, UrlTemplate, is_json_type,
    masked_url,
};
pub use header_value::{HeaderValue, NOT_OPENED};
pub use lifecycle::{VersionPlan, activate, compare_versions, deactivate, list_versions, roll_back};
pub use log::{VersionSwitch, shown_state};
pub use out::ToolOut;
pub use placement::{Placement, PlacementOutcome};
pub use portable::is_portable;
pub use preview::{FieldDifference, Preview, StepReason, VersionComparison};
pub use record::{ToolRecord, VersionRecord};
pub use redact::scrub;
pub use reference::References;
pub use register::{Inspection, Registration, preview_registration, register};
pub use replacement::{
    RegistryRecords, RegistryReplacement, RegistryRows, credential_put, credential_removed, version_put,
    version_removed,
};
pub use rules::{Drafts, MAX_SCHEMA_BYTES, check_schema, names_other_draft, problems};
pub use sealing::seal_headers;
pub use server::{Server, StoredHeaders};
pub use shown_schema::SchemaForm;
pub use store::bounded::{TOOL_BYTES, is_cut, select_within_bytes};
pub use store::columns::version_json;
pub use store::columns::{CURRENT_POLICY, MISSING_CREDENTIALS, TOOL_COLUMNS};
pub use store::context::{OVERRIDE_JOIN, tool_context};
pub use store::credentials::read_ids as read_tool_ids;
pub use store::credentials::{after as credentials_after, all as find_credentials};
pub use store::lookup::ToolLookup;
pub use store::placing::named as version_name;
pub use store::refusals::{
    forget as forget_refusals, last_day as refusals, last_day_everywhere as refusals_everywhere,
};
pub use store::tools::{
    RELEVANCE, ToolForm, find_builtins, find_tool, look_up_tools, read_tool, read_tools, tool_exists,
};
pub use store::toolsets::TOOLSET_OF_TOOL;
pub use store::upstreams::{UPSTREAM_OF_TOOL, UPSTREAM_PREFIX, has_only_tools_of, is_taken_id};
pub use store::versions::{
    BUILTIN_KEY, ToolReading, after as versions_after, bytes_of_all as bytes_of_all_versions,
    find_all as find_all_versions, find_banned as find_banned_versions,
    find_of_toolset_servers as find_tools_of_toolset_servers, find_of_upstreams as find_tools_of_upstreams,
    find_readings, read_readings,
};
#[cfg(test)]
pub use tool::fixture;
pub use tool::{
    DeactivationReason, Example, ExecutionMode, ResourceClass, Risk, RollbackStrategy, SideEffect, Source, Tool,
};
pub use unknown_tool::{explain_unknown, nearest_tool};
pub use upstream_connection::UPSTREAM_CONNECTION;
pub use warnings::{MAX_DEPTH as MAX_EXPORTED_DEPTH, Warning, is_key};

use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::durable::limiter::{self, RateWindow};
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version, WorkspaceId};
use crate::page::{Page, PageRequest, bad_cursor};
use shown::ShownTool;

/// Returns a page of the tools that match the filter. With a search text, the best matches come first. Without one, the
/// tools are in order of creation, the built-ins first.
pub async fn list(scope: &Scope, filter: &ToolFilter, request: &PageRequest) -> Result<Page<Tool>> {
    let (rows, _) = find_listed(ToolForm::Read, scope, filter, request, None).await?;
    tools_page(filter, request, rows.as_ref())
}

/// The same page, with the modules that guests without an agent may use.
pub async fn list_with_guest_modules(
    scope: &Scope,
    filter: &ToolFilter,
    request: &PageRequest,
) -> Result<(Page<Tool>, Vec<String>)> {
    let modules = store::upstreams::find_guest_modules(scope.workspace());
    let (rows, modules) = find_listed(ToolForm::Read, scope, filter, request, Some(modules)).await?;
    let modules = modules.as_ref().map(store::upstreams::read_guest_modules).transpose()?;
    Ok((tools_page(filter, request, rows.as_ref())?, modules.unwrap_or_default()))
}

/// The page of the tools that [`find_listed`] has found.
fn tools_page(filter: &ToolFilter, request: &PageRequest, rows: Option<&Rows>) -> Result<Page<Tool>> {
    let (tools, is_cut) = match rows {
        Some(rows) => (store::tools::read_tools(rows)?, store::bounded::is_cut(rows)?),
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
    // Most pages have no large tool.
    for form in [ToolForm::Shown(schemas), ToolForm::ShownWithinBytes(schemas)] {
        let (rows, _) = find_listed(form, scope, filter, request, None).await?;
        let tools = rows.as_ref().map(ShownTool::read_all).transpose()?.unwrap_or_default();
        if !tools.iter().any(ShownTool::is_left_out) {
            let is_cut = tools.first().is_some_and(|it| it.is_cut);
            let page = page(filter, request, tools, is_cut, |it| it.id.to_owned())?;
            return shown::page_json(&page, scope.caller().await?.level);
        }
    }
    Err(Error::Internal("a list within bytes has left out a tool".into()))
}

/// Returns the rows of a page, or none if no tool can match the filter; and the rows of `more`, a statement of the same
/// batch. A page in order of creation refuses a cursor that names no tool.
async fn find_listed(
    form: ToolForm,
    scope: &Scope,
    filter: &ToolFilter,
    request: &PageRequest,
    more: Option<Statement>,
) -> Result<(Option<Rows>, Option<Rows>)> {
    let Some(listed) = listed(form, scope.workspace(), filter, request)? else {
        scope.caller().await?;
        return Ok((None, None));
    };
    let has_position = filter.text.is_none() && request.after().is_some();
    let position = has_position.then(|| store::tools::tool_exists(scope.workspace(), request.after()));
    let has_more = more.is_some();
    let statements = [Some(listed), position, more].into_iter().flatten().collect();
    let mut rows = scope.enter(statements).await?.into_iter();
    let listed = rows.next();
    if has_position && rows.next().map(|it| it.is_empty()).transpose()? != Some(false) {
        return Err(bad_cursor());
    }
    Ok((listed, rows.next().filter(|_| has_more)))
}

/// The statement of a page. None, if no tool can match the filter.
fn listed(
    form: ToolForm,
    workspace: &WorkspaceId,
    filter: &ToolFilter,
    request: &PageRequest,
) -> Result<Option<Statement>> {
    if filter.selects_all_active() {
        return Ok(Some(store::tools::list_active_tools(form, workspace, request)));
    }
    let Some(expression) = filter.to_fts5(workspace) else { return Ok(None) };
    let page = match filter.text {
        Some(_) => store::tools::search_tools(form, workspace, filter, &expression, request)?,
        None => store::tools::list_tools(form, workspace, filter, &expression, request)?,
    };
    Ok(Some(page))
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
