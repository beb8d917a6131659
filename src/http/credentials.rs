//! `/api/credentials` and `/api/credentials/{credential_id}`: the credentials that tools may use. Their values are
//! secrets of the Worker and are never shown.

use super::body::Given;
use super::extract::{Admin, Named, PageQuery, Query};
use super::respond::{Created, Json, NoContent};
use crate::error::Result;
use crate::ids::CredentialId;
use crate::registry::credential::{self, CredentialIn, CredentialOut};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct CredentialPage {
    credentials: Vec<CredentialOut>,
    next_cursor: Option<String>,
}

/// List the credentials
///
/// Sorted by name.
#[utoipa::path(get, path = "/api/credentials", tag = "credentials", params(PageQuery),
    responses((status = 200, description = "A page of credentials", body = CredentialPage)))]
#[worker::send]
pub async fn list_credentials(Admin(scope): Admin, Query(query): Query<PageQuery>) -> Result<Json<CredentialPage>> {
    let page = credential::list(&scope, &query.check()?).await?;
    let (credentials, next_cursor) = page.map(|it| CredentialOut::new(&scope, it));
    Ok(Json(CredentialPage { credentials, next_cursor }))
}

/// Define a credential
///
/// The name must be that of a secret of the Worker (`wrangler secret put`) that `CREDENTIAL_WORKSPACES` lends to this
/// workspace. A secret that is not lent is refused like one that does not exist.
#[utoipa::path(post, path = "/api/credentials", tag = "credentials", request_body = CredentialIn,
    responses((status = 201, description = "The credential", body = CredentialOut),
        (status = 409, description = "The credential is defined already")))]
#[worker::send]
pub async fn create_credential(
    Admin(scope): Admin,
    Given { body, read_only }: Given<CredentialIn>,
) -> Result<Created<CredentialOut>> {
    let credential = credential::create(&scope, body, &read_only).await?;
    Ok(Created(CredentialOut::new(&scope, credential)))
}

/// Delete a credential
#[utoipa::path(delete, path = "/api/credentials/{credential_id}", tag = "credentials",
    params(("credential_id" = String, Path, example = "GITHUB_TOKEN")),
    responses((status = 204, description = "The credential was deleted"),
        (status = 409, description = "An active version needs the credential")))]
#[worker::send]
pub async fn delete_credential(Admin(scope): Admin, Named(id): Named<CredentialId>) -> Result<NoContent> {
    credential::delete(&scope, &id).await?;
    Ok(NoContent)
}
