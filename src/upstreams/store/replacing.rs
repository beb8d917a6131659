//! SQL that reads and writes the upstreams of a workspace as a whole, for backups and restores.

use super::{COLUMNS, read_upstreams};
use crate::db::{Condition, ManyRows, Rows, Statement, first_bytes, for_each, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::registry::Source;
use crate::time::Timestamp;
use crate::upstreams::kind::{UpstreamRecord, UpstreamSettings};

/// The size of the upstream `u` in a backup, or somewhat less.
const UPSTREAM_BYTES: &str = "200 + coalesce(octet_length(u.url), 0) + octet_length(u.headers)
    + coalesce(octet_length(u.include), 0) + coalesce(octet_length(u.server), 0)";

/// The SQL for the size of all upstreams of the workspace `?1` in a backup.
pub fn bytes_of_all() -> String {
    format!("(SELECT coalesce(sum({UPSTREAM_BYTES}), 0) FROM upstreams u WHERE u.workspace_id = ?1)")
}

/// Selects all upstreams of one kind in the workspace, the oldest first, if the condition is true.
pub fn find_all<S: UpstreamSettings>(workspace: &WorkspaceId, only_if: Condition) -> Statement {
    sql(format!("SELECT {COLUMNS} FROM upstreams u WHERE u.workspace_id = ?1 AND u.source = ?2"))
        .bind(workspace.as_str())
        .bind(S::SOURCE.as_str())
        .and(only_if)
        .ordered_by("u.created_at, u.name")
}

/// How many bytes [`after`] selects.
const MAX_BYTES: u32 = 2_000_000;

/// Selects the next upstreams of one kind in the workspace, sorted by name. At the end, no row is selected.
pub fn after<S: UpstreamSettings>(workspace: &WorkspaceId, name: Option<&str>) -> Statement {
    let found = first_bytes(
        &format!(
            "SELECT u.name, {UPSTREAM_BYTES} AS bytes FROM upstreams u
             WHERE u.workspace_id = ?1 AND u.name > ?2 AND u.source = ?3 ORDER BY u.name"
        ),
        "name",
        MAX_BYTES,
    );
    sql(format!(
        "SELECT {COLUMNS} FROM ({found}) found
         CROSS JOIN upstreams u ON u.workspace_id = ?1 AND u.source = ?3 AND u.name = found.name ORDER BY u.name"
    ))
    .bind(workspace.as_str())
    .bind(name.unwrap_or_default())
    .bind(S::SOURCE.as_str())
}

pub fn read_records<R: UpstreamRecord>(rows: &Rows) -> Result<Vec<R>> {
    Ok(read_upstreams::<R::Settings>(rows)?.iter().map(R::stored).collect())
}

/// Adds upstreams, each as an [`UpstreamRecord::row`], and changes those that exist.
///
/// An upstream that is added has never been asked. If it has tools, they were accepted before: `discovered_at` then says
/// that this is not the first sight of the upstream, so that a discovery holds back what is new. An upstream that is
/// changed keeps what was found, and is due: a discovery that is going on with the old settings puts nothing in place.
pub fn put_all(
    workspace: &WorkspaceId,
    source: Source,
    upstreams: &impl ManyRows,
    revision: u32,
    now: Timestamp,
) -> Result<Vec<Statement>> {
    let text = "INSERT INTO upstreams (workspace_id, source, name, kind, url, slow, timeout_seconds, headers, enabled,
           auto_accept, include, server, toolset_id, paused, created_at, revision, discovered_at)
         SELECT ?1, ?5, value ->> 'name', value ->> 'kind', value ->> 'url', value ->> 'slow', value ->> 'timeout_seconds',
           value ->> 'headers', value ->> 'enabled', value ->> 'auto_accept', value ->> 'include', value ->> 'server',
           value ->> 'toolset_id', coalesce(value ->> 'paused', 0), value ->> 'created_at', ?3, iif(EXISTS (
             SELECT 1 FROM tools t WHERE t.workspace_id = ?1 AND t.source = ?5
               AND t.id > (value ->> 'name') || iif(?5 = 'mcp', ':', '.')
               AND t.id < (value ->> 'name') || iif(?5 = 'mcp', ':', '.') || '~'), ?4, NULL)
         FROM json_each(?2) WHERE true
         ON CONFLICT (workspace_id, source, name) DO UPDATE SET kind = excluded.kind, url = excluded.url,
           slow = excluded.slow, timeout_seconds = excluded.timeout_seconds, headers = excluded.headers,
           enabled = excluded.enabled, auto_accept = excluded.auto_accept, include = excluded.include,
           server = excluded.server, toolset_id = excluded.toolset_id, paused = excluded.paused, created_at = excluded.created_at, revision = max(revision + 1, excluded.revision),
           fingerprint = NULL, expires_at = NULL, connection = NULL, lease = NULL, leased_until = NULL";
    let statements = for_each(workspace, upstreams, text)?.into_iter();
    Ok(statements.map(|it| it.bind(revision).bind(now.to_string()).bind(source.as_str())).collect())
}

