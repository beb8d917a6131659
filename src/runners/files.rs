//! `read_file`, `write_file` and `list_files`.

use super::{Failed, Manifests, Output, Task};
use crate::callers::Scope;
use crate::files::{self, BlobContent, File, FileChangeOrigin, FileManifestSource, FilePath};
use crate::ids::FileManifestId;
use crate::registry::schema::Violation;
use serde_json::{Value, json};

/// Whether the path is one.
pub fn check(arguments: &Value, may_be_root: bool) -> Vec<Violation> {
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or("/");
    let fault = match FilePath::parse(path) {
        Ok(path) if path.is_root() && !may_be_root => Some("must name a file, not the root".to_owned()),
        Ok(_) => None,
        Err(reason) => Some(reason.to_string()),
    };
    fault.into_iter().map(|message| Violation { path: "/path".into(), message }).collect()
}

pub async fn read(scope: &Scope, task: &Task<'_>) -> Result<Output, Failed> {
    let path = path(task)?;
    let seen = files::read_file(scope, task.session, None, &path).await?;
    let file = seen.found.ok_or_else(|| Failed::tool(format!("File not found: {path}")))?;
    Ok(Output {
        result: contents(file),
        session_seen: seen.manifest_id.is_some(),
        manifests: unchanged(seen.manifest_id),
    })
}

/// A text as it is; anything else in base64, with a flag.
fn contents(file: File) -> Value {
    match file.content {
        BlobContent::Text(text) => text.into(),
        BlobContent::Base64(digits) => json!({"binary": true, "encoding": "base64", "content": digits}),
    }
}

pub async fn write(scope: &Scope, task: &Task<'_>) -> Result<Output, Failed> {
    let path = path(task)?;
    let content = task.text("content").unwrap_or_default().as_bytes().to_vec();
    let bytes = content.len();
    let origin = FileChangeOrigin { source: FileManifestSource::ToolRun, source_ref: Some(task.call_id.to_string()) };
    let written = files::write_file(scope, task.session, &path, content, origin).await?;
    let written = written.map_err(|cause| Failed::tool(cause.to_string()))?;
    Ok(Output {
        result: format!("Wrote {bytes} bytes to {path}").into(),
        manifests: Manifests { pre: written.pre, post: Some(written.post) },
        session_seen: true,
    })
}

pub async fn list(scope: &Scope, task: &Task<'_>) -> Result<Output, Failed> {
    let dir = path(task)?;
    let seen = files::list_dir(scope, task.session, None, &dir).await?;
    let entries = seen.found.ok_or_else(|| Failed::tool(format!("Directory not found: {dir}")))?;
    Ok(Output {
        result: files::listing_text(&dir, &entries).into(),
        session_seen: seen.manifest_id.is_some(),
        manifests: unchanged(seen.manifest_id),
    })
}

fn path(task: &Task<'_>) -> Result<FilePath, Failed> {
    let given = task.text("path").unwrap_or("/");
    FilePath::parse(given).map_err(|reason| Failed::tool(format!("The path cannot be used: {reason}")))
}

/// A look changes nothing.
fn unchanged(manifest_id: Option<FileManifestId>) -> Manifests {
    Manifests { pre: manifest_id.clone(), post: manifest_id }
}
