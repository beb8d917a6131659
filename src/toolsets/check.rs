//! Checks a bundle as a whole: what its manifest says against what its files are.

use super::definition::Importer;
use super::file_kind::FileKind;
use super::manifest::{DeclaredTool, Manifest};
use super::package::{MAX_MANIFEST_BYTES, Package};
use super::{definition, imports_of_python};
use crate::callers::Scope;
use crate::error::{BundleNote, Error, Result};
use crate::files::{Blob, ListedFile};
use crate::registry::{self, Handler, Tool};
use crate::runners::{BundleFiles, InspectedFunction, RunFailure, inspect_bundle};

/// The most bytes of all paths together. They travel as one parameter.
pub const MAX_PATHS_BYTES: usize = 500_000;

/// A bundle that is not stored yet, as the sandbox gets it.
pub struct UnstoredBundle<'a, 'z> {
    pub package: &'a Package<'z>,
    listed: Vec<ListedFile>,
}

impl<'a, 'z> UnstoredBundle<'a, 'z> {
    pub fn new(package: &'a Package<'z>) -> Self {
        let listed = package.files().iter().map(|it| ListedFile {
            path: it.path.clone(),
            sha256: it.sha256.clone(),
            size: it.size,
        });
        Self { package, listed: listed.collect() }
    }
}

impl BundleFiles for UnstoredBundle<'_, '_> {
    fn list(&self) -> &[ListedFile] {
        &self.listed
    }

    fn contents(&self, sha256: &str) -> Result<Blob> {
        let file = self.listed.iter().find(|it| it.sha256 == sha256);
        let file = file.ok_or_else(|| Error::Internal("the bundle has no such contents".to_owned()))?;
        Ok(Blob::new(self.package.read(&file.path)?))
    }
}

/// The tools of a bundle, and everything that is wrong or questionable.
#[derive(Default)]
pub struct CheckedBundle {
    /// The definitions in the order of the manifest. Complete only if there are no faults.
    pub tools: Vec<Tool>,
    pub faults: Vec<BundleNote>,
    pub warnings: Vec<BundleNote>,
}

/// Checks the tools and the artifacts of a bundle. The sandbox loads the modules of all entry points.
pub async fn check(
    scope: &Scope,
    bundle: &UnstoredBundle<'_, '_>,
    manifest: &Manifest,
    by: Importer<'_>,
) -> Result<CheckedBundle> {
    let package = bundle.package;
    let mut checked = CheckedBundle::default();
    check_paths(&mut checked, package);
    check_length(&mut checked, manifest);
    check_artifacts(&mut checked, package, manifest);
    for file in package.files().iter().filter(|it| it.kind == FileKind::Python) {
        let code = package.read(&file.path)?;
        checked.warnings.extend(imports_of_python::warnings(&file.path, &String::from_utf8_lossy(&code)));
    }
    let mut loadable = Vec::new();
    for tool in &manifest.tools {
        match missing_module(package, tool) {
            Some(message) => checked.faults.push(manifest.note(&place(manifest, tool, "/entrypoint"), message)),
            None => loadable.push(tool),
        }
    }
    let entrypoints = loadable.iter().map(|tool| tool.entrypoint.to_string()).collect::<Vec<_>>();
    let entrypoints = entrypoints.iter().map(String::as_str).collect::<Vec<_>>();
    let functions = inspect_bundle(scope, bundle, &entrypoints).await.map_err(unavailable)?;
    for (tool, function) in loadable.into_iter().zip(functions) {
        check_tool(&mut checked, manifest, tool, &function, by)?;
    }
    Ok(checked)
}

/// The sandbox is needed to import a bundle.
fn unavailable(failure: RunFailure) -> Error {
    match failure {
        RunFailure::Broken(error) => error,
        RunFailure::Tool(report) | RunFailure::Timeout(report) => Error::Conflict(report.message),
        RunFailure::Unreachable(message) => Error::Unreachable(message),
    }
}

