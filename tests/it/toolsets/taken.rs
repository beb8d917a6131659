//! Ids that are taken, overrides of nothing and of others' tools, artifacts that are not there.

use super::{FILES_PY, TOOLSETS, bundle, import, installed, kit, manifest, refused, stored};
use crate::harness::{MODERN, McpPeer, open, workspace};
use serde_json::json;

const TOOL: &str = "tools:\n  - {id: write, entrypoint: 'tools.files:write_file'}\n";

fn with(rest: &str) -> Vec<u8> {
    let page = "<html></html>";
    let text = manifest("1.0.0", &format!("{TOOL}{rest}"));
    bundle(&[("toolset.yaml", &text), ("tools/files.py", FILES_PY), ("artifacts/page.html", page)])
}

#[test]
fn an_override_is_of_a_tool_of_the_bundle() {
    let client = workspace();
    let of = |id: &str| with(&format!("tool_overrides:\n  - tool_id: {id}\n    name_override: Other\n"));
    refused(&client, &of("writ"), &["toolset.yaml:8 /tool_overrides/0/tool_id writ is no tool of this toolset"]);
    refused(&client, &of("kit:none"), &["toolset.yaml:8 /tool_overrides/0/tool_id none is no tool of this toolset"]);
    for others in ["read_file:x", "other:tool", "email:search"] {
        refused(&client, &of(others), &["toolset.yaml:8 /tool_overrides/0/tool_id "]);
    }
    // A built-in has no colon, so that its name would be the bundle's own tool.
    refused(&client, &of("execute_python"), &["execute_python is no tool of this toolset"]);
    let twice =
        with("tool_overrides:\n  - {tool_id: write, enabled: false}\n  - {tool_id: 'kit:write', enabled: true}\n");
    refused(&client, &twice, &["toolset.yaml:9 /tool_overrides/1/tool_id kit:write comes twice"]);
}

#[test]
fn an_artifact_is_a_file_of_the_bundle() {
    let client = workspace();
    let of = |path: &str| {
        with(&format!(
            "tool_overrides:\n  - tool_id: write\n    renderer: html\n    renderer_config:\n      artifact: \"{path}\"\n"
        ))
    };
    for path in ["artifacts/none.html", "page.html", "artifacts", "artifacts/", "toolset.yaml", "Artifacts/page.html"] {
        refused(&client, &of(path), &["toolset.yaml:11 /tool_overrides/0/renderer_config/artifact "]);
    }
    for path in
        ["../page.html", "/artifacts/page.html", "artifacts/../artifacts/page.html", "https://x.example/a.html", ""]
    {
        refused(&client, &of(path), &["toolset.yaml:11 /tool_overrides/0/renderer_config/artifact "]);
    }
    for path in ["artifacts/page.html", "./artifacts/page.html"] {
        import(&client, "?dry_run=true", &of(path)).ok();
    }
    refused(
        &client,
        &with("tool_overrides:\n  - {tool_id: write, renderer: chart}\n"),
        &["/tool_overrides/0/renderer "],
    );
    refused(&client, &with("tool_overrides:\n  - {tool_id: write, renderer: code}\n"), &["/tool_overrides/0/renderer"]);
}

#[test]
fn an_id_belongs_to_one_thing() {
    let client = workspace();
    let peer = McpPeer::start(MODERN, json!([]));
    // An MCP server has it.
    client.post("/api/mcp-servers", json!({"id": "kit", "url": peer.url()})).created();
    let before = stored(open(), &client);
    for query in ["", "?replace=true", "?dry_run=true"] {
        let refused = import(&client, query, &kit("1.0.0")).refused(409, "ALREADY_EXISTS");
        assert!(refused.message.contains("MCP server"), "{}", refused.message);
    }
    assert_eq!(stored(open(), &client), before);

    // A toolset has it.
    let client = workspace();
    installed(&client, &kit("1.0.0"));
    let before = stored(open(), &client);
    import(&client, "", &kit("1.0.0")).refused(409, "ALREADY_EXISTS");
    import(&client, "?dry_run=true", &kit("2.0.0")).refused(409, "ALREADY_EXISTS");
    let server = client.post("/api/mcp-servers", json!({"id": "kit", "url": peer.url()}));
    let server = server.refused(409, "ALREADY_EXISTS");
    assert!(server.message.contains("kit is the id of a toolset"), "{}", server.message);
    assert_eq!(stored(open(), &client), before);

    // A server of a bundle takes its id as well.
    let other = |id: &str| {
        let text = format!(
            "manifest_version: 1\nid: other\nname: Other\nversion: 1.0.0\nmcp_servers:\n  - id: {id}\n    url: {}\n",
            peer.url()
        );
        bundle(&[("toolset.yaml", &text)])
    };
    refused(&client, &other("kit"), &["toolset.yaml:6 /mcp_servers/0"]);
    client.post("/api/mcp-servers", json!({"id": "mine", "url": peer.url()})).created();
    refused(&client, &other("mine"), &["toolset.yaml:6 /mcp_servers/0"]);
    refused(&client, &other("other"), &["toolset.yaml:6 /mcp_servers/0/id is the id of the toolset"]);
}

#[test]
fn the_id_of_a_former_toolset_stays_its_own() {
    let client = workspace();
    let peer = McpPeer::start(MODERN, json!([]));
    installed(&client, &kit("1.0.0"));
    client.delete(&format!("{TOOLSETS}/kit")).no_content();
    // The tools of the toolset are on record under kit:…, so that no server may take them over.
    let answer = client.post("/api/mcp-servers", json!({"id": "kit", "url": peer.url()}));
    assert!([201, 409].contains(&answer.status), "{}", answer.text);
    println!("an MCP server under the id of a former toolset: {} {}", answer.status, answer.text);
    assert_eq!(client.get("/api/registry/invariants").ok()["ok"], true);
}
