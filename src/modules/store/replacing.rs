//! SQL that reads and writes the modules of a workspace as a whole, for backups and restores.

use super::{COLUMNS, read_modules};
use crate::db::{Condition, ManyRows, Rows, Statement, first_bytes, for_each, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::modules::module::ModuleRecord;
use crate::time::Timestamp;

/// The size of the module `m` in a backup, or somewhat less.
const MODULE_BYTES: &str = "200 + octet_length(m.url) + octet_length(m.headers) + coalesce(octet_length(m.include), 0)";

/// The SQL for the size of all modules of the workspace `?1` in a backup.
pub fn bytes_of_all() -> String {
    format!("(SELECT coalesce(sum({MODULE_BYTES}), 0) FROM modules m WHERE m.workspace_id = ?1)")
}

/// Selects all modules of the workspace, the oldest first, if the condition is true.
pub fn find_all(workspace: &WorkspaceId, only_if: Condition) -> Statement {
    sql(format!("SELECT {COLUMNS} FROM modules m WHERE m.workspace_id = ?1"))
        .bind(workspace.as_str())
        .and(only_if)
        .ordered_by("m.created_at, m.name")
}

/// How many bytes [`after`] selects.
const MAX_BYTES: u32 = 2_000_000;

/// Selects the next modules of the workspace, sorted by name. At the end, no row is selected.
pub fn after(workspace: &WorkspaceId, name: Option<&str>) -> Statement {
    let found = first_bytes(
        &format!(
            "SELECT m.name, {MODULE_BYTES} AS bytes FROM modules m WHERE m.workspace_id = ?1 AND m.name > ?2
             ORDER BY m.name"
        ),
        "name",
        MAX_BYTES,
    );
    sql(format!(
        "SELECT {COLUMNS} FROM ({found}) found CROSS JOIN modules m ON m.workspace_id = ?1 AND m.name = found.name
         ORDER BY m.name"
    ))
    .bind(workspace.as_str())
    .bind(name.unwrap_or_default())
}

pub fn read_records(rows: &Rows) -> Result<Vec<ModuleRecord>> {
    Ok(read_modules(rows)?.iter().map(ModuleRecord::stored).collect())
}

/// Adds modules, each as a [`ModuleRecord`], and changes those that exist.
///
/// A module that is added has never been asked. If it has tools, they were accepted before: `discovered_at` then says
/// that this is not the first sight of the module, so that a discovery holds back what is new. A module that is changed
/// keeps what was found, and is due: a discovery that is going on with the old settings puts nothing in place.
pub fn put_all(
    workspace: &WorkspaceId,
    modules: &impl ManyRows,
    revision: u32,
    now: Timestamp,
) -> Result<Vec<Statement>> {
    let text = "INSERT INTO modules (workspace_id, name, kind, url, slow, timeout_seconds, headers, enabled, auto_accept,
           include, created_at, revision, discovered_at)
         SELECT ?1, value ->> 'name', value ->> 'kind', value ->> 'url', value ->> 'slow', value ->> 'timeout_seconds',
           value ->> 'headers', value ->> 'enabled', value ->> 'auto_accept', value ->> 'include', value ->> 'created_at',
           ?3, iif(EXISTS (
             SELECT 1 FROM tools t WHERE t.workspace_id = ?1 AND t.source = 'module'
               AND t.id > (value ->> 'name') || '.' AND t.id < (value ->> 'name') || '/'), ?4, NULL)
         FROM json_each(?2) WHERE true
         ON CONFLICT (workspace_id, name) DO UPDATE SET kind = excluded.kind, url = excluded.url, slow = excluded.slow,
           timeout_seconds = excluded.timeout_seconds, headers = excluded.headers, enabled = excluded.enabled,
           auto_accept = excluded.auto_accept, include = excluded.include, created_at = excluded.created_at,
           revision = max(revision + 1, excluded.revision), fingerprint = NULL, expires_at = NULL, lease = NULL,
           leased_until = NULL";
    let statements = for_each(workspace, modules, text)?.into_iter();
    Ok(statements.map(|it| it.bind(revision).bind(now.to_string())).collect())
}

