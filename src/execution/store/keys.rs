//! Idempotency keys. A key belongs to the first call that used it.

use super::columns::CALL_COLUMNS;
use crate::callers::Scope;
use crate::db::{Rows, Statement, sql};
use crate::error::Result;
use crate::execution::call::IdempotencyKey;
use crate::execution::keys::EarlierCall;
use crate::execution::row::CallRow;
use crate::ids::{CallId, WorkspaceId};
use crate::time::Timestamp;
use serde::Deserialize;

/// How long a key is remembered.
const KEPT_SECONDS: u32 = 24 * 60 * 60;

/// The column of the key that is read together with the call.
#[derive(Deserialize)]
struct KeyRow {
    arguments_hash: String,
}

/// Frees the key if it has expired.
pub fn forget_expired(scope: &Scope, key: &IdempotencyKey, now: Timestamp) -> Statement {
    scope.guarded(
        sql("DELETE FROM idempotency_keys WHERE workspace_id = ?1 AND caller = ?2 AND key = ?3 AND expires_at <= ?4")
            .bind(scope.workspace().as_str())
            .bind(scope.operator())
            .bind(key.key.as_str())
            .bind(now.to_string()),
    )
    .repeatable()
}

/// Gives the key to the call, unless the key belongs to another call.
pub fn claim(scope: &Scope, key: &IdempotencyKey, id: &CallId, now: Timestamp) -> Statement {
    scope.guarded(
        sql("INSERT OR IGNORE INTO idempotency_keys (workspace_id, caller, key, arguments_hash, call_id, expires_at)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE true")
        .bind(scope.workspace().as_str())
        .bind(scope.operator())
        .bind(key.key.as_str())
        .bind(key.arguments_hash.as_str())
        .bind(id.as_str())
        .bind(now.plus_seconds(KEPT_SECONDS).to_string()),
    )
    .repeatable()
}

/// Finds the other call that the key belongs to.
pub fn find_earlier(scope: &Scope, key: &IdempotencyKey, id: &CallId) -> Statement {
    sql(format!(
        "SELECT {CALL_COLUMNS}, k.arguments_hash FROM idempotency_keys k
         JOIN tool_calls c ON c.workspace_id = k.workspace_id AND c.id = k.call_id
         WHERE k.workspace_id = ?1 AND k.caller = ?2 AND k.key = ?3 AND k.call_id <> ?4"
    ))
    .bind(scope.workspace().as_str())
    .bind(scope.operator())
    .bind(key.key.as_str())
    .bind(id.as_str())
}

pub fn read_earlier(rows: &Rows, key: &IdempotencyKey) -> Result<Option<EarlierCall>> {
    let both = rows.first::<CallRow>()?.zip(rows.first::<KeyRow>()?);
    Ok(both.map(|(call, row)| EarlierCall { same: row.arguments_hash == key.arguments_hash, call, origin: key.origin }))
}

/// Frees the key of a call that was refused.
pub fn free(workspace: &WorkspaceId, caller: &str, key: &IdempotencyKey, id: &CallId) -> Statement {
    sql("DELETE FROM idempotency_keys WHERE workspace_id = ?1 AND caller = ?2 AND key = ?3 AND call_id = ?4")
        .bind(workspace.as_str())
        .bind(caller)
        .bind(key.key.as_str())
        .bind(id.as_str())
        .repeatable()
}
