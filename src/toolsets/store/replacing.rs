//! SQL that reads and writes the toolsets of a workspace as a whole, for backups and restores.

use super::{overrides, stored_json};
use crate::db::{Condition, ManyRows, Rows, Statement, first_bytes, for_each, sql};
use crate::error::{BundleNote, Error, Result};
use crate::ids::WorkspaceId;
use crate::time::Timestamp;
use crate::toolsets::record::{OverrideRecord, ToolsetRecord};
use serde::Deserialize;

/// The size of the toolset `s` in a backup, or somewhat less.
const TOOLSET_BYTES: &str = "300 + octet_length(s.name) + octet_length(s.description) + octet_length(s.warnings)
    + (SELECT coalesce(sum(120 + octet_length(f.path)), 0) FROM toolset_files f
       WHERE f.workspace_id = s.workspace_id AND f.toolset_id = s.id)
    + (SELECT coalesce(sum(octet_length(d.declaration)), 0) FROM toolset_tools d
       WHERE d.workspace_id = s.workspace_id AND d.toolset_id = s.id)";

/// The size of the override `o` in a backup, or somewhat less.
const OVERRIDE_BYTES: &str = "200 + octet_length(o.tool_id) + coalesce(octet_length(o.renderer_config), 0)
    + coalesce(octet_length(o.name_override), 0) + coalesce(octet_length(o.description_override), 0)";

/// How many bytes the selections `…_after` have.
const MAX_BYTES: u32 = 2_000_000;

/// The SQL for the size of all toolsets and overrides of the workspace `?1` in a backup.
pub fn bytes_of_all() -> String {
    format!(
        "(SELECT coalesce(sum({TOOLSET_BYTES}), 0) FROM toolsets s WHERE s.workspace_id = ?1)
         + (SELECT coalesce(sum({OVERRIDE_BYTES}), 0) FROM tool_overrides o WHERE o.workspace_id = ?1)"
    )
}

/// The rows of the toolsets that the query `found` names by their `id`. A toolset is one row for itself, one for each file and
/// one for each tool, because a value of D1 has at most two million bytes.
fn parts_of(found: &str) -> String {
    format!(
        "WITH found AS MATERIALIZED ({found})
         SELECT s.id, 0 AS part, 0 AS place, json_object('id', s.id, 'name', s.name, 'version', s.version,
           'description', s.description, 'enabled', json(iif(s.enabled, 'true', 'false')), 'installed_at', s.installed_at,
           'source_ref', s.source_ref, 'manifest_version', s.manifest_version, 'warnings', json(s.warnings)) AS data
         FROM found CROSS JOIN toolsets s ON s.workspace_id = ?1 AND s.id = found.id
         UNION ALL
         SELECT f.toolset_id, 1, f.path,
           json_object('path', f.path, 'kind', f.kind, 'sha256', f.sha256, 'size', f.size)
         FROM found CROSS JOIN toolset_files f ON f.workspace_id = ?1 AND f.toolset_id = found.id
         UNION ALL
         SELECT d.toolset_id, 2, d.position, d.declaration
         FROM found CROSS JOIN toolset_tools d ON d.workspace_id = ?1 AND d.toolset_id = found.id"
    )
}

/// Selects all toolsets of the workspace, if the condition is true.
pub fn find_all(workspace: &WorkspaceId, only_if: Condition) -> Statement {
    let parts = parts_of("SELECT id FROM toolsets WHERE workspace_id = ?1");
    sql(format!("SELECT id, part, data FROM ({parts}) WHERE true"))
        .bind(workspace.as_str())
        .and(only_if)
        .ordered_by("id, part, place")
}

/// Selects the next toolsets of the workspace, sorted by id. At the end, no row is selected.
pub fn after(workspace: &WorkspaceId, id: Option<&str>) -> Statement {
    let rows = format!(
        "SELECT s.id, {TOOLSET_BYTES} AS bytes FROM toolsets s WHERE s.workspace_id = ?1 AND s.id > ?2 ORDER BY s.id"
    );
    let parts = parts_of(&first_bytes(&rows, "id", MAX_BYTES));
    sql(format!("SELECT id, part, data FROM ({parts}) ORDER BY id, part, place"))
        .bind(workspace.as_str())
        .bind(id.unwrap_or_default())
}

