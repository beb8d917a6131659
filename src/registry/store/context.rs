//! SQL of what holds for a tool besides its versions ([`ToolContext`](crate::registry::tool_context::ToolContext)): its
//! override, its toolset and its upstream. Built-ins and registered tools have none of these, and cost no row more.

use crate::registry::renderers::builtin_renderers;
use crate::rendering::Renderer;
use serde_json::json;
use std::sync::LazyLock;

/// Whether a statement may meet tools that belong to a module, a toolset or an MCP server. The id of such a tool names its owner
/// ([`ToolId::has_owner`](crate::ids::ToolId::has_owner)).
#[derive(Clone, Copy)]
pub enum ToolOwner {
    /// The statement joins the override `o`.
    Any,
    /// Only built-ins and registered tools, which have no override.
    None,
}

/// Joins the override `o` of the tool `t`. The key is null for tools that cannot have one, and a null key reads no row.
pub const OVERRIDE_JOIN: &str = "LEFT JOIN tool_overrides o
    ON o.workspace_id = iif(t.source IN ('toolset', 'mcp'), t.workspace_id, NULL) AND o.tool_id = t.id";

/// The toolset or the MCP server in the id of the tool `t`.
const OWNER: &str = "substr(t.id, 1, instr(t.id, ':') - 1)";

/// The module in the id of the tool `t`.
const MODULE: &str = "substr(t.id, 1, instr(t.id, '.') - 1)";

/// The context of the tool `t` with its override `o`, as an additional column of a [`Tool`](crate::registry::Tool). The
/// statement needs the [`OVERRIDE_JOIN`]. Primary keys find the toolset or the upstream.
pub fn tool_context() -> &'static str {
    static COLUMN: LazyLock<String> = LazyLock::new(|| {
        let files_since = format!(
            "iif(t.source = 'toolset', (SELECT nullif(max(s.installed_at, coalesce(s.files_changed_at, '')), '') FROM toolsets s
               WHERE s.workspace_id = t.workspace_id AND s.id = {OWNER}), NULL)"
        );
        let more = format!(
            "'name', o.name_override, 'description', o.description_override, 'files_since', {files_since}, \
             'requires_approval', json(CASE o.requires_approval WHEN 0 THEN 'false' WHEN 1 THEN 'true' END)"
        );
        format!("iif(t.source IN ('builtin', 'registered'), NULL, {}) AS context", of_others(&format!(", {more}")))
    });
    &COLUMN
}

/// The context of the tool `t` with its override `o` as a response shows it: the SQL of a JSON object. The text is a
/// constant for registered tools, and one constant for each built-in.
pub fn shown_context(owner: ToolOwner) -> String {
    let builtins = builtin_renderers().iter().map(|(builtin, renderer)| {
        format!("WHEN {} THEN {}", literal(builtin.as_str()), literal(&constant(Some(renderer))))
    });
    let (builtins, plain) = (builtins.collect::<Vec<_>>().join(" "), literal(&constant(None)));
    let others = match owner {
        ToolOwner::Any => of_others(""),
        ToolOwner::None => "NULL".to_owned(),
    };
    format!(
        "CASE t.source WHEN 'registered' THEN {plain} WHEN 'builtin' THEN CASE t.id {builtins} ELSE {plain} END
         ELSE {others} END"
    )
}

/// The same for a built-in or a registered tool.
fn constant(renderer: Option<&Renderer>) -> String {
    json!({
        "toolset_id": null, "server_id": null, "module": null, "renderer": renderer.map(Renderer::kind),
        "renderer_config": renderer.map(Renderer::config), "enabled": true,
    })
    .to_string()
}