/// Deletes modules, each by its name. What is held back of them goes with them.
pub fn delete_all(workspace: &WorkspaceId, names: &impl ManyRows) -> Result<Vec<Statement>> {
    for_each(
        workspace,
        names,
        "DELETE FROM modules WHERE workspace_id = ?1 AND name IN (SELECT value FROM json_each(?2))",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use rusqlite::Connection;
    use serde_json::{Value, json};

    fn run(database: &Connection, statements: &[Statement]) -> Vec<Value> {
        statements.iter().flat_map(|it| it.rows_of(database).unwrap()).collect()
    }

    fn record(name: &str, url: &str) -> Value {
        json!({"name": name, "kind": "manifest", "url": url, "slow": true, "timeout_seconds": null,
            "headers": {"X-Key": {"sealed": "s"}}, "enabled": true, "auto_accept": false, "include": null,
            "created_at": "2026-11-16T01:00:00.000Z"})
    }

    #[test]
    fn a_module_with_tools_is_not_seen_for_the_first_time() {
        let (database, workspace) = (migrated(&migrations("db")), WorkspaceId::parse("w").unwrap());
        let tools = "INSERT INTO tools (workspace_id, id, source, created_at) VALUES
            ('w', 'a.x', 'module', ''), ('w', 'b-c.x', 'module', ''), ('other', 'b.x', 'module', '')";
        run(&database, &[sql(tools)]);
        let now = Timestamp::from_millis(0).unwrap();
        let put = [record("a", "http://a"), record("b", "http://b")].to_vec();
        run(&database, &put_all(&workspace, &put, 7, now).unwrap());
        let seen = || {
            let columns =
                "name, url, slow, headers, include, revision, status, discovered_at, expires_at, fingerprint, lease";
            run(&database, &[sql(format!("SELECT {columns} FROM modules ORDER BY name"))])
        };
        let expected = |name: &str, url: &str, discovered: Value| {
            json!({"name": name, "url": url, "slow": 1, "headers": r#"{"X-Key":{"sealed":"s"}}"#, "include": null,
                "revision": 7, "status": "unseen", "discovered_at": discovered, "expires_at": null,
                "fingerprint": null, "lease": null})
        };
        let b = expected("b", "http://b", json!(null));
        assert_eq!(seen(), [expected("a", "http://a", json!("1970-01-01T00:00:00.000Z")), b.clone()]);

        // A module that is changed keeps what was found, and is due.
        run(
            &database,
            &[sql("UPDATE modules SET status = 'ok', revision = 20, discovered_at = 'then', expires_at = 'later',
                     fingerprint = 'f', lease = 'l' WHERE name = 'a'")],
        );
        run(&database, &put_all(&workspace, &vec![record("a", "http://c")], 9, now).unwrap());
        let mut a = expected("a", "http://c", json!("then"));
        (a["status"], a["revision"]) = (json!("ok"), json!(21));
        assert_eq!(seen(), [a, b.clone()]);
        run(&database, &delete_all(&workspace, &vec!["a"]).unwrap());
        assert_eq!(seen(), [b]);
    }

    #[test]
    fn pages_go_on_after_a_name() {
        let (database, workspace) = (migrated(&migrations("db")), WorkspaceId::parse("w").unwrap());
        let put = ["c", "a", "b"].map(|it| record(it, "http://x")).to_vec();
        run(&database, &put_all(&workspace, &put, 1, Timestamp::from_millis(0).unwrap()).unwrap());
        let names = |name: Option<&str>| {
            let rows = run(&database, &[after(&workspace, name)]);
            rows.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            (names(None), names(Some("a")), names(Some("c"))),
            (vec!["a".to_owned(), "b".to_owned(), "c".to_owned()], vec!["b".to_owned(), "c".to_owned()], Vec::new(),)
        );
    }
}