/// Reads toolsets, sorted by id.
pub fn read(rows: &Rows) -> Result<Vec<ToolsetRecord>> {
    records(rows.all::<PartRow>()?)
}

#[derive(Deserialize)]
struct PartRow {
    part: u8,
    data: String,
}

fn records(rows: Vec<PartRow>) -> Result<Vec<ToolsetRecord>> {
    #[derive(Deserialize)]
    struct ToolsetPart {
        id: String,
        name: String,
        version: String,
        description: String,
        enabled: bool,
        installed_at: Timestamp,
        source_ref: Option<String>,
        manifest_version: String,
        warnings: Vec<BundleNote>,
    }
    let mut records: Vec<ToolsetRecord> = Vec::new();
    for PartRow { part, data } in rows {
        if part == 0 {
            let it = stored_json::<ToolsetPart>(&data)?;
            records.push(ToolsetRecord {
                id: it.id,
                name: it.name,
                version: it.version,
                description: it.description,
                enabled: it.enabled,
                installed_at: it.installed_at,
                source_ref: it.source_ref,
                manifest_version: it.manifest_version,
                warnings: it.warnings,
                files: Vec::new(),
                tools: Vec::new(),
            });
            continue;
        }
        let Some(record) = records.last_mut() else {
            return Err(Error::Internal("a part of a toolset comes before its toolset".to_owned()));
        };
        match part {
            1 => record.files.push(stored_json(&data)?),
            _ => record.tools.push(stored_json(&data)?),
        }
    }
    Ok(records)
}

/// Selects all overrides of the workspace, in the order of their toolsets, if the condition is true.
pub fn find_all_overrides(workspace: &WorkspaceId, only_if: Condition) -> Statement {
    let columns = overrides::COLUMNS;
    sql(format!("SELECT {columns}, position FROM tool_overrides o WHERE o.workspace_id = ?1"))
        .bind(workspace.as_str())
        .and(only_if)
        .ordered_by("o.toolset_id, o.position, o.tool_id")
}

/// Selects the next overrides of the workspace, sorted by toolset and tool. At the end, no row is selected.
pub fn overrides_after(workspace: &WorkspaceId, key: Option<(&str, &str)>) -> Statement {
    let (toolset, tool) = key.unwrap_or_default();
    let rows = format!(
        "SELECT o.toolset_id AS of_toolset, o.tool_id AS of_tool, {OVERRIDE_BYTES} AS bytes FROM tool_overrides o
         WHERE o.workspace_id = ?1 AND (o.toolset_id, o.tool_id) > (?2, ?3) ORDER BY o.toolset_id, o.tool_id"
    );
    let found = first_bytes(&rows, "of_toolset, of_tool", MAX_BYTES);
    sql(format!(
        "SELECT {}, position FROM ({found}) found CROSS JOIN tool_overrides o
           ON o.workspace_id = ?1 AND o.tool_id = found.of_tool
         ORDER BY o.toolset_id, o.tool_id",
        overrides::COLUMNS
    ))
    .bind(workspace.as_str())
    .bind(toolset)
    .bind(tool)
}

pub fn read_overrides(rows: &Rows) -> Result<Vec<OverrideRecord>> {
    #[derive(Deserialize)]
    struct PlaceRow {
        position: u32,
    }
    let places = rows.all::<PlaceRow>()?.into_iter().map(|it| it.position);
    Ok(overrides::read_all(rows)?.into_iter().zip(places).map(|(it, place)| OverrideRecord::new(it, place)).collect())
}

