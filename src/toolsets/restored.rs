//! The rules that the toolsets and the overrides of a backup keep: those of an import.

use super::check::MAX_PATHS_BYTES;
use super::manifest::{DeclaredTool, MAX_TOOL_DESCRIPTION_CHARS, Manifest, ManifestVersion, Places};
use super::options::source_ref_fault;
use super::package::{LIMITS, MANIFESTS, is_dropped};
use super::record::{OverrideRecord, ToolsetRecord};
use super::toolset::ToolsetFile;
use super::version::ToolsetVersion;
use crate::archive::name_faults;
use crate::error::{Place, Problem};
use crate::ids::{SERVER_SEPARATOR, ToolId, ToolsetId, check_name};
use crate::rendering::Renderer;
use crate::text_enum::TextEnum;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The most files of one toolset.
pub const MAX_FILES: usize = LIMITS.entries;

type Problems = Vec<Problem>;

fn add(problems: &mut Problems, path: impl Into<String>, message: impl Into<String>) {
    problems.push(Problem { place: Place::Body, path: path.into(), message: message.into() });
}

impl ToolsetRecord {
    /// The record as it is stored, or everything that is wrong with it.
    pub fn checked(mut self) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        if let Some(fault) = source_ref_fault(self.source_ref.as_deref()) {
            add(&mut problems, "/source_ref", fault);
        }
        if ManifestVersion::parse(&self.manifest_version).is_none() {
            add(&mut problems, "/manifest_version", "only manifest_version 1 is known");
        }
        check_files(&self.files, &mut problems);
        let tools = self.declared_tools(&mut problems);
        self.check_as_manifest(tools, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(self)
    }

    /// Reads the declarations, and gives them the form in which they are stored.
    fn declared_tools(&mut self, problems: &mut Problems) -> Vec<DeclaredTool> {
        let mut tools = Vec::with_capacity(self.tools.len());
        for (index, stored) in self.tools.iter_mut().enumerate() {
            match serde_json::from_value::<DeclaredTool>(stored.clone()) {
                Ok(tool) => {
                    *stored = serde_json::to_value(&tool).unwrap_or(Value::Null);
                    tools.push(tool);
                }
                Err(cause) => add(problems, format!("/tools/{index}"), format!("is no declaration of a tool: {cause}")),
            }
        }
        tools
    }

    /// Checks what a manifest says. The toolset is exported as a manifest, which must be one that can be imported.
    fn check_as_manifest(&self, tools: Vec<DeclaredTool>, problems: &mut Problems) {
        let id = ToolsetId::parse(&self.id);
        if id.is_none() {
            add(problems, "/id", "must be 1 to 64 lower-case letters, digits, _ or -");
        }
        let version = ToolsetVersion::parse(&self.version);
        if version.is_none() {
            add(problems, "/version", "must be a semantic version, such as 1.0.0 or 1.0.0-beta.1");
        }
        let (Some(id), Some(version)) = (id, version) else { return };
        // The places of tools are only right if all of them could be read.
        let tools = if tools.len() == self.tools.len() { tools } else { Vec::new() };
        let manifest = Manifest {
            manifest_version: ManifestVersion::One,
            id,
            name: self.name.clone(),
            version,
            description: self.description.clone(),
            tools,
            tool_overrides: Vec::new(),
            mcp_servers: Vec::new(),
            places: Places::default(),
        };
        let (_, faults) = Manifest::read(MANIFESTS[0], &manifest.write());
        for fault in faults {
            add(problems, fault.path.unwrap_or_default(), fault.message);
        }
    }
}

fn check_files(files: &[ToolsetFile], problems: &mut Problems) {
    if files.len() > MAX_FILES {
        add(problems, "/files", format!("holds {} entries; {MAX_FILES} are allowed", files.len()));
        return;
    }
    let mut paths: HashMap<&str, usize> = HashMap::new();
    for (index, file) in files.iter().enumerate() {
        let at = |field: &str| format!("/files/{index}/{field}");
        for fault in path_faults(&file.path) {
            add(problems, at("path"), fault);
        }
        if paths.insert(&file.path, index).is_some() {
            add(problems, at("path"), "is there twice");
        }
        let is_digit = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
        if file.sha256.len() != 64 || !file.sha256.bytes().all(is_digit) {
            add(problems, at("sha256"), "must be a SHA-256 of 64 lower-case hexadecimal digits");
        }
        if file.size > LIMITS.entry_bytes {
            add(problems, at("size"), format!("is more than the {} bytes of a file", LIMITS.entry_bytes));
        }
    }
    for (path, index) in &paths {
        let mut folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        if let Some(folder) = folders.find(|it| paths.contains_key(it)) {
            add(problems, format!("/files/{index}/path"), format!("is in a folder {folder}, which is a file too"));
        }
    }
    let total = files.iter().map(|it| u64::from(it.size)).sum::<u64>();
    if total > LIMITS.total_bytes {
        add(problems, "/files", format!("have {total} bytes together; {} are allowed", LIMITS.total_bytes));
    }
    let bytes = files.iter().map(|it| it.path.len()).sum::<usize>();
    if bytes > MAX_PATHS_BYTES {
        add(problems, "/files", format!("have paths of {bytes} bytes together; {MAX_PATHS_BYTES} are allowed"));
    }
}

