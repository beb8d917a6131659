//! SQL for what an import of a toolset's servers depends on.

use crate::db::{Rows, Statement, sql};
use crate::error::{Error, Result};
use crate::ids::WorkspaceId;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;

pub struct Surroundings {
    /// The declared ids that toolsets have.
    pub toolsets: Vec<String>,
    /// The declared ids that begin the ids of tools which are no MCP server's.
    pub former: Vec<String>,
    /// The named credentials that nobody has defined.
    pub undefined: Vec<String>,
    /// How many MCP servers the workspace has besides those of the toolset.
    pub others: u32,
}

/// Selects one row, for [`read_surroundings`].
pub fn find_surroundings(
    workspace: &WorkspaceId,
    toolset: &str,
    names: &[&str],
    credentials: &BTreeSet<String>,
) -> Statement {
    // No character of an id sorts after `~`.
    sql("SELECT
           (SELECT json_group_array(id) FROM toolsets
            WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?3))) AS toolsets,
           (SELECT json_group_array(n.value) FROM json_each(?3) n WHERE EXISTS (
              SELECT 1 FROM tools t WHERE t.workspace_id = ?1 AND t.id > n.value || ':' AND t.id < n.value || ':~'
                AND t.source <> 'mcp')) AS former,
           (SELECT json_group_array(value) FROM json_each(?4)
            WHERE value NOT IN (SELECT id FROM credentials WHERE workspace_id = ?1)) AS undefined,
           (SELECT count(*) FROM upstreams
            WHERE workspace_id = ?1 AND source = 'mcp' AND toolset_id IS NOT ?2) AS others")
    .bind(workspace.as_str())
    .bind(toolset)
    .bind(json!(names).to_string())
    .bind(json!(credentials).to_string())
}

pub fn read_surroundings(rows: &Rows) -> Result<Surroundings> {
    #[derive(Deserialize)]
    struct Row {
        toolsets: String,
        former: String,
        undefined: String,
        others: u32,
    }
    let row =
        rows.first::<Row>()?.ok_or_else(|| Error::Internal("the surroundings of a toolset have no row".into()))?;
    let names = |text: &str| {
        serde_json::from_str(text).map_err(|cause| Error::Internal(format!("selected names cannot be read: {cause}")))
    };
    Ok(Surroundings {
        toolsets: names(&row.toolsets)?,
        former: names(&row.former)?,
        undefined: names(&row.undefined)?,
        others: row.others,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};

    #[test]
    fn what_stands_in_the_way_is_found() {
        let database = migrated(&migrations("db"));
        database
            .execute_batch(
                r#"INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at,
                     manifest_version, decided_by)
                   VALUES ('w', 'other', '', '1.0.0', '', 1, '', '1', ''), ('x', 'new', '', '1.0.0', '', 1, '', '1', '');
                   INSERT INTO tools (workspace_id, id, source, created_at)
                   VALUES ('w', 'gone:a', 'toolset', ''), ('w', 'again:a', 'mcp', ''), ('x', 'new:a', 'toolset', '');
                   INSERT INTO credentials (workspace_id, id, description, created_at) VALUES ('w', 'A', '', '');
                   INSERT INTO upstreams (workspace_id, source, name, kind, headers, enabled, auto_accept, server,
                     created_at, revision, toolset_id)
                   VALUES ('w', 'mcp', 'own', 'mcp', '{}', 1, 0, '{}', '', 1, 'kit'),
                     ('w', 'mcp', 'theirs', 'mcp', '{}', 1, 0, '{}', '', 1, 'other2'),
                     ('w', 'mcp', 'free', 'mcp', '{}', 1, 0, '{}', '', 1, NULL),
                     ('x', 'mcp', 'free', 'mcp', '{}', 1, 0, '{}', '', 1, NULL);"#,
            )
            .unwrap();
        let workspace = WorkspaceId::parse("w").unwrap();
        let names = ["other", "gone", "again", "new", "own"];
        let credentials = BTreeSet::from(["A".to_owned(), "B".to_owned()]);
        let found = find_surroundings(&workspace, "kit", &names, &credentials).rows_of(&database).unwrap();
        let expected =
            json!({"toolsets": r#"["other"]"#, "former": r#"["gone"]"#, "undefined": r#"["B"]"#, "others": 2});
        assert_eq!(found, [expected]);
    }
}
