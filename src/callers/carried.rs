//! A checked caller on the way to a Durable Object, which goes on with the caller's work.

use super::{Caller, Level, Scope, store};
use crate::app::App;
use crate::db::{Condition, Rows, Statement};
use crate::error::{Error, Result};
use crate::ids::{AgentId, TokenId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Deserialize, Serialize)]
pub struct CarriedCaller {
    workspace: WorkspaceId,
    level: Level,
    agent: Option<AgentId>,
    operator: String,
    /// The token whose sight of sessions the work has.
    session_token: Option<TokenId>,
    /// The host that the request named.
    own_host: Option<String>,
}

impl CarriedCaller {
    /// The caller of a request.
    pub async fn of(scope: &Scope) -> Result<Self> {
        let Caller { level, agent, operator } = scope.caller().await?.clone();
        Ok(Self {
            workspace: scope.workspace().clone(),
            level,
            agent,
            operator,
            session_token: scope.session_token().cloned(),
            own_host: scope.app().url_rules().own_host.map(str::to_owned),
        })
    }

    /// The access of the caller, in the context of the object.
    pub fn scope(self, app: App) -> Scope {
        let app = Arc::new(app.at_host(self.own_host.as_deref()));
        self.scope_of(app)
    }

    /// The access of the caller, in the context of another caller's work.
    pub fn scope_beside(self, other: &Scope) -> Scope {
        self.scope_of(other.app.clone())
    }

    fn scope_of(self, app: Arc<App>) -> Scope {
        let Self { workspace, level, agent, operator, session_token, .. } = self;
        Scope::of_checked_caller(app, workspace, Caller { level, agent, operator }, session_token)
    }
}

/// The statement that looks up the token of a carried caller, whose work may go on long after the token was checked. None,
/// if the caller has no token.
pub fn find_carried(scope: &Scope) -> Option<Statement> {
    scope.session_token().map(|it| store::find_token(scope.workspace(), it))
}

/// The condition that the token of a carried caller exists. None, if the caller has no token, or if the scope's own batches
/// check the token.
pub fn carried_exists(scope: &Scope) -> Option<Condition> {
    let token = scope.session_token().filter(|_| scope.token_id().is_none());
    token.map(|it| store::token_exists(scope.workspace(), it))
}

/// Reads the result of [`find_carried`]. Fails if the caller's token was revoked, or has expired.
pub fn check_carried(scope: &Scope, rows: &Rows) -> Result<()> {
    let now = scope.app().clock();
    let is_good = store::read_token(rows)?.is_some_and(|it| it.expires_at.is_none_or(|end| end > now));
    if is_good { Ok(()) } else { Err(Error::Unauthorized("The token of the turn is not valid any more")) }
}