/// Deletes upstreams of one kind, each by its name. What is held back of them goes with them.
pub fn delete_all(workspace: &WorkspaceId, source: Source, names: &impl ManyRows) -> Result<Vec<Statement>> {
    let statements = for_each(
        workspace,
        names,
        "DELETE FROM upstreams WHERE workspace_id = ?1 AND source = ?3 AND name IN (SELECT value FROM json_each(?2))",
    )?;
    Ok(statements.into_iter().map(|it| it.bind(source.as_str())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::native::{migrated, migrations};
    use crate::modules::ModuleSettings;
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
    fn an_upstream_with_tools_is_not_seen_for_the_first_time() {
        let (database, workspace) = (migrated(&migrations("db")), WorkspaceId::parse("w").unwrap());
        let tools = "INSERT INTO tools (workspace_id, id, source, created_at) VALUES
            ('w', 'a.x', 'module', ''), ('w', 'b-c.x', 'module', ''), ('other', 'b.x', 'module', '')";
        run(&database, &[sql(tools)]);
        let now = Timestamp::from_millis(0).unwrap();
        let put = [record("a", "http://a"), record("b", "http://b")].to_vec();
        run(&database, &put_all(&workspace, Source::Module, &put, 7, now).unwrap());
        let seen = || {
            let columns =
                "name, url, slow, headers, include, revision, status, discovered_at, expires_at, fingerprint, lease";
            run(&database, &[sql(format!("SELECT {columns} FROM upstreams ORDER BY name"))])
        };
        let expected = |name: &str, url: &str, discovered: Value| {
            json!({"name": name, "url": url, "slow": 1, "headers": r#"{"X-Key":{"sealed":"s"}}"#, "include": null,
                "revision": 7, "status": "unseen", "discovered_at": discovered, "expires_at": null,
                "fingerprint": null, "lease": null})
        };
        let b = expected("b", "http://b", json!(null));
        assert_eq!(seen(), [expected("a", "http://a", json!("1970-01-01T00:00:00.000Z")), b.clone()]);

        // An upstream that is changed keeps what was found, and is due.
        run(
            &database,
            &[sql("UPDATE upstreams SET status = 'ok', revision = 20, discovered_at = 'then', expires_at = 'later',
                     fingerprint = 'f', lease = 'l' WHERE name = 'a'")],
        );
        run(&database, &put_all(&workspace, Source::Module, &vec![record("a", "http://c")], 9, now).unwrap());
        let mut a = expected("a", "http://c", json!("then"));
        (a["status"], a["revision"]) = (json!("ok"), json!(21));
        assert_eq!(seen(), [a, b.clone()]);
        run(&database, &delete_all(&workspace, Source::Module, &vec!["a"]).unwrap());
        assert_eq!(seen(), [b]);
    }

    #[test]
    fn pages_go_on_after_a_name() {
        let (database, workspace) = (migrated(&migrations("db")), WorkspaceId::parse("w").unwrap());
        let put = ["c", "a", "b"].map(|it| record(it, "http://x")).to_vec();
        run(&database, &put_all(&workspace, Source::Module, &put, 1, Timestamp::from_millis(0).unwrap()).unwrap());
        let names = |name: Option<&str>| {
            let rows = run(&database, &[after::<ModuleSettings>(&workspace, name)]);
            rows.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            (names(None), names(Some("a")), names(Some("c"))),
            (vec!["a".to_owned(), "b".to_owned(), "c".to_owned()], vec!["b".to_owned(), "c".to_owned()], Vec::new(),)
        );
    }
}
