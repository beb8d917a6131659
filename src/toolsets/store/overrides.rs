//! SQL for the table `tool_overrides`.

use crate::db::{Condition, Rows, Statement, condition, for_each, sql};
use crate::error::{Error, Result};
use crate::ids::{ToolId, ToolsetId, WorkspaceId};
use crate::rendering::RendererKind;
use crate::toolsets::overrides::OverrideOut;
use serde::Deserialize;
use serde_json::{Value, json};

pub const COLUMNS: &str = "toolset_id, tool_id, renderer, renderer_config, name_override, description_override,
    requires_approval, enabled, by_admin";

/// Selects the overrides of a toolset, in the order of its manifest.
pub fn find_all(workspace: &WorkspaceId, toolset: &ToolsetId) -> Statement {
    sql(format!(
        "SELECT {COLUMNS} FROM tool_overrides WHERE workspace_id = ?1 AND toolset_id = ?2 ORDER BY position, tool_id"
    ))
    .bind(workspace.as_str())
    .bind(toolset.as_str())
}

/// Selects the override of one tool.
pub fn find(workspace: &WorkspaceId, toolset: &ToolsetId, tool: &ToolId) -> Statement {
    sql(format!("SELECT {COLUMNS} FROM tool_overrides WHERE workspace_id = ?1 AND tool_id = ?3 AND toolset_id = ?2"))
        .bind(workspace.as_str())
        .bind(toolset.as_str())
        .bind(tool.as_str())
}

pub fn read_all(rows: &Rows) -> Result<Vec<OverrideOut>> {
    #[derive(Deserialize)]
    struct OverrideRow {
        toolset_id: String,
        tool_id: String,
        renderer: Option<RendererKind>,
        renderer_config: Option<String>,
        name_override: Option<String>,
        description_override: Option<String>,
        requires_approval: Option<u8>,
        enabled: Option<u8>,
        by_admin: u8,
    }
    let config = |text: &String| {
        serde_json::from_str(text).map_err(|cause| Error::Internal(format!("stored JSON cannot be read: {cause}")))
    };
    let read = |row: OverrideRow| {
        Ok(OverrideOut {
            toolset_id: row.toolset_id,
            tool_id: row.tool_id,
            renderer: row.renderer,
            renderer_config: row.renderer_config.as_ref().map(config).transpose()?,
            name_override: row.name_override,
            description_override: row.description_override,
            requires_approval: row.requires_approval.map(|it| it != 0),
            enabled: row.enabled.map(|it| it != 0),
            by_admin: row.by_admin != 0,
        })
    };
    rows.all::<OverrideRow>()?.into_iter().map(read).collect()
}

/// What an override of one tool must know of its toolset.
#[derive(Deserialize)]
pub struct OverridePlace {
    pub revision: u32,
    /// 1 if the tool is one of the toolset's own, or may be one of a server of the toolset.
    has_tool: u8,
    /// 1 if the toolset has the artifact.
    has_artifact: u8,
}

impl OverridePlace {
    pub fn has_tool(&self) -> bool {
        self.has_tool != 0
    }

    pub fn has_artifact(&self) -> bool {
        self.has_artifact != 0
    }
}

