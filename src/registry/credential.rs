//! Credentials: names of secrets that tools may ask for. The values are secrets of the Worker, and no caller sees them.

use super::placement::Placement;
use super::store;
use crate::callers::Scope;
use crate::changes::{Action, Change};
use crate::db::DbFailure;
use crate::error::{Error, Place, Problem, Result};
use crate::ids::{CredentialId, WorkspaceId};
use crate::page::{Page, PageRequest};
use crate::read_only::{ReadOnly, shown};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const MAX_DESCRIPTION_CHARS: usize = 500;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CredentialRecord)]
pub struct Credential {
    #[schema(example = "GITHUB_TOKEN")]
    pub id: String,
    pub description: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// What of a credential leaves the house.
#[derive(Serialize, ToSchema)]
pub struct CredentialOut {
    #[schema(example = "GITHUB_TOKEN")]
    id: String,
    description: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Whether the Worker has a secret of that name for this workspace.
    present: bool,
}

impl CredentialOut {
    pub fn new(scope: &Scope, credential: Credential) -> Self {
        let present = scope.app().has_credential(scope.workspace(), &credential.id);
        Self { id: credential.id, description: credential.description, created_at: credential.created_at, present }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CredentialIn {
    /// The name of the Worker's secret.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,63}$", example = "GITHUB_TOKEN")]
    id: String,
    #[schema(max_length = 500, example = "Reads issues of our repositories")]
    description: Option<String>,
}

/// `^[A-Za-z_][A-Za-z0-9_]{0,63}$`
pub fn is_credential_id(text: &str) -> bool {
    CredentialId::parse(text).is_some()
}

/// Returns a page of the workspace's credentials, ordered by name.
pub async fn list(scope: &Scope, request: &PageRequest) -> Result<Page<Credential>> {
    let [rows] = scope.read([store::credentials::list(scope.workspace(), request)]).await?;
    scope.caller().await?.must_be_unbound()?;
    Ok(request.page(rows.all()?, |it: &Credential| it.id.clone()))
}

/// Defines a credential, so that tools may ask for a secret that the Worker has.
pub async fn create(scope: &Scope, given: CredentialIn, read_only: &ReadOnly) -> Result<Credential> {
    let description = given.description.unwrap_or_default();
    let mut problems = check(&given.id, &description);
    scope.caller().await?.must_be_unbound()?;
    if problems.is_empty() && !scope.app().has_credential(scope.workspace(), &given.id) {
        problems.push(problem(
            "/id",
            // The same words for a secret that does not exist and for one that is not lent.
            match scope.app().settings().open {
                true => format!(
                    "is no secret of this Worker that this workspace may use: add a line {}=the-secret to .dev.vars, and \
                     start scripts/dev again",
                    given.id
                ),
                false => "is no secret of this Worker that this workspace may use: wrangler secret put sets one, and \
                          CREDENTIAL_WORKSPACES lends it"
                    .to_owned(),
            },
        ));
    }
    let credential = Credential { id: given.id, description, created_at: scope.app().now() };
    if !read_only.is_empty() {
        let [found] = scope.read([store::credentials::find(scope.workspace(), &credential.id)]).await?;
        let both = found.first::<Credential>()?.into_iter().chain([credential.clone()]);
        let both = both.map(|it| shown(&CredentialOut::new(scope, it))).collect::<Result<Vec<_>>>()?;
        problems.extend(read_only.problems(&both));
    }
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
    let change = Change::new(Action::Create, subject(&credential.id)).to(&credential)?;
    let insert = store::credentials::insert(scope.workspace(), &credential);
    match scope.write([insert, change.record(&scope.author().await?)]).await? {
        Ok(_) => Ok(credential),
        Err(DbFailure::Duplicate) => Err(Error::AlreadyExists(format!("The credential {} exists", credential.id))),
        Err(failure) => Err(failure.into()),
    }
}

/// Defines credentials in a placement, whether the Worker has their secrets or not. A thing that names a credential comes
/// with it like this, so that an admin sees what is needed.
pub fn define(placement: &mut Placement, workspace: &WorkspaceId, credentials: &[Credential]) -> Result<()> {
    for it in credentials {
        placement.record(Change::new(Action::Create, subject(&it.id)).to(it)?);
    }
    store::credentials::insert_all(workspace, credentials)?.into_iter().for_each(|it| placement.also(it));
    Ok(())
}

/// Those of the given credentials that the workspace does not define.
pub async fn undefined(scope: &Scope, ids: &[String]) -> Result<Vec<String>> {
    let [rows] = scope.read([store::credentials::undefined(scope.workspace(), ids)]).await?;
    store::credentials::read_ids(&rows)
}

/// Deletes a credential that no active version asks for. Inactive versions that ask for the credential cannot be
/// activated again without it.
pub async fn delete(scope: &Scope, id: &CredentialId) -> Result<()> {
    let [found, users] = scope
        .read([
            store::credentials::find(scope.workspace(), id.as_str()),
            store::credentials::active_users(scope.workspace(), id.as_str()),
        ])
        .await?;
    scope.caller().await?.must_be_unbound()?;
    let credential = found.first::<Credential>()?.ok_or_else(|| Error::not_found("Credential", id))?;
    let in_use = |users: &str| Error::Conflict(format!("The credential {id} is in use by {users}"));
    let users = store::credentials::read_ids(&users)?;
    if !users.is_empty() {
        return Err(in_use(&users.join(", ")));
    }
    let can_go = store::credentials::exists(scope.workspace(), id.as_str())
        .and(store::credentials::is_unused(scope.workspace(), id.as_str()));
    let change = Change::new(Action::Delete, subject(id.as_str())).from(&credential)?.only_if(can_go);
    let delete = store::credentials::delete(scope.workspace(), id.as_str());
    let [_, deleted] = scope.write([change.record(&scope.author().await?), delete]).await??;
    if deleted.changes() == 0 { Err(in_use("a tool that was registered meanwhile")) } else { Ok(()) }
}

/// Everything that is wrong with a credential's name and description.
pub fn check(id: &str, description: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !is_credential_id(id) {
        problems.push(problem("/id", "must be 1 to 64 letters, digits or _, and not begin with a digit".to_owned()));
    }
    let chars = description.chars().count();
    if chars > MAX_DESCRIPTION_CHARS {
        problems.push(problem("/description", format!("has {chars} characters; {MAX_DESCRIPTION_CHARS} are allowed")));
    }
    problems
}

pub fn subject(id: &str) -> String {
    format!("credential:{id}")
}

fn problem(path: &str, message: String) -> Problem {
    Problem { place: Place::Body, path: path.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_secrets() {
        for good in ["A", "_x", "GITHUB_TOKEN", "key2", &"A".repeat(64)] {
            assert!(is_credential_id(good), "{good}");
        }
        for bad in ["", "2A", "A-B", "A B", "ä", &"A".repeat(65)] {
            assert!(!is_credential_id(bad), "{bad}");
        }
    }
}
