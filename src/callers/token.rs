//! Bearer tokens: `peg_<id>_<secret>`. The id finds the row, and the SHA-256 of the whole token decides whether the
//! token is valid. The token itself is shown once, when it is created, and is not stored.
//!
//! The secret is a random number and a signature under `SECRET_KEY`, both in hexadecimal. The signature covers the
//! workspace, the id and the random number. So a token that was not made here, or was made for another workspace, is
//! refused without a look at the database.

use super::{Caller, Level, Scope, store};
use crate::changes::{Action, Change};
use crate::db::DbFailure;
use crate::error::{Error, Result};
use crate::ids::{AgentId, TokenId, WorkspaceId, random_hex};
use crate::page::{Page, PageRequest};
use crate::read_only::{ReadOnly, shown};
use crate::seal::Sealer;
use crate::time::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

const PREFIX: &str = "peg_";

/// The number of random bytes in a token.
const RANDOM_BYTES: usize = 16;

const NO_SECRET_KEY: Error = Error::Unavailable(
    "Tokens are signed with SECRET_KEY, which is not set: npx wrangler secret put SECRET_KEY (on a development machine, \
     set it in .dev.vars)",
);

/// One message for every fault of a token, so that a caller cannot tell one fault from another.
const NOT_VALID: Error = Error::Unauthorized("The token is not valid in this workspace");

/// The stored row of a token.
#[derive(Clone, Debug)]
pub struct Token {
    pub id: TokenId,
    pub name: String,
    pub level: Level,
    pub agent_id: Option<AgentId>,
    pub sha256: [u8; 32],
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub created_by: String,
}

/// A token in responses and in the change log, without its secret.
#[derive(Serialize, ToSchema)]
pub struct TokenOut {
    #[schema(example = "tok_6f1c0d2b9a8e4f7d8c5b3a2f1e0d9c8b")]
    id: String,
    name: String,
    level: Level,
    agent_id: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    created_by: String,
}

impl From<&Token> for TokenOut {
    fn from(token: &Token) -> Self {
        Self {
            id: token.id.to_string(),
            name: token.name.clone(),
            level: token.level,
            agent_id: token.agent_id.as_ref().map(String::from),
            expires_at: token.expires_at,
            created_at: token.created_at,
            created_by: token.created_by.clone(),
        }
    }
}

/// The token of a request, before it is checked.
pub struct Presented {
    id: TokenId,
    sha256: [u8; 32],
}

impl Presented {
    /// Fails if this deployment has not made the token for this workspace. Without a `sealer`, it has made none.
    pub fn parse(token: &str, workspace: &WorkspaceId, sealer: Option<&Sealer>) -> Result<Self> {
        let (id, secret) = token.strip_prefix(PREFIX).and_then(|rest| rest.rsplit_once('_')).ok_or(NOT_VALID)?;
        let id = TokenId::parse(id).ok_or(NOT_VALID)?;
        let (random, signature) = secret.split_at_checked(2 * RANDOM_BYTES).ok_or(NOT_VALID)?;
        match sealer {
            Some(sealer) if sealer.is_signed(&signed_text(workspace, &id, random), signature) => {
                Ok(Self { id, sha256: Sha256::digest(token).into() })
            }
            _ => Err(NOT_VALID),
        }
    }

    pub fn id(&self) -> &TokenId {
        &self.id
    }

    pub fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// Returns the caller. Fails if `found` is not the row of this token, or if the token has expired.
    pub fn check(&self, found: Option<Token>, now: Timestamp) -> Result<Caller> {
        let token = found.ok_or(NOT_VALID)?;
        let same = bool::from(self.sha256.ct_eq(&token.sha256));
        if !same || token.expires_at.is_some_and(|end| end <= now) {
            return Err(NOT_VALID);
        }
        Ok(Caller { level: token.level, agent: token.agent_id, operator: token.id.to_string() })
    }
}

/// The text that a token's signature covers. The parts have no `/` in them.
fn signed_text(workspace: &WorkspaceId, id: &TokenId, random: &str) -> String {
    format!("token/{workspace}/{id}/{random}")
}

/// A new token in the form that callers send.
fn signed_token(workspace: &WorkspaceId, id: &TokenId, sealer: &Sealer) -> Result<String> {
    let random = random_hex::<RANDOM_BYTES>()?;
    let signature = sealer.sign(&signed_text(workspace, id, &random))?;
    Ok(format!("{PREFIX}{id}_{random}{signature}"))
}

/// The properties of a token that is to be created.
pub struct NewToken {
    pub name: String,
    pub level: Level,
    pub agent_id: Option<AgentId>,
    pub expires_at: Option<Timestamp>,
}

/// Checks read-only fields, which may be those of a token that the new one is a copy of.
async fn check_copied(scope: &Scope, read_only: &ReadOnly) -> Result<()> {
    if read_only.is_empty() {
        return Ok(());
    }
    let copied = match read_only.text("id").and_then(TokenId::parse) {
        Some(id) => store::read_token(&scope.read([store::find_token(scope.workspace(), &id)]).await?[0])?,
        None => None,
    };
    read_only.check(&copied.iter().map(|it| shown(&TokenOut::from(it))).collect::<Result<Vec<_>>>()?)
}

