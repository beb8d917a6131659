//! SQL of toolboxes: the attached tools, the default tools while nothing is attached, and the tools of the modules that
//! the agent may use. One statement finds all of them, in one order.
//!
//! The statements choose the tools that may be in the toolbox, and [`permission`](crate::agents::permission) decides on
//! each of them. `?1` is the workspace and `?2` the agent.

use super::{AGENT_COLUMNS, Config, stored_json};
use crate::agents::toolbox::{DEFAULT_TOOLS, ToolboxEntry};
use crate::db::{Rows, Statement, sql};
use crate::error::Result;
use crate::ids::{AgentId, WorkspaceId};
use crate::page::PageRequest;
use crate::registry::{OVERRIDE_JOIN, RELEVANCE, TOOL_BYTES, TOOL_COLUMNS, Tool, select_within_bytes, tool_context};
use crate::workspace_settings::DEFAULT_GUEST_MODULES;
use serde::Deserialize;

/// True if the agent has the default tools.
const HAS_DEFAULTS: &str = "(
    SELECT default_tools AND NOT EXISTS (SELECT 1 FROM agent_tools WHERE workspace_id = ?1 AND agent_id = ?2)
    FROM agents WHERE workspace_id = ?1 AND id = ?2)";

/// The enabled modules among those that the agent may use.
fn modules() -> String {
    format!(
        "SELECT m.name FROM json_each((
           SELECT iif(allowed_modules = '[]', {DEFAULT_GUEST_MODULES}, allowed_modules)
           FROM agents WHERE workspace_id = ?1 AND id = ?2)) allowed
         CROSS JOIN upstreams m ON m.workspace_id = ?1 AND m.source = 'module' AND m.name = allowed.value AND m.enabled = 1"
    )
}

fn default_ids() -> String {
    DEFAULT_TOOLS.map(|it| format!("'{it}'")).join(", ")
}

/// The agent, with the workspace's default modules if its own list of modules is empty.
pub fn find_agent_with_defaults(workspace: &WorkspaceId, id: &AgentId) -> Statement {
    sql(format!(
        "SELECT {AGENT_COLUMNS}, iif(allowed_modules = '[]', {DEFAULT_GUEST_MODULES}, '[]') AS default_modules
         FROM agents WHERE workspace_id = ?1 AND id = ?2"
    ))
    .bind(workspace.as_str())
    .bind(id.as_str())
}

/// The default modules that [`find_agent_with_defaults`] has found.
pub fn read_default_modules(rows: &Rows) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Row {
        default_modules: String,
    }
    rows.first::<Row>()?.map_or_else(|| Ok(Vec::new()), |it| stored_json(&it.default_modules))
}

/// Selects a page of tools at their current versions. `found` selects the tools' keys and the columns of an entry, and a
/// column `position`. The page is bounded by bytes ([`registry::is_cut`](crate::registry::is_cut)).
fn select_page(found: &str) -> Statement {
    let columns = format!("{TOOL_COLUMNS}, {}, page.config, page.has_tool", tool_context());
    let bytes = format!("{TOOL_BYTES} + coalesce(octet_length(page.config), 0)");
    let from = format!(
        "FROM ({found}) page
         CROSS JOIN tools t ON t.key = page.tool_key CROSS JOIN tool_versions v ON v.key = t.current_version_key
         {OVERRIDE_JOIN}"
    );
    sql(select_within_bytes("*", &columns, &bytes, &from, "page.position, page.tool_key"))
}

/// Selects each tool once of those that the three parts find: attached tools, default tools, tools of modules. An
/// attached tool of a module keeps the configuration of its attachment.
fn each_once(parts: [String; 3]) -> String {
    format!(
        "SELECT tool_key, max(config) AS config, max(has_tool) AS has_tool, min(position) AS position
         FROM ({}) GROUP BY tool_key",
        parts.join(" UNION ALL ")
    )
}

/// A page of the toolbox, in the order of the tools' creation. `?3` is the tool after which the page begins.
///
/// The ids of a module's tools begin with its name and a dot, and `/` is the character after the dot. So the tools of a
/// module are one range of an index, which also holds their keys.
pub fn list_toolbox(workspace: &WorkspaceId, agent: &AgentId, request: &PageRequest) -> Statement {
    let (modules, ids) = (modules(), default_ids());
    let after = "coalesce((SELECT key FROM tools WHERE workspace_id IN ('', ?1) AND id = ?3), 0)";
    let found = each_once([
        format!(
            "SELECT tool_key, config, 1 AS has_tool, 0 AS position FROM agent_tools
             WHERE workspace_id = ?1 AND agent_id = ?2 AND tool_key > {after}"
        ),
        format!(
            "SELECT key, NULL, 1, 0 FROM tools
             WHERE {HAS_DEFAULTS} AND workspace_id = '' AND id IN ({ids}) AND key > {after}"
        ),
        format!(
            "SELECT t.key, NULL, 0, 0 FROM ({modules}) m
             CROSS JOIN tools t ON t.workspace_id = ?1 AND t.id > m.name || '.' AND t.id < m.name || '/'
             WHERE t.key > {after}"
        ),
    ]);
    select_page(&format!("{found} ORDER BY tool_key LIMIT +?4"))
        .bind(workspace.as_str())
        .bind(agent.as_str())
        .bind(request.after())
        .bind(request.rows_to_ask())
}

