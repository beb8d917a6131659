//! SQL that adds and changes several upstreams of one kind at once. The statements end with a `WHERE` clause, so that the
//! conditions of a placement can be added to them.

use super::{Lease, select};
use crate::db::{Condition, Statement, condition, for_each, sql};
use crate::error::Result;
use crate::ids::WorkspaceId;
use crate::upstreams::kind::UpstreamSettings;
use crate::upstreams::upstream::Upstream;
use serde_json::{Value, json};

/// The upstream as [`insert_all`] and [`update_all`] take it. `is_leased` says whether the lease is put on it.
pub fn row<S: UpstreamSettings>(upstream: &Upstream<S>, is_leased: bool, keeps_connection: bool) -> Value {
    let settings = upstream.settings.columns();
    json!({
        "name": upstream.name(), "kind": settings.kind, "url": settings.url, "slow": settings.slow,
        "timeout_seconds": settings.timeout_seconds, "headers": settings.headers, "enabled": settings.enabled,
        "auto_accept": settings.auto_accept, "include": settings.include, "server": settings.server,
        "toolset_id": settings.toolset_id, "paused": settings.paused, "created_at": upstream.created_at,
        "revision": upstream.revision, "is_leased": is_leased, "keeps_connection": keeps_connection,
    })
}

/// Adds upstreams. An upstream of the same name makes the batch fail as a duplicate.
pub fn insert_all<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    rows: &[Value],
    lease: &Lease,
) -> Result<Vec<Statement>> {
    let statements = for_each(
        workspace,
        rows,
        "INSERT INTO upstreams (workspace_id, source, name, kind, url, slow, timeout_seconds, headers, enabled,
           auto_accept, include, server, toolset_id, paused, created_at, revision, lease, leased_until)
         SELECT ?1, ?3, value ->> 'name', value ->> 'kind', value ->> 'url', value ->> 'slow',
           value ->> 'timeout_seconds', value ->> 'headers', value ->> 'enabled', value ->> 'auto_accept',
           value ->> 'include', value ->> 'server', value ->> 'toolset_id', value ->> 'paused', value ->> 'created_at',
           value ->> 'revision', iif(value ->> 'is_leased', ?4, NULL), iif(value ->> 'is_leased', ?5, NULL)
         FROM json_each(?2) WHERE true",
    )?;
    Ok(leased::<S>(statements, lease))
}

/// Changes the settings of upstreams, and takes their leases from discoveries that go on with the old ones. The next
/// discovery looks at all tools, and is due at once.
pub fn update_all<S: UpstreamSettings>(
    workspace: &WorkspaceId,
    rows: &[Value],
    lease: &Lease,
) -> Result<Vec<Statement>> {
    let statements = for_each(
        workspace,
        rows,
        "UPDATE upstreams AS u SET kind = it.value ->> 'kind', url = it.value ->> 'url', slow = it.value ->> 'slow',
           timeout_seconds = it.value ->> 'timeout_seconds', headers = it.value ->> 'headers',
           enabled = it.value ->> 'enabled', auto_accept = it.value ->> 'auto_accept', include = it.value ->> 'include',
           server = it.value ->> 'server', toolset_id = it.value ->> 'toolset_id', paused = it.value ->> 'paused',
           revision = u.revision + 1, fingerprint = NULL, expires_at = NULL,
           connection = iif(it.value ->> 'keeps_connection', u.connection, NULL),
           lease = iif(it.value ->> 'is_leased', ?4, NULL), leased_until = iif(it.value ->> 'is_leased', ?5, NULL)
         FROM json_each(?2) it WHERE u.workspace_id = ?1 AND u.source = ?3 AND u.name = it.value ->> 'name'",
    )?;
    Ok(leased::<S>(statements, lease))
}

fn leased<S: UpstreamSettings>(statements: Vec<Statement>, lease: &Lease) -> Vec<Statement> {
    let bind = |it: Statement| it.bind(S::SOURCE.as_str()).bind(lease.token.as_str()).bind(lease.until.to_string());
    statements.into_iter().map(bind).collect()
}

