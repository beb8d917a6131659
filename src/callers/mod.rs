//! Who is calling, in which workspace, and what they may do there.
//!
//! A [`Scope`] is the only way from a request to the data: it knows the workspace that every query
//! is about, and it hands out no row before the caller has been checked. The check rides along
//! in the first batch that a request sends, so that a token costs no round trip of its own.

mod store;
mod token;

pub use store::TOKENS_OF_AGENT;
pub use token::{NewToken, Presented, Token, TokenOut, create, list, revoke};

use crate::app::App;
use crate::changes::Author;
use crate::db::{Failure, Rows, Statement};
use crate::error::{Error, Result};
use crate::ids::{AgentId, WorkspaceId};
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

    /// What an agent may do, and who else may call, is decided by others than the agent itself.
    pub fn must_be_unbound(&self) -> Result<()> {
        match &self.agent {
            Some(own) => Err(Error::Forbidden(format!(
                "This token is bound to the agent {own}: it cannot manage agents or tokens"
            ))),
            None => Ok(()),
        }
    }
}

/// What the request shows for itself.
pub enum Credential {
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
    pub fn new(app: Arc<App>, workspace: WorkspaceId, credential: Credential, needs: Level) -> Self {
        let (token, caller) = match credential {
            Credential::Open => (None, OnceLock::from(Caller::owner("anonymous"))),
            Credential::Root => (None, OnceLock::from(Caller::owner("root"))),
            Credential::Token(token) => (Some(token), OnceLock::new()),
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
    #[expect(clippy::disallowed_methods, reason = "the caller is checked here")]
    pub async fn read<const N: usize>(&self, statements: [Statement; N]) -> Result<[Rows; N]> {
        let mut statements = Vec::from(statements);
        let unchecked = self.token.as_ref().filter(|_| self.caller.get().is_none());
        statements.extend(unchecked.map(|token| store::find_token(&self.workspace, token.id())));

        let mut rows = self.app.db()?.batch(&statements).await?;
        if let Some(token) = unchecked {
            let found = rows.pop().map(|it| store::read_token(&it)).transpose()?.flatten();
            self.admit(token.check(found, self.app.now())?)?;
        }
        exactly(rows).map_err(Error::from)
    }

    /// Runs statements that change something, as one transaction, for a caller who has been checked.
    #[expect(clippy::disallowed_methods, reason = "the caller has been checked")]
    pub async fn write<const N: usize>(&self, statements: [Statement; N]) -> Result<Written<N>> {
        self.caller().await?;
        Ok(self.app.db()?.batch(&statements).await.and_then(exactly))
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
pub type Written<const N: usize> = std::result::Result<[Rows; N], Failure>;

fn exactly<const N: usize>(rows: Vec<Rows>) -> Written<N> {
    rows.try_into()
        .map_err(|rows: Vec<Rows>| Failure::Other(format!("D1 gave {} answers to {N} statements", rows.len())))
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
