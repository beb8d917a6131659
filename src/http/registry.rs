//! `/api/registry/invariants`, `/api/registry/backup` and `/api/registry/restore`: the registry as a whole.

use super::extract::{Admin, MAX_BODY_BYTES, Owner, UnreadBody, read_json_up_to};
use super::respond::Json;
use crate::backup::{self, Backup, Restored};
use crate::error::Result;
use crate::registry::invariants::{self, Invariant};
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
/// A tool has at most one active version. The handler of every active version exists, its credentials are defined, and
/// it was not deactivated for security.
#[utoipa::path(get, path = "/api/registry/invariants", tag = "registry",
    responses((status = 200, description = "Each invariant, and its violations", body = InvariantsOut)))]
#[worker::send]
pub async fn check_invariants(Admin(scope): Admin) -> Result<Json<InvariantsOut>> {
    let invariants = invariants::invariants(&scope).await?;
    Ok(Json(InvariantsOut { ok: invariants.iter().all(|it| it.violations.is_empty()), invariants }))
}

/// Back the registry up
///
/// The response holds tools, versions, agents, attachments and the names of credentials. It can be sent as the body of
/// a restore. Handlers are in it as they were given, so keep a backup as safe as its contents require.
#[utoipa::path(get, path = "/api/registry/backup", tag = "registry",
    responses((status = 200, description = "The whole registry", body = Backup)))]
#[worker::send]
pub async fn take_backup(Owner(scope): Owner) -> Result<Json<Backup>> {
    Ok(Json(backup::take(&scope).await?))
}

/// Restore a backup
///
/// The registry becomes exactly what the backup says. Things that are not in the backup are deleted. The restore
/// succeeds as a whole or not at all, and logs a change for each thing that differed.
#[utoipa::path(post, path = "/api/registry/restore", tag = "registry", request_body = Backup,
    responses((status = 200, description = "The registry is as the backup says", body = Restored),
        (status = 409, description = "The backup would bring back a version that was deactivated for security, or another request changed the registry in the meantime")))]
#[worker::send]
pub async fn restore_backup(Owner(scope): Owner, body: UnreadBody) -> Result<Json<Restored>> {
    let body = body.read_for(scope.unbound_caller().await, MAX_BODY_BYTES).await?;
    Ok(Json(backup::restore(&scope, read_json_up_to(MAX_VALUES, &body)?).await?))
}