/// True while all of these upstreams are at the revisions that were read.
pub fn are_at<S: UpstreamSettings>(workspace: &WorkspaceId, upstreams: &[&Upstream<S>]) -> Condition {
    let revisions = upstreams.iter().map(|it| (it.name().to_owned(), json!(it.revision))).collect();
    condition(
        "NOT EXISTS (SELECT 1 FROM json_each(?3) it WHERE NOT EXISTS (
           SELECT 1 FROM upstreams WHERE workspace_id = ?1 AND source = ?2 AND name = it.key AND revision = it.value))",
    )
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(Value::Object(revisions).to_string())
}

/// The upstreams that a toolset has brought, sorted by name, and those with one of these names.
pub fn find_of_toolset<S: UpstreamSettings>(workspace: &WorkspaceId, toolset: &str, names: &[&str]) -> Statement {
    select(
        "u.workspace_id = ?1 AND u.source = ?2 AND (u.toolset_id = ?3 OR u.name IN (SELECT value FROM json_each(?4)))
         ORDER BY u.name",
    )
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(toolset)
    .bind(json!(names).to_string())
}

/// Selects a row if the upstream was brought by a toolset that is there.
pub fn find_toolset_of<S: UpstreamSettings>(workspace: &WorkspaceId, name: &str) -> Statement {
    sql("SELECT t.id FROM upstreams u CROSS JOIN toolsets t ON t.workspace_id = ?1 AND t.id = u.toolset_id
         WHERE u.workspace_id = ?1 AND u.source = ?2 AND u.name = ?3")
    .bind(workspace.as_str())
    .bind(S::SOURCE.as_str())
    .bind(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::stop_unless;
    use crate::db::native::{migrated, migrations};
    use crate::federation::ServerSettings;
    use crate::registry::{Source, has_only_tools_of};
    use crate::time::Timestamp;
    use rusqlite::Connection;

    const SERVER: &str = r#"{"transport": "stdio", "requires_approval": true, "risk_level": "medium",
        "process": {"command": "npx", "args": [], "env": {}, "cwd": null, "allowed_hosts": []}}"#;

    fn workspace() -> WorkspaceId {
        WorkspaceId::parse("w").unwrap()
    }

    fn lease() -> Lease {
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        Lease { token: "l".into(), now: at(0), until: at(60_000) }
    }

    fn row(name: &str, toolset: Option<&str>, is_leased: bool) -> Value {
        json!({"name": name, "kind": "mcp", "url": null, "slow": false, "timeout_seconds": null, "headers": {},
            "enabled": true, "auto_accept": false, "include": null, "server": SERVER, "toolset_id": toolset,
            "paused": false, "created_at": "2026-11-18T00:00:00.000Z", "revision": 1, "is_leased": is_leased,
            "keeps_connection": false})
    }

    fn run(database: &Connection, statements: &[Statement]) -> Vec<Value> {
        statements.iter().flat_map(|it| it.rows_of(database).unwrap()).collect()
    }

    fn insert(database: &Connection, rows: &[Value]) -> rusqlite::Result<()> {
        let statements = insert_all::<ServerSettings>(&workspace(), rows, &lease()).unwrap();
        statements.iter().try_for_each(|it| it.rows_of(database).map(drop))
    }

    fn names(rows: &[Value]) -> Vec<&str> {
        rows.iter().map(|it| it["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn servers_are_added_and_changed_together() {
        let database = migrated(&migrations("db"));
        insert(&database, &[row("a", Some("kit"), true), row("b", Some("kit"), false), row("c", None, false)]).unwrap();
        let found = run(&database, &[find_of_toolset::<ServerSettings>(&workspace(), "kit", &["c", "d"])]);
        assert_eq!(names(&found), ["a", "b", "c"]);
        let leases = sql("SELECT name, lease, leased_until FROM upstreams ORDER BY name");
        assert_eq!(
            run(&database, &[leases])[..2],
            [
                json!({"name": "a", "lease": "l", "leased_until": "1970-01-01T00:01:00.000Z"}),
                json!({"name": "b", "lease": null, "leased_until": null})
            ]
        );
        run(&database, &[sql("UPDATE upstreams SET connection = '{}', expires_at = 'later', fingerprint = 'f'")]);
        let mut changed = [row("a", Some("kit"), false), row("b", Some("kit"), true)];
        changed[0]["keeps_connection"] = json!(true);
        (changed[1]["enabled"], changed[1]["paused"]) = (json!(false), json!(true));
        run(&database, &update_all::<ServerSettings>(&workspace(), &changed, &lease()).unwrap());
        let state = "SELECT name, enabled, paused, revision, connection, expires_at, fingerprint, lease
            FROM upstreams ORDER BY name";
        let expected = |name: &str, on: u8, revision: u8, connection: Value, expires: Value, lease: Value| {
            json!({"name": name, "enabled": on, "paused": 1 - on, "revision": revision, "connection": connection,
                "expires_at": expires, "fingerprint": if expires.is_null() { json!(null) } else { json!("f") },
                "lease": lease})
        };
        assert_eq!(
            run(&database, &[sql(state)]),
            [
                expected("a", 1, 2, json!("{}"), json!(null), json!(null)),
                expected("b", 0, 2, json!(null), json!(null), json!("l")),
                expected("c", 1, 1, json!("{}"), json!("later"), json!(null)),
            ]
        );
    }

    #[test]
    fn a_batch_stops_if_a_server_is_not_as_it_was_read() {
        let database = migrated(&migrations("db"));
        insert(&database, &[row("a", Some("kit"), false)]).unwrap();
        let read = |revision| {
            let id = crate::ids::UpstreamId::parse("a:").unwrap();
            let settings = crate::federation::fixture::process();
            Upstream { revision, ..Upstream::new(id, settings, Timestamp::from_millis(0).unwrap()) }
        };
        let stop = |revision| stop_unless(&workspace(), are_at(&workspace(), &[&read(revision)])).rows_of(&database);
        assert!(stop(1).is_ok());
        let stopped = stop(2).unwrap_err().to_string();
        assert!(stopped.contains("seq >= 1"), "{stopped}");
        assert_eq!(run(&database, &[sql("SELECT * FROM changes")]), Vec::<Value>::new());
    }

    #[test]
    fn an_id_is_of_one_kind() {
        let database = migrated(&migrations("db"));
        let toolset = "INSERT INTO toolsets (workspace_id, id, name, version, description, enabled, installed_at,
            manifest_version, decided_by) VALUES ('w', ?1, '', '1.0.0', '', 1, '', '1', '')";
        database.execute(toolset, ["kit"]).unwrap();
        let refused = insert(&database, &[row("kit", None, false)]).unwrap_err().to_string();
        assert!(refused.contains("the id of a toolset"), "{refused}");
        insert(&database, &[row("time", Some("kit"), false), row("free", Some("gone"), false)]).unwrap();
        let refused = database.execute(toolset, ["time"]).unwrap_err().to_string();
        assert!(refused.contains("the id of an MCP server"), "{refused}");
        let toolset_of = |name| run(&database, &[find_toolset_of::<ServerSettings>(&workspace(), name)]);
        assert_eq!(toolset_of("time"), [json!({"id": "kit"})]);
        assert_eq!(toolset_of("free"), Vec::<Value>::new(), "its toolset is gone");
    }

    #[test]
    fn tools_that_are_left_keep_their_ids() {
        let database = migrated(&migrations("db"));
        let tools = "INSERT INTO tools (workspace_id, id, source, created_at) VALUES ('w', 'kit:a', 'toolset', ''),
            ('w', 'time:a', 'mcp', ''), ('w', 'kit-2:a', 'mcp', ''), ('other', 'free:a', 'toolset', '')";
        run(&database, &[sql(tools)]);
        let is_free = |prefix: &str, source| {
            stop_unless(&workspace(), has_only_tools_of(&workspace(), prefix, source)).rows_of(&database).is_ok()
        };
        assert!(!is_free("kit:", Source::Mcp) && is_free("kit:", Source::Toolset));
        assert!(is_free("time:", Source::Mcp) && !is_free("time:", Source::Toolset));
        assert!(is_free("free:", Source::Mcp) && is_free("kit.", Source::Module));
    }
}