/// What is wrong with the path of a file.
fn path_faults(path: &str) -> Vec<String> {
    let mut faults = name_faults(path, LIMITS.name_bytes);
    if path.ends_with('/') {
        faults.push("is the path of a folder".to_owned());
    }
    if is_dropped(path) && faults.is_empty() {
        faults.push("is hidden, and an import leaves hidden files out".to_owned());
    }
    if MANIFESTS.contains(&path) {
        faults.push("is the manifest, which is no file of the toolset".to_owned());
    }
    faults
}

impl OverrideRecord {
    /// The record as it is stored, or everything that is wrong with it. Whether there is such a tool is another question.
    pub fn checked(mut self) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let (_, tool) = self.tool_id.split_once(SERVER_SEPARATOR).unwrap_or_default();
        if ToolId::parse(&self.tool_id).is_none() || !(1..=128).contains(&tool.len()) || tool.contains(SERVER_SEPARATOR)
        {
            add(&mut problems, "/tool_id", "is not the id of a tool of a toolset or of an MCP server");
        }
        if let Some(Err(fault)) = self.name_override.as_deref().map(check_name) {
            add(&mut problems, "/name_override", fault);
        }
        let chars = self.description_override.as_ref().map_or(0, |it| it.chars().count());
        if chars > MAX_TOOL_DESCRIPTION_CHARS {
            let message = format!("has {chars} characters; {MAX_TOOL_DESCRIPTION_CHARS} are allowed");
            add(&mut problems, "/description_override", message);
        }
        if self.renderer.is_some() != self.renderer_config.is_some() {
            add(&mut problems, "/renderer", "and renderer_config stand together or not at all");
        }
        if let (Some(kind), Some(config)) = (self.renderer, self.renderer_config.take()) {
            match Renderer::new(kind, config) {
                Ok(renderer) => self.renderer_config = Some(renderer.into_config()),
                Err(faults) => problems.extend(faults),
            }
        }
        if problems.is_empty() { Ok(self) } else { Err(problems) }
    }

    /// Whether the tool is one of the toolset: `names` are the tools that the toolset declares, and `servers` its MCP servers.
    pub fn is_of(&self, names: &HashSet<&str>, servers: &HashSet<&str>) -> bool {
        let Some((owner, name)) = self.tool_id.split_once(SERVER_SEPARATOR) else { return false };
        if owner == self.toolset_id { names.contains(name) } else { servers.contains(owner) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(change: impl FnOnce(&mut Value)) -> Result<ToolsetRecord, Vec<(String, String)>> {
        let hash = "a".repeat(64);
        let mut it = json!({
            "id": "kit", "name": "Kit", "version": "1.0.0", "description": "", "enabled": true,
            "installed_at": "2026-11-16T01:00:00.000Z", "source_ref": null, "manifest_version": "1", "warnings": [],
            "files": [{"path": "b.py", "kind": "python", "sha256": hash, "size": 1},
                {"path": "a/b.html", "kind": "artifact", "sha256": hash, "size": 1}],
            "tools": [{"id": "plot", "entrypoint": "b:run", "input_schema": {"type": "object"}}],
        });
        change(&mut it);
        let told = |it: Problem| (it.path, it.message);
        let checked = serde_json::from_value::<ToolsetRecord>(it).unwrap().checked();
        checked.map_err(|problems| problems.into_iter().map(told).collect())
    }

    #[track_caller]
    fn refused(change: impl FnOnce(&mut Value), path: &str, message: &str) {
        let problems = record(change).unwrap_err();
        assert!(problems.iter().any(|it| it.0 == path && it.1.contains(message)), "{problems:?}");
    }

    #[test]
    fn a_toolset_is_stored_with_its_files_in_order() {
        let stored = record(|_| {}).unwrap();
        assert_eq!(stored.files.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["a/b.html", "b.py"]);
        let same = record(|it| it["tools"][0]["name"] = Value::Null).unwrap();
        assert_eq!(same.tools, stored.tools);
        assert_eq!(stored.tool_names().collect::<Vec<_>>(), ["plot"]);
    }

    #[test]
    fn a_toolset_keeps_the_rules_of_an_import() {
        refused(|it| it["id"] = json!("Kit"), "/id", "lower-case");
        refused(|it| it["version"] = json!("1.0"), "/version", "semantic");
        refused(|it| it["manifest_version"] = json!("2"), "/manifest_version", "only");
        refused(|it| it["name"] = json!(""), "/name", "empty");
        refused(|it| it["description"] = json!("x".repeat(501)), "/description", "500");
        refused(|it| it["source_ref"] = json!("a\nb"), "/source_ref", "control");
        refused(|it| it["tools"][0]["entrypoint"] = json!("b"), "/tools/0", "declaration");
        refused(|it| it["tools"][0]["id"] = json!("a:b"), "/tools/0/id", "letters");
        refused(|it| it["tools"][0]["timeout_seconds"] = json!(500), "/tools/0/timeout_seconds", "120");
        let twice = |it: &mut Value| it["tools"] = json!([it["tools"][0], it["tools"][0]]);
        refused(twice, "/tools/1/id", "");
    }

    #[test]
    fn files_keep_the_rules_of_an_import() {
        for (path, message) in [
            ("../a", "`..`"),
            ("/a", "absolute"),
            ("a\\b", "backslash"),
            ("a/", "folder"),
            (".env", "hidden"),
            ("a//b", "empty part"),
            ("toolset.yaml", "manifest"),
            ("a/b.html", "twice"),
        ] {
            refused(
                |it| it["files"][0]["path"] = json!(path),
                if path == "a/b.html" { "/files/1/path" } else { "/files/0/path" },
                message,
            );
        }
        refused(|it| it["files"][0]["path"] = json!("a"), "/files/1/path", "folder a");
        refused(|it| it["files"][0]["sha256"] = json!("A".repeat(64)), "/files/0/sha256", "lower-case");
        refused(|it| it["files"][0]["size"] = json!(20_000_000), "/files/0/size", "bytes");
        let many = |it: &mut Value| it["files"] = (0..2_001).map(|_| it["files"][0].clone()).collect();
        refused(many, "/files", "2000");
        let large = |it: &mut Value| {
            let file = |index| json!({"path": format!("f{index}"), "kind": "asset", "sha256": "a".repeat(64), "size": 10_000_000});
            it["files"] = (0..7).map(file).collect();
        };
        refused(large, "/files", "together");
    }

    fn one_override(change: impl FnOnce(&mut Value)) -> Result<OverrideRecord, Vec<String>> {
        let mut it = json!({
            "toolset_id": "kit", "tool_id": "kit:plot", "position": 0, "renderer": "code",
            "renderer_config": {"file": "a", "title": null}, "name_override": null, "description_override": null,
            "requires_approval": null, "enabled": null, "by_admin": false,
        });
        change(&mut it);
        let checked = serde_json::from_value::<OverrideRecord>(it).unwrap().checked();
        checked.map_err(|problems| problems.into_iter().map(|it| it.path).collect())
    }

    #[test]
    fn an_override_keeps_the_rules() {
        assert_eq!(json!(one_override(|_| {}).unwrap().renderer_config), json!({"file": "a"}));
        let paths = |change: fn(&mut Value)| one_override(change).unwrap_err();
        assert_eq!(paths(|it| it["tool_id"] = json!("plot")), ["/tool_id"]);
        assert_eq!(paths(|it| it["tool_id"] = json!("a:b:c")), ["/tool_id"]);
        assert_eq!(paths(|it| it["renderer"] = Value::Null), ["/renderer"]);
        assert_eq!(paths(|it| it["renderer_config"] = json!({})), ["/renderer_config"]);
        assert_eq!(paths(|it| it["name_override"] = json!("a\nb")), ["/name_override"]);
        assert_eq!(paths(|it| it["description_override"] = json!("x".repeat(8_193))), ["/description_override"]);
        let nothing = one_override(|it| (it["renderer"], it["renderer_config"]) = (Value::Null, Value::Null));
        assert!(nothing.is_ok(), "a manifest may name a tool and say nothing of it");
    }

    #[test]
    fn a_tool_belongs_to_its_toolset_or_to_a_server_of_it() {
        let is_of = |tool: &str| {
            let it = one_override(|it| it["tool_id"] = json!(tool)).unwrap();
            it.is_of(&HashSet::from(["plot"]), &HashSet::from(["time"]))
        };
        assert!(is_of("kit:plot") && is_of("time:anything"));
        assert!(!is_of("kit:other") && !is_of("other:plot"));
    }
}
