//! Asks the sandbox what the functions of a bundle are: it loads their modules, and tells names, descriptions and schemas.

use super::RunFailure;
use super::file_contents::{send_pieces, to_json};
use super::python_files::file_entry;
use super::sandbox::{NoOutput, SandboxOutput, SandboxTalk, WAIT, failed, unusable};
use crate::callers::Scope;
use crate::durable::sandbox::SandboxRoute;
use crate::error::Error;
use crate::files::{Blob, ListedFile};
use crate::outgoing::excerpt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long all modules of a bundle may take to load together, and some of them.
const ALL_SECONDS: u32 = 20;
const SOME_SECONDS: u32 = 5;

/// How many groups of modules may fail while the module is sought that is to blame. This is enough to find one of 256.
const MAX_FAILED_GROUPS: u32 = 9;

/// How often contents are sent that the sandbox lacks. Contents that were sent may be gone again before they are used.
const ROUNDS: u32 = 3;

/// How many bytes of contents are in memory at once on their way.
const SENT_AT_ONCE_BYTES: usize = 4 * 1024 * 1024;

/// The largest answer: schemas of 200 functions.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The files of a bundle that is not stored yet.
pub trait BundleFiles {
    fn list(&self) -> &[ListedFile];

    /// The contents with this SHA-256.
    fn contents(&self, sha256: &str) -> Result<Blob, Error>;
}

/// What the sandbox has found out about a function.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct InspectedFunction {
    /// Why the function cannot be called.
    pub fault: Option<String>,
    pub name: Option<String>,
    pub description: Option<String>,
    pub requires_confirmation: Option<bool>,
    pub category: Option<String>,
    pub parameters_schema: Option<Value>,
    pub returns_schema: Option<Value>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl InspectedFunction {
    fn of_fault(fault: String) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }
}

#[derive(Serialize)]
struct InspectJob<'a> {
    share: &'a str,
    bundle: Vec<(&'a str, &'a str, u32)>,
    entrypoints: &'a [&'a str],
    limits: InspectLimits,
}

#[derive(Serialize)]
struct InspectLimits {
    timeout_seconds: u32,
}

#[derive(Deserialize)]
struct Inspected {
    tools: Vec<InspectedFunction>,
}

/// Describes the functions at these entry points, in the same order. If loading all modules together takes too long or too
/// much memory, halves of them are loaded, and halves of the halves that fail, so that the answer names the module that is
/// to blame.
pub async fn inspect_bundle(
    scope: &Scope,
    files: &impl BundleFiles,
    entrypoints: &[&str],
) -> Result<Vec<InspectedFunction>, RunFailure> {
    if entrypoints.is_empty() {
        return Ok(Vec::new());
    }
    let mut talk = SandboxTalk::new(scope);
    let together = match inspect(scope, files, entrypoints, ALL_SECONDS, &mut talk).await? {
        Ok(functions) => return Ok(functions),
        Err(failure) => failure,
    };
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entrypoint in entrypoints {
        let module = entrypoint.split_once(':').map_or(*entrypoint, |(module, _)| module);
        modules.entry(module).or_default().push(entrypoint);
    }
    let modules = modules.into_values().collect::<Vec<_>>();
    let mut found: BTreeMap<&str, InspectedFunction> = BTreeMap::new();
    let mut groups = halves(&modules);
    let mut failures = 0;
    while let Some(group) = groups.pop() {
        let entrypoints = group.concat();
        let functions = match failures < MAX_FAILED_GROUPS && modules.len() > 1 {
            true => inspect(scope, files, &entrypoints, SOME_SECONDS, &mut talk).await?,
            false => Err(together.clone()),
        };
        failures += u32::from(functions.is_err());
        match functions {
            Ok(functions) => found.extend(entrypoints.iter().copied().zip(functions)),
            Err(_) if group.len() > 1 && failures < MAX_FAILED_GROUPS => groups.extend(halves(group)),
            Err(fault) => found.extend(entrypoints.iter().map(|it| (*it, InspectedFunction::of_fault(fault.clone())))),
        }
    }
    if found.values().all(|it| it.fault.is_none()) {
        return Ok(entrypoints.iter().map(|_| InspectedFunction::of_fault(together.clone())).collect());
    }
    Ok(entrypoints.iter().map(|it| found.get(it).cloned().unwrap_or_default()).collect())
}

