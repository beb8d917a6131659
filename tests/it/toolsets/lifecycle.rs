//! Enabling, disabling, uninstalling and reinstalling; upgrades and downgrades.

use super::{
    TOOLSETS, bundle, import, installed, invariants_hold, kit, manifest, one_tool, replaced, stored, told, versions,
};
use crate::harness::{Client, open, workspace};
use serde_json::{Value, json};

const RUN_PY: &str = "def run(workspace, x: int = 1):\n    return x\n";

fn tool(client: &Client, id: &str) -> Value {
    client.get(&format!("/api/tools/{id}")).ok()
}

/// The tool of [`one_tool`], with this schema.
fn with_schema(version: &str, schema: &str) -> Vec<u8> {
    one_tool(version, RUN_PY, &format!("    description: D\n    input_schema: {schema}\n"))
}

const ONE: &str = "{type: object, properties: {x: {type: integer}}}";

#[test]
fn a_disabled_toolset_has_no_tools_to_call() {
    let client = workspace();
    installed(&client, &kit("1.0.0"));
    let write = json!({"path": "a", "content": "b"});
    client.execute("kit:write", write.clone()).success();
    for _ in 0..2 {
        let disabled = client.post(&format!("{TOOLSETS}/kit/disable"), json!({})).ok();
        assert_eq!(disabled["enabled"], false);
        assert_eq!(tool(&client, "kit:write")["enabled"], false);
        client.execute("kit:write", write.clone()).failed(409, "TOOL_DISABLED");
    }
    // An upgrade leaves it disabled, and its versions are not touched.
    let upgraded = replaced(&client, &kit("1.1.0"));
    assert_eq!((&upgraded["enabled"], &upgraded["version"]), (&json!(false), &json!("1.1.0")));
    client.execute("kit:write", write.clone()).failed(409, "TOOL_DISABLED");
    for _ in 0..2 {
        assert_eq!(client.post(&format!("{TOOLSETS}/kit/enable"), json!({})).ok()["enabled"], true);
        client.execute("kit:write", write.clone()).success();
    }
    assert_eq!(versions(&client, "kit:write"), ["1.0.0"]);
    let sql = "SELECT count(*) AS n FROM changes WHERE workspace_id = ?1 AND subject = 'toolset:kit'";
    // Created, disabled once, upgraded, enabled once: what changes nothing is no change.
    assert_eq!(open().sql(sql, &[json!(client.workspace())])[0]["n"], 4);
    invariants_hold(&client);
}

#[test]
fn tools_come_back_with_their_toolset_and_keep_their_versions() {
    let client = workspace();
    installed(&client, &with_schema("1.0.0", ONE));
    replaced(&client, &with_schema("1.1.0", "{type: object, properties: {x: {type: integer}, y: {type: integer}}}"));
    assert_eq!(versions(&client, "kit:run"), ["1.0.0", "1.1.0"]);
    let call = client.execute("kit:run", json!({})).result(200);
    client.delete(&format!("{TOOLSETS}/kit")).no_content();
    client.delete(&format!("{TOOLSETS}/kit")).refused(404, "NOT_FOUND");
    client.get(&format!("{TOOLSETS}/kit")).refused(404, "NOT_FOUND");
    assert_eq!(client.get(TOOLSETS).ok()["toolsets"], json!([]));
    assert_eq!(versions(&client, "kit:run"), ["1.0.0", "1.1.0"]);
    assert_eq!(client.record(&call)["status"], "success");
    client.execute("kit:run", json!({})).failed(409, "TOOL_DISABLED");
    invariants_hold(&client);
    for table in ["toolset_files", "toolset_tools", "tool_overrides"] {
        assert_eq!(crate::files::count(open(), &client, table), 0, "{table}");
    }
    // The same bundle makes no version; the older one makes the next.
    let again = installed(
        &client,
        &with_schema("1.1.0", "{type: object, properties: {x: {type: integer}, y: {type: integer}}}"),
    );
    assert_eq!(again["changes"]["tools"], json!({"added": ["kit:run"], "changed": [], "removed": []}));
    assert_eq!(versions(&client, "kit:run"), ["1.0.0", "1.1.0"]);
    assert_eq!(client.execute("kit:run", json!({"x": 5})).success(), 5);
    client.delete(&format!("{TOOLSETS}/kit")).no_content();
    installed(&client, &with_schema("1.0.0", ONE));
    assert_eq!(versions(&client, "kit:run"), ["1.0.0", "1.1.0", "2.0.0"]);
    invariants_hold(&client);
}

