//! What an import makes, as sections 1 and 3 of the document say it.

use super::{FILES_PY, TOOLSETS, bundle, import, installed, invariants_hold, kit, manifest, one_tool, stored, told};
use crate::harness::{MODERN, McpPeer, ZipEntry, open, workspace, zip};
use serde_json::{Value, json};

const ANALYZE_PY: &str = r#"
from covalt_toolset import tool, get_context

@tool(name="Analyze Data", description="Count the lines of a file", requires_confirmation=True)
def run(filename: str, deep: bool = False) -> dict:
    """
    Args:
        filename: File to analyze
    """
    return {"rows": len((get_context().workspace / filename).read_text().splitlines())}
"#;

const TRANSFORM_PY: &str = r#"
from pydantic import BaseModel, Field
from covalt_toolset import tool

class Config(BaseModel):
    input: str = Field(description="Input file path")
    output: str = Field(description="Output file path")

@tool
def run(config: Config) -> dict:
    """Write a file anew."""
    return {"output": config.output}
"#;

/// The manifest of section 3.2, with a server that can be reached.
fn documents_manifest(server: &str, key: &str) -> String {
    format!(
        r#"manifest_version: "1"

id: my-toolset
name: My Toolset
version: "1.0.0"
description: Example toolset with analysis tools

tools:
  - id: analyze_data
    entrypoint: tools.analyze:run
    renderer:
      type: html
      artifact: artifacts/results.html
      data: "$return"

  - id: transform_file
    entrypoint: tools.transform:run
    renderer:
      type: code
      file: "$args.output"
      language: auto
      editable: true

# Canonical overrides (preferred over tools[].renderer)
tool_overrides:
  - tool_id: analyze_data
    renderer: html
    renderer_config:
      artifact: artifacts/results.html
      data: "$return"
  - tool_id: my-mcp-server:search
    name_override: Web Search
    requires_confirmation: false

# Optional: MCP servers to install
mcp_servers:
  - id: my-mcp-server
    url: {server}
    headers:
      X-Key: "${{{key}}}"
"#
    )
}

fn documents_bundle(server: &str, key: &str) -> Vec<u8> {
    bundle(&[
        ("toolset.yaml", &documents_manifest(server, key)),
        ("tools/analyze.py", ANALYZE_PY),
        ("tools/transform.py", TRANSFORM_PY),
        ("artifacts/results.html", "<html><head></head><body></body></html>"),
        ("assets/templates/default.json", "{}"),
    ])
}

/// The schema of a tool's arguments, which is a text in responses.
fn schema_of(tool: &Value) -> Value {
    serde_json::from_str(tool["parameters_schema"].as_str().unwrap()).unwrap()
}

