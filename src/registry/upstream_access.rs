//! The upstreams of a workspace, as far as lists need them to leave out the tools that cannot be called.

use super::tool::Tool;

#[derive(Debug, Default)]
pub struct UpstreamAccess {
    /// The modules that guests without an agent may use.
    pub default_guest_modules: Vec<String>,
    /// The upstreams whose tools cannot be called, each as the beginning of its tools' ids.
    pub disabled: Vec<String>,
}

impl UpstreamAccess {
    /// Whether the tool, at its current version, can be called. A tool of an upstream that is not registered is not active.
    pub fn is_enabled(&self, tool: &Tool) -> bool {
        let is_disabled = || tool.upstream_id().is_some_and(|id| self.disabled.iter().any(|it| it == id.prefix()));
        tool.active && !is_disabled()
    }
}