fn check_paths(checked: &mut CheckedBundle, package: &Package<'_>) {
    let bytes = package.files().iter().map(|it| it.path.len()).sum::<usize>();
    if bytes > MAX_PATHS_BYTES {
        let message = format!("the paths of all files have {bytes} bytes together; {MAX_PATHS_BYTES} are allowed");
        checked.faults.push(BundleNote::about_bundle(message));
    }
}

/// An export writes the manifest in another style, which may be longer, and the export must be importable.
fn check_length(checked: &mut CheckedBundle, manifest: &Manifest) {
    let bytes = manifest.write().len();
    if bytes > MAX_MANIFEST_BYTES as usize {
        let message = format!("has {bytes} bytes as an export writes it; {MAX_MANIFEST_BYTES} are allowed");
        checked.faults.push(manifest.note("", message));
    }
}

fn check_artifacts(checked: &mut CheckedBundle, package: &Package<'_>, manifest: &Manifest) {
    for (pointer, path) in manifest.artifacts() {
        if !package.files().iter().any(|it| it.path == path) {
            checked.faults.push(manifest.note(&pointer, format!("there is no file {path} in the bundle")));
        }
    }
}

/// Why the module of an entry point cannot be found.
fn missing_module(package: &Package<'_>, tool: &DeclaredTool) -> Option<String> {
    let places = tool.entrypoint.files();
    if places.iter().any(|it| package.files().iter().any(|file| file.path == *it)) {
        return None;
    }
    let [_, file, _, below_tools] = places;
    Some(format!("the bundle has neither {file} nor {below_tools}"))
}

fn check_tool(
    checked: &mut CheckedBundle,
    manifest: &Manifest,
    declared: &DeclaredTool,
    function: &InspectedFunction,
    by: Importer<'_>,
) -> Result<()> {
    let at = |field: &str| place(manifest, declared, field);
    if let Some(fault) = &function.fault {
        checked.faults.push(manifest.note(&at("/entrypoint"), fault.clone()));
        return Ok(());
    }
    for warning in &function.warnings {
        checked.warnings.push(manifest.note(&at("/entrypoint"), warning.clone()));
    }
    let tool = definition::definition(&manifest.id, declared, function, by)?;
    let handler = Handler::of(&tool)?;
    for problem in registry::problems(&tool, &handler) {
        let place = place_in_manifest(declared, &problem.path);
        // The manifest does not have the field, so the message has to name it.
        let message = match place.as_str() {
            OF_FUNCTION => format!("{}: {}", problem.path.trim_start_matches('/'), problem.message),
            _ => problem.message,
        };
        checked.faults.push(manifest.note(&at(&place), message));
    }
    checked.tools.push(tool);
    Ok(())
}

/// The JSON pointer of a tool's field in the manifest.
fn place(manifest: &Manifest, tool: &DeclaredTool, field: &str) -> String {
    format!("{}{field}", manifest.tool_pointer(&tool.id))
}

/// The field of a declaration that stands for all that its function says.
const OF_FUNCTION: &str = "/entrypoint";

/// The field of a declaration that a field of the tool comes from.
fn place_in_manifest(declared: &DeclaredTool, path: &str) -> String {
    let (field, rest) = match path.strip_prefix('/').unwrap_or(path).split_once('/') {
        Some((field, rest)) => (field, format!("/{rest}")),
        None => (path.trim_start_matches('/'), String::new()),
    };
    match field {
        "parameters_schema" if declared.input_schema.is_some() => format!("/input_schema{rest}"),
        "returns_schema" if declared.returns_schema.is_some() => format!("/returns_schema{rest}"),
        // The function has said it.
        "parameters_schema" | "returns_schema" => OF_FUNCTION.to_owned(),
        "name" if declared.name.is_none() => OF_FUNCTION.to_owned(),
        "description" if declared.description.is_none() => OF_FUNCTION.to_owned(),
        "category" if declared.category.is_none() => OF_FUNCTION.to_owned(),
        _ => format!("/{field}{rest}"),
    }
}
