//! SQL for the tables `tools`, `tool_versions` and `tool_search`. The workspace `''` holds the built-ins.

use super::bounded::{MAX_LISTED_BYTES, TOOL_BYTES, select_within_bytes};
use super::columns::{CURRENT_POLICY, MISSING_CREDENTIALS, SHOWN_PARTS, TOOL_COLUMNS, shown_own_tool, shown_tool};
use super::context::{OVERRIDE_JOIN, tool_context};
use crate::db::{BETWEEN_TEXTS, Param, Rows, Statement, sql};
use crate::error::{Error, Result};
use crate::ids::{ToolId, Version, WorkspaceId};
use crate::page::PageRequest;
use crate::registry::ToolLookup;
use crate::registry::filter::ToolFilter;
use crate::registry::shown_schema::SchemaForm;
use crate::registry::tool::Tool;
use crate::registry::upstream_connection::UPSTREAM_CONNECTION;

/// The end of an FTS5 expression, to be appended to `?1`. This end excludes the tools that need a capability outside
/// the JSON array `?3`. `?2` is the workspace.
const EXCEPT_CAPABILITIES: &str = "coalesce((
    SELECT ' NOT facets : (' || group_concat('p' || hex(capability), ' OR ') || ')'
    FROM workspace_capabilities
    WHERE ?3 IS NOT NULL AND workspace_id IN ('', ?2) AND capability NOT IN (SELECT value FROM json_each(?3))), '')";

/// The form in which a statement selects tools.
#[derive(Clone, Copy)]
pub enum ToolForm {
    /// For [`read_tools`].
    Read,
    /// For [`ShownTool::read_all`](crate::registry::shown::ShownTool::read_all). A tool that is large has an empty text on a
    /// page, because adding up bytes would double the time of every list.
    Shown(SchemaForm),
    /// The same, with large tools, and no more tools than fit into a response.
    ShownWithinBytes(SchemaForm),
}

impl ToolForm {
    /// Selects a page of tools from `tools t` joined to `tool_versions v` and to the override `o`.
    fn select_page(self, from: &str, order: &str, request: &PageRequest) -> Statement {
        match self {
            Self::Read => {
                let columns = format!("{TOOL_COLUMNS}, {}", tool_context());
                sql(select_within_bytes("*", &columns, TOOL_BYTES, from, order))
            }
            Self::Shown(schemas) => {
                let share = MAX_LISTED_BYTES / request.rows_to_ask();
                let shown =
                    format!("iif({TOOL_BYTES} <= {share}, {}, {})", shown_texts(shown_tool(schemas)), no_texts());
                sql(format!("SELECT t.id, {shown} AS shown, '0' AS cut {from} ORDER BY {order}")).selecting_texts()
            }
            Self::ShownWithinBytes(schemas) => {
                let columns = format!("t.id AS id, {} AS shown", shown_texts(shown_tool(schemas)));
                sql(select_within_bytes("id, shown", &columns, TOOL_BYTES, from, order)).selecting_texts()
            }
        }
    }
}

/// The handler and the fields of a shown tool. They are one column, so that one condition leaves all of them out.
fn shown_texts(fields: &[String]) -> String {
    let texts = std::iter::once("v.handler").chain(fields.iter().map(String::as_str));
    texts.collect::<Vec<_>>().join(&format!(" || {BETWEEN_TEXTS} || "))
}

/// As many empty texts.
fn no_texts() -> String {
    [BETWEEN_TEXTS; SHOWN_PARTS].join(" || ")
}

/// Selects the tools whose keys `found` selects, in the order of the column `position` of `found`. `CROSS JOIN` fixes
/// the order of the joins; otherwise the planner's statistics might make it scan all tools. `?1` is the expression,
/// `?2` the workspace, `?3` the capabilities, `?4` the start of the page, `?5` the number of rows.
fn select_page(form: ToolForm, found: &str, request: &PageRequest) -> Statement {
    let from = format!(
        "FROM ({found}) page
         CROSS JOIN tools t ON t.key = page.key CROSS JOIN tool_versions v ON v.key = t.current_version_key
         {OVERRIDE_JOIN}"
    );
    form.select_page(&from, "page.position, page.key", request)
}

/// Selects a page in order of creation. The page starts after the tool that the cursor names.
pub fn list_tools(
    form: ToolForm,
    workspace: &WorkspaceId,
    filter: &ToolFilter,
    expression: &str,
    request: &PageRequest,
) -> Result<Statement> {
    Ok(select_page(
        form,
        &format!(
            "SELECT rowid AS key, 0 AS position FROM tool_search
         WHERE tool_search MATCH '(' || ?1 || ')' || {EXCEPT_CAPABILITIES}
           AND rowid > coalesce((SELECT key FROM tools WHERE workspace_id IN ('', ?2) AND id = ?4), 0)
         ORDER BY rowid LIMIT +?5"
        ),
        request,
    )
    .bind(expression)
    .bind(workspace.as_str())
    .bind(capabilities(filter)?)
    .bind(request.after())
    .bind(request.rows_to_ask()))
}

/// Selects a page of all active tools in order of creation. The page starts after the tool that the cursor names. Both
/// halves of the union are ranges of one index, so SQLite merges them and sorts nothing.
pub fn list_active_tools(form: ToolForm, workspace: &WorkspaceId, request: &PageRequest) -> Statement {
    let of = |workspace: &str| {
        format!(
            "SELECT key, tool_key FROM tool_versions INDEXED BY tool_versions_active
             WHERE workspace_id = {workspace} AND active = 1
               AND tool_key > coalesce((SELECT key FROM tools WHERE workspace_id IN ('', ?1) AND id = ?2), 0)"
        )
    };
    let from = format!(
        "FROM ({} UNION ALL {} ORDER BY tool_key LIMIT +?3) page
         CROSS JOIN tool_versions v ON v.key = page.key CROSS JOIN tools t ON t.key = page.tool_key {OVERRIDE_JOIN}",
        of("''"),
        of("?1")
    );
    let page = form.select_page(&from, "page.tool_key", request);
    page.bind(workspace.as_str()).bind(request.after()).bind(request.rows_to_ask())
}

