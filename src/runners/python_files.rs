//! Tools in Python that work on the files of the session. The sandbox makes a directory of the files, runs the function,
//! and tells which files the function has left behind changed. All changes become one file manifest, also after an
//! exception or a timeout.
//!
//! A run that may have begun is never sent again. [`super::file_contents`] moves the contents.

use super::file_contents::{ChangedFile, LeftContent, next_to_ask, read_contents, send_contents, to_json};
use super::python::{check_size, failure, kept, limits, printed, report};
use super::sandbox::{
    Limits, NoOutput, SandboxOutput, SandboxTalk, Truncated, WAIT, failed_run, may_have_begun, unusable,
};
use super::{FileManifests, Prepared, Run, RunFailure, RunFiles, RunOutput, RunTask, Runner, ToolReport};
use crate::callers::Scope;
use crate::durable::sandbox::SandboxRoute;
use crate::files::{self, Blob, FileChangeOrigin, FileDraft, FileManifestSource, FilePath, ListedFile, SessionFiles};
use crate::ids::FileManifestId;
use crate::json_size::{MAX_VALUES, values};
use crate::outgoing::excerpt;
use crate::registry::schema::Schema;
use crate::registry::{PythonHandler, Tool};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;
use worker::console_error;

/// How often a run is asked for, while the sandbox lacks contents. Contents that were sent may be gone again before the run.
const ROUNDS: u32 = 3;

/// How long the files may take to be committed after the run.
pub const COMMIT: Duration = Duration::from_secs(20);

/// The longest time in the sandbox that a function gets, in seconds.
const MAX_SECONDS: u32 = 120;

/// The largest answer: a result, contents of 2 MiB, which JSON may make longer, and the paths of all files.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// A `python` handler that works on files.
struct FilesRunner {
    handler: PythonHandler,
    /// The schema of the arguments.
    parameters: Rc<Schema>,
}

/// Refuses arguments that the sandbox would not accept together with the tool's code.
pub fn prepare(handler: PythonHandler, parameters: Rc<Schema>, arguments: &Value) -> Prepared {
    check_size(&handler.code, arguments, &parameters.property_names())?;
    Ok(Box::new(FilesRunner { handler, parameters }))
}

impl Runner for FilesRunner {
    fn run<'a>(&'a self, scope: &'a Scope, task: &'a RunTask<'a>) -> Run<'a> {
        Box::pin(async {
            let properties = self.parameters.property_names();
            let program = FileProgram {
                source: ProgramSource::Code { code: &self.handler.code },
                function: &self.handler.function,
                properties: Some(&properties),
                toolset: None,
            };
            run_program(scope, task, &program).await
        })
    }

    fn extra_wait(&self) -> Duration {
        WAIT + COMMIT
    }

    fn too_late(&self, _tool: &Tool) -> RunFailure {
        may_have_begun("its time is up")
    }
}

/// The function that works on the files, and how it is called.
#[derive(Serialize)]
pub struct FileProgram<'a> {
    #[serde(flatten)]
    pub source: ProgramSource<'a>,
    pub function: &'a str,
    /// The names of the schema's properties. A function whose parameters are all among them gets keyword arguments.
    /// Without them, the function always gets keyword arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<&'a [&'a str]>,
    /// The toolset whose files the program may read and import.
    #[serde(skip)]
    pub toolset: Option<&'a str>,
}

/// Where the function is.
#[derive(Serialize)]
#[serde(untagged)]
pub enum ProgramSource<'a> {
    Code {
        code: &'a str,
    },
    /// A module of the toolset.
    Module {
        module: &'a str,
    },
}

/// The body of a request to run a program.
#[derive(Serialize)]
struct FilesJob<'a> {
    /// The workspace, whose contents and slots the run uses.
    share: &'a str,
    files: Vec<FileEntry<'a>>,
    /// The files of the toolset.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bundle: Vec<FileEntry<'a>>,
    #[serde(flatten)]
    program: &'a FileProgram<'a>,
    arguments: &'a Value,
    context: RunContext<'a>,
    limits: Limits,
}

/// The path, the SHA-256 and the size of a file.
type FileEntry<'a> = (&'a str, &'a str, u32);

pub fn file_entry(file: &ListedFile) -> FileEntry<'_> {
    (&file.path, &file.sha256, file.size)
}

/// What `get_context()` tells the function.
#[derive(Serialize)]
struct RunContext<'a> {
    chat_id: &'a str,
    toolset_id: Option<&'a str>,
    extra: EmptyObject,
}

#[derive(Serialize)]
struct EmptyObject {}