/// Selects the toolset, whether it has the tool, and whether it has the artifact. No row, if there is no such toolset.
pub fn find_place(workspace: &WorkspaceId, toolset: &ToolsetId, tool: &ToolId, artifact: Option<&str>) -> Statement {
    let (owner, name) = tool.as_str().split_once(':').unwrap_or_default();
    sql("SELECT s.revision,
           iif(?3 = s.id,
             EXISTS (SELECT 1 FROM toolset_tools d WHERE d.workspace_id = ?1 AND d.toolset_id = s.id AND d.tool = ?4),
             EXISTS (SELECT 1 FROM upstreams u
               WHERE u.workspace_id = ?1 AND u.source = 'mcp' AND u.name = ?3 AND u.toolset_id = s.id)) AS has_tool,
           EXISTS (SELECT 1 FROM toolset_files f
             WHERE f.workspace_id = ?1 AND f.toolset_id = s.id AND f.path = ?5) AS has_artifact
         FROM toolsets s WHERE s.workspace_id = ?1 AND s.id = ?2")
    .bind(workspace.as_str())
    .bind(toolset.as_str())
    .bind(owner)
    .bind(name)
    .bind(artifact)
}

pub fn read_place(rows: &Rows) -> Result<Option<OverridePlace>> {
    rows.first()
}

/// True while the toolset is at the revision that was read.
pub fn toolset_is_at(workspace: &WorkspaceId, toolset: &ToolsetId, revision: u32) -> Condition {
    condition("EXISTS (SELECT 1 FROM toolsets WHERE workspace_id = ?1 AND id = ?2 AND revision = ?3)")
        .bind(workspace.as_str())
        .bind(toolset.as_str())
        .bind(revision)
}

/// Ends a change of a toolset's overrides, so that a decision about the toolset that was made before is refused.
pub fn raise_revision(workspace: &WorkspaceId, toolset: &ToolsetId, revision: u32) -> Statement {
    sql("UPDATE toolsets SET revision = revision + 1 WHERE workspace_id = ?1 AND id = ?2 AND revision = ?3")
        .bind(workspace.as_str())
        .bind(toolset.as_str())
        .bind(revision)
}

/// Inserts the overrides in `json_each(?2)`; `?3` is the toolset.
const INSERT: &str = "INSERT INTO tool_overrides (workspace_id, tool_id, toolset_id, position, renderer, renderer_config,
      name_override, description_override, requires_approval, enabled, by_admin)
    SELECT ?1, it.value ->> 'tool_id', ?3, coalesce(it.value ->> 'position', (
        SELECT 1 + coalesce(max(position), -1) FROM tool_overrides WHERE workspace_id = ?1 AND toolset_id = ?3)),
      it.value ->> 'renderer', it.value ->> 'renderer_config', it.value ->> 'name_override',
      it.value ->> 'description_override', it.value ->> 'requires_approval', it.value ->> 'enabled', it.value ->> 'by_admin'
    FROM json_each(?2) it WHERE true";

/// An override as [`INSERT`] takes it. Without a position, it comes after all others. The configuration is a text, and
/// stays as Rust writes it.
fn row(it: &OverrideOut, position: Option<usize>) -> Value {
    json!({
        "tool_id": it.tool_id, "position": position, "renderer": it.renderer, "renderer_config": config_text(it),
        "name_override": it.name_override, "description_override": it.description_override,
        "requires_approval": it.requires_approval, "enabled": it.enabled, "by_admin": it.by_admin,
    })
}

fn config_text(it: &OverrideOut) -> Option<String> {
    it.renderer_config.as_ref().map(|it| Value::from(it.clone()).to_string())
}

/// Makes the overrides of a toolset these ones, in this order. Each statement ends with a `WHERE` clause, so that conditions
/// can be added; `ON CONFLICT` would take them as a part of its last assignment.
pub fn put_all(workspace: &WorkspaceId, toolset: &ToolsetId, overrides: &[OverrideOut]) -> Result<Vec<Statement>> {
    let ids = json!(overrides.iter().map(|it| it.tool_id.as_str()).collect::<Vec<_>>()).to_string();
    let delete = sql("DELETE FROM tool_overrides WHERE workspace_id = ?1 AND toolset_id = ?2
           AND tool_id NOT IN (SELECT value FROM json_each(?3))")
    .bind(workspace.as_str())
    .bind(toolset.as_str())
    .bind(ids);
    let rows = overrides.iter().enumerate().map(|(position, it)| row(it, Some(position))).collect::<Vec<_>>();
    // LIMIT makes SQLite read the list once, and look up each row of the table.
    let update =
        "UPDATE tool_overrides AS o SET position = it.value ->> 'position', renderer = it.value ->> 'renderer',
           renderer_config = it.value ->> 'renderer_config', name_override = it.value ->> 'name_override',
           description_override = it.value ->> 'description_override',
           requires_approval = it.value ->> 'requires_approval', enabled = it.value ->> 'enabled',
           by_admin = it.value ->> 'by_admin'
         FROM (SELECT value ->> 'tool_id' AS id, value FROM json_each(?2) LIMIT -1) it
         WHERE o.workspace_id = ?1 AND o.tool_id = it.id AND o.toolset_id = ?3";
    let insert = format!(
        "{INSERT} AND NOT EXISTS (SELECT 1 FROM tool_overrides o
           WHERE o.workspace_id = ?1 AND o.tool_id = it.value ->> 'tool_id' AND o.toolset_id = ?3)"
    );
    let mut statements = vec![delete];
    for text in [update, &insert] {
        statements.extend(for_each(workspace, &rows, text)?.into_iter().map(|it| it.bind(toolset.as_str())));
    }
    Ok(statements)
}

