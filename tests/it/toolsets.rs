//! Toolsets: bundles in and out, in the real Worker and the real sandbox.
//!
//! | file | covers |
//! |---|---|
//! | `import` | what an import makes, its preview, names and policies, warnings |
//! | `shapes` | bundles in the shape of those that others have published |
//! | `hostile_zip`, `hostile_yaml`, `hostile_python` | bad bundles: every fault at once with its place, and nothing written |
//! | `taken` | ids that are taken, overrides and artifacts of nothing |
//! | `calls` | the walk of a call, its errors, render plans and pages |
//! | `lifecycle` | enabling, disabling, uninstalling, upgrades and downgrades |
//! | `export` | a bundle made anew: byte for byte the same, without secrets |
//! | `races` | requests about one toolset at the same time |
//! | `killed` | the runtime killed in the middle of an import |
//! | `tenancy` | other workspaces, levels, bound tokens |
//! | `cost` | round trips, rows, and memory |

mod calls;
mod cost;
mod export;
mod hostile_python;
mod hostile_yaml;
mod hostile_zip;
mod import;
mod killed;
mod lifecycle;
mod races;
mod shapes;
mod taken;
mod tenancy;

use crate::harness::{Answer, Client, Server, ZipEntry, open, zip};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const TOOLSETS: &str = "/api/toolsets";

/// Tools without a decorator, which get the workspace as an argument.
const FILES_PY: &str = r#"
from pathlib import Path

def write_file(workspace: Path, path: str, content: str) -> dict:
    target = workspace / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content)
    return {"written": path, "size": len(content)}

def read_file(workspace: Path, path: str) -> dict:
    return {"path": path, "content": (workspace / path).read_text()}
"#;

/// The manifest of the toolset `kit`.
fn manifest(version: &str, rest: &str) -> String {
    format!("manifest_version: \"1\"\nid: kit\nname: Kit\nversion: {version}\n{rest}")
}

/// A bundle of these files.
fn bundle(files: &[(&str, &str)]) -> Vec<u8> {
    zip(&files.iter().map(|(path, text)| ZipEntry::deflated(path, text)).collect::<Vec<_>>())
}

/// The toolset `kit` with the two tools of [`FILES_PY`].
fn kit(version: &str) -> Vec<u8> {
    let tools = "tools:\n  - {id: write, entrypoint: 'tools.files:write_file'}\n  - {id: read, entrypoint: 'files:read_file'}\n";
    bundle(&[("toolset.yaml", &manifest(version, tools)), ("tools/files.py", FILES_PY)])
}

/// The toolset `kit` with one tool `run`, which is the function `run` of this code.
fn one_tool(version: &str, code: &str, more: &str) -> Vec<u8> {
    let tools = format!("tools:\n  - id: run\n    entrypoint: main:run\n{more}");
    bundle(&[("toolset.yaml", &manifest(version, &tools)), ("main.py", code)])
}

fn import(client: &Client, query: &str, zip: &[u8]) -> Answer {
    client.send("POST", &format!("{TOOLSETS}{query}"), Some(zip.to_vec()))
}

#[track_caller]
fn installed(client: &Client, zip: &[u8]) -> Value {
    import(client, "", zip).created()
}

#[track_caller]
fn replaced(client: &Client, zip: &[u8]) -> Value {
    import(client, "?replace=true", zip).ok()
}

/// The tables that an import may write.
const TABLES: [&str; 10] = [
    "toolsets",
    "toolset_files",
    "toolset_tools",
    "tool_overrides",
    "tools",
    "tool_versions",
    "upstreams",
    "changes",
    "blobs",
    "stale_blobs",
];

/// All rows of these tables in the workspace, as one text each.
fn stored(server: &Server, client: &Client) -> Vec<(&'static str, String)> {
    let rows = |table: &str| {
        server.sql(&format!("SELECT * FROM {table} WHERE workspace_id = ?1"), &[json!(client.workspace())])
    };
    TABLES.map(|table| (table, json!(rows(table)).to_string())).into()
}

/// The faults of a bundle. Panics unless nothing was written.
#[track_caller]
fn faults(client: &Client, zip: &[u8]) -> Vec<Value> {
    let before = stored(open(), client);
    let refused = import(client, "?replace=true", zip).refused(400, "VALIDATION_ERROR");
    assert_eq!(stored(open(), client), before, "a refused import writes nothing");
    let faults = refused.details["problems"].as_array().unwrap().clone();
    assert!(!faults.is_empty());
    for fault in &faults {
        assert_eq!(fault.as_object().unwrap().keys().collect::<Vec<_>>(), ["file", "line", "path", "message"]);
    }
    assert!(refused.message.contains(faults[0]["message"].as_str().unwrap()), "{}", refused.message);
    faults
}

/// A fault as `file:line path message`.
fn told(fault: &Value) -> String {
    let text = |name: &str| fault[name].as_str().unwrap_or("-").to_owned();
    let line = fault["line"].as_u64().map_or("-".to_owned(), |it| it.to_string());
    format!("{}:{line} {} {}", text("file"), text("path"), text("message"))
}

/// Checks that a bundle has exactly these faults, each given by a part of [`told`].
#[track_caller]
fn refused(client: &Client, zip: &[u8], expected: &[&str]) {
    let faults = faults(client, zip).iter().map(told).collect::<Vec<_>>();
    let fits = faults.len() == expected.len() && faults.iter().zip(expected).all(|(it, part)| it.contains(part));
    assert!(fits, "expected {expected:#?}, and was told {faults:#?}");
}

fn call(client: &Client, session: &str, tool: &str, arguments: Value) -> Answer {
    client.call(json!({"tool_name": tool, "arguments": arguments, "session_id": session}))
}

/// How long something takes, and what it gives.
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let result = run();
    (begun.elapsed(), result)
}

/// The versions of a tool, the oldest first.
fn versions(client: &Client, tool: &str) -> Vec<String> {
    let listed = client.get(&format!("/api/tools/{tool}/versions")).ok();
    let mut all = listed["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["version"].as_str().unwrap().to_owned())
        .collect::<Vec<_>>();
    all.reverse();
    all
}

#[track_caller]
fn invariants_hold(client: &Client) {
    let all = client.get("/api/registry/invariants").ok();
    assert_eq!(all["ok"], true, "{all}");
}
