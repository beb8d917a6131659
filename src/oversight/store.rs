//! SQL that counts and checks the rows of other rooms. Every statement returns [`crate::db::Figure`]s. In the figures
//! of an alert, the name is JSON. Such a statement returns at most [`NAMED`] figures, each with the `count` of all.

use crate::db::{Statement, sql};
use crate::ids::WorkspaceId;
use crate::registry::{BUILTIN_KEY, Builtin, Source, TOOLSET_OF_TOOL, UPSTREAM_OF_TOOL, UPSTREAM_PREFIX};
use crate::text_enum::TextEnum;
use crate::time::Timestamp;
use crate::upstreams::UpstreamStatus;
use serde_json::json;

/// How many tools or versions an alert names at most.
const NAMED: u32 = 20;

/// The tools `t` that a workspace sees, with their current versions `v`. The SQL sets the index and the order of the
/// join, because SQLite's planner decides by averages, and would read the tools of all workspaces.
const CURRENT: &str = "tools t INDEXED BY sqlite_autoindex_tools_1
    CROSS JOIN tool_versions v ON v.key = t.current_version_key WHERE t.workspace_id IN ('', ?1)";

/// Groups the tools by their properties, and counts each group. The name of a group is a list of words, the category
/// last: `registered active low local control general`. The statement reads each tool once.
pub fn tools_by_kind(workspace: &WorkspaceId) -> Statement {
    sql(format!(
        "SELECT t.source || iif(v.active, ' active ', ' inactive ') || v.risk_level || ' ' || v.execution_mode || ' '
           || v.resource_class || ' ' || v.category AS name, count(*) AS count
         FROM {CURRENT} GROUP BY name"
    ))
    .bind(workspace.as_str())
}