/// Adds the override of one tool after all others.
pub fn insert(workspace: &WorkspaceId, toolset: &ToolsetId, one: &OverrideOut) -> Statement {
    sql(INSERT).bind(workspace.as_str()).bind(json!([row(one, None)]).to_string()).bind(toolset.as_str())
}

/// Replaces the override of one tool. It stays at its place.
pub fn update(workspace: &WorkspaceId, it: &OverrideOut) -> Statement {
    sql("UPDATE tool_overrides SET renderer = ?3, renderer_config = ?4, name_override = ?5, description_override = ?6,
           requires_approval = ?7, enabled = ?8, by_admin = ?9
         WHERE workspace_id = ?1 AND tool_id = ?2")
    .bind(workspace.as_str())
    .bind(it.tool_id.as_str())
    .bind(it.renderer.map(|it| it.as_str()))
    .bind(config_text(it))
    .bind(it.name_override.as_deref())
    .bind(it.description_override.as_deref())
    .bind(it.requires_approval)
    .bind(it.enabled)
    .bind(it.by_admin)
}

/// Deletes the override of one tool.
pub fn delete(workspace: &WorkspaceId, toolset: &ToolsetId, tool: &ToolId) -> Statement {
    sql("DELETE FROM tool_overrides WHERE workspace_id = ?1 AND tool_id = ?3 AND toolset_id = ?2")
        .bind(workspace.as_str())
        .bind(toolset.as_str())
        .bind(tool.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use rusqlite::Connection;

    const KIT: &str = "INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at,
        manifest_version, decided_by) VALUES ('w', 'kit', 'Kit', '1.0.0', '', 1, '', '1', '');";

    fn database() -> (Connection, WorkspaceId, ToolsetId) {
        let database = migrated(&migrations("db"));
        database.execute_batch(KIT).unwrap();
        (database, WorkspaceId::parse("w").unwrap(), ToolsetId::parse("kit").unwrap())
    }

    fn one(tool: &str, change: impl FnOnce(&mut OverrideOut)) -> OverrideOut {
        let mut it = OverrideOut {
            toolset_id: "kit".into(),
            tool_id: format!("kit:{tool}"),
            renderer: None,
            renderer_config: None,
            name_override: None,
            description_override: None,
            requires_approval: None,
            enabled: Some(true),
            by_admin: false,
        };
        change(&mut it);
        it
    }

    fn run(database: &Connection, statements: impl IntoIterator<Item = Statement>) {
        statements.into_iter().for_each(|it| drop(it.rows_of(database).unwrap()));
    }

    /// The stored overrides, as JSON of their rows.
    fn stored(database: &Connection, workspace: &WorkspaceId, toolset: &ToolsetId) -> Vec<Value> {
        find_all(workspace, toolset).rows_of(database).unwrap()
    }

    #[test]
    fn what_is_put_is_what_there_is() {
        let (database, workspace, toolset) = database();
        let config = json!({"artifact": "a.html", "data": [1.5, "ä\n"]}).as_object().cloned();
        let all = [
            one("b", |it| (it.renderer, it.renderer_config) = (Some(RendererKind::Html), config.clone())),
            one("a", |it| (it.name_override, it.enabled, it.requires_approval) = (Some("A".into()), None, Some(false))),
        ];
        run(&database, put_all(&workspace, &toolset, &all).unwrap());
        let rows = stored(&database, &workspace, &toolset);
        assert_eq!(rows.iter().map(|it| &it["tool_id"]).collect::<Vec<_>>(), ["kit:b", "kit:a"]);
        let text = r#"{"artifact":"a.html","data":[1.5,"ä\n"]}"#;
        assert_eq!((&rows[0]["renderer"], &rows[0]["renderer_config"]), (&json!("html"), &json!(text)));
        assert_eq!(
            (&rows[1]["requires_approval"], &rows[1]["enabled"], &rows[1]["by_admin"]),
            (&json!(0), &Value::Null, &json!(0))
        );

        // The next import leaves out one, and an admin has added one.
        let added = one("c", |it| it.by_admin = true);
        run(&database, [insert(&workspace, &toolset, &added)]);
        let changed = OverrideOut { enabled: Some(false), ..all[1].clone() };
        run(&database, [update(&workspace, &changed)]);
        assert_eq!(stored(&database, &workspace, &toolset)[1]["enabled"], 0);
        run(&database, put_all(&workspace, &toolset, &[added, changed]).unwrap());
        let rows = stored(&database, &workspace, &toolset);
        assert_eq!(rows.iter().map(|it| &it["tool_id"]).collect::<Vec<_>>(), ["kit:c", "kit:a"]);
        let (tool, other) = (ToolId::parse("kit:a").unwrap(), ToolsetId::parse("other").unwrap());
        run(&database, [delete(&workspace, &other, &tool)]);
        assert_eq!(stored(&database, &workspace, &toolset).len(), 2, "it belongs to another toolset");
        run(&database, [delete(&workspace, &toolset, &tool)]);
        assert_eq!(stored(&database, &workspace, &toolset).len(), 1);
        run(&database, put_all(&workspace, &toolset, &[]).unwrap());
        assert!(stored(&database, &workspace, &toolset).is_empty());
    }

    #[test]
    fn what_is_put_under_a_condition_that_fails_is_not_put() {
        let (database, workspace, toolset) = database();
        let admins = one("a", |it| it.by_admin = true);
        run(&database, put_all(&workspace, &toolset, std::slice::from_ref(&admins)).unwrap());
        let before = stored(&database, &workspace, &toolset);
        let others = [one("a", |it| it.enabled = Some(false)), one("b", |_| {})];
        let statements = put_all(&workspace, &toolset, &others).unwrap();
        run(&database, statements.into_iter().map(|it| it.and(toolset_is_at(&workspace, &toolset, 99))));
        assert_eq!(stored(&database, &workspace, &toolset), before);
        let statements = put_all(&workspace, &toolset, &others).unwrap();
        run(&database, statements.into_iter().map(|it| it.and(toolset_is_at(&workspace, &toolset, 1))));
        assert_eq!(stored(&database, &workspace, &toolset).len(), 2);
    }

    #[test]
    fn a_tool_is_declared_or_belongs_to_a_server_of_the_toolset() {
        let (database, workspace, toolset) = database();
        database
            .execute_batch(
                "INSERT INTO toolset_tools VALUES ('w', 'kit', 'plot', 0, '{}');
                 INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at) VALUES ('w', printf('%064d', 1), 0, 'utf8', 1, '');
                 INSERT INTO toolset_files VALUES ('w', 'kit', 'a/b.html', 'artifact', printf('%064d', 1), 0);
                 INSERT INTO upstreams (workspace_id, source, name, kind, url, headers, enabled, auto_accept, server, created_at,
                   revision, toolset_id)
                 VALUES ('w', 'mcp', 'own', 'mcp', '', '{}', 1, 0, '{}', '', 1, 'kit'),
                   ('w', 'mcp', 'foreign', 'mcp', '', '{}', 1, 0, '{}', '', 1, NULL);",
            )
            .unwrap();
        let place = |tool: &str, artifact: Option<&str>| {
            let tool = ToolId::parse(tool).unwrap();
            let row = find_place(&workspace, &toolset, &tool, artifact).rows_of(&database).unwrap().remove(0);
            (row["has_tool"] == 1, row["has_artifact"] == 1)
        };
        assert_eq!(place("kit:plot", Some("a/b.html")), (true, true));
        assert_eq!(place("kit:plot", Some("b.html")), (true, false));
        assert_eq!(place("kit:other", None), (false, false));
        assert_eq!(place("own:any", None), (true, false));
        assert_eq!(
            (place("foreign:any", None).0, place("none:any", None).0, place("plot", None).0),
            (false, false, false)
        );
        let unknown = ToolsetId::parse("none").unwrap();
        let rows =
            find_place(&workspace, &unknown, &ToolId::parse("none:a").unwrap(), None).rows_of(&database).unwrap();
        assert!(rows.is_empty());
    }
}