#[test]
fn the_documents_tables_are_there_after_an_import() {
    let client = workspace();
    let search = json!([{"name": "search", "description": "Searches", "inputSchema": {"type": "object"}}]);
    let peer = McpPeer::start(MODERN, search);
    let made = import(
        &client,
        "?source_ref=https://example.com/my-toolset.zip",
        &documents_bundle(peer.url(), "GITHUB_TOKEN"),
    )
    .created();

    // 1.1
    let toolset = client.get(&format!("{TOOLSETS}/my-toolset")).ok();
    let shown = ["id", "name", "version", "description", "enabled", "source_type", "source_ref", "manifest_version"];
    let shown = shown.map(|it| toolset[it].clone());
    let expected = [
        json!("my-toolset"),
        json!("My Toolset"),
        json!("1.0.0"),
        json!("Example toolset with analysis tools"),
        json!(true),
        json!("zip"),
        json!("https://example.com/my-toolset.zip"),
        json!("1"),
    ];
    assert_eq!(shown, expected);
    assert!(toolset["installed_at"].as_str().unwrap().ends_with('Z'));
    let listed = client.get(TOOLSETS).ok();
    assert_eq!((listed["toolsets"][0]["id"].as_str(), &listed["next_cursor"]), (Some("my-toolset"), &Value::Null));

    // 1.2
    let files = toolset["files"].as_array().unwrap();
    let kinds = files.iter().map(|it| (it["path"].as_str().unwrap(), it["kind"].as_str().unwrap())).collect::<Vec<_>>();
    assert_eq!(
        kinds,
        [
            ("artifacts/results.html", "artifact"),
            ("assets/templates/default.json", "asset"),
            ("tools/analyze.py", "python"),
            ("tools/transform.py", "python"),
        ]
    );
    assert_eq!((files[1]["size"].as_u64(), files[1]["sha256"].as_str().unwrap().len()), (Some(2), 64));

    // 1.3
    let tool = client.get("/api/tools/my-toolset:analyze_data").ok();
    assert_eq!((&tool["name"], &tool["description"]), (&json!("Analyze Data"), &json!("Count the lines of a file")));
    assert_eq!((&tool["toolset_id"], &tool["enabled"]), (&json!("my-toolset"), &json!(true)));
    assert_eq!((&tool["requires_approval"], &tool["needs_approval"]), (&json!(true), &json!(true)));
    assert_eq!(tool["handler"], json!({"type": "toolset", "entrypoint": "tools.analyze:run"}));
    let policy =
        ["source", "category", "risk_level", "required_permission", "execution_mode", "resource_class", "version"];
    assert_eq!(
        policy.map(|it| tool[it].as_str().unwrap()),
        ["toolset", "my-toolset", "low", "user", "local", "state", "1.0.0"]
    );
    let schema = schema_of(&tool);
    assert_eq!(schema["properties"]["filename"]["description"], "File to analyze");
    assert_eq!(schema["required"], json!(["filename"]));
    let transform = client.get("/api/tools/my-toolset:transform_file").ok();
    assert_eq!(
        (&transform["name"], &transform["description"]),
        (&json!("transform_file"), &json!("Write a file anew."))
    );
    assert_eq!(client.get("/api/tools/read_file").ok()["toolset_id"], Value::Null);

    // 1.4
    let overrides = toolset["overrides"].as_array().unwrap();
    let of = |tool: &str| overrides.iter().find(|it| it["tool_id"] == tool).unwrap_or_else(|| panic!("{overrides:?}"));
    assert_eq!(overrides.len(), 3);
    assert_eq!(
        of("my-toolset:analyze_data")["renderer_config"],
        json!({"artifact": "artifacts/results.html", "data": "$return"})
    );
    assert_eq!(of("my-toolset:transform_file")["renderer"], "code");
    let of_server = of("my-mcp-server:search");
    assert_eq!((&of_server["name_override"], &of_server["requires_approval"]), (&json!("Web Search"), &json!(false)));

    // 1.5
    let servers = toolset["mcp_servers"].as_array().unwrap();
    assert_eq!((servers.len(), &servers[0]["id"], &servers[0]["enabled"]), (1, &json!("my-mcp-server"), &json!(true)));
    let keys = peer.received().iter().map(|it| it.header("x-key").map(str::to_owned)).collect::<Vec<_>>();
    assert!(keys.iter().all(|it| it.as_deref() == Some("gh-value-1234")) && !keys.is_empty(), "{keys:?}");
    let searching = client.get("/api/tools/my-mcp-server:search").ok();
    assert_eq!((&searching["name"], &searching["server_id"]), (&json!("Web Search"), &json!("my-mcp-server")));

    assert_eq!(made["changes"]["tools"]["added"], json!(["my-toolset:analyze_data", "my-toolset:transform_file"]));
    assert_eq!(made["changes"]["mcp_servers"]["added"], json!(["my-mcp-server"]));
    invariants_hold(&client);

    // The change log has all of it, under one toolset.
    let subjects = open()
        .sql("SELECT action, subject FROM changes WHERE workspace_id = ?1 ORDER BY seq", &[json!(client.workspace())]);
    let subjects =
        subjects.iter().map(|it| format!("{} {}", it["action"].as_str().unwrap(), it["subject"].as_str().unwrap()));
    let subjects = subjects.collect::<Vec<_>>();
    for expected in ["create toolset:my-toolset", "configure override:my-mcp-server:search"] {
        assert!(subjects.iter().any(|it| it == expected), "{expected}: {subjects:#?}");
    }
    assert_eq!(subjects.iter().filter(|it| it.contains("tool:my-toolset:")).count(), 2, "{subjects:#?}");
}

