//! Who is calling, in which workspace, and what they may do there.
//!
//! A [`Scope`] is the only way from a request to the data: it knows the workspace that every query
//! is about, and it hands out no row before the caller has been checked. The check rides along
//! in the first batch that a request sends, so that a token costs no round trip of its own.

mod store;
mod token;

pub use store::{BoundToken, find_bound_tokens, find_tokens_of_agent};
pub use token::{NewToken, Presented, Token, TokenOut, create, list, revoke};

use crate::app::App;
use crate::changes::Author;
use crate::db::{DbFailure, Rows, Statement};
use crate::error::{Error, Result};
use crate::ids::{AgentId, TokenId, WorkspaceId};
use crate::text_enum::text_enum;
use std::sync::{Arc, OnceLock};

text_enum! {
    /// What a caller may do; each level may do all that the ones before it may.
    Level {
        Guest = "guest",
        User = "user",
        Admin = "admin",
        Owner = "owner",
    }
}

/// A caller who has been checked.
#[derive(Clone, Debug)]
pub struct Caller {
    pub level: Level,
    /// The agent that the token is bound to.
    pub agent: Option<AgentId>,
    /// Who the change log names.
    pub operator: String,
}

impl Caller {
    fn owner(operator: &str) -> Self {
        Self { level: Level::Owner, agent: None, operator: operator.to_owned() }
    }

    /// A bound token acts as its agent and no other.
    pub fn may_act_as(&self, agent: &AgentId) -> Result<()> {
        match &self.agent {
            Some(own) if own != agent => {
                Err(Error::Forbidden(format!("This token is bound to the agent {own} and cannot act on another")))
            }
            _ => Ok(()),
        }
    }

    /// An agent decides neither its own permissions nor who else may call.
    pub fn must_be_unbound(&self) -> Result<()> {
        match &self.agent {
            Some(own) => Err(Error::Forbidden(format!(
                "This token is bound to the agent {own}: it cannot manage agents, tokens, approvals or the registry"
            ))),
            None => Ok(()),
        }
    }
}

/// The credential that a request carries.
pub enum CallerCredential {
    /// No token, in open mode.
    Open,
    Root,
    Token(Presented),
}

/// One request's way into one workspace.
pub struct Scope {
    app: Arc<App>,
    workspace: WorkspaceId,
    needs: Level,
    token: Option<Presented>,
    caller: OnceLock<Caller>,
}

impl Scope {
    pub fn new(app: Arc<App>, workspace: WorkspaceId, credential: CallerCredential, needs: Level) -> Self {
        let (token, caller) = match credential {
            CallerCredential::Open => (None, OnceLock::from(Caller::owner("anonymous"))),
            CallerCredential::Root => (None, OnceLock::from(Caller::owner("root"))),
            CallerCredential::Token(token) => (Some(token), OnceLock::new()),
        };
        Self { app, workspace, needs, token, caller }
    }

    pub fn app(&self) -> &App {
        &self.app
    }

    pub fn workspace(&self) -> &WorkspaceId {
        &self.workspace
    }

    /// The caller, checked; at the price of a round trip if nothing has been read yet.
    pub async fn caller(&self) -> Result<&Caller> {
        if self.caller.get().is_none() {
            self.read([]).await?;
        }
        self.caller.get().ok_or_else(|| Error::Internal("a read left the caller unchecked".into()))
    }