/// Adds toolsets, and changes those that exist. A decision about a toolset that was made before is refused.
pub fn put_toolsets(workspace: &WorkspaceId, toolsets: &impl ManyRows, revision: u32) -> Result<Vec<Statement>> {
    let text = "INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at, source_ref,
           manifest_version, warnings, revision, decided_by)
         SELECT ?1, value ->> 'id', value ->> 'name', value ->> 'version', value ->> 'description', value ->> 'enabled',
           value ->> 'installed_at', value ->> 'source_ref', value ->> 'manifest_version', value ->> 'warnings', ?3, ''
         FROM json_each(?2) WHERE true
         ON CONFLICT (workspace_id, id) DO UPDATE SET name = excluded.name, version = excluded.version,
           description = excluded.description, enabled = excluded.enabled, installed_at = excluded.installed_at,
           source_ref = excluded.source_ref, manifest_version = excluded.manifest_version, warnings = excluded.warnings,
           revision = max(revision + 1, excluded.revision), decided_by = excluded.decided_by";
    Ok(for_each(workspace, toolsets, text)?.into_iter().map(|it| it.bind(revision)).collect())
}

/// Raises the revisions of the toolsets whose overrides have changed. `toolset` is the SQL for a toolset in a row.
pub fn raise_revisions(
    workspace: &WorkspaceId,
    rows: &impl ManyRows,
    toolset: &str,
    revision: u32,
) -> Result<Vec<Statement>> {
    let text = format!(
        "UPDATE toolsets SET revision = max(revision + 1, ?3)
         WHERE workspace_id = ?1 AND id IN (SELECT {toolset} FROM json_each(?2))"
    );
    Ok(for_each(workspace, rows, &text)?.into_iter().map(|it| it.bind(revision)).collect())
}

/// Deletes toolsets, each by its id. Files, declarations and overrides go with them.
pub fn delete_toolsets(workspace: &WorkspaceId, ids: &impl ManyRows) -> Result<Vec<Statement>> {
    let text = "DELETE FROM toolsets WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?2))";
    for_each(workspace, ids, text)
}

/// Deletes files, each by its toolset and its path. Their contents are left to the sweep.
pub fn delete_files(workspace: &WorkspaceId, files: &impl ManyRows) -> Result<Vec<Statement>> {
    let text = "DELETE FROM toolset_files WHERE workspace_id = ?1 AND (toolset_id, path) IN (
           SELECT value ->> 0, value ->> 1 FROM json_each(?2))";
    for_each(workspace, files, text)
}

/// Adds files. Their contents must be there.
pub fn insert_files(workspace: &WorkspaceId, files: &impl ManyRows) -> Result<Vec<Statement>> {
    let text = "INSERT INTO toolset_files (workspace_id, toolset_id, path, kind, sha256, size)
         SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?2) WHERE true";
    for_each(workspace, files, text)
}

/// Deletes all declarations of toolsets, each by its id.
pub fn delete_declarations(workspace: &WorkspaceId, ids: &impl ManyRows) -> Result<Vec<Statement>> {
    let text = "DELETE FROM toolset_tools WHERE workspace_id = ?1 AND toolset_id IN (SELECT value FROM json_each(?2))";
    for_each(workspace, ids, text)
}

pub fn insert_declarations(workspace: &WorkspaceId, tools: &impl ManyRows) -> Result<Vec<Statement>> {
    let text = "INSERT INTO toolset_tools (workspace_id, toolset_id, tool, position, declaration)
         SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?2) WHERE true";
    for_each(workspace, tools, text)
}

/// Deletes overrides, each by its toolset and its tool.
pub fn delete_overrides(workspace: &WorkspaceId, names: &impl ManyRows) -> Result<Vec<Statement>> {
    let text =
        "DELETE FROM tool_overrides WHERE workspace_id = ?1 AND tool_id IN (SELECT value ->> 1 FROM json_each(?2))";
    for_each(workspace, names, text)
}

