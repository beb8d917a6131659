//! The caller of a request, and what the deployment can do for the caller's workspace.

use crate::callers::{Level, Scope};
use crate::durable::sandbox;
use crate::error::Result;
use crate::federation;
use crate::workspace_settings;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub struct WhoAmI {
    #[schema(example = "sample")]
    workspace: String,
    /// The caller's level in this workspace.
    level: Level,
    /// The agent that the token is bound to.
    agent_id: Option<String>,
    /// Whether a request without a token is the owner of the workspace that it names (`AUTH=open`).
    open: bool,
    /// The version of the deployed Worker.
    #[schema(example = "0.1.0")]
    version: &'static str,
    features: Features,
}

/// What the deployment can do for the workspace, as it is configured. Nothing is asked whether it answers.
#[derive(Serialize, ToSchema)]
pub struct Features {
    /// There is a database of mail for `email_search` and `email_get`.
    mail: bool,
    /// Python has a sandbox to run in.
    python: bool,
    /// Stdio MCP servers have a host to run in.
    mcp_host: bool,
    /// The playground has a model's server to ask. The model itself may be left to the agents to name.
    model: bool,
    /// The database has read replicas, so a request may send `X-D1-Bookmark`.
    replicas: bool,
}

/// Describes the caller, in one round trip.
pub async fn whoami(scope: &Scope) -> Result<WhoAmI> {
    let (app, workspace) = (scope.app(), scope.workspace());
    let [rows] = scope.read([workspace_settings::find(workspace)]).await?;
    let caller = scope.caller().await?;
    let features = Features {
        mail: scope.has_benchmarks(),
        python: sandbox::is_configured(app),
        mcp_host: federation::has_host(app),
        model: workspace_settings::has_model(app, workspace, &workspace_settings::read(&rows)?),
        replicas: app.settings().read_replicas,
    };
    Ok(WhoAmI {
        workspace: workspace.into(),
        level: caller.level,
        agent_id: caller.agent.as_ref().map(String::from),
        open: app.settings().open,
        version: env!("CARGO_PKG_VERSION"),
        features,
    })
}