/// A match in the id or the name counts for more than a match in the description.
pub const RELEVANCE: &str = "bm25(4.0, 4.0, 1.0, 0.0)";

/// Selects a page of the best matches.
pub fn search_tools(
    form: ToolForm,
    workspace: &WorkspaceId,
    filter: &ToolFilter,
    expression: &str,
    request: &PageRequest,
) -> Result<Statement> {
    Ok(select_page(
        form,
        &format!(
            "SELECT rowid AS key, rank AS position FROM tool_search
         WHERE tool_search MATCH '(' || ?1 || ')' || {EXCEPT_CAPABILITIES}
           AND rank MATCH '{RELEVANCE}'
         ORDER BY rank LIMIT +?5 OFFSET ?4"
        ),
        request,
    )
    .bind(expression)
    .bind(workspace.as_str())
    .bind(capabilities(filter)?)
    .bind(request.offset()?)
    .bind(request.rows_to_ask()))
}

fn capabilities(filter: &ToolFilter) -> Result<Param> {
    let json = filter.capabilities.as_ref().map(serde_json::to_string).transpose();
    json.map(Param::from).map_err(|cause| Error::Internal(format!("capabilities are not JSON: {cause}")))
}

/// Selects a row if the tool that a cursor names exists.
pub fn tool_exists(workspace: &WorkspaceId, id: Option<&str>) -> Statement {
    sql("SELECT 1 AS found FROM tools WHERE workspace_id IN ('', ?1) AND id = ?2").bind(workspace.as_str()).bind(id)
}

/// How many ids [`neighbours`] selects on each side.
const NEIGHBOURS: u32 = 100;

/// Selects the ids of the built-ins, and the ids of the workspace that come before and after a name in the alphabet.
pub fn neighbours(workspace: &WorkspaceId, name: &str) -> Statement {
    sql(format!(
        "SELECT id FROM tools WHERE workspace_id = ''
         UNION ALL SELECT id FROM (
           SELECT id FROM tools WHERE workspace_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT {NEIGHBOURS})
         UNION ALL SELECT id FROM (
           SELECT id FROM tools WHERE workspace_id = ?1 AND id >= ?2 ORDER BY id LIMIT {NEIGHBOURS})"
    ))
    .bind(workspace.as_str())
    .bind(name.to_lowercase())
}

/// The ids of the built-ins.
pub fn find_builtins() -> Statement {
    sql("SELECT id FROM tools WHERE workspace_id = ''")
}

/// The tool at its current version: the active one, else the highest.
pub fn find_tool(workspace: &WorkspaceId, id: &ToolId) -> Statement {
    look_up_tools(workspace, ToolLookup::Id(id), None)
}

/// Selects the tools that `sought` may mean, at the given version, or at their current versions. A given version comes
/// with the policy of the current one.
pub fn look_up_tools(workspace: &WorkspaceId, sought: ToolLookup<'_>, version: Option<Version>) -> Statement {
    let policy = version.map(|_| format!(", {CURRENT_POLICY}")).unwrap_or_default();
    let context = match sought {
        ToolLookup::Id(id) if !id.has_owner() => String::new(),
        ToolLookup::Id(_) | ToolLookup::Prefix(_) => format!(", {}, {UPSTREAM_CONNECTION}", tool_context()),
    };
    let select = format!("SELECT {TOOL_COLUMNS}, {MISSING_CREDENTIALS}{context}{policy}");
    at_version(&select, workspace, sought, version)
}

/// The same tool for a response.
pub fn show_tool(workspace: &WorkspaceId, id: &ToolId, version: Option<Version>, schemas: SchemaForm) -> Statement {
    let shown = shown_texts(if id.has_owner() { shown_tool(schemas) } else { shown_own_tool(schemas) });
    at_version(&format!("SELECT t.id, {shown} AS shown, '0' AS cut"), workspace, ToolLookup::Id(id), version)
        .selecting_texts()
}

fn at_version(select: &str, workspace: &WorkspaceId, sought: ToolLookup<'_>, version: Option<Version>) -> Statement {
    let of_version = match version {
        None => "v.key = t.current_version_key",
        Some(_) => "v.tool_key = t.key AND v.major = ?3 AND v.minor = ?4 AND v.patch = ?5",
    };
    let overridden = match sought {
        ToolLookup::Id(id) if !id.has_owner() => "",
        ToolLookup::Id(_) | ToolLookup::Prefix(_) => OVERRIDE_JOIN,
    };
    // `CROSS JOIN` makes SQLite read the tool first. Its statistics may suggest that there are fewer versions than
    // tools.
    let (table, condition) = (sought.table(2), sought.condition(2));
    let text =
        format!("{select} FROM {table} CROSS JOIN tool_versions v ON {of_version} {overridden} WHERE {condition}");
    let statement = sql(text).bind(workspace.as_str()).bind(sought.param());
    let numbers = version.into_iter().flat_map(|it| [it.major, it.minor, it.patch]);
    numbers.fold(statement, Statement::bind)
}

pub fn read_tool(rows: &Rows) -> Result<Option<Tool>> {
    rows.first()
}

pub fn read_tools(rows: &Rows) -> Result<Vec<Tool>> {
    rows.all()
}
