//! `/api/registry`: the registry as a whole.

use super::extract::{Admin, Bytes, Owner, read_json_up_to};
use super::respond::Json;
use crate::backup::{self, Backup, Restored};
use crate::error::Result;
use crate::registry::invariants::{self, Invariant};
use serde::Serialize;
use utoipa::ToSchema;

/// What a backup may hold: some 25,000 versions.
const MAX_VALUES: usize = 1_000_000;

#[derive(Serialize, ToSchema)]
pub struct InvariantsOut {
    /// Whether all of them hold.
    ok: bool,
    invariants: Vec<Invariant>,
}

/// Check what must always be true
///
/// At most one active version of a tool; every active version's handler leads somewhere, its credentials are defined, and it was not
/// deactivated for security.
#[utoipa::path(get, path = "/api/registry/invariants", tag = "registry",
    responses((status = 200, description = "Each invariant, and what breaks it", body = InvariantsOut)))]
#[worker::send]
pub async fn check_invariants(Admin(scope): Admin) -> Result<Json<InvariantsOut>> {
    let invariants = invariants::invariants(&scope).await?;
    Ok(Json(InvariantsOut { ok: invariants.iter().all(|it| it.violations.is_empty()), invariants }))
}

/// Back the registry up
///
/// Tools, versions, agents, attachments and credentials (their names), as the body of a restore. Handlers are in it as they were
/// given: keep it as safe as what they hold.
#[utoipa::path(get, path = "/api/registry/backup", tag = "registry",
    responses((status = 200, description = "The whole registry", body = Backup)))]
#[worker::send]
pub async fn take_backup(Owner(scope): Owner) -> Result<Json<Backup>> {
    Ok(Json(backup::take(&scope).await?))
}

/// Restore a backup
///
/// The registry becomes what the backup says, to the letter: what is not in it goes. All of it or nothing, with a change in the log for
/// each thing that differed.
#[utoipa::path(post, path = "/api/registry/restore", tag = "registry", request_body = Backup,
    responses((status = 200, description = "The registry is as the backup says", body = Restored),
        (status = 409, description = "A version would come back that was deactivated for security, or another request was faster")))]
#[worker::send]
pub async fn restore_backup(Owner(scope): Owner, Bytes(body): Bytes) -> Result<Json<Restored>> {
    Ok(Json(backup::restore(&scope, read_json_up_to(MAX_VALUES, &body)?).await?))
}