/// The second half of some modules, and the first, which is looked at first.
fn halves<T>(modules: &[T]) -> Vec<&[T]> {
    let (first, second) = modules.split_at(modules.len().div_ceil(2));
    [second, first].into_iter().filter(|it| !it.is_empty()).collect()
}

/// The functions, or the reason why their modules could not be loaded.
async fn inspect(
    scope: &Scope,
    files: &impl BundleFiles,
    entrypoints: &[&str],
    timeout_seconds: u32,
    talk: &mut SandboxTalk<'_>,
) -> Result<Result<Vec<InspectedFunction>, String>, RunFailure> {
    let job = InspectJob {
        share: scope.workspace().as_str(),
        bundle: files.list().iter().map(file_entry).collect(),
        entrypoints,
        limits: InspectLimits { timeout_seconds },
    };
    let asked = to_json(&job)?;
    let time = Duration::from_secs(timeout_seconds.into()) + WAIT;
    for _ in 0..ROUNDS {
        let answered = talk.ask(SandboxRoute::Inspect, &asked, Some(time), MAX_ANSWER_BYTES).await;
        let (status, text) = answered.map_err(|(place, failure)| failed(place, failure))?;
        if status == 200 {
            return read_answer(&text, entrypoints.len(), timeout_seconds);
        }
        match NoOutput::of(status, &text) {
            NoOutput::Missing(missing) => send_missing(scope, files, &missing, talk).await?,
            NoOutput::Busy(message) => return Err(RunFailure::Unreachable(message.into())),
            NoOutput::OverLimit(message) => return Ok(Err(format!("The sandbox does not take the bundle: {message}"))),
            NoOutput::Refused(why) => return Err(unusable(&why, excerpt(&text))),
            NoOutput::MayHaveBegun => return Err(unusable("its container broke off", "an inspection")),
        }
    }
    Err(RunFailure::Unreachable("The sandbox does not keep the files of the bundle: try again".into()))
}

fn read_answer(
    text: &str,
    count: usize,
    timeout_seconds: u32,
) -> Result<Result<Vec<InspectedFunction>, String>, RunFailure> {
    let unreadable = |cause: serde_json::Error| unusable("what answers is no sandbox", &cause.to_string());
    let output: SandboxOutput = serde_json::from_str(text).map_err(unreadable)?;
    match output.error_kind.as_deref() {
        None => {}
        Some("timeout") => return Ok(Err(format!("does not load within {timeout_seconds} seconds"))),
        Some(kind) => {
            let why = output.error.unwrap_or_else(|| kind.to_owned());
            return Ok(Err(format!("cannot be loaded: {why}")));
        }
    }
    let inspected: Inspected = serde_json::from_value(output.result).map_err(unreadable)?;
    match inspected.tools.len() == count {
        true => Ok(Ok(inspected.tools)),
        false => Err(unusable("it described another number of functions", "")),
    }
}

/// Sends contents of the bundle, a few of them at a time.
async fn send_missing(
    scope: &Scope,
    files: &impl BundleFiles,
    missing: &[String],
    talk: &mut SandboxTalk<'_>,
) -> Result<(), RunFailure> {
    let known = |sha256: &String| files.list().iter().any(|it| it.sha256 == *sha256);
    if !missing.iter().all(known) {
        return Err(unusable("it asked for contents that are not the bundle's", ""));
    }
    let mut at_once: Vec<Blob> = Vec::new();
    for sha256 in missing {
        at_once.push(files.contents(sha256)?);
        if at_once.iter().map(|it| it.size() as usize).sum::<usize>() >= SENT_AT_ONCE_BYTES {
            send_blobs(scope, &std::mem::take(&mut at_once), talk).await?;
        }
    }
    send_blobs(scope, &at_once, talk).await
}

async fn send_blobs(scope: &Scope, blobs: &[Blob], talk: &mut SandboxTalk<'_>) -> Result<(), RunFailure> {
    let as_json = |text: &str| {
        serde_json::value::to_raw_value(text).map_err(|cause| Error::Internal(format!("a text is not JSON: {cause}")))
    };
    let chunks = blobs.iter().map(|it| it.chunks().into_iter().map(as_json).collect::<Result<Vec<_>, Error>>());
    let chunks = chunks.collect::<Result<Vec<_>, Error>>()?;
    let pieces = blobs.iter().zip(&chunks).flat_map(|(blob, chunks)| blob.pieces(chunks)).collect::<Vec<_>>();
    if pieces.is_empty() { Ok(()) } else { send_pieces(scope, &pieces, talk).await }
}
