//! `/api/tokens` and `/api/tokens/{token_id}`: the tokens of a workspace.

use super::body::Given;
use super::extract::{Named, Owner, PageQuery, Query};
use super::respond::{Created, Json, NoContent};
use crate::callers::{self, Level, NewToken, TokenOut};
use crate::error::{Error, Result};
use crate::ids::{AgentId, TokenId, check_name};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct TokenPage {
    tokens: Vec<TokenOut>,
    next_cursor: Option<String>,
}

/// List the tokens
///
/// The response tells what each token may do. It never holds the tokens themselves.
#[utoipa::path(get, path = "/api/tokens", tag = "tokens", params(PageQuery),
    responses((status = 200, description = "A page of tokens", body = TokenPage)))]
#[worker::send]
pub async fn list_tokens(Owner(scope): Owner, Query(query): Query<PageQuery>) -> Result<Json<TokenPage>> {
    let page = callers::list(&scope, &query.check()?).await?;
    let (tokens, next_cursor) = page.map(|token| TokenOut::from(&token));
    Ok(Json(TokenPage { tokens, next_cursor }))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenIn {
    #[schema(min_length = 1, max_length = 200, example = "CI")]
    name: String,
    level: Level,
    /// The agent that the token is bound to. The token can act as no other agent.
    agent_id: Option<String>,
    /// When the token expires; never, if not given.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

#[derive(Serialize, ToSchema)]
pub struct NewTokenOut {
    #[serde(flatten)]
    record: TokenOut,
    /// The token itself. It is shown only in this response.
    token: String,
}

/// Make a token
///
/// Only this response holds the token itself.
#[utoipa::path(post, path = "/api/tokens", tag = "tokens", request_body = TokenIn,
    responses((status = 201, description = "The token", body = NewTokenOut)))]
#[worker::send]
pub async fn create_token(
    Owner(scope): Owner,
    Given { body, read_only }: Given<TokenIn>,
) -> Result<Created<NewTokenOut>> {
    check_name(&body.name).map_err(|message| Error::body("/name", message))?;
    let agent_id =
        body.agent_id.map(|id| AgentId::parse(&id).ok_or_else(|| Error::not_found("Agent", id))).transpose()?;
    let new = NewToken { name: body.name, level: body.level, agent_id, expires_at: body.expires_at };
    let (token, secret) = callers::create(&scope, new, &read_only).await?;
    Ok(Created(NewTokenOut { record: TokenOut::from(&token), token: secret }))
}

/// Revoke a token
///
/// The token is not valid from the next request on.
#[utoipa::path(delete, path = "/api/tokens/{token_id}", tag = "tokens", params(("token_id" = String, Path)),
    responses((status = 204, description = "The token was revoked")))]
#[worker::send]
pub async fn revoke_token(Owner(scope): Owner, Named(token_id): Named<TokenId>) -> Result<NoContent> {
    callers::revoke(&scope, &token_id).await?;
    Ok(NoContent)
}
