//! The servers of an installed toolset: shown, exported, paused with their toolset, resumed, removed.

use super::exported::exported;
use super::merged::{paused, resumed};
use super::plan::ServerPlan;
use crate::callers::Scope;
use crate::db::{Rows, Statement};
use crate::error::Result;
use crate::federation::given::ServerIn;
use crate::federation::server::{McpServer, ServerSettings};
use crate::ids::{ToolsetId, WorkspaceId};
use crate::registry::{self, ToolReading};
use crate::upstreams::{self, read_upstreams};

pub struct PresentServers {
    servers: Vec<McpServer>,
    tools: Vec<ToolReading>,
}

impl PresentServers {
    /// Selects the servers, sorted by id, for [`Self::exported`].
    pub fn find_settings(workspace: &WorkspaceId, toolset: &ToolsetId) -> Statement {
        upstreams::find_of_toolset::<ServerSettings>(workspace, toolset.as_str(), &[])
    }

    /// Selects the servers and their tools, for [`Self::read`].
    pub fn find(workspace: &WorkspaceId, toolset: &ToolsetId) -> [Statement; 2] {
        let tools = registry::find_tools_of_toolset_servers(workspace, toolset.as_str());
        [Self::find_settings(workspace, toolset), tools]
    }

    pub fn read([servers, tools]: &[Rows; 2]) -> Result<Self> {
        Ok(Self { servers: read_upstreams(servers)?, tools: registry::read_readings(tools)? })
    }

    /// The servers as a bundle declares them, without any secret.
    pub fn exported(servers: &Rows) -> Result<Vec<ServerIn>> {
        Ok(read_upstreams::<ServerSettings>(servers)?.iter().map(exported).collect())
    }

    /// The toolset is disabled: every server that is on waits for it.
    pub fn pause(self, scope: &Scope) -> Result<ServerPlan> {
        self.change(scope, paused)
    }

    /// The toolset is enabled: the servers that waited for it are on again.
    pub fn resume(self, scope: &Scope) -> Result<ServerPlan> {
        self.change(scope, resumed)
    }

    fn change(self, scope: &Scope, after: impl Fn(&ServerSettings) -> Option<ServerSettings>) -> Result<ServerPlan> {
        let mut plan = ServerPlan::new(scope.app().now(), self.tools)?;
        for it in &self.servers {
            if let Some(settings) = after(&it.settings) {
                plan.change(it, settings);
            }
        }
        Ok(plan)
    }

    /// The toolset is uninstalled.
    pub fn remove(self, scope: &Scope) -> Result<ServerPlan> {
        let mut plan = ServerPlan::new(scope.app().now(), self.tools)?;
        self.servers.iter().for_each(|it| plan.remove(it));
        Ok(plan)
    }
}