/// The same for a tool of a module, a toolset or an MCP server. `more` are further fields.
fn of_others(more: &str) -> String {
    let fields = |toolset: &str, server: &str, module: &str, enabled: &str| {
        format!(
            "json_object('toolset_id', {toolset}, 'server_id', {server}, 'module', {module},
               'renderer', o.renderer, 'renderer_config', json(o.renderer_config),
               'enabled', json(iif(coalesce(o.enabled, 1) AND coalesce({enabled}, 0), 'true', 'false')){more})"
        )
    };
    let of_toolset = fields(
        OWNER,
        "NULL",
        "NULL",
        &format!("(SELECT s.enabled FROM toolsets s WHERE s.workspace_id = t.workspace_id AND s.id = {OWNER})"),
    );
    let of_upstream = fields(
        "u.toolset_id",
        &format!("iif(t.source = 'mcp', {OWNER}, NULL)"),
        &format!("iif(t.source = 'module', {MODULE}, NULL)"),
        "u.enabled",
    );
    // The upstream of a tool may be gone, and the tool still has its context.
    format!(
        "iif(t.source = 'toolset', {of_toolset}, (
           SELECT {of_upstream} FROM (SELECT 1) LEFT JOIN upstreams u ON u.workspace_id = t.workspace_id
             AND u.source = t.source AND u.name = iif(t.source = 'mcp', {OWNER}, {MODULE})))"
    )
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use crate::db::native::{migrated, migrations};
    use rusqlite::Connection;

    fn database() -> Connection {
        let database = migrated(&migrations("db"));
        database
            .execute_batch(
                "INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at,
                     manifest_version, decided_by)
                   VALUES ('w', 'kit', 'Kit', '1.0.0', '', 1, '', '1', '');
                 INSERT INTO tools (workspace_id, id, source, created_at)
                   VALUES ('w', 'kit:plot', 'toolset', ''), ('other', 'kit:plot', 'toolset', ''),
                     ('w', 'time:now', 'mcp', ''), ('w', 'mine', 'registered', '');",
            )
            .unwrap();
        add_version(&database, 1);
        database
    }

    /// Gives every tool a version that is the current one.
    fn add_version(database: &Connection, number: u32) {
        database
            .execute(
                "UPDATE tool_versions SET active = 0, deactivated_reason = 'version_update', deactivated_at = ''
            WHERE workspace_id <> '' AND active = 1",
                (),
            )
            .unwrap();
        let insert = "INSERT INTO tool_versions (workspace_id, tool_key, major, minor, patch, name, description,
            parameters_schema, handler_key, handler, registered_at, registered_by, active)
            SELECT workspace_id, key, ?1, 0, 0, 'plainname', 'plainwords', '{}', 'http', '{}', '', 't', 1 FROM tools
            WHERE workspace_id <> ''";
        database.execute(insert, [number]).unwrap();
    }

    fn write(database: &Connection, id: &str, name: Option<&str>, description: Option<&str>) {
        let put = "INSERT INTO tool_overrides (workspace_id, tool_id, toolset_id, position, name_override,
            description_override) VALUES ('w', ?1, 'kit', 0, ?2, ?3)
            ON CONFLICT (workspace_id, tool_id) DO UPDATE SET name_override = excluded.name_override,
            description_override = excluded.description_override";
        database.execute(put, (id, name, description)).unwrap();
    }

    /// The tools of the workspace that a word finds.
    fn found(database: &Connection, word: &str) -> Vec<String> {
        let search = "SELECT t.id FROM tool_search s JOIN tools t ON t.key = s.rowid
            WHERE s.tool_search MATCH ?1 AND t.workspace_id = 'w' ORDER BY t.id";
        let mut statement = database.prepare(search).unwrap();
        let ids = statement.query_map([word], |row| row.get(0)).unwrap();
        ids.collect::<rusqlite::Result<_>>().unwrap()
    }

    #[test]
    fn a_search_finds_what_overrides_say() {
        let database = database();
        assert_eq!(found(&database, "plainname").len(), 3);
        write(&database, "kit:plot", Some("diagram"), None);
        write(&database, "time:now", None, Some("tells the hour"));
        assert_eq!(found(&database, "diagram"), ["kit:plot"]);
        assert_eq!(found(&database, "plainwords"), ["kit:plot", "mine"]);
        assert_eq!(found(&database, "hour"), ["time:now"]);
        assert_eq!(found(&database, "plainname"), ["mine", "time:now"]);
        // A change, and a new version, keep to the override.
        write(&database, "kit:plot", Some("picture"), Some("draws"));
        add_version(&database, 2);
        assert_eq!((found(&database, "diagram").len(), found(&database, "picture")), (0, vec!["kit:plot".to_owned()]));
        assert_eq!((found(&database, "draws").len(), found(&database, "hour").len()), (1, 1));
        // Without the override, the version counts again.
        database.execute("DELETE FROM tool_overrides WHERE tool_id = 'kit:plot'", ()).unwrap();
        assert_eq!((found(&database, "picture").len(), found(&database, "draws").len()), (0, 0));
        assert_eq!(found(&database, "plainname").len(), 3);
        // A toolset that goes takes its overrides along.
        database.execute("DELETE FROM toolsets", ()).unwrap();
        assert_eq!((found(&database, "hour").len(), found(&database, "plainwords").len()), (0, 3));
    }

    #[test]
    fn an_override_of_a_tool_that_appears_later_is_found() {
        let database = database();
        write(&database, "kit:later", Some("diagram"), None);
        assert!(found(&database, "diagram").is_empty());
        database
            .execute_batch(
                "INSERT INTO tools (workspace_id, id, source, created_at) VALUES ('w', 'kit:later', 'toolset', '')",
            )
            .unwrap();
        add_version(&database, 2);
        assert_eq!(found(&database, "diagram"), ["kit:later"]);
    }

    #[test]
    fn an_override_changes_no_other_tool_and_no_version() {
        let database = database();
        let state = || {
            let all = "SELECT group_concat(t.key || ' ' || t.current_version_key || ' ' || t.revision) FROM tools t";
            database.query_row(all, (), |row| row.get::<_, String>(0)).unwrap()
        };
        let before = state();
        write(&database, "kit:plot", Some("diagram"), None);
        write(&database, "mine", Some("diagram"), None);
        assert_eq!(found(&database, "diagram"), ["kit:plot"], "only tools of toolsets and servers have overrides");
        assert_eq!(state(), before);
        let others = "SELECT count(*) FROM tool_search s JOIN tools t ON t.key = s.rowid
            WHERE s.tool_search MATCH 'diagram' AND t.workspace_id = 'other'";
        assert_eq!(database.query_row(others, (), |row| row.get::<_, u32>(0)).unwrap(), 0);
    }
}