/// FTS5 expressions for the same text.
pub struct ToolboxSearch {
    /// Among all tools of the workspace.
    pub among_all: String,
    pub among_defaults: String,
    pub among_module_tools: String,
}

/// A page of the tools of the toolbox that match the text, best match first. Words about other things than the text do
/// not count for the rank, so a tool has the same rank in each part.
pub fn search_toolbox(
    workspace: &WorkspaceId,
    agent: &AgentId,
    search: &ToolboxSearch,
    request: &PageRequest,
) -> Result<Statement> {
    let modules = modules();
    let matches = |place: u8| format!("tool_search MATCH ?{place} AND f.rank MATCH '{RELEVANCE}'");
    let found = each_once([
        format!(
            "SELECT a.tool_key, a.config, 1 AS has_tool, f.rank AS position FROM tool_search f
             CROSS JOIN agent_tools a ON a.workspace_id = ?1 AND a.agent_id = ?2 AND a.tool_key = f.rowid
             WHERE {}",
            matches(3)
        ),
        format!("SELECT f.rowid, NULL, 1, f.rank FROM tool_search f WHERE {HAS_DEFAULTS} AND {}", matches(4)),
        format!(
            "SELECT f.rowid, NULL, 0, f.rank FROM tool_search f CROSS JOIN tools t ON t.key = f.rowid
             WHERE EXISTS ({modules}) AND {} AND substr(t.id, 1, instr(t.id, '.') - 1) IN ({modules})",
            matches(5)
        ),
    ]);
    Ok(select_page(&format!("{found} ORDER BY position, tool_key LIMIT +?6 OFFSET ?7"))
        .bind(workspace.as_str())
        .bind(agent.as_str())
        .bind(search.among_all.as_str())
        .bind(search.among_defaults.as_str())
        .bind(search.among_module_tools.as_str())
        .bind(request.rows_to_ask())
        .bind(request.offset()?))
}

/// The entries that [`list_toolbox`] or [`search_toolbox`] has found.
pub fn read_toolbox(rows: &Rows) -> Result<Vec<ToolboxEntry>> {
    #[derive(Deserialize)]
    struct Row {
        config: Option<String>,
        has_tool: u8,
    }
    let both = rows.all::<Tool>()?.into_iter().zip(rows.all::<Row>()?);
    let read = |(tool, row): (Tool, Row)| {
        let config = row.config.as_deref().map(stored_json).transpose()?.map(Config);
        Ok(ToolboxEntry { tool, config, has_tool: row.has_tool != 0 })
    };
    both.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};

    /// A workspace with three modules among many tools, one of which is disabled, and an agent that may use all of them.
    fn workspace_with_modules() -> (rusqlite::Connection, WorkspaceId, AgentId) {
        let database = migrated(&migrations("db"));
        let tool = "INSERT INTO tools (workspace_id, id, source, created_at) VALUES ('w', ?1, ?2, '')";
        for module in ["alpha", "beta", "gamma"] {
            let insert = "INSERT INTO upstreams (workspace_id, name, kind, url, slow, headers, enabled, auto_accept,
                created_at, revision) VALUES ('w', ?1, 'manifest', '', 0, '{}', ?2, 0, '', 1)";
            database.execute(insert, (module, module != "gamma")).unwrap();
            for it in 0..20 {
                database.execute(tool, (format!("{module}.tool{it}"), "module")).unwrap();
                database.execute(tool, (format!("{module}-{it}"), "registered")).unwrap();
                database.execute(tool, (format!("{module}x.tool{it}"), "module")).unwrap();
            }
        }
        let agent = AgentId::parse("agent_1").unwrap();
        let insert = "INSERT INTO agents (workspace_id, id, name, capabilities, max_risk, allowed_modules,
            permission_level, default_tools, find_tools, created_at)
            VALUES ('w', ?1, 'a', '[]', 'low', '[\"beta\", \"alpha\", \"gamma\", \"none\"]', 'user', 0, 0, '')";
        database.execute(insert, [agent.as_str()]).unwrap();
        let version = "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description,
            parameters_schema, handler_key, handler, category, registered_at, registered_by, active)
            SELECT workspace_id, key, 1, 0, 0, id, '', '{}', 'http', '{}', 'c', '', 't', 1 FROM tools WHERE workspace_id = 'w'";
        database.execute(version, []).unwrap();
        database.execute_batch("ANALYZE").unwrap();
        (database, WorkspaceId::parse("w").unwrap(), agent)
    }

    #[test]
    fn the_tools_of_a_module_are_a_range_of_an_index() {
        let (database, workspace, agent) = workspace_with_modules();
        let request = PageRequest::of_up_to(1_000, None).unwrap();
        let rows = list_toolbox(&workspace, &agent, &request).rows_of(&database).unwrap();
        let ids = rows.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(ids.len(), 40);
        assert_eq!((ids[0].as_str(), ids[39].as_str()), ("alpha.tool0", "beta.tool19"));
        let plan = list_toolbox(&workspace, &agent, &request).plan_of(&database);
        let range = "SEARCH t USING COVERING INDEX sqlite_autoindex_tools_1 (workspace_id=? AND id>? AND id<?)";
        assert!(plan.contains(range), "{plan}");
        assert!(!plan.contains("SCAN t") && !plan.contains("SCAN agent_tools"), "{plan}");
    }
}