/// The body of the answer to a run.
#[derive(Deserialize)]
struct FilesOutput {
    error_kind: Option<String>,
    #[serde(default)]
    error: Option<String>,
    stdout: String,
    stderr: String,
    result: Box<RawValue>,
    exit: Option<i32>,
    truncated: Truncated,
    files: LeftFiles,
}

/// The files that differ from those that the run began with.
#[derive(Deserialize)]
struct LeftFiles {
    changed: Vec<ChangedFile>,
    deleted: Vec<String>,
    /// Why the files cannot be kept.
    fault: Option<String>,
}

/// Runs a program on the files of the call's session, and commits what it has changed.
pub async fn run_program(
    scope: &Scope,
    task: &RunTask<'_>,
    program: &FileProgram<'_>,
) -> Result<RunOutput, RunFailure> {
    let (session, bundle) = match program.toolset {
        Some(toolset) => files::list_all_with_bundle(scope, task.session, toolset).await?,
        None => (files::list_all(scope, task.session, None).await?, Vec::new()),
    };
    let session = match session {
        Ok(session) => session,
        Err(refused) => return Err(RunFailure::tool(refused.to_string())),
    };
    let mut talk = SandboxTalk::new(scope);
    let given = GivenFiles { session: &session.files, bundle: &bundle };
    let answer = run(scope, task, program, given, &mut talk).await?;
    let (output, left) = read_answer(&answer).map_err(|cause| {
        console_error!("the answer to a run on files cannot be read: {cause}");
        may_have_begun("its answer cannot be read")
    })?;
    // The contents in the answer are large, and are not needed twice.
    drop(answer);
    if output.was_cut_short() {
        return Err(may_have_begun("it was restarted meanwhile"));
    }
    let kept = keep(scope, task, &session, left, &mut talk).await?;
    conclude(output, kept, &session)
}

/// The files that a run begins with.
#[derive(Clone, Copy)]
struct GivenFiles<'a> {
    session: &'a [ListedFile],
    bundle: &'a [ListedFile],
}

impl<'a> GivenFiles<'a> {
    fn all(self) -> Vec<&'a ListedFile> {
        self.session.iter().chain(self.bundle).collect()
    }
}

/// Asks for the run, and sends the contents that the sandbox lacks. Returns the answer of a run that has ended.
async fn run(
    scope: &Scope,
    task: &RunTask<'_>,
    program: &FileProgram<'_>,
    files: GivenFiles<'_>,
    talk: &mut SandboxTalk<'_>,
) -> Result<String, RunFailure> {
    let job = FilesJob {
        share: scope.workspace().as_str(),
        files: files.session.iter().map(file_entry).collect(),
        bundle: files.bundle.iter().map(file_entry).collect(),
        program,
        arguments: task.arguments,
        context: RunContext { chat_id: task.session.as_str(), toolset_id: program.toolset, extra: EmptyObject {} },
        limits: limits(task),
    };
    let asked = to_json(&job)?;
    let time = Duration::from_secs(task.tool.timeout_seconds.min(MAX_SECONDS).into()) + WAIT;
    for _ in 0..ROUNDS {
        let answered = talk.ask(SandboxRoute::FilesRun, &asked, Some(time), MAX_ANSWER_BYTES).await;
        let (status, text) = answered.map_err(|(place, failure)| failed_run(place, failure))?;
        if status == 200 {
            return Ok(text);
        }
        match NoOutput::of(status, &text) {
            NoOutput::Missing(missing) => send_contents(scope, &files.all(), missing, talk).await?,
            NoOutput::Busy(message) => return Err(RunFailure::Unreachable(message.into())),
            NoOutput::OverLimit(message) => {
                return Err(RunFailure::tool(format!("The sandbox does not take the session's files: {message}")));
            }
            NoOutput::Refused(why) => return Err(unusable(&why, excerpt(&text))),
            NoOutput::MayHaveBegun => return Err(may_have_begun("its container broke off")),
        }
    }
    Err(RunFailure::Unreachable("The sandbox does not keep the session's files: call again".into()))
}

/// The outcome of the code, and the files that it has left behind.
fn read_answer(text: &str) -> serde_json::Result<(SandboxOutput, LeftFiles)> {
    let answer: FilesOutput = serde_json::from_str(text)?;
    let FilesOutput { error_kind, error, stdout, stderr, result, exit, truncated, files } = answer;
    let mut output = SandboxOutput { error_kind, error, stdout, stderr, result: Value::Null, exit, truncated };
    if values(result.get().as_bytes()) > MAX_VALUES {
        output.error_kind = Some("exception".to_owned());
        output.error = Some(format!("The code returned more than {MAX_VALUES} values"));
    } else {
        output.result = serde_json::from_str(result.get())?;
    }
    Ok((output, files))
}

