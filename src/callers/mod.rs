//! Callers: who sends a request, to which workspace, and what the sender may do there.
//!
//! A [`Scope`] is the only way from a request to the data. A scope knows the workspace that every query is about, and
//! returns no row before the caller has been checked. The check is part of the first batch that a request sends, so a
//! token costs no round trip of its own.

mod carried;
mod place;
mod store;
mod token;

pub use carried::{CarriedCaller, carried_exists, check_carried, find_carried};

pub use store::{BoundToken, find_bound_tokens, find_tokens_of_agent, token_may_see};
pub use token::{NewToken, Presented, Token, TokenOut, create, list, revoke};

use crate::app::App;
use crate::changes::Author;
use crate::db::{Db, DbFailure, Rows, Statement};
use crate::error::{Error, Result};
use crate::ids::{AgentId, TokenId, WorkspaceId};
use crate::memory_turn::MemoryTurn;
use crate::text_enum::text_enum;
use std::sync::{Arc, OnceLock};

text_enum! {
    /// How much a caller may do. Each level includes the levels before it.
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
    /// The name of the caller in the change log.
    pub operator: String,
}

impl Caller {
    fn owner(operator: &str) -> Self {
        Self { level: Level::Owner, agent: None, operator: operator.to_owned() }
    }

    /// Fails if the caller's token is bound to another agent.
    pub fn may_act_as(&self, agent: &AgentId) -> Result<()> {
        match &self.agent {
            Some(own) if own != agent => {
                Err(Error::Forbidden(format!("This token is bound to the agent {own} and cannot act on another")))
            }
            _ => Ok(()),
        }
    }

