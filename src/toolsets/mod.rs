//! Toolsets: bundles of Python tools, files, overrides and MCP servers that are imported, exported, enabled and uninstalled
//! as one thing. Their tools are tools like all others.
//!
//! | file | contents |
//! |---|---|
//! | `package`, `file_kind` | a bundle as it arrives: its archive and its files |
//! | `manifest`, `version` | what a bundle says about itself; pure |
//! | `check`, `definition`, `imports_of_python`, `server_form` | the manifest against the files: the tools and servers that they become |
//! | `import`, `options`, `present`, `plan`, `tool_plan`, `override_plan`, `changes` | the import: what there is, what is decided, what is written |
//! | `files` | the contents of files |
//! | `export` | a bundle made anew from the database |
//! | `manage` | enabling, disabling, uninstalling |
//! | `overrides` | what an admin says about tools |
//! | `toolset` | toolsets as they are stored and shown |

mod changes;
mod check;
mod definition;
mod export;
mod file_kind;
mod files;
mod import;
mod imports_of_python;
mod manage;
mod manifest;
mod options;
mod override_plan;
mod overrides;
mod package;
mod plan;
mod present;
mod server_form;
mod store;
mod tool_plan;
mod toolset;
mod version;

pub use export::export;
pub use files::read_file;
pub use import::{ImportOutcome, Imported, import};
pub use manage::{set_enabled, uninstall};
pub use options::ImportOptions;
pub use overrides::{OverrideIn, OverrideOut, delete_override, get_override, put_override};
pub use package::MAX_BUNDLE_BYTES;
pub use toolset::{Toolset, ToolsetDetails, ToolsetOut};
pub use version::ToolsetVersion;

use crate::callers::Scope;
use crate::error::{BundleNote, Error, Result};
use crate::ids::ToolsetId;
use crate::page::{Page, PageRequest};

/// The subject of changes of a toolset.
fn subject(id: &ToolsetId) -> String {
    format!("toolset:{id}")
}

/// A page of the workspace's toolsets, sorted by id.
pub async fn list(scope: &Scope, request: &PageRequest) -> Result<Page<Toolset>> {
    let [rows] = scope.read([store::list(scope.workspace(), request)]).await?;
    Ok(request.page(store::read_all(&rows)?, |it| it.id.clone()))
}

/// A toolset with everything in it.
pub async fn get(scope: &Scope, id: &ToolsetId) -> Result<ToolsetDetails> {
    let workspace = scope.workspace();
    let [toolset, files, tools, overrides, servers, absent] = scope
        .read([
            store::find(workspace, id),
            store::find_files(workspace, id),
            store::find_tools(workspace, id),
            overrides::find_overrides(workspace, id),
            store::find_servers(workspace, id),
            store::find_absent_tools(workspace, id),
        ])
        .await?;
    let toolset = store::read(&toolset)?.ok_or_else(|| Error::not_found("Toolset", id))?;
    let mut warnings = toolset.warnings.clone();
    warnings.extend(store::read_absent_tools(&absent)?.into_iter().map(|it| {
        BundleNote::about_bundle(format!("there is an override of {it}, and no such tool is offered at present"))
    }));
    Ok(ToolsetDetails {
        files: store::read_files(&files)?,
        tools: store::read_tools(&tools)?,
        overrides: overrides::read_overrides(&overrides)?,
        mcp_servers: store::read_servers(&servers)?,
        warnings,
        toolset: (&toolset).into(),
    })
}
