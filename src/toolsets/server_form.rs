//! MCP servers between the manifest, which declares them, and `federation`, which registers them.

use super::manifest::DeclaredServer;
use crate::federation::ServerIn;

impl From<&DeclaredServer> for ServerIn {
    fn from(it: &DeclaredServer) -> Self {
        Self {
            id: it.id.clone(),
            transport: it.transport,
            url: it.url.clone(),
            headers: Some(it.headers.clone()).filter(|it| !it.is_empty()),
            command: it.command.clone(),
            args: Some(it.args.clone()).filter(|it| !it.is_empty()),
            env: Some(it.env.clone()).filter(|it| !it.is_empty()),
            cwd: it.cwd.clone(),
            enabled: it.enabled,
            requires_approval: it.requires_approval,
            risk_level: it.risk_level,
            auto_accept: it.auto_accept,
            allowed_hosts: Some(it.allowed_hosts.clone()).filter(|it| !it.is_empty()),
        }
    }
}

impl From<ServerIn> for DeclaredServer {
    fn from(it: ServerIn) -> Self {
        Self {
            id: it.id,
            transport: it.transport,
            command: it.command,
            args: it.args.unwrap_or_default(),
            env: it.env.unwrap_or_default(),
            cwd: it.cwd,
            url: it.url,
            headers: it.headers.unwrap_or_default(),
            requires_approval: it.requires_approval,
            risk_level: it.risk_level,
            enabled: it.enabled,
            auto_accept: it.auto_accept,
            allowed_hosts: it.allowed_hosts.unwrap_or_default(),
        }
    }
}
