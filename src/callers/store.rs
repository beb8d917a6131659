//! SQL for the table `tokens`.

use super::{Level, Presented, Token};
use crate::db::{Condition, HAS_OBJECT, Rows, Statement, condition, sql};
use crate::error::{Error, Result};
use crate::hex;
use crate::ids::{AgentId, TokenId, WorkspaceId};
use crate::page::PageRequest;
use crate::text_enum::TextEnum;
use crate::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

const COLUMNS: &str = "id, name, level, agent_id, sha256, expires_at, created_at, created_by";

/// Fails if the workspace has an object. Only a path that is none makes SQLite fail with words of our own.
pub fn refuse_object(workspace: &WorkspaceId) -> Statement {
    sql(format!(
        "SELECT json_extract('0', iif(EXISTS (SELECT 1 FROM directory WHERE workspace_id = ?1), '{HAS_OBJECT}', '$'))"
    ))
    .bind(workspace.as_str())
}

/// True while the token exists.
pub fn token_exists(workspace: &WorkspaceId, id: &TokenId) -> Condition {
    condition("EXISTS (SELECT 1 FROM tokens WHERE workspace_id = ?1 AND id = ?2)")
        .bind(workspace.as_str())
        .bind(id.as_str())
}

/// The workspace's tokens, as the change log shows them.
fn select_logged(workspace: &WorkspaceId) -> Statement {
    sql("SELECT agent_id, 'token:' || id AS subject, NULL AS tool_id,
           json_object('id', id, 'name', name, 'level', level, 'agent_id', agent_id, 'expires_at', expires_at,
             'created_at', created_at, 'created_by', created_by) AS previous_state
         FROM tokens WHERE workspace_id = ?1")
    .bind(workspace.as_str())
}

/// The tokens that are bound to the agent (for [`crate::changes::record_each`]).
pub fn find_tokens_of_agent(workspace: &WorkspaceId, agent: &AgentId) -> Statement {
    select_logged(workspace).and(condition("agent_id = ?1").bind(agent.as_str()))
}

/// A bound token, for the change log. A bound token ends together with its agent.
#[derive(Deserialize)]
pub struct BoundToken {
    pub agent_id: String,
    pub subject: String,
    previous_state: String,
}

impl BoundToken {
    /// The token as the change log shows it.
    pub fn state(&self) -> Result<Value> {
        serde_json::from_str(&self.previous_state)
            .map_err(|cause| Error::Internal(format!("the state of {} is not JSON: {cause}", self.subject)))
    }
}

/// All tokens that are bound to agents.
pub fn find_bound_tokens(workspace: &WorkspaceId) -> Statement {
    select_logged(workspace).and(condition("agent_id IS NOT NULL"))
}

#[derive(Deserialize)]
struct TokenRow {
    id: String,
    name: String,
    level: Level,
    agent_id: Option<String>,
    sha256: String,
    expires_at: Option<Timestamp>,
    created_at: Timestamp,
    created_by: String,
}

impl TryFrom<TokenRow> for Token {
    type Error = Error;

    fn try_from(row: TokenRow) -> Result<Self> {
        let broken = |what: &str| Error::Internal(format!("the token {} has a broken {what}", row.id));
        Ok(Self {
            id: TokenId::parse(&row.id).ok_or_else(|| broken("id"))?,
            name: row.name,
            level: row.level,
            agent_id: match row.agent_id {
                Some(id) => Some(AgentId::parse(&id).ok_or_else(|| broken("agent_id"))?),
                None => None,
            },
            sha256: hex::decode_digest(&row.sha256).ok_or_else(|| broken("sha256"))?,
            expires_at: row.expires_at,
            created_at: row.created_at,
            created_by: row.created_by,
        })
    }
}

pub fn find_token(workspace: &WorkspaceId, id: &TokenId) -> Statement {
    sql(format!("SELECT {COLUMNS} FROM tokens WHERE workspace_id = ?1 AND id = ?2"))
        .bind(workspace.as_str())
        .bind(id.as_str())
}

/// True while the token exists, is equal to the token of the request, has not expired, and has at least this level.
pub fn token_is_good(workspace: &WorkspaceId, token: &Presented, now: Timestamp, needs: Level) -> Condition {
    let enough =
        Level::ALL.iter().filter(|it| **it >= needs).map(|it| format!("'{it}'")).collect::<Vec<_>>().join(", ");
    condition(format!(
        "EXISTS (SELECT 1 FROM tokens WHERE workspace_id = ?1 AND id = ?2 AND sha256 = ?3
           AND coalesce(expires_at > ?4, true) AND level IN ({enough}))"
    ))
    .bind(workspace.as_str())
    .bind(token.id().as_str())
    .bind(hex::encode(token.sha256()))
    .bind(now.to_string())
}

/// True if the token may see a thing that was made by the agent in this column. A token that is bound to an agent sees
/// what its agent made, and a token that does not exist sees nothing. Every other caller sees everything.
pub fn token_may_see(workspace: &WorkspaceId, token: Option<&TokenId>, agent_column: &str) -> Condition {
    condition(format!(
        "?2 IS NULL OR EXISTS (SELECT 1 FROM tokens t WHERE t.workspace_id = ?1 AND t.id = ?2
           AND (t.agent_id IS NULL OR t.agent_id = {agent_column}))"
    ))
    .bind(workspace.as_str())
    .bind(token.map(TokenId::as_str))
}

pub fn read_token(rows: &Rows) -> Result<Option<Token>> {
    rows.first::<TokenRow>()?.map(Token::try_from).transpose()
}

pub fn list_tokens(workspace: &WorkspaceId, request: &PageRequest) -> Result<Statement> {
    let (created_at, id) = request.after_age()?;
    Ok(sql(format!(
        "SELECT {COLUMNS} FROM tokens WHERE workspace_id = ?1 AND (created_at, id) > (?2, ?3)
         ORDER BY created_at, id LIMIT +?4"
    ))
    .bind(workspace.as_str())
    .bind(created_at)
    .bind(id)
    .bind(request.rows_to_ask()))
}

pub fn read_tokens(rows: &Rows) -> Result<Vec<Token>> {
    rows.all::<TokenRow>()?.into_iter().map(Token::try_from).collect()
}

pub fn insert_token(workspace: &WorkspaceId, token: &Token) -> Statement {
    sql(format!("INSERT INTO tokens (workspace_id, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"))
        .bind(workspace.as_str())
        .bind(token.id.as_str())
        .bind(token.name.as_str())
        .bind(token.level.as_str())
        .bind(token.agent_id.as_ref().map(AgentId::as_str))
        .bind(hex::encode(&token.sha256))
        .bind(token.expires_at.map(|it| it.to_string()))
        .bind(token.created_at.to_string())
        .bind(token.created_by.as_str())
}

pub fn delete_token(workspace: &WorkspaceId, id: &TokenId) -> Statement {
    sql("DELETE FROM tokens WHERE workspace_id = ?1 AND id = ?2").bind(workspace.as_str()).bind(id.as_str())
}
