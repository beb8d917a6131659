//! `read_file`, `write_file` and `list_files`.

use super::{FileManifests, Prepared, Run, RunFailure, RunOutput, RunTask, Runner};
use crate::callers::Scope;
use crate::files::{self, BlobContent, File, FileChangeOrigin, FileManifestSource, FilePath};
use crate::ids::FileManifestId;
use crate::registry::schema::Violation;
use serde_json::{Value, json};

/// The operation on a path.
#[derive(Clone, Copy, PartialEq)]
pub enum FileVerb {
    Read,
    Write,
    List,
}

struct FileRunner {
    verb: FileVerb,
    path: FilePath,
}

/// Refuses an invalid path, and the root if the operation needs a file.
pub fn prepare(verb: FileVerb, arguments: &Value) -> Prepared {
    match path_of(verb, arguments.get("path")) {
        Ok(path) => Ok(Box::new(FileRunner { verb, path })),
        Err(message) => Err(vec![Violation { path: "/path".into(), message }]),
    }
}

/// The path that the argument `path` names, or the reason why the operation cannot use it.
pub fn path_of(verb: FileVerb, argument: Option<&Value>) -> Result<FilePath, String> {
    let given = argument.map_or(Some("/"), Value::as_str).ok_or("must be a text")?;
    let path = FilePath::parse(given).map_err(|reason| reason.to_string())?;
    if path.is_root() && verb != FileVerb::List {
        return Err("must name a file, not the root".to_owned());
    }
    Ok(path)
}

impl Runner for FileRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        match self.verb {
            FileVerb::Read => Box::pin(read(scope, task, &self.path)),
            FileVerb::Write => Box::pin(write(scope, task, &self.path)),
            FileVerb::List => Box::pin(list(scope, task, &self.path)),
        }
    }
}

async fn read(scope: &Scope, task: &RunTask<'_>, path: &FilePath) -> Result<RunOutput, RunFailure> {
    let seen = match task.early.and_then(|it| it.of_file(path)) {
        Some(rows) => files::read_found_file(scope, rows, None, path).await?,
        None => files::read_file(scope, task.session, None, path).await?,
    };
    let file = seen.found.ok_or_else(|| RunFailure::tool(format!("File not found: {path}")))?;
    Ok(RunOutput {
        result: contents(file),
        session_seen: seen.manifest_id.is_some(),
        manifests: unchanged(seen.manifest_id),
        printed: None,
        content: None,
    })
}

/// The contents of a file as a result: text stays text, and other contents become base64 with a flag.
fn contents(file: File) -> Value {
    match file.content {
        BlobContent::Text(text) => text.into(),
        BlobContent::Base64(digits) => json!({"binary": true, "encoding": "base64", "content": digits}),
    }
}

async fn write(scope: &Scope, task: &RunTask<'_>, path: &FilePath) -> Result<RunOutput, RunFailure> {
    let content = task.text("content").unwrap_or_default().as_bytes().to_vec();
    let bytes = content.len();
    let origin = FileChangeOrigin {
        source: FileManifestSource::ToolRun,
        source_ref: Some(task.call_id.to_string()),
        agent: task.agent.cloned(),
        generation: task.generation,
    };
    let written = files::write_file(scope, task.session, path, content, origin).await?;
    let written = written.map_err(|cause| RunFailure::tool(cause.to_string()))?;
    Ok(RunOutput {
        result: format!("Wrote {bytes} bytes to {path}").into(),
        manifests: FileManifests { pre: written.pre, post: Some(written.post) },
        session_seen: true,
        printed: None,
        content: None,
    })
}

async fn list(scope: &Scope, task: &RunTask<'_>, dir: &FilePath) -> Result<RunOutput, RunFailure> {
    let seen = match task.early.and_then(|it| it.of_directory(dir)) {
        Some(rows) => files::read_found_dir(rows, None, dir)?,
        None => files::list_dir(scope, task.session, None, dir).await?,
    };
    let entries = seen.found.ok_or_else(|| RunFailure::tool(format!("Directory not found: {dir}")))?;
    Ok(RunOutput {
        result: files::listing_text(dir, &entries).into(),
        session_seen: seen.manifest_id.is_some(),
        manifests: unchanged(seen.manifest_id),
        printed: None,
        content: None,
    })
}

/// The file manifests of a read or a listing, which changes no file.
fn unchanged(manifest_id: Option<FileManifestId>) -> FileManifests {
    FileManifests { pre: manifest_id.clone(), post: manifest_id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_before_the_run() {
        let faults = |verb, path: &str| prepare(verb, &json!({"path": path})).err().map_or(0, |it| it.len());
        assert_eq!(faults(FileVerb::Read, "/notes.txt"), 0);
        assert_eq!(faults(FileVerb::List, "/"), 0);
        assert_eq!((faults(FileVerb::Read, "/"), faults(FileVerb::Write, "/")), (1, 1));
        assert_eq!(faults(FileVerb::List, "/a/../.."), 1);
    }
}