#[test]
fn an_upgrade_makes_the_versions_that_its_changes_need() {
    let client = workspace();
    installed(&client, &with_schema("1.0.0", ONE));
    // The same tool, another file: no version.
    let more = bundle(&[
        (
            "toolset.yaml",
            &manifest(
                "1.0.1",
                &format!(
                    "tools:\n  - id: run\n    entrypoint: main:run\n    description: D\n    input_schema: {ONE}\n"
                ),
            ),
        ),
        ("main.py", "def run(workspace, x: int = 1):\n    return x + 100\n"),
    ]);
    let upgraded = replaced(&client, &more);
    assert_eq!(upgraded["changes"]["tools"], json!({"added": [], "changed": [], "removed": []}));
    assert_eq!(upgraded["changes"]["files"]["changed"], json!(["main.py"]));
    assert_eq!(versions(&client, "kit:run"), ["1.0.0"]);
    assert_eq!(client.execute("kit:run", json!({"x": 1})).success(), 101);
    // Another description: a patch.
    let described = one_tool("1.0.2", RUN_PY, &format!("    description: Other\n    input_schema: {ONE}\n"));
    assert_eq!(replaced(&client, &described)["changes"]["tools"]["changed"], json!(["kit:run"]));
    assert_eq!(versions(&client, "kit:run").last().unwrap(), "1.0.1");
    // An optional field more: minor. A required one: major.
    replaced(&client, &with_schema("1.1.0", "{type: object, properties: {x: {type: integer}, y: {type: string}}}"));
    assert_eq!(versions(&client, "kit:run").last().unwrap(), "1.1.0");
    replaced(
        &client,
        &with_schema("2.0.0", "{type: object, properties: {x: {type: integer}, y: {type: string}}, required: [y]}"),
    );
    assert_eq!(versions(&client, "kit:run").last().unwrap(), "2.0.0");
    assert_eq!(tool(&client, "kit:run")["version"], "2.0.0");
    invariants_hold(&client);
}

#[test]
fn a_tool_that_is_gone_is_deprecated_and_may_return() {
    let client = workspace();
    installed(&client, &kit("1.0.0"));
    let fewer = "tools:\n  - {id: write, entrypoint: 'tools.files:write_file'}\n";
    let fewer = |version| bundle(&[("toolset.yaml", &manifest(version, fewer)), ("tools/files.py", super::FILES_PY)]);
    assert_eq!(replaced(&client, &fewer("1.1.0"))["changes"]["tools"]["removed"], json!(["kit:read"]));
    let gone = tool(&client, "kit:read");
    assert_eq!((&gone["active"], &gone["deactivated_reason"]), (&json!(false), &json!("deprecated")));
    let details = client.get(&format!("{TOOLSETS}/kit")).ok();
    assert_eq!(details["tools"].as_array().unwrap().len(), 1);
    assert_eq!(replaced(&client, &kit("1.2.0"))["changes"]["tools"]["added"], json!(["kit:read"]));
    assert_eq!(versions(&client, "kit:read"), ["1.0.0"]);
    assert_eq!(tool(&client, "kit:read")["active"], true);
    invariants_hold(&client);
}