/// Commits the files that a run has left behind. Returns the reason if they cannot be kept.
async fn keep(
    scope: &Scope,
    task: &RunTask<'_>,
    session: &SessionFiles,
    left: LeftFiles,
    talk: &mut SandboxTalk<'_>,
) -> Result<Result<FileManifests, String>, RunFailure> {
    if let Some(fault) = left.fault {
        return Ok(Err(fault));
    }
    if left.changed.is_empty() && left.deleted.is_empty() {
        return Ok(Ok(unchanged(session.manifest_id.clone())));
    }
    let mut draft = FileDraft::new(scope, task.session);
    for path in &left.deleted {
        match path_of(path) {
            Ok(path) => draft.delete(&path),
            Err(reason) => return Ok(Err(reason)),
        }
    }
    // Contents that did not come with the answer are asked for, as many at once as an answer holds.
    let (mut files, mut to_ask) = left.changed.into_iter().partition::<VecDeque<_>, _>(|it| it.content.is_some());
    loop {
        for file in files {
            let (path, blob) = match written(file) {
                Ok(file) => file,
                Err(reason) => return Ok(Err(reason)),
            };
            if let Err(refusal) = draft.write(path, blob).await? {
                return Ok(Err(refusal.to_string()));
            }
        }
        files = next_to_ask(&mut to_ask);
        if files.is_empty() {
            break;
        }
        if let Err(refusal) = draft.make_room(files.iter().map(|it| it.size).sum()).await? {
            return Ok(Err(refusal.to_string()));
        }
        read_contents(scope, &mut files, talk).await?;
    }
    let origin = FileChangeOrigin {
        source: FileManifestSource::ToolRun,
        source_ref: Some(task.call_id.to_string()),
        agent: task.agent.cloned(),
        generation: task.generation,
    };
    let committed = draft.commit(origin).await?;
    Ok(committed.map(|it| FileManifests { pre: it.pre, post: it.post }).map_err(|refusal| refusal.to_string()))
}

/// The path as Pegboard writes it. The sandbox sends no other.
fn path_of(text: &str) -> Result<FilePath, String> {
    match FilePath::parse(text) {
        Ok(path) if path.as_str() == text && !path.is_root() => Ok(path),
        Ok(_) => Err(format!("Cannot write {text}: it is no path of a file")),
        Err(reason) => Err(format!("Cannot write {text}: the path {reason}")),
    }
}

/// The path and the contents of a changed file, or the reason why the file cannot be written.
fn written(file: ChangedFile) -> Result<(FilePath, Blob), String> {
    let path = path_of(&file.path)?;
    if file.size > files::MAX_FILE_BYTES {
        let allowed = files::MAX_FILE_BYTES;
        return Err(format!("Cannot write {path}: it has {} bytes; {allowed} are allowed", file.size));
    }
    let bytes = match file.content {
        Some(LeftContent::Utf8(text)) => Some(text.into_bytes()),
        Some(LeftContent::Base64(digits)) => BASE64.decode(digits.as_bytes()).ok(),
        None => None,
    };
    match bytes.map(Blob::new).filter(|it| it.sha256() == file.sha256) {
        Some(blob) => Ok((path, blob)),
        None => Err(format!("Cannot write {path}: the sandbox no longer has its contents; nothing was written")),
    }
}

/// The outcome of the call: what the code returned or raised, together with what became of its files.
fn conclude(
    output: SandboxOutput,
    kept_files: Result<FileManifests, String>,
    session: &SessionFiles,
) -> Result<RunOutput, RunFailure> {
    let of_run = |manifests: FileManifests| RunFiles { session_seen: manifests.post.is_some(), manifests };
    match (failure(&output), kept_files) {
        (None, Ok(manifests)) => Ok(RunOutput {
            session_seen: manifests.post.is_some(),
            manifests,
            printed: kept(printed(&output)),
            result: output.result,
            content: None,
        }),
        (Some(mut failed), Ok(manifests)) => {
            if let Some(report) = failed.report_mut() {
                report.files = Some(Box::new(of_run(manifests)));
            }
            Err(failed)
        }
        (failed, Err(reason)) => {
            let raised = failed.and_then(|mut it| it.report_mut().map(|it| std::mem::take(&mut it.message)));
            let message = match raised {
                Some(raised) => format!("{reason}\n\nThe code had failed before:\n{raised}"),
                None => reason,
            };
            let files = Some(Box::new(of_run(unchanged(session.manifest_id.clone()))));
            Err(RunFailure::Tool(ToolReport { files, ..report(message, "files", &output) }))
        }
    }
}