/// Creates a token. Returns its row and the token itself, which cannot be read again later. Without a `SECRET_KEY` no
/// token can be signed, and the request is refused.
pub async fn create(scope: &Scope, new: NewToken, read_only: &ReadOnly) -> Result<(Token, String)> {
    let caller = scope.caller().await?;
    caller.must_be_unbound()?;
    check_copied(scope, read_only).await?;
    let now = scope.app().now();
    if new.expires_at.is_some_and(|end| end <= now) {
        return Err(Error::body("/expires_at", "must be in the future"));
    }
    let sealer = scope.app().settings().sealer.as_ref().ok_or(NO_SECRET_KEY)?;
    let id = TokenId::random()?;
    let secret = signed_token(scope.workspace(), &id, sealer)?;
    let token = Token {
        id,
        name: new.name,
        level: new.level,
        agent_id: new.agent_id,
        sha256: Sha256::digest(&secret).into(),
        expires_at: new.expires_at,
        created_at: now,
        created_by: caller.operator.clone(),
    };
    let change = Change::new(Action::Create, format!("token:{}", token.id)).to(&TokenOut::from(&token))?;
    let written =
        scope.write([store::insert_token(scope.workspace(), &token), change.record(&scope.author().await?)]).await?;
    match written {
        Ok(_) => Ok((token, secret)),
        Err(DbFailure::MissingReference) => {
            Err(Error::not_found("Agent", token.agent_id.as_ref().map_or("", AgentId::as_str)))
        }
        Err(failure) => Err(failure.into()),
    }
}

pub async fn list(scope: &Scope, request: &PageRequest) -> Result<Page<Token>> {
    let [rows] = scope.read([store::list_tokens(scope.workspace(), request)?]).await?;
    scope.caller().await?.must_be_unbound()?;
    Ok(request.page(store::read_tokens(&rows)?, |token| PageRequest::age_cursor(token.created_at, token.id.as_str())))
}

/// Deletes a token. From then on, requests with this token are refused.
pub async fn revoke(scope: &Scope, id: &TokenId) -> Result<()> {
    let [rows] = scope.read([store::find_token(scope.workspace(), id)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let token = store::read_token(&rows)?.ok_or_else(|| Error::not_found("Token", id))?;
    let change = Change::new(Action::Revoke, format!("token:{id}"))
        .from(&TokenOut::from(&token))?
        .only_if(store::token_exists(scope.workspace(), id));
    let [_, deleted] =
        scope.write([change.record(&scope.author().await?), store::delete_token(scope.workspace(), id)]).await??;
    match deleted.changes() {
        0 => Err(Error::not_found("Token", id)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-16T12:00:00Z";

    fn now() -> Timestamp {
        Timestamp::parse(NOW).unwrap()
    }

    fn workspace() -> WorkspaceId {
        WorkspaceId::parse("acme").unwrap()
    }

    fn made() -> String {
        signed_token(&workspace(), &TokenId::parse("tok_1").unwrap(), &Sealer::new("key")).unwrap()
    }

    fn parse(token: &str) -> Result<Presented> {
        Presented::parse(token, &workspace(), Some(&Sealer::new("key")))
    }

    fn token(secret: &str) -> Token {
        Token {
            id: TokenId::parse("tok_1").unwrap(),
            name: "n".into(),
            level: Level::Admin,
            agent_id: None,
            sha256: Sha256::digest(secret).into(),
            expires_at: None,
            created_at: now(),
            created_by: "root".into(),
        }
    }

    #[test]
    fn the_right_secret_is_let_in_as_what_it_is() {
        let made = made();
        let presented = parse(&made).unwrap();
        assert_eq!(presented.id().as_str(), "tok_1");
        let caller = presented.check(Some(token(&made)), now()).unwrap();
        assert_eq!((caller.level, caller.operator.as_str()), (Level::Admin, "tok_1"));
    }

    #[test]
    fn a_wrong_unknown_or_expired_token_is_refused_alike() {
        let (made, other) = (made(), made());
        let presented = parse(&made).unwrap();
        let expired = Token { expires_at: Some(now()), ..token(&made) };
        for found in [None, Some(token(&other)), Some(expired)] {
            assert_eq!(presented.check(found, now()).unwrap_err(), NOT_VALID);
        }
    }

    #[test]
    fn what_is_no_token_of_ours_never_reaches_the_database() {
        let made = made();
        let (head, secret) = made.rsplit_once('_').unwrap();
        let zeros = "0".repeat(32);
        for text in [
            "",
            "peg_",
            "peg_tok",
            "tok_1_secret",
            "peg__",
            "peg_a b_c",
            "peg_ä_c",
            &made.to_uppercase(),
            &made[..made.len() - 1],
            &format!("{made}0"),
            &format!("{head}_{zeros}{}", &secret[2 * RANDOM_BYTES..]),
            &format!("{head}_{}{zeros}", &secret[..2 * RANDOM_BYTES]),
            &format!("{head}_{}", "ä".repeat(32)),
            &format!("peg_tok_2_{secret}"),
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        let elsewhere = WorkspaceId::parse("beta").unwrap();
        assert!(Presented::parse(&made, &elsewhere, Some(&Sealer::new("key"))).is_err());
        assert!(Presented::parse(&made, &workspace(), Some(&Sealer::new("other"))).is_err());
        assert!(Presented::parse(&made, &workspace(), None).is_err());
        assert!(parse(&made).is_ok());
    }
}