/// The number of versions that were registered since a time, and the time of the workspace's last change.
pub fn changes(workspace: &WorkspaceId, since: Timestamp) -> Statement {
    sql("SELECT 'registrations' AS name, count(*) AS count,
           (SELECT timestamp FROM changes WHERE workspace_id = ?1 ORDER BY seq DESC LIMIT 1) AS more
         FROM changes INDEXED BY changes_by_time WHERE workspace_id = ?1 AND timestamp >= ?2
           AND action IN ('register', 'update') AND substr(subject, 1, 5) = 'tool:'")
    .bind(workspace.as_str())
    .bind(since.to_string())
}

/// The tools that have more than `most` versions.
pub fn churned_tools(workspace: &WorkspaceId, most: u32) -> Statement {
    sql("SELECT json_object('id', t.id, 'versions', count(*)) AS name, count(*) OVER () AS count
         FROM tools t INDEXED BY sqlite_autoindex_tools_1 CROSS JOIN tool_versions v ON v.tool_key = t.key
         WHERE t.workspace_id = ?1 GROUP BY t.id HAVING count(*) > ?2 ORDER BY count(*) DESC, t.id LIMIT +?3")
    .bind(workspace.as_str())
    .bind(most)
    .bind(NAMED)
}

/// The versions that were deactivated for security.
pub fn banned_versions(workspace: &WorkspaceId) -> Statement {
    sql("SELECT json_quote(tool_id || '@' || major || '.' || minor || '.' || patch) AS name, count(*) OVER () AS count
         FROM banned_versions WHERE workspace_id = ?1 ORDER BY tool_id, major, minor, patch LIMIT +?2")
    .bind(workspace.as_str())
    .bind(NAMED)
}

/// The credentials that the workspace defines.
pub fn credentials(workspace: &WorkspaceId) -> Statement {
    sql("SELECT id AS name, 1 AS count FROM credentials WHERE workspace_id = ?1").bind(workspace.as_str())
}

/// The enabled upstreams of one source that did not answer when they were last asked, or not with a description of their
/// tools. The statement reads each such upstream of the workspace, of which there are 200 at most.
pub fn failing_upstreams(workspace: &WorkspaceId, source: Source) -> Statement {
    // The `+` keeps SQLite from an index that holds the upstreams of all sources.
    sql("SELECT json_object('name', name, 'status', status) AS name, count(*) OVER () AS count FROM upstreams
         WHERE workspace_id = ?1 AND source = ?5 AND +enabled = 1 AND status IN (?2, ?3) ORDER BY name LIMIT +?4")
    .bind(workspace.as_str())
    .bind(UpstreamStatus::Unreachable.as_str())
    .bind(UpstreamStatus::Invalid.as_str())
    .bind(NAMED)
    .bind(source.as_str())
}

/// The tools with a definition that waits for an admin. The statement reads each such definition.
pub fn held_back_tools(workspace: &WorkspaceId) -> Statement {
    sql("SELECT json_quote(tool_id) AS name, count(*) OVER () AS count FROM held_back_definitions
         WHERE workspace_id = ?1 ORDER BY source, name, tool_id LIMIT +?2")
    .bind(workspace.as_str())
    .bind(NAMED)
}

/// The active versions whose handler is a built-in that this deployment does not have, or whose upstream is not
/// registered, or whose toolset does not have the tool (`more` is `target`), or that require a credential that is not in
/// `usable` (`more` is `credential`). The statement reads each tool once.
pub fn broken_versions(workspace: &WorkspaceId, usable: &[&str]) -> Statement {
    let known: Vec<&str> = Builtin::ALL.iter().map(|it| it.as_str()).collect();
    sql(format!(
        "WITH looked_at AS (
           SELECT t.key, t.id || '@' || v.major || '.' || v.minor || '.' || v.patch AS version,
             {BUILTIN_KEY} IS NOT NULL AND {BUILTIN_KEY} NOT IN (SELECT value FROM json_each(?2))
               OR t.source IN ('module', 'mcp')
                 AND {UPSTREAM_OF_TOOL} NOT IN (SELECT {UPSTREAM_PREFIX} FROM upstreams u WHERE u.workspace_id = ?1)
               OR t.source = 'toolset' AND NOT EXISTS (SELECT 1 FROM toolset_tools d WHERE d.workspace_id = ?1
                 AND d.toolset_id = {TOOLSET_OF_TOOL} AND d.tool = substr(t.id, instr(t.id, ':') + 1)) AS lost,
             (SELECT json_group_array(value) FROM json_each(v.credentials_required)
               WHERE value NOT IN (SELECT value FROM json_each(?3))) AS missing
           FROM {CURRENT} AND v.active = 1),
         broken AS MATERIALIZED (SELECT * FROM looked_at WHERE lost OR missing <> '[]')
         SELECT * FROM (SELECT json_quote(version) AS name, count(*) OVER () AS count, 'target' AS more
           FROM broken WHERE lost ORDER BY key LIMIT +?4)
         UNION ALL
         SELECT * FROM (SELECT json_object('version', version, 'missing', json(missing)), count(*) OVER (), 'credential'
           FROM broken WHERE missing <> '[]' ORDER BY key LIMIT +?4)"
    ))
    .bind(workspace.as_str())
    .bind(json!(known).to_string())
    .bind(json!(usable).to_string())
    .bind(NAMED)
}

/// Counts over all workspaces, under the names of the metrics. An active tool has exactly one active version, so the
/// number of active versions is the number of active tools. The change log has no gaps, so the last number of a
/// workspace is the number of its changes. `spaces` goes from one workspace to the next in one step.
/// Every upstream is read once. Without `builtins`, the built-in tools are not counted.
pub fn everything(now: Timestamp, builtins: bool) -> Statement {
    let counted = [("modules", Source::Module), ("mcp_servers", Source::Mcp)].into_iter().flat_map(|(name, source)| {
        UpstreamStatus::ALL.iter().map(move |it| {
            format!("('{name}', coalesce((SELECT n FROM statuses WHERE source = '{source}' AND status = '{it}'), 0), '{it}')")
        })
    });
    let upstreams = counted.collect::<Vec<_>>().join(", ");
    let counted_tools = if builtins { "true" } else { "workspace_id > ''" };
    sql(format!(
        "WITH RECURSIVE spaces(id) AS (
           SELECT min(workspace_id) FROM changes
           UNION ALL
           SELECT (SELECT min(workspace_id) FROM changes WHERE workspace_id > spaces.id) FROM spaces WHERE id IS NOT NULL),
         logs AS MATERIALIZED (
           SELECT (SELECT max(seq) FROM changes WHERE workspace_id = spaces.id) AS last FROM spaces WHERE id IS NOT NULL),
         active AS MATERIALIZED (
           SELECT count(*) AS n FROM tool_versions INDEXED BY tool_versions_active WHERE active = 1 AND {counted_tools}),
         statuses AS MATERIALIZED (SELECT source, status, count(*) AS n FROM upstreams GROUP BY source, status)
         SELECT column1 AS name, column2 AS count, column3 AS more FROM (VALUES
           ('workspaces', (SELECT count(*) FROM logs), NULL),
           ('changes_total', (SELECT coalesce(sum(last), 0) FROM logs), NULL),
           ('tools', (SELECT n FROM active), 'true'),
           ('tools', (SELECT count(*) FROM tools WHERE {counted_tools}) - (SELECT n FROM active), 'false'),
           ('tool_versions', (SELECT count(*) FROM tool_versions WHERE {counted_tools}), NULL),
           ('agents', (SELECT count(*) FROM agents), NULL),
           ('approvals_pending', (SELECT count(*) FROM approvals INDEXED BY approvals_pending
             WHERE status = 'pending' AND expires_at > ?1), NULL),
           {upstreams})"
    ))
    .bind(now.to_string())
}