/// The file manifests of a run that changed no file.
fn unchanged(manifest_id: Option<FileManifestId>) -> FileManifests {
    FileManifests { pre: manifest_id.clone(), post: manifest_id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(change: Value) -> String {
        let mut answer = json!({
            "ok": true, "error_kind": null, "error": null, "stdout": "said\n", "stderr": "", "result": {"a": 1}, "exit": 0,
            "truncated": {"stdout": false, "stderr": false}, "duration_ms": 1,
            "files": {"changed": [], "deleted": [], "fault": null},
        });
        answer.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        answer.to_string()
    }

    fn session() -> SessionFiles {
        SessionFiles { manifest_id: FileManifestId::parse("man_before"), files: Vec::new() }
    }

    fn after() -> FileManifests {
        FileManifests { pre: FileManifestId::parse("man_before"), post: FileManifestId::parse("man_after") }
    }

    #[test]
    fn an_answer_is_read_with_the_files_that_were_left() {
        let changed = json!([
            {"path": "/a", "sha256": "x", "size": 1, "content": {"encoding": "utf8", "data": "ä"}},
            {"path": "/b", "sha256": "y", "size": 1, "content": {"encoding": "base64", "data": "/w=="}},
            {"path": "/c", "sha256": "z", "size": 1, "content": null},
        ]);
        let (output, left) =
            read_answer(&answer(json!({"files": {"changed": changed, "deleted": ["/d"], "fault": null}})))
                .ok()
                .unwrap();
        assert_eq!((output.result, left.changed.len(), left.deleted), (json!({"a": 1}), 3, vec!["/d".to_owned()]));
        assert!(matches!(&left.changed[0].content, Some(LeftContent::Utf8(it)) if it == "ä"));
        assert!(matches!(&left.changed[1].content, Some(LeftContent::Base64(it)) if it == "/w=="));
        assert!(left.changed[2].content.is_none());
        let (many, _) = read_answer(&answer(json!({"result": vec![0; MAX_VALUES + 1]}))).ok().unwrap();
        assert!(many.error.unwrap().contains("values"));
        assert!(read_answer("{}").is_err());
    }

    #[test]
    fn a_failure_keeps_the_files_that_it_has_changed() {
        let (output, _) = read_answer(&answer(json!({}))).ok().unwrap();
        let done = conclude(output, Ok(after()), &session()).ok().unwrap();
        assert_eq!((done.result, done.manifests, done.printed.as_deref()), (json!({"a": 1}), after(), Some("said\n")));
        assert!(done.session_seen);
        for (kind, is_timeout) in [("exception", false), ("timeout", true), ("killed", false)] {
            let failed = answer(json!({"error_kind": kind, "error": "it broke", "exit": 1}));
            let (output, _) = read_answer(&failed).ok().unwrap();
            let mut failed = conclude(output, Ok(after()), &session()).err().unwrap();
            assert_eq!(matches!(failed, RunFailure::Timeout(_)), is_timeout);
            let report = failed.report_mut().unwrap();
            let files = report.files.take().unwrap();
            assert_eq!((report.message.as_str(), files.manifests, files.session_seen), ("it broke", after(), true));
        }
    }

    #[test]
    fn files_that_cannot_be_kept_are_an_error_of_the_tool() {
        let told = |change: Value| {
            let (output, _) = read_answer(&answer(change)).ok().unwrap();
            let Err(RunFailure::Tool(report)) = conclude(output, Err("no room".into()), &session()) else {
                unreachable!("it is an error of the tool")
            };
            assert_eq!(report.files.unwrap().manifests, unchanged(session().manifest_id));
            assert_eq!(report.details.unwrap(), json!({"kind": "files", "output": "said\n"}));
            report.message
        };
        assert_eq!(told(json!({})), "no room");
        let raised = told(json!({"error_kind": "timeout", "error": "Timed out"}));
        assert_eq!(raised, "no room\n\nThe code had failed before:\nTimed out");
    }

    #[test]
    fn only_paths_of_files_are_written() {
        assert!(path_of("/a/b").is_ok());
        for path in ["/", "a", "/a//b", "/a/", "/a/../b", "/a\n", "/.."] {
            assert!(path_of(path).is_err(), "{path}");
        }
    }
}
