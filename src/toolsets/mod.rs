//! Toolsets: bundles of tools, files, overrides and MCP servers that are installed together.

#[cfg_attr(not(test), expect(dead_code, reason = "the import of toolsets opens packages"))]
pub mod package;