    /// Whose name the change log puts on what this request does.
    pub async fn author(&self) -> Result<Author<'_>> {
        Ok(Author { workspace: &self.workspace, operator: &self.caller().await?.operator, now: self.app.now() })
    }

    /// Runs statements that change nothing, and checks the caller in the same batch.
    pub async fn read<const N: usize>(&self, statements: [Statement; N]) -> Result<[Rows; N]> {
        exactly(self.enter(statements.into()).await?).map_err(Error::from)
    }

    /// Runs statements and checks the caller in the same batch. What changes something is [`Scope::guarded`].
    #[expect(clippy::disallowed_methods, reason = "the caller is checked here")]
    pub async fn enter(&self, mut statements: Vec<Statement>) -> Result<Vec<Rows>> {
        let unchecked = self.token.as_ref().filter(|_| self.caller.get().is_none());
        statements.extend(unchecked.map(|token| store::find_token(&self.workspace, token.id())));

        let mut rows = self.app.db()?.batch(&statements).await?;
        if let Some(token) = unchecked {
            let found = rows.pop().map(|it| store::read_token(&it)).transpose()?.flatten();
            self.admit(token.check(found, self.app.now())?)?;
        }
        Ok(rows)
    }

    /// Lets a statement, which ends within a `WHERE` clause, change something only if the caller's token is good.
    /// So the first batch of a request can write, though the caller is not known before it.
    pub fn guarded(&self, statement: Statement) -> Statement {
        match self.token.as_ref().filter(|_| self.caller.get().is_none()) {
            Some(token) => statement.and(store::token_is_good(&self.workspace, token, self.app.now())),
            None => statement,
        }
    }

    /// Who is named as the doer of what this request does; the caller need not have been checked yet.
    pub fn operator(&self) -> &str {
        match (&self.token, self.caller.get()) {
            (Some(token), _) => token.id().as_str(),
            (None, Some(caller)) => &caller.operator,
            (None, None) => "",
        }
    }

    /// The id of the token that the request brings.
    pub fn token_id(&self) -> Option<&TokenId> {
        self.token.as_ref().map(Presented::id)
    }

    /// Runs statements that change something, as one transaction, for a caller who has been checked.
    pub async fn write<const N: usize>(&self, statements: [Statement; N]) -> Result<BatchResult<N>> {
        Ok(self.write_all(statements.into()).await?.and_then(exactly))
    }

    /// The same for a number of statements that is not known beforehand.
    #[expect(clippy::disallowed_methods, reason = "the caller has been checked")]
    pub async fn write_all(&self, statements: Vec<Statement>) -> Result<std::result::Result<Vec<Rows>, DbFailure>> {
        self.caller().await?;
        Ok(self.app.db()?.batch(&statements).await)
    }

    /// Runs statements on the database of the benchmarks, for a caller who has been checked; nothing, if there is none.
    #[expect(clippy::disallowed_methods, reason = "the caller has been checked")]
    pub async fn ask_benchmarks<const N: usize>(&self, statements: [Statement; N]) -> Result<Option<BatchResult<N>>> {
        self.caller().await?;
        let Some(database) = self.app.benchmarks() else { return Ok(None) };
        Ok(Some(database.batch(&statements).await.and_then(exactly)))
    }

    fn admit(&self, caller: Caller) -> Result<()> {
        if caller.level < self.needs {
            return Err(Error::Forbidden(format!(
                "This needs the level {}, and the token has the level {}",
                self.needs, caller.level
            )));
        }
        // Set at most once: reads of one request do not overlap before the first has been answered.
        let _ = self.caller.set(caller);
        Ok(())
    }
}

/// The answers to as many statements, or why none was carried out.
pub type BatchResult<const N: usize> = std::result::Result<[Rows; N], DbFailure>;

fn exactly<const N: usize>(rows: Vec<Rows>) -> BatchResult<N> {
    rows.try_into()
        .map_err(|rows: Vec<Rows>| DbFailure::Other(format!("D1 gave {} answers to {N} statements", rows.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered() {
        assert!(Level::Guest < Level::User && Level::User < Level::Admin && Level::Admin < Level::Owner);
    }

    #[test]
    fn a_bound_caller_is_held_to_its_agent() {
        let (own, other) = (AgentId::random().unwrap(), AgentId::random().unwrap());
        let mut caller = Caller::owner("root");
        assert!(caller.may_act_as(&own).is_ok() && caller.must_be_unbound().is_ok());
        caller.agent = Some(own.clone());
        assert!(caller.may_act_as(&own).is_ok());
        assert!(caller.may_act_as(&other).is_err() && caller.must_be_unbound().is_err());
    }
}
