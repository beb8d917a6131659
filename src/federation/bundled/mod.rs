//! The MCP servers that a toolset brings. An import asks in this order:
//!
//! 1. [`DeclaredServers::check`] keeps the rules of a registration, and tells every fault.
//! 2. [`DeclaredServers::find`] and [`DeclaredServers::read`] see what there is, in the import's own batch.
//! 3. [`DeclaredServers::plan`] decides what is added, changed and removed. A dry run ends here.
//! 4. [`ServerPlan::place`] puts the decisions into the import's placement, so that one batch writes everything.
//! 5. [`ServerPlan::finish`] stops what is gone, and discovers what is new. No server that is down spoils an import.
//!
//! Disabling, enabling and uninstalling begin with [`PresentServers`], and go on with 4 and 5.

mod declared;
mod exported;
mod merged;
mod plan;
mod present;
mod store;

pub use declared::{DeclaredServers, ServersAround};
pub use plan::ServerPlan;
pub use present::PresentServers;

/// A fault of a server in a bundle, or a warning about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerNote {
    pub server: String,
    /// The place among the bundle's servers. None for a server that the bundle does not declare.
    pub index: Option<usize>,
    /// A JSON pointer into the server's declaration, such as `/env/API_KEY`.
    pub path: String,
    pub message: String,
}

#[cfg(test)]
pub mod fixture {
    use crate::federation::server::{OwnSettings, Process, ServerSettings, Transport};
    use crate::registry::Risk;
    use std::collections::{BTreeMap, BTreeSet};

    /// A stdio server.
    pub fn process() -> ServerSettings {
        let process = Process {
            command: "python3".into(),
            args: vec!["main.py".into()],
            env: BTreeMap::new(),
            cwd: None,
            allowed_hosts: Vec::new(),
        };
        let remote = remote();
        let own = OwnSettings { process: Some(process), ..remote.own };
        ServerSettings { transport: Transport::Stdio, url: None, own, ..remote }
    }

    /// A remote server.
    pub fn remote() -> ServerSettings {
        ServerSettings {
            transport: Transport::StreamableHttp,
            url: Some("https://a.example/mcp".into()),
            headers: BTreeMap::new(),
            enabled: true,
            auto_accept: false,
            toolset_id: Some("kit".into()),
            paused: false,
            own: OwnSettings {
                requires_approval: true,
                risk_level: Risk::Medium,
                process: None,
                files: None,
                by_admin: BTreeSet::new(),
            },
        }
    }
}