#[test]
fn a_dry_run_tells_everything_and_writes_nothing() {
    let client = workspace();
    let peer = McpPeer::start(MODERN, json!([]));
    let before = stored(open(), &client);
    let preview = import(&client, "?dry_run=true", &documents_bundle(peer.url(), "MY_API_KEY")).ok();
    assert_eq!(stored(open(), &client), before);
    assert_eq!(client.get(TOOLSETS).ok()["toolsets"], json!([]));
    assert_eq!(peer.received().len(), 0, "a preview asks no server");
    let made = installed(&client, &documents_bundle(peer.url(), "MY_API_KEY"));
    for field in [
        "id",
        "name",
        "version",
        "description",
        "files",
        "tools",
        "overrides",
        "changes",
        "enabled",
        "manifest_version",
    ] {
        assert_eq!(preview[field], made[field], "{field}");
    }
    let warnings = preview["warnings"].as_array().unwrap().iter().map(told).collect::<Vec<_>>();
    assert!(warnings.iter().any(|it| it.contains("MY_API_KEY")), "a missing credential is told: {warnings:#?}");

    // Of a replacement too.
    let before = stored(open(), &client);
    let next = bundle(&[
        (
            "toolset.yaml",
            "manifest_version: 1\nid: my-toolset\nname: N\nversion: 1.1.0\ntools:\n  - {id: new, entrypoint: 'tools.analyze:run'}\n",
        ),
        ("tools/analyze.py", ANALYZE_PY),
    ]);
    let preview = import(&client, "?dry_run=true&replace=true", &next).ok();
    assert_eq!(stored(open(), &client), before);
    assert_eq!(
        preview["changes"]["tools"],
        json!({
            "added": ["my-toolset:new"], "changed": [], "removed": ["my-toolset:analyze_data", "my-toolset:transform_file"],
        })
    );
    assert_eq!(
        preview["changes"]["files"]["removed"],
        json!(["artifacts/results.html", "assets/templates/default.json", "tools/transform.py"])
    );
    assert_eq!(preview["changes"]["mcp_servers"]["removed"], json!(["my-mcp-server"]));
}

#[test]
fn layouts_of_other_programs_are_taken() {
    let text = manifest("1.0.0", "tools:\n  - {id: write, entrypoint: 'tools.files:write_file'}\n");
    let entries = [
        ZipEntry::stored("kit-main/", ""),
        ZipEntry::stored("kit-main/.DS_Store", "x"),
        ZipEntry::stored("kit-main/.git/config", "x"),
        ZipEntry::deflated("kit-main/toolset.yml", &text),
        ZipEntry::stored("kit-main/tools/", ""),
        ZipEntry::deflated("kit-main/tools/files.py", FILES_PY),
        ZipEntry::stored("__MACOSX/kit-main/._toolset.yml", "x"),
        ZipEntry::stored("__MACOSX/kit-main/tools/._files.py", "x"),
    ];
    let client = workspace();
    let made = installed(&client, &zip(&entries));
    let paths = made["files"].as_array().unwrap().iter().map(|it| it["path"].clone()).collect::<Vec<_>>();
    assert_eq!(paths, ["tools/files.py"]);
    client.execute("kit:write", json!({"path": "a", "content": "b"})).success();
}

