//! The contents of a toolset's files.

use super::store;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::files::{self, BlobContent};
use crate::ids::ToolsetId;

/// A file of a toolset with its contents.
pub struct BundledFile {
    pub sha256: String,
    pub content: BlobContent,
}

/// The file of the toolset as it is now. `path` is relative to the root of the bundle.
pub async fn read_file(scope: &Scope, id: &ToolsetId, path: &str) -> Result<BundledFile> {
    let [rows] = scope.read([store::files::find(scope.workspace(), id, path)]).await?;
    let sha256 = store::files::read(&rows)?.ok_or_else(|| Error::not_found("Toolset", id))?;
    let missing = || Error::not_found("File", format_args!("{path} of the toolset {id}"));
    let sha256 = sha256.ok_or_else(missing)?;
    // An upgrade may have removed the file between the two reads.
    let content = files::read_blob(scope, &sha256).await?.ok_or_else(missing)?;
    Ok(BundledFile { sha256, content })
}
