//! Toolsets: bundles of Python tools, files, overrides and MCP servers that are imported, exported, enabled and uninstalled
//! as one thing. Their tools are tools like all others.

mod files;
mod overrides;
mod store;

pub use files::read_file;
pub use overrides::{OverrideIn, OverrideOut, delete_override, get_override, put_override};