#[test]
fn what_the_sandbox_lacks_is_a_warning() {
    let client = workspace();
    let code = "import os\nimport subprocess\nfrom socket import socket\n\ndef run():\n    import multiprocessing\n    subprocess.run(['ls'])\n";
    let made = installed(&client, &one_tool("1.0.0", code, ""));
    let warnings = made["warnings"].as_array().unwrap().iter().map(told).collect::<Vec<_>>();
    let expected =
        ["main.py:2 - imports subprocess", "main.py:3 - imports socket", "main.py:6 - imports multiprocessing"];
    assert!(
        warnings.len() == 3 && warnings.iter().zip(expected).all(|(it, part)| it.starts_with(part)),
        "{warnings:#?}"
    );
    assert_eq!(client.get(&format!("{TOOLSETS}/kit")).ok()["warnings"], made["warnings"]);
    let failed = client.execute("kit:run", json!({})).failed(200, "TOOL_ERROR");
    assert!(failed["error"]["message"].as_str().unwrap().contains("process"), "{failed}");
}

#[test]
fn warnings_are_bounded() {
    let client = workspace();
    let code = "import subprocess, socket, multiprocessing, urllib.request\n";
    let mut entries = vec![ZipEntry::stored("toolset.yaml", manifest("1.0.0", ""))];
    entries.extend((0..500).map(|it| ZipEntry::stored(&format!("m{it}.py"), code)));
    let warnings = installed(&client, &zip(&entries))["warnings"].as_array().unwrap().clone();
    assert_eq!((warnings.len(), &warnings[100]["message"]), (101, &json!("and 1901 more")));
}

#[test]
fn names_and_policies_have_an_order() {
    let client = workspace();
    let code = r#"
from covalt_toolset import tool

@tool(name="Decorated", description="By the decorator", requires_confirmation=True)
def run(n: int) -> int:
    return n

@tool
def bare():
    pass
"#;
    let tools = "tools:
  - {id: decorated, entrypoint: 'main:run'}
  - {id: declared, entrypoint: 'main:run', name: Declared, description: By the manifest, requiresConfirmation: false}
  - {id: overridden, entrypoint: 'main:run', name: Declared}
  - {id: none, entrypoint: 'main:bare'}
  - {id: given, entrypoint: 'main:run', inputSchema: {type: object, properties: {n: {type: integer, maximum: 3}}}}
  - {id: high, entrypoint: 'main:run', risk_level: high, requires_confirmation: false}
toolOverrides:
  - toolId: kit:overridden
    nameOverride: Overridden
    descriptionOverride: By the override
    requiresConfirmation: false
  - {tool_id: high, requires_confirmation: false}
";
    installed(&client, &bundle(&[("toolset.yaml", &manifest("1.0.0", tools)), ("main.py", code)]));
    let of = |id: &str| {
        let tool = client.get(&format!("/api/tools/kit:{id}")).ok();
        (tool["name"].clone(), tool["description"].clone(), tool["needs_approval"].clone())
    };
    assert_eq!(of("decorated"), (json!("Decorated"), json!("By the decorator"), json!(true)));
    assert_eq!(of("declared"), (json!("Declared"), json!("By the manifest"), json!(false)));
    assert_eq!(of("overridden"), (json!("Overridden"), json!("By the override"), json!(false)));
    assert_eq!(of("none").1, json!("none"), "{:?}", of("none"));
    assert_eq!(of("high").2, json!(true), "high risk always asks");
    assert_eq!(schema_of(&client.get("/api/tools/kit:given").ok())["properties"]["n"]["maximum"], 3);
    client.execute("kit:given", json!({"n": 4})).failed(400, "INVALID_ARGUMENTS");
    assert_eq!(client.execute("kit:declared", json!({"n": 4})).success(), 4);
    // No override makes a version.
    assert_eq!(client.get("/api/tools/kit:overridden/versions").ok()["versions"].as_array().unwrap().len(), 1);
}

#[test]
fn query_parameters_are_checked() {
    let client = workspace();
    for query in ["?downgrade=true", "?dry_run=maybe", "?replace=1", "?force=true", "?source_ref=a%0Ab"] {
        import(&client, query, &kit("1.0.0")).refused(400, "VALIDATION_ERROR");
    }
    import(&client, &format!("?source_ref={}", "x".repeat(1_001)), &kit("1.0.0")).refused(400, "VALIDATION_ERROR");
    assert_eq!(client.get(TOOLSETS).ok()["toolsets"], json!([]));
}