#[test]
fn what_an_admin_switched_off_stays_off() {
    let client = workspace();
    installed(&client, &kit("1.0.0"));
    client.post("/api/tools/kit:read/deactivate", json!({"reason": "security"})).ok();
    let upgraded = replaced(&client, &kit("1.1.0"));
    let warnings = upgraded["warnings"].as_array().unwrap().iter().map(told).collect::<Vec<_>>();
    assert!(warnings.iter().any(|it| it.contains("kit:read was switched off by an admin")), "{warnings:#?}");
    assert_eq!(tool(&client, "kit:read")["active"], false);
    client.delete(&format!("{TOOLSETS}/kit")).no_content();
    installed(&client, &kit("1.2.0"));
    assert_eq!(tool(&client, "kit:read")["active"], false, "security outlives an uninstallation");
    assert_eq!(tool(&client, "kit:write")["active"], true);
    invariants_hold(&client);
}

#[test]
fn versions_of_a_toolset_go_up_unless_an_admin_says_so() {
    let client = workspace();
    installed(&client, &kit("1.2.0"));
    let before = stored(open(), &client);
    import(&client, "", &kit("1.3.0")).refused(409, "ALREADY_EXISTS");
    for older in ["1.1.9", "1.2.0-rc.1", "0.9.0"] {
        let refused = import(&client, "?replace=true", &kit(older)).refused(409, "CONFLICT");
        assert!(refused.message.contains("downgrade=true"), "{}", refused.message);
        import(&client, "?replace=true&dry_run=true", &kit(older)).refused(409, "CONFLICT");
    }
    assert_eq!(stored(open(), &client), before);
    let down = import(&client, "?replace=true&downgrade=true", &kit("1.0.0")).ok();
    assert_eq!(down["version"], "1.0.0");
    // The same version again is fine, and changes no tool.
    let same = replaced(&client, &kit("1.0.0"));
    assert_eq!(same["changes"]["tools"], json!({"added": [], "changed": [], "removed": []}));
    assert_eq!(same["changes"]["files"], json!({"added": [], "changed": [], "removed": []}));
    assert_eq!(versions(&client, "kit:write"), ["1.0.0"]);
    // 200 also without a toolset to replace? An import with replace of a new one is an installation.
    let other = workspace();
    import(&other, "?replace=true", &kit("1.0.0")).created();
}

#[test]
fn an_admins_override_outlives_upgrades() {
    let client = workspace();
    let with = |version: &str, rest: &str| {
        let tools = format!("tools:\n  - {{id: write, entrypoint: 'tools.files:write_file'}}\n{rest}");
        bundle(&[("toolset.yaml", &manifest(version, &tools)), ("tools/files.py", super::FILES_PY)])
    };
    installed(
        &client,
        &with(
            "1.0.0",
            "tool_overrides:\n  - {tool_id: write, name_override: Of the bundle, requires_confirmation: false}\n",
        ),
    );
    let path = format!("{TOOLSETS}/kit/overrides/write");
    assert_eq!(client.get(&path).ok()["by_admin"], false);
    client.put(&path, json!({"requires_approval": true, "name_override": "Of the admin"}).to_string()).ok();
    let upgraded = replaced(
        &client,
        &with("1.1.0", "tool_overrides:\n  - {tool_id: write, name_override: Newer, enabled: false}\n"),
    );
    assert_eq!(
        (&tool(&client, "kit:write")["name"], &tool(&client, "kit:write")["needs_approval"]),
        (&json!("Of the admin"), &json!(true))
    );
    let warnings = upgraded["warnings"].as_array().unwrap().iter().map(told).collect::<Vec<_>>();
    assert!(warnings.iter().any(|it| it.contains("an admin has set the override of kit:write")), "{warnings:#?}");
    // Without the admin's, the bundle's comes with the next import.
    client.delete(&path).no_content();
    client.get(&path).refused(404, "NOT_FOUND");
    assert_eq!(tool(&client, "kit:write")["name"], "write");
    replaced(&client, &with("1.2.0", "tool_overrides:\n  - {tool_id: write, name_override: Newest}\n"));
    assert_eq!(tool(&client, "kit:write")["name"], "Newest");
    // It goes with its tool.
    client.put(&path, json!({"enabled": false}).to_string()).ok();
    replaced(&client, &bundle(&[("toolset.yaml", &manifest("2.0.0", ""))]));
    assert_eq!(client.get(&format!("{TOOLSETS}/kit")).ok()["overrides"], json!([]));
    invariants_hold(&client);
}

