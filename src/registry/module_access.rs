//! The modules of a workspace, as far as lists need them to leave out the tools that cannot be called.

use super::tool::Tool;

#[derive(Debug, Default)]
pub struct ModuleAccess {
    /// The modules that guests without an agent may use.
    pub default_guest_modules: Vec<String>,
    /// The modules whose tools cannot be called.
    pub disabled: Vec<String>,
}

impl ModuleAccess {
    /// Whether the tool, at its current version, can be called. A tool of a module that is not registered is not active.
    pub fn is_enabled(&self, tool: &Tool) -> bool {
        tool.active && !tool.module_name().is_some_and(|module| self.disabled.iter().any(|it| it == module))
    }
}
