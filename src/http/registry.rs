//! `/api/registry/invariants`, `/api/registry/backup` and `/api/registry/restore`: the registry as a whole.

use super::body::read_json_up_to;
use super::extract::{Admin, Owner, Query, UnreadBody, read_object, sends_lines, wants_lines};
use super::queries::DryRunQuery;
use super::respond::{Json, JsonText, Lines};
use super::restore_hint;
use crate::backup::{self, Backup, MAX_DOCUMENT_BYTES, RestoreMode, Restored};
use crate::error::Result;
use crate::json_size;
use crate::registry::invariants::{self, Invariant};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// How many JSON values a backup may hold: some 25,000 versions.
const MAX_VALUES: usize = 1_000_000;

#[derive(Serialize, ToSchema)]
pub struct InvariantsOut {
    /// Whether all invariants hold.
    ok: bool,
    invariants: Vec<Invariant>,
}

/// Check the invariants
///
/// A tool has at most one active version. The handler, the module, the MCP server or the toolset of every active version
/// exists, its credentials are defined, and it was not deactivated for security.
#[utoipa::path(get, path = "/api/registry/invariants", tag = "registry",
    responses((status = 200, description = "Each invariant, and its violations", body = InvariantsOut)))]
#[worker::send]
pub async fn check_invariants(Admin(scope): Admin) -> Result<Json<InvariantsOut>> {
    let invariants = invariants::invariants(&scope).await?;
    Ok(Json(InvariantsOut { ok: invariants.iter().all(|it| it.violations.is_empty()), invariants }))
}

/// Back the registry up
///
/// The response holds tools, versions, agents, attachments, the names of credentials, modules, MCP servers, toolsets with
/// their overrides, and the settings of the workspace. Only JSON Lines hold the contents of toolsets' files. It can be sent as the body of a restore. Handlers and modules are in it with their whole URLs, and with
/// literal header values sealed, so keep a backup as safe as its contents require. One document has at most 16 MiB. With `Accept: application/x-ndjson`, the response is one record per line, and of any size. Its last
/// line is `{"end": …}`. If the registry changes before the last line, the response breaks off without this line.
#[utoipa::path(get, path = "/api/registry/backup", tag = "registry",
    responses((status = 200, description = "The whole registry", content(
            (Backup = "application/json"), (String = "application/x-ndjson"))),
        (status = 409, description = "Another request changed the registry in the meantime (JSON Lines only)"),
        (status = 413, description = "The registry is too large for one document: use JSON Lines")))]
#[worker::send]
pub async fn take_backup(Owner(scope): Owner, headers: HeaderMap) -> Result<Response> {
    if wants_lines(&headers) {
        return Ok(Lines::of(backup::lines::export(scope)).await?.into_response());
    }
    Ok(JsonText(backup::take(&scope).await?).into_response())
}

/// Restore a backup
///
/// The registry becomes exactly what the backup says. Things that are not in the backup are deleted. The restore
/// succeeds as a whole or not at all, and logs a change for each thing that differed. With
/// `Content-Type: application/x-ndjson`, the body is a backup as JSON Lines, of any size. `dry_run` tells which subjects
/// would be created, changed and deleted. A backup without `modules`, `mcp_servers`, `toolsets` or `workspace`, such as one
/// from before they existed, leaves these as they are. A document does not hold the contents of toolsets' files: the
/// workspace must have them, or the backup must be JSON Lines. A module that was added or changed is discovered again.
#[utoipa::path(post, path = "/api/registry/restore", tag = "registry", params(DryRunQuery),
    request_body(content((Backup = "application/json"), (String = "application/x-ndjson"))),
    responses((status = 200, description = "The registry is as the backup says", body = Restored),
        (status = 409, description = "The backup would bring back a version that was deactivated for security, or another request changed the registry in the meantime"),
        (status = 413, description = "The present registry or the backup is too large for one document: use JSON Lines")))]
#[worker::send]
pub async fn restore_backup(
    Owner(scope): Owner,
    headers: HeaderMap,
    Query(query): Query<DryRunQuery>,
    body: UnreadBody,
) -> Result<Json<Restored>> {
    let mode = if query.is_dry_run() { RestoreMode::Preview } else { RestoreMode::Write };
    if sends_lines(&headers) {
        let read_line = |line: &[u8]| restore_hint::on_line(read_object(json_size::MAX_VALUES, line), line);
        return Ok(Json(backup::lines::restore(&scope, body.pieces(), read_line, mode).await?));
    }
    let body = body.read_for(scope.unbound_caller().await, MAX_DOCUMENT_BYTES).await?;
    let document = restore_hint::on_document(read_json_up_to(MAX_VALUES, &body), &body)?;
    Ok(Json(backup::restore(&scope, document, mode).await?))
}
