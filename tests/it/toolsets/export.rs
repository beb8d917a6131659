//! A bundle that is made anew from the database.

use super::{FILES_PY, TOOLSETS, bundle, import, installed, kit, manifest, replaced};
use crate::harness::{Client, MODERN, McpPeer, workspace};
use serde_json::json;

fn exported(client: &Client, id: &str) -> Vec<u8> {
    let answer = client.get(&format!("{TOOLSETS}/{id}/export"));
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), Some("application/zip"));
    answer.bytes
}

/// A manifest with everything that a manifest can say.
fn everything(server: &str) -> String {
    format!(
        r#"manifestVersion: 1
id: all
name: "Everything: é \"quoted\" # no comment"
version: 1.2.3-beta.1+build.5
description: |
  Several
  lines, - with: marks
tools:
  - id: write
    entrypoint: tools.files:write_file
    name: Write
    description: "yes"
    inputSchema:
      type: object
      properties:
        path: {{type: string, pattern: "^[a-z/.]+$", default: "null", enum: ["null", "true", "1", "1e3", "~", ""]}}
        content: {{type: string}}
        n: {{type: number, minimum: 1.5e-7, maximum: 12345678901234567890}}
        "odd key: #": {{type: boolean, default: false}}
      required: [path]
    returns_schema: {{type: object}}
    requires_confirmation: true
    timeout_seconds: 120
    risk_level: medium
    required_permission: guest
    required_capabilities: [net]
    rate_limit: 10
    category: files
    side_effects:
      - {{effect_type: file_write, description: Writes, reversible: true, scope: session}}
    examples:
      - {{description: One, params: {{path: "null"}}, expected_output: null}}
    renderer:
      type: code
      file: $args.path
  - id: read
    entrypoint: files:read_file
    enabled: false
tool_overrides:
  - tool_id: remote:x.y-z
    name_override: "on"
    description_override: "line\nline"
    requires_confirmation: true
    enabled: false
  - tool_id: read
    renderer: html
    renderer_config: {{artifact: ./artifacts/page.html, data: {{a: [$args, "1", 1, null, true]}}, title: "$$"}}
mcp_servers:
  - id: remote
    url: {server}
    transport: streamable-http
    headers: {{Authorization: "Bearer ${{GITHUB_TOKEN}}", X-Plain: literal-secret-77}}
    requires_confirmation: false
    risk_level: low
    auto_accept: true
"#
    )
}

fn bundle_of_everything(server: &str) -> Vec<u8> {
    bundle(&[
        ("toolset.yaml", &everything(server)),
        ("tools/files.py", FILES_PY),
        ("tools/copy.py", FILES_PY),
        ("artifacts/page.html", "<html></html>"),
        ("assets/empty", ""),
        ("assets/日本 ä.txt", "ä"),
        ("README.md", "# Read me"),
        ("data.json", "{}"),
    ])
}

#[test]
fn what_is_exported_is_imported_and_exported_the_same() {
    let (one, other) = (workspace(), workspace());
    let peer = McpPeer::start(MODERN, json!([]));
    let zip = bundle_of_everything(peer.url());
    installed(&one, &zip);
    let first = exported(&one, "all");
    assert_eq!(exported(&one, "all"), first, "the same state gives the same bytes");
    let made = installed(&other, &first);
    assert_eq!(exported(&other, "all"), first, "byte for byte");
    let of_first = one.get(&format!("{TOOLSETS}/all")).ok();
    for field in ["name", "version", "description", "files", "tools", "overrides"] {
        assert_eq!(made[field], of_first[field], "{field}");
    }
    for tool in ["all:write", "all:read"] {
        let [mut a, mut b] = [&one, &other].map(|it| it.get(&format!("/api/tools/{tool}")).ok());
        for it in [&mut a, &mut b] {
            for own in ["created_at", "registered_at", "registered_by", "key"] {
                it.as_object_mut().unwrap().remove(own);
            }
        }
        assert_eq!(a, b);
    }
    // It replaces itself without a change.
    let again = replaced(&one, &first);
    for kind in ["tools", "files", "overrides"] {
        assert_eq!(again["changes"][kind], json!({"added": [], "changed": [], "removed": []}), "{kind}: {again}");
    }
    assert_eq!(exported(&one, "all"), first);
}

#[test]
fn an_export_has_the_state_of_the_database() {
    let client = workspace();
    installed(&client, &kit("1.0.0"));
    let before = exported(&client, "kit");
    let path = format!("{TOOLSETS}/kit/overrides/write");
    client.put(&path, json!({"name_override": "Pen", "requires_approval": true}).to_string()).ok();
    let after = exported(&client, "kit");
    assert_ne!(before, after);
    let other = workspace();
    installed(&other, &after);
    assert_eq!(other.get("/api/tools/kit:write").ok()["name"], "Pen");
    assert_eq!(exported(&other, "kit"), after);
    client.delete(&path).no_content();
    assert_eq!(exported(&client, "kit"), before);
    // Neither enabling nor the source are part of a bundle.
    client.post(&format!("{TOOLSETS}/kit/disable"), json!({})).ok();
    assert_eq!(exported(&client, "kit"), before);
}

#[test]
fn an_export_has_no_secret() {
    let client = workspace();
    let peer = McpPeer::start(MODERN, json!([]));
    installed(&client, &bundle_of_everything(peer.url()));
    let zip = exported(&client, "all");
    let manifest = manifest_of(&zip);
    assert!(manifest.contains("Bearer ${GITHUB_TOKEN}"), "{manifest}");
    assert!(!manifest.contains("gh-value") && !manifest.contains("literal-secret"), "{manifest}");
    assert!(manifest.contains("${X_PLAIN}"), "a literal value becomes the name of its key: {manifest}");
    for answer in
        [client.get(&format!("{TOOLSETS}/all")), client.get("/api/mcp-servers/remote"), client.get("/api/changes")]
    {
        assert!(!answer.text.contains("literal-secret") && !answer.text.contains("gh-value"), "{}", answer.text);
    }
}

/// The text of the manifest, which is the first entry of an export.
fn manifest_of(zip: &[u8]) -> String {
    let short = |at: usize| usize::from(u16::from_le_bytes([zip[at], zip[at + 1]]));
    let start = 30 + short(26) + short(28);
    assert_eq!(&zip[30..30 + short(26)], b"toolset.yaml");
    let length = u32::from_le_bytes(zip[18..22].try_into().unwrap()) as usize;
    let body = &zip[start..start + length];
    let text = if short(8) == 8 { miniz_oxide::inflate::decompress_to_vec(body).unwrap() } else { body.to_vec() };
    String::from_utf8(text).unwrap()
}

#[test]
fn exports_are_named_after_their_version() {
    let client = workspace();
    installed(&client, &kit("1.0.0-rc.1"));
    let answer = client.get(&format!("{TOOLSETS}/kit/export"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"kit-1.0.0-rc.1.zip\""));
    client.get(&format!("{TOOLSETS}/none/export")).refused(404, "NOT_FOUND");
    // An empty toolset is a toolset.
    let empty = workspace();
    let zip = bundle(&[("toolset.yaml", &manifest("0.0.1", ""))]);
    installed(&empty, &zip);
    let first = exported(&empty, "kit");
    import(&workspace(), "", &first).created();
}