    /// Fails if the caller's token is bound, because an agent must decide neither its own permissions nor who else may
    /// call.
    pub fn must_be_unbound(&self) -> Result<()> {
        match &self.agent {
            Some(own) => Err(Error::Forbidden(format!(
                "This token is bound to the agent {own}: it cannot manage agents, attachments, tokens, approvals or the registry"
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

/// The access of one request to one workspace.
pub struct Scope {
    app: Arc<App>,
    workspace: WorkspaceId,
    needs: Level,
    token: Option<Presented>,
    caller: OnceLock<Caller>,
    /// The token that asked for a call which this request approves.
    asker: OnceLock<TokenId>,
    memory_turn: MemoryTurn,
    /// The workspace's own database, if it has one.
    own_db: OnceLock<Option<Db>>,
}

impl Scope {
    pub fn new(app: Arc<App>, workspace: WorkspaceId, credential: CallerCredential, needs: Level) -> Self {
        let (token, caller) = match credential {
            CallerCredential::Open => (None, OnceLock::from(Caller::owner("anonymous"))),
            CallerCredential::Root => (None, OnceLock::from(Caller::owner("root"))),
            CallerCredential::Token(token) => (Some(token), OnceLock::new()),
        };
        let scope = Self::without_caller(app, workspace);
        Self { needs, token, caller, ..scope }
    }

    /// The access of a caller whom another request of this deployment has checked, for work that goes on in a Durable
    /// Object.
    /// `asker` is the token whose sight of sessions the work has.
    pub fn of_checked_caller(app: Arc<App>, workspace: WorkspaceId, caller: Caller, asker: Option<TokenId>) -> Self {
        let asker = asker.map_or_else(OnceLock::new, OnceLock::from);
        let scope = Self::without_caller(app, workspace);
        Self { needs: Level::Guest, caller: OnceLock::from(caller), asker, ..scope }
    }

    /// A scope that nobody can use yet: it needs the highest level, and has no caller.
    fn without_caller(app: Arc<App>, workspace: WorkspaceId) -> Self {
        Self {
            app,
            workspace,
            needs: Level::Owner,
            token: None,
            caller: OnceLock::new(),
            asker: OnceLock::new(),
            memory_turn: MemoryTurn::default(),
            own_db: OnceLock::new(),
        }
    }

    /// The access of the Worker itself, for work that no request waits for.
    pub fn of_pegboard(app: Arc<App>, workspace: WorkspaceId) -> Self {
        Self::of_checked_caller(app, workspace, Caller::owner("pegboard"), None)
    }

    pub fn app(&self) -> &App {
        &self.app
    }

    pub fn workspace(&self) -> &WorkspaceId {
        &self.workspace
    }

    /// Where the calls of this request take turns in holding large values.
    pub fn memory_turn(&self) -> &MemoryTurn {
        &self.memory_turn
    }

    /// The checked caller. With a token, this costs a round trip if the request has read nothing yet.
    pub async fn caller(&self) -> Result<&Caller> {
        if self.caller.get().is_none() {
            self.read([]).await?;
        }
        self.caller.get().ok_or_else(|| Error::Internal("a read left the caller unchecked".into()))
    }

    /// Like [`Scope::caller`]. Fails if the caller's token is bound to an agent.
    pub async fn unbound_caller(&self) -> Result<&Caller> {
        let caller = self.caller().await?;
        caller.must_be_unbound()?;
        Ok(caller)
    }

    /// The author of this request's changes, for the change log.
    pub async fn author(&self) -> Result<Author<'_>> {
        Ok(Author { workspace: &self.workspace, operator: &self.caller().await?.operator, now: self.app.now() })
    }

    /// The database that holds the rows of the workspace.
    #[expect(clippy::disallowed_methods, reason = "whoever asks has checked the caller, or checks the caller now")]
    fn db(&self) -> Result<&Db> {
        if self.own_db.get().is_none() {
            let _ = self.own_db.set(self.app.own_db(&self.workspace)?);
        }
        match self.own_db.get() {
            Some(Some(own)) => Ok(own),
            _ => self.app.db(),
        }
    }

    /// Runs a batch where the rows of the workspace are.
    async fn batch(&self, mut statements: Vec<Statement>) -> Result<std::result::Result<Vec<Rows>, DbFailure>> {
        let db = self.db()?;
        let has_own = matches!(self.own_db.get(), Some(Some(_)));
        // The directory of an object is always empty. A look there would pass, and the isolate would remember that.
        let look = if has_own || self.app.is_in_object() { None } else { place::look(&self.workspace) };
        let has_look = look.is_some();
        statements.extend(look);
        Ok(db.batch(&statements).await.map(|mut rows| {
            if has_look {
                rows.pop();
                place::remember(&self.workspace);
            }
            rows
        }))
    }

    /// Runs statements that change nothing, and checks the caller in the same batch.
    pub async fn read<const N: usize>(&self, statements: [Statement; N]) -> Result<[Rows; N]> {
        exactly(self.enter(statements.into()).await?).map_err(Error::from)
    }

    /// Runs statements and checks the caller in the same batch. A statement that changes something must be
    /// [`Scope::guarded`].
    pub async fn enter(&self, mut statements: Vec<Statement>) -> Result<Vec<Rows>> {
        let unchecked = self.token.as_ref().filter(|_| self.caller.get().is_none());
        statements.extend(unchecked.map(|token| store::find_token(&self.workspace, token.id())));

        let mut rows = self.batch(statements).await??;
        if let Some(token) = unchecked {
            let found = rows.pop().map(|it| store::read_token(&it)).transpose()?.flatten();
            self.admit(token.check(found, self.app.now())?)?;
        }
        Ok(rows)
    }

    /// Adds a condition to a statement, so that the statement changes something only if the caller's token is valid and has
    /// the level that the request needs.
    /// The statement must end with a `WHERE` clause. The first batch of a request can therefore write before the caller
    /// has been checked.
    pub fn guarded(&self, statement: Statement) -> Statement {
        match self.token.as_ref().filter(|_| self.caller.get().is_none()) {
            Some(token) => statement.and(store::token_is_good(&self.workspace, token, self.app.now(), self.needs)),
            None => statement,
        }
    }

    /// The name of the caller in the rows that this request writes. The caller need not have been checked yet.
    pub fn operator(&self) -> &str {
        match (&self.token, self.caller.get()) {
            (Some(token), _) => token.id().as_str(),
            (None, Some(caller)) => &caller.operator,
            (None, None) => "",
        }
    }

    /// The id of the request's token.
    pub fn token_id(&self) -> Option<&TokenId> {
        self.token.as_ref().map(Presented::id)
    }

    /// The same access for one approval, because what an approval lends ([`Scope::use_sessions_of`]) ends with it.
    pub async fn for_one_approval(&self) -> Result<Self> {
        let caller = self.caller().await?.clone();
        Ok(Self::of_checked_caller(self.app.clone(), self.workspace.clone(), caller, None))
    }

    /// The token whose sessions the request may use: the request's own, or the one that asked for the call which this
    /// request approves.
    pub fn session_token(&self) -> Option<&TokenId> {
        self.asker.get().or_else(|| self.token_id())
    }

    /// Says that from now on the request uses sessions in the name of `operator`, who asked for the call that this
    /// request approves. An approval must not lend the approver's sight to a bound token. Operators that are not tokens
    /// see everything.
    pub fn use_sessions_of(&self, operator: &str) {
        if let Some(token) = TokenId::parse(operator).filter(TokenId::is_made_here) {
            // The asker is set at most once: a scope approves one call.
            let _ = self.asker.set(token);
        }
    }

    /// Runs statements that change something, as one transaction, for a caller who has been checked.
    pub async fn write<const N: usize>(&self, statements: [Statement; N]) -> Result<BatchResult<N>> {
        Ok(self.write_all(statements.into()).await?.and_then(exactly))
    }

    /// Like [`Scope::write`], for any number of statements.
    pub async fn write_all(&self, statements: Vec<Statement>) -> Result<std::result::Result<Vec<Rows>, DbFailure>> {
        self.caller().await?;
        self.batch(statements).await
    }

    /// Runs statements on the database of the benchmarks, for a caller who has been checked. None if the deployment has
    /// no such database.
    #[expect(clippy::disallowed_methods, reason = "the caller has been checked")]
    pub async fn ask_benchmarks<const N: usize>(&self, statements: [Statement; N]) -> Result<Option<BatchResult<N>>> {
        self.caller().await?;
        let Some(database) = self.app.benchmarks() else { return Ok(None) };
        Ok(Some(database.batch(&statements).await.and_then(exactly)))
    }

    /// Whether the deployment has a database of the benchmarks.
    #[expect(clippy::disallowed_methods, reason = "nothing is read")]
    pub fn has_benchmarks(&self) -> bool {
        self.app.benchmarks().is_some()
    }

    fn admit(&self, caller: Caller) -> Result<()> {
        if caller.level < self.needs {
            return Err(Error::Forbidden(format!(
                "This needs the level {}, and the token has the level {}",
                self.needs, caller.level
            )));
        }
        // The caller is set at most once: the reads of one request do not overlap until the first read has ended.
        let _ = self.caller.set(caller);
        Ok(())
    }
}

/// The rows of `N` statements, or the reason why none of the statements took effect.
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
