//! Toolsets: bundles of Python tools, files, overrides and MCP servers that are installed together.
//!
//! | file | contents |
//! |---|---|
//! | `manifest` | the manifest of a bundle, read strictly and written anew; pure |
//! | `version` | the version of a toolset, and which of two is older; pure |

// The import and the export, which are on their way, use all of it.
#![allow(dead_code, unused_imports)]

pub mod manifest;
mod version;

pub use version::ToolsetVersion;