/// Adds overrides, and changes those that exist.
pub fn put_overrides(workspace: &WorkspaceId, rows: &impl ManyRows) -> Result<Vec<Statement>> {
    let text = "INSERT INTO tool_overrides (workspace_id, tool_id, toolset_id, position, renderer, renderer_config,
           name_override, description_override, requires_approval, enabled, by_admin)
         SELECT ?1, value ->> 'tool_id', value ->> 'toolset_id', value ->> 'position', value ->> 'renderer',
           value ->> 'renderer_config', value ->> 'name_override', value ->> 'description_override',
           value ->> 'requires_approval', value ->> 'enabled', value ->> 'by_admin'
         FROM json_each(?2) WHERE true
         ON CONFLICT (workspace_id, tool_id) DO UPDATE SET toolset_id = excluded.toolset_id,
           position = excluded.position, renderer = excluded.renderer, renderer_config = excluded.renderer_config,
           name_override = excluded.name_override, description_override = excluded.description_override,
           requires_approval = excluded.requires_approval, enabled = excluded.enabled, by_admin = excluded.by_admin";
    for_each(workspace, rows, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::condition;
    use crate::db::native::{migrated, migrations};
    use crate::toolsets::replacement::{ToolsetRecords, ToolsetReplacement};
    use rusqlite::Connection;
    use serde_json::{Value, json};

    fn run(database: &Connection, statements: &[Statement]) -> Vec<Value> {
        statements.iter().flat_map(|it| it.rows_of(database).unwrap()).collect()
    }

    const ONE: &str = "1111111111111111111111111111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222222222222222222222222222";

    fn database() -> (Connection, WorkspaceId) {
        let database = migrated(&migrations("db"));
        for hash in [ONE, TWO] {
            let blob = "INSERT INTO blobs (workspace_id, sha256, size, encoding, chunks, created_at)
                VALUES ('w', ?1, 1, 'utf8', 1, '')";
            run(&database, &[sql(blob).bind(hash)]);
        }
        (database, WorkspaceId::parse("w").unwrap())
    }

    fn toolset(id: &str, files: &[(&str, &str)], tools: &[&str]) -> ToolsetRecord {
        serde_json::from_value(json!({
            "id": id, "name": "Ä \"kit\"", "version": "1.0.0", "description": "", "enabled": true,
            "installed_at": "2026-11-16T01:00:00.000Z", "source_ref": null, "manifest_version": "1",
            "warnings": [{"file": "toolset.yaml", "line": 3, "path": "/tools", "message": "odd"}],
            "files": files.iter().map(|(path, sha256)| json!({"path": path, "kind": "python", "sha256": sha256, "size": 1}))
                .collect::<Vec<_>>(),
            "tools": tools.iter().map(|it| json!({"id": it, "entrypoint": "a:b"})).collect::<Vec<_>>(),
        }))
        .unwrap()
    }

    fn one_override(toolset: &str, tool: &str, position: u32) -> OverrideRecord {
        serde_json::from_value(json!({
            "toolset_id": toolset, "tool_id": tool, "position": position, "renderer": "code",
            "renderer_config": {"file": "ü\n", "n": 1.5}, "name_override": null, "description_override": null,
            "requires_approval": false, "enabled": null, "by_admin": true,
        }))
        .unwrap()
    }

    type State = (Vec<ToolsetRecord>, Vec<OverrideRecord>);

    fn all(database: &Connection, workspace: &WorkspaceId) -> State {
        let only_if = || condition("1 = ?1").bind(1);
        let parts = run(database, &[find_all(workspace, only_if())]);
        let parts = serde_json::from_value::<Vec<PartRow>>(json!(parts)).unwrap();
        let overrides = run(database, &[find_all_overrides(workspace, only_if())]);
        (records(parts).unwrap(), overrides.iter().map(read_override).collect())
    }

    fn read_override(row: &Value) -> OverrideRecord {
        let mut row = row.clone();
        for field in ["requires_approval", "enabled", "by_admin"] {
            row[field] = row[field].as_u64().map_or(Value::Null, |it| json!(it != 0));
        }
        row["renderer_config"] = serde_json::from_str(row["renderer_config"].as_str().unwrap()).unwrap();
        serde_json::from_value(row).unwrap()
    }

    fn records_of((toolsets, overrides): &State) -> ToolsetRecords<'_> {
        ToolsetRecords { toolsets, overrides }
    }

    /// Makes the present toolsets the wanted ones. Returns how many changes there are.
    fn replace(database: &Connection, workspace: &WorkspaceId, wanted: &State) -> (usize, usize) {
        let now = all(database, workspace);
        let replacement = ToolsetReplacement::new(records_of(&now), records_of(wanted));
        let rows = replacement.rows();
        run(database, &rows.remove(workspace).unwrap());
        run(database, &rows.put(workspace, 7).unwrap());
        (replacement.removals().unwrap().len(), replacement.additions().unwrap().len())
    }

    #[test]
    fn toolsets_become_the_wanted_ones() {
        let (database, workspace) = database();
        let first: State = (
            vec![toolset("a", &[("a.py", ONE), ("b.py", TWO)], &["x", "y"]), toolset("b", &[], &[])],
            vec![one_override("a", "a:x", 4), one_override("a", "a:y", 9)],
        );
        assert_eq!(replace(&database, &workspace, &first), (0, 4));
        assert_eq!(all(&database, &workspace), first);
        assert_eq!(replace(&database, &workspace, &first), (0, 0));

        // One file changes, one stays; a tool goes, and with it its override; a toolset goes, and another one comes.
        let mut second: State = (
            vec![toolset("a", &[("a.py", ONE), ("b.py", ONE)], &["y"]), toolset("c", &[("c", TWO)], &["z"])],
            vec![one_override("a", "a:y", 0), one_override("c", "c:z", 1)],
        );
        second.0[0].enabled = false;
        assert_eq!(replace(&database, &workspace, &second), (2, 4));
        assert_eq!(all(&database, &workspace), second);
        assert_eq!(run(&database, &[sql("SELECT sha256 FROM stale_blobs")]), [json!({"sha256": TWO})]);
        assert_eq!(replace(&database, &workspace, &(Vec::new(), Vec::new())), (4, 0));
        assert_eq!(all(&database, &workspace), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_changed_override_raises_the_revision_of_its_toolset() {
        let (database, workspace) = database();
        let mut state: State = (vec![toolset("a", &[], &["x"])], vec![one_override("a", "a:x", 0)]);
        let revision = || run(&database, &[sql("SELECT revision FROM toolsets")])[0]["revision"].clone();
        replace(&database, &workspace, &state);
        run(&database, &[sql("UPDATE toolsets SET revision = 40")]);
        state.1[0].enabled = Some(false);
        replace(&database, &workspace, &state);
        assert_eq!(revision(), 41);
        state.1.clear();
        replace(&database, &workspace, &state);
        assert_eq!(revision(), 42);
    }

    #[test]
    fn pages_go_on_after_a_key() {
        let (database, workspace) = database();
        let state: State = (
            ["a", "b", "c"].map(|it| toolset(it, &[("a", ONE)], &["x"])).to_vec(),
            [("b", "b:x"), ("a", "z:x"), ("a", "a:x")].map(|(of, tool)| one_override(of, tool, 0)).to_vec(),
        );
        replace(&database, &workspace, &state);
        let ids = |id: Option<&str>| {
            let parts = run(&database, &[after(&workspace, id)]);
            let parts = serde_json::from_value::<Vec<PartRow>>(json!(parts)).unwrap();
            let records = records(parts).unwrap();
            assert!(records.iter().all(|it| it.files.len() == 1 && it.tools.len() == 1));
            records.into_iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(
            (ids(None), ids(Some("a")), ids(Some("c")).len()),
            (vec!["a".into(), "b".into(), "c".into()], vec!["b".into(), "c".into()], 0)
        );
        let tools = |key: Option<(&str, &str)>| {
            let rows = run(&database, &[overrides_after(&workspace, key)]);
            rows.iter().map(|it| read_override(it).tool_id).collect::<Vec<_>>()
        };
        assert_eq!(tools(None), ["a:x", "z:x", "b:x"]);
        assert_eq!((tools(Some(("a", "a:x"))), tools(Some(("b", "b:x"))).len()), (vec!["z:x".into(), "b:x".into()], 0));
    }
}