#[test]
fn a_page_that_is_gone_is_shown_by_no_override() {
    let client = workspace();
    let tools = "tools:\n  - {id: run, entrypoint: 'main:run'}\n  - {id: other, entrypoint: 'main:run'}\n";
    let text = |version| manifest(version, tools);
    installed(&client, &bundle(&[("toolset.yaml", &text("1.0.0")), ("main.py", RUN_PY), ("page.html", "<p>")]));
    let html = json!({"renderer": "html", "renderer_config": {"artifact": "./page.html", "data": "$return"}});
    let mut both = html.clone();
    both["requires_approval"] = json!(true);
    client.put(&format!("{TOOLSETS}/kit/overrides/run"), both.to_string()).ok();
    client.put(&format!("{TOOLSETS}/kit/overrides/other"), html.to_string()).ok();
    let upgraded = replaced(&client, &bundle(&[("toolset.yaml", &text("1.1.0")), ("main.py", RUN_PY)]));
    let overrides = upgraded["overrides"].as_array().unwrap();
    assert_eq!(
        (overrides.len(), &overrides[0]["tool_id"], &overrides[0]["renderer"]),
        (1, &json!("kit:run"), &Value::Null)
    );
    assert_eq!(overrides[0]["requires_approval"], true);
    let warnings = upgraded["warnings"].as_array().unwrap().iter().map(told).collect::<Vec<_>>();
    assert_eq!(warnings.iter().filter(|it| it.contains("no longer has page.html")).count(), 2, "{warnings:#?}");
    assert_eq!(upgraded["changes"]["overrides"]["removed"], json!(["kit:other"]));
    // What is exported can be imported.
    let zip = client.get(&format!("{TOOLSETS}/kit/export")).bytes;
    installed(&workspace(), &zip);
    invariants_hold(&client);
}

#[test]
fn tools_of_a_toolset_are_changed_by_its_bundle_alone() {
    let client = workspace();
    installed(&client, &with_schema("1.0.0", ONE));
    replaced(&client, &with_schema("1.1.0", "{type: object, properties: {x: {type: integer}, y: {type: string}}}"));
    let answer = client.post("/api/tools", crate::harness::definition("kit:run", "3.0.0", json!({})));
    assert!(answer.status >= 400, "a registration may not take over a tool of a toolset: {}", answer.text);
    invariants_hold(&client);
}

#[test]
fn a_call_that_waits_is_not_run_with_the_code_of_an_upgrade() {
    let client = workspace();
    let asks = "    requires_confirmation: true\n";
    installed(&client, &one_tool("1.0.0", "def run() -> str:\n    return 'one'\n", asks));
    let ask = || {
        let waiting = client.execute("kit:run", json!({})).result(202);
        format!("/api/approvals/{}/approve", waiting["error"]["details"]["approval_id"].as_str().unwrap())
    };
    let early = ask();
    replaced(&client, &one_tool("1.0.1", "def run() -> str:\n    return 'two'\n", asks));
    let refused = client.post(&early, json!({})).refused(409, "CONFLICT");
    assert!(refused.message.contains("has been upgraded since the call was asked"), "{}", refused.message);
    let late = ask();
    // An import that changes no file changes no call.
    replaced(&client, &one_tool("1.0.1", "def run() -> str:\n    return 'two'\n", asks));
    assert_eq!(client.post(&late, json!({})).ok()["result"], "two");
}
