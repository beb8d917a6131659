//! Tests of the whole manifest: good ones, every fault with its line and place, hostile and random ones.

use super::random;
use super::*;
use crate::dice::Dice;
use crate::federation::Transport;
use crate::rendering::RendererKind;
use crate::stopwatch::computed;
use serde_json::json;
use std::time::Duration;

/// In the shape of the document's section 3.2.
const SECTION_3: &str = r#"manifest_version: "1"

id: my-toolset
name: My Toolset
version: "1.0.0"
description: Two tools that look at data

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

# The overrides say it again.
tool_overrides:
  - tool_id: analyze_data
    renderer: html
    renderer_config:
      artifact: artifacts/results.html
      data: "$return"
  - tool_id: my-mcp-server:search
    name_override: Web Search
    requires_confirmation: false

mcp_servers:
  - id: my-mcp-server
    command: npx
    args: ["-y", "my-mcp-package"]
    env:
      API_KEY: "${MY_API_KEY}"  # a credential
"#;

/// In the shape of the document's section 10.
const SECTION_10: &str = r#"manifest_version: "1"

id: app-builder
name: App Builder
version: "1.0.0"
description: Makes web applications and shows them

tools:
  - id: write_file
    name: Write File
    description: Writes a text into a file
    entrypoint: tools.files:write_file
    input_schema:
      type: object
      properties:
        path:
          type: string
          description: Where the file lies
        content:
          type: string
      required: [path, content]
    renderer:
      type: code
      file: "$args.path"
      language: auto
      editable: true

  - id: run_command
    name: Run Command
    entrypoint: tools.shell:run_command
    input_schema:
      type: object
      properties:
        command:
          type: string
      required: [command]
    requires_confirmation: true
    renderer:
      type: code
      content: "$return.output"
      language: shell
"#;

#[track_caller]
fn good(text: &str) -> Manifest {
    let (manifest, faults) = Manifest::read("toolset.yaml", text);
    assert_eq!(faults, [], "{text}");
    manifest.unwrap()
}

/// Line, JSON pointer and message of every fault.
fn faults(text: &str) -> Vec<(u32, String, String)> {
    let (_, notes) = Manifest::read("toolset.yaml", text);
    notes.into_iter().map(|it| (it.line.unwrap(), it.path.unwrap_or_default(), it.message)).collect()
}

/// A good head of a manifest, of five lines, and more.
fn with(rest: &str) -> String {
    format!("manifest_version: 1\nid: kit\nname: Kit\nversion: 1.0.0\ndescription: A kit\n{rest}")
}

/// The faults of a manifest with a good head, whose lines count from the end of the head.
#[track_caller]
fn check(rest: &str, expected: &[(u32, &str, &str)]) {
    let found = faults(&with(rest));
    let found = found.iter().map(|(line, path, message)| (line - 5, path.as_str(), message.as_str()));
    assert_eq!(found.collect::<Vec<_>>(), expected, "{rest}");
}

#[test]
fn the_documents_manifests_are_read() {
    let manifest = good(SECTION_3);
    assert_eq!((manifest.id.as_str(), manifest.version.as_str()), ("my-toolset", "1.0.0"));
    assert_eq!((manifest.name.as_str(), manifest.description.as_str()), ("My Toolset", "Two tools that look at data"));
    assert_eq!(manifest.tools[1].entrypoint.to_string(), "tools.transform:run");
    let ids = manifest.tool_overrides.iter().map(|it| it.tool_id.as_str()).collect::<Vec<_>>();
    assert_eq!(ids, ["my-toolset:analyze_data", "my-mcp-server:search", "my-toolset:transform_file"]);
    let [analyze, search, transform] = &manifest.tool_overrides[..] else { panic!("three overrides") };
    assert_eq!((analyze.renderer, analyze.artifact()), (Some(RendererKind::Html), Some("artifacts/results.html")));
    assert_eq!((search.name_override.as_deref(), search.requires_approval), (Some("Web Search"), Some(false)));
    let config = json!({"file": "$args.output", "language": "auto", "editable": true});
    assert_eq!(transform.renderer_config.clone().map(Value::Object), Some(config));
    assert_eq!(
        manifest.artifacts().collect::<Vec<_>>(),
        [("/tool_overrides/0/renderer_config/artifact".to_owned(), "artifacts/results.html")]
    );
    let server = &manifest.mcp_servers[0];
    assert_eq!((server.command.as_deref(), server.args.len(), server.transport), (Some("npx"), 2, None));
    assert_eq!(server.env["API_KEY"], "${MY_API_KEY}");
    // The tool and its override say the same.
    assert_eq!(manifest.warnings(), []);

    let manifest = good(SECTION_10);
    assert_eq!(manifest.tools[0].input_schema.as_ref().unwrap()["required"], json!(["path", "content"]));
    assert_eq!(manifest.tools.iter().map(|it| it.requires_approval).collect::<Vec<_>>(), [None, Some(true)]);
    assert_eq!(manifest.tool_overrides.len(), 2);
}

#[test]
fn the_shapes_of_the_public_bundles_are_read() {
    let html = good(&with(
        "tools:\n  - id: page\n    entrypoint: tools.pages:page\n    requires_confirmation: true\n    renderer:\n      type: html\n      content: \"$return\"\n",
    ));
    assert_eq!((html.tool_overrides[0].renderer, html.artifacts().count()), (Some(RendererKind::Html), 0));
    let quiz = good(&with(
        "tools:\n  - id: quiz\n    entrypoint: tools.quiz:make\n    renderer: {type: html, artifact: ./artifacts/quiz.html, data: $return}\n",
    ));
    let place = "/tools/0/renderer/artifact".to_owned();
    assert_eq!(quiz.artifacts().collect::<Vec<_>>(), [(place, "artifacts/quiz.html")]);
    assert_eq!(quiz.note("/tools/0/renderer/artifact", "x").line, Some(9));
}

#[test]
fn camel_case_and_both_words_for_an_approval_are_taken() {
    let camel = good(
        r#"manifestVersion: "1"
id: kit
name: Kit
version: 1.0.0
tools:
  - id: run
    entrypoint: a:run
    inputSchema: {type: object}
    requiresApproval: true
    timeoutSeconds: 5
toolOverrides:
  - toolId: kit:run
    nameOverride: Run it
    renderer: code
    rendererConfig: {file: x}
mcpServers:
  - {id: a, url: "https://a.example", serverType: sse, requiresConfirmation: false}
  - {id: b, url: "https://b.example", type: http}
"#,
    );
    let tool = &camel.tools[0];
    assert_eq!(
        (tool.requires_approval, tool.timeout_seconds, tool.input_schema.is_some()),
        (Some(true), Some(5), true)
    );
    assert_eq!(camel.tool_overrides[0].name_override.as_deref(), Some("Run it"));
    let transports = camel.mcp_servers.iter().map(|it| it.transport).collect::<Vec<_>>();
    assert_eq!(transports, [Some(Transport::Sse), Some(Transport::StreamableHttp)]);
    // A later fault is told at the name that the author has written.
    let note = camel.note("/tools/0/input_schema/type", "is wrong");
    assert_eq!((note.line, note.path.as_deref()), (Some(8), Some("/tools/0/inputSchema/type")));
    let note = camel.note("/tools/0/category", "is wrong");
    assert_eq!((note.line, note.path.as_deref()), (Some(6), Some("/tools/0/category")));
}

#[test]
fn an_override_says_it_before_the_tool() {
    let manifest = good(&with(
        "tools:
  - id: a
    entrypoint: m:a
    enabled: true
    renderer: {type: code, file: x}
  - id: b
    entrypoint: m:b
    enabled: false
    renderer: code
    renderer_config: {file: y}
tool_overrides:
  - {tool_id: a, enabled: false, renderer: document, renderer_config: {file: x}}
  - {tool_id: b, name_override: B}
",
    ));
    let [a, b] = &manifest.tool_overrides[..] else { panic!("two overrides") };
    assert_eq!((a.renderer, a.enabled), (Some(RendererKind::Document), Some(false)));
    assert_eq!((b.renderer, b.enabled, b.name_override.as_deref()), (Some(RendererKind::Code), Some(false), Some("B")));
    let told = "is not used: the tool's override in tool_overrides says otherwise";
    let warnings = manifest.warnings().iter().map(|it| it.to_string()).collect::<Vec<_>>();
    assert_eq!(
        warnings,
        [
            format!("toolset.yaml, line 10, /tools/0/renderer: {told}"),
            format!("toolset.yaml, line 9, /tools/0/enabled: {told}"),
        ]
    );
}

#[test]
fn the_head_of_a_manifest_has_rules() {
    let head = |text: &str, expected: &[(u32, &str, &str)]| {
        let found = faults(text);
        let found = found.iter().map(|(line, path, message)| (*line, path.as_str(), message.as_str()));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
    };
    head(
        "tools: []",
        &[
            (1, "/manifest_version", "is missing: write manifest_version: \"1\""),
            (1, "/id", "is missing"),
            (1, "/name", "is missing"),
            (1, "/version", "is missing: a semantic version, such as 1.0.0"),
        ],
    );
    head("- a", &[(1, "", "must be an object, the manifest, and not a list")]);
    head("just words", &[(1, "", "must be an object, the manifest, and not a text")]);
    head(
        "manifest_version: 2\nid: My Kit\nname: ''\nversion: 1.0\ndescription: yes\n",
        &[
            (1, "/manifest_version", "only manifest_version 1 is known"),
            (2, "/id", "must be 1 to 64 lower-case letters, digits, _ or -"),
            (3, "/name", "must not be empty"),
            (4, "/version", "is a number and must be a text: write it in quotes, with three parts, such as \"1.0.0\""),
        ],
    );
    head(
        "manifest_version: '1.0'\nid: 7\nname: true\nversion: v1\nmanifestVersion: 1\n",
        &[
            (1, "/manifest_version", "only manifest_version 1 is known"),
            (2, "/id", "is a number and must be a text: write it in quotes"),
            (3, "/name", "is true and must be a text: write it in quotes"),
            (4, "/version", "must be a semantic version, such as 1.0.0 or 1.0.0-beta.1"),
            (5, "/manifestVersion", "is the same field as manifest_version: give one of them"),
        ],
    );
    let long = format!(
        "manifest_version: 1\nid: kit\nname: {}\nversion: 1.0.0\ndescription: {}",
        "n".repeat(201),
        "d".repeat(501)
    );
    head(
        &long,
        &[
            (3, "/name", "has 201 characters; 200 are allowed"),
            (5, "/description", "has 501 characters; 500 are allowed"),
        ],
    );
}

#[test]
fn unknown_fields_are_told_with_the_known_ones() {
    check(
        "tool: []\nauthor: me\n",
        &[
            (1, "/tool", "is no field of the manifest. Did you mean tools?"),
            (
                2,
                "/author",
                "is no field of the manifest; the fields are manifest_version, id, name, version, description, tools, \
             tool_overrides, mcp_servers",
            ),
        ],
    );
    check(
        "tools:\n  - id: a\n    entry_point: m:a\n    confirm: true\n",
        &[
            (2, "/tools/0/entrypoint", "is missing: the function to run, such as tools.analyze:run"),
            (3, "/tools/0/entry_point", "is no field of a tool. Did you mean entrypoint?"),
            (
                4,
                "/tools/0/confirm",
                "is no field of a tool; the fields are id, entrypoint, name, description, input_schema, returns_schema, \
             requires_confirmation, timeout_seconds, risk_level, required_permission, required_capabilities, rate_limit, \
             category, side_effects, examples, renderer, renderer_config, enabled",
            ),
        ],
    );
    check(
        "mcp_servers:\n  - id: a\n    url: https://a.example\n    header: {}\n",
        &[(4, "/mcp_servers/0/header", "is no field of an MCP server. Did you mean headers?")],
    );
    check(
        "tools: [{id: a, entrypoint: 'm:a'}]\ntool_overrides:\n  - tool_id: a\n    name: A\n",
        &[(4, "/tool_overrides/0/name", "is no field of an override. Did you mean name_override?")],
    );
    check(
        "tools:\n - id: a\n   entrypoint: m:a\n   requires_approval: true\n   requires_confirmation: true\n",
        &[(5, "/tools/0/requires_confirmation", "is the same field as requires_approval: give one of them")],
    );
}

#[test]
fn every_field_of_a_tool_has_its_type() {
    check(
        "tools:
  - id: a b
    entrypoint: tools/a.py:run
    name: 5
    description: [x]
    input_schema: '{}'
    returns_schema: []
    requires_confirmation: yes
    timeout_seconds: 121
    risk_level: hihg
    required_permission: root
    required_capabilities: [1, x]
    rate_limit: 1.5
    category: no
    side_effects: [{effect_type: a, reversible: 'true'}]
    examples:
      - description: d
        params: []
        more: 1
    enabled: 'false'
    renderer: [code]
  - text
",
        &[
            (2, "/tools/0/id", "must be 1 to 128 letters, digits, _, . and -"),
            (3, "/tools/0/entrypoint", "must be a module and a function of it, such as tools.analyze:run"),
            (4, "/tools/0/name", "is a number and must be a text: write it in quotes"),
            (5, "/tools/0/description", "must be a text, not a list"),
            (6, "/tools/0/input_schema", "must be an object, not a text"),
            (7, "/tools/0/returns_schema", "must be an object, not a list"),
            (8, "/tools/0/requires_confirmation", "yes is a text in YAML 1.2: write true or false"),
            (9, "/tools/0/timeout_seconds", "must be a whole number from 1 to 120"),
            (10, "/tools/0/risk_level", "must be one of safe, low, medium, high, critical. Did you mean high?"),
            (11, "/tools/0/required_permission", "must be one of guest, user, admin, owner"),
            (12, "/tools/0/required_capabilities/0", "is a number and must be a text: write it in quotes"),
            (13, "/tools/0/rate_limit", "must be a whole number from 1 to 10000"),
            (15, "/tools/0/side_effects/0/description", "is missing"),
            (15, "/tools/0/side_effects/0/scope", "is missing"),
            (15, "/tools/0/side_effects/0/reversible", "is a text: write true or false without quotes"),
            (18, "/tools/0/examples/0/params", "must be an object, not a list"),
            (
                19,
                "/tools/0/examples/0/more",
                "is no field of an example; the fields are description, params, expected_output",
            ),
            (20, "/tools/0/enabled", "is a text: write true or false without quotes"),
            (21, "/tools/0/renderer", "must be a text, not a list"),
            (22, "/tools/1", "must be an object, a tool, and not a text"),
        ]
        .map(|(line, path, message)| (line, path, message)),
    );
}

#[test]
fn ids_come_once() {
    check(
        "tools:
  - {id: a, entrypoint: 'm:a'}
  - {id: a, entrypoint: 'm:b'}
  - {id: 'kit:c', entrypoint: 'm:c'}
mcp_servers:
  - {id: srv, url: 'https://a.example'}
  - {id: srv, url: 'https://a.example'}
  - {id: kit, url: 'https://a.example'}
  - {id: A, url: 'https://a.example'}
tool_overrides:
  - {tool_id: a, enabled: false}
  - {tool_id: 'kit:a', enabled: false}
",
        &[
            (3, "/tools/1/id", "a comes twice: /tools/0 has it already"),
            (
                4,
                "/tools/2/id",
                "must be 1 to 128 letters, digits, _, . and -. The toolset's id and a colon are put before it",
            ),
            (7, "/mcp_servers/1/id", "srv comes twice: /mcp_servers/0 has it already"),
            (8, "/mcp_servers/2/id", "is the id of the toolset: the ids of their tools would be the same"),
            (9, "/mcp_servers/3/id", "must be 1 to 64 lower-case letters, digits, _ or -"),
            (12, "/tool_overrides/1/tool_id", "kit:a comes twice: /tool_overrides/0 has it already"),
        ],
    );
}

#[test]
fn overrides_are_of_the_bundles_own_tools() {
    check(
        "tools:
  - {id: read, entrypoint: 'm:read'}
mcp_servers:
  - {id: srv, url: 'https://a.example'}
tool_overrides:
  - {tool_id: raed, enabled: false}
  - {tool_id: 'kit:write', enabled: false}
  - {tool_id: 'other:read', enabled: false}
  - {tool_id: 'srv:any.Tool-1', enabled: false}
  - {tool_id: 'srv:a b', enabled: false}
  - {tool_id: 'srv:', enabled: false}
  - {enabled: false}
",
        &[
            (6, "/tool_overrides/0/tool_id", "raed is no tool of this toolset. Did you mean read?"),
            (7, "/tool_overrides/1/tool_id", "write is no tool of this toolset"),
            (
                8,
                "/tool_overrides/2/tool_id",
                "other:read is a tool of others: a toolset overrides its own tools and those of its own MCP servers",
            ),
            (10, "/tool_overrides/4/tool_id", "must name a tool by 1 to 128 letters, digits, _, . and -"),
            (11, "/tool_overrides/5/tool_id", "must name a tool by 1 to 128 letters, digits, _, . and -"),
            (12, "/tool_overrides/6/tool_id", "is missing"),
        ],
    );
}

#[test]
fn renderers_keep_the_rules_of_rendering() {
    check(
        "tools:
  - id: a
    entrypoint: m:a
    renderer:
      type: code
      file: $arg.path
      editable: perhaps
  - id: b
    entrypoint: m:b
    renderer: {file: x}
  - {id: c, entrypoint: 'm:c', renderer: {type: html}}
  - {id: d, entrypoint: 'm:d', renderer: {type: htm, content: x}}
  - {id: e, entrypoint: 'm:e', renderer: {type: html, content: x}, renderer_config: {content: x}}
  - {id: f, entrypoint: 'm:f'}
tool_overrides:
  - tool_id: f
    renderer_config:
      file: x
  - tool_id: b
    renderer: frame
    renderer_config:
      url: http://a.example
  - tool_id: c
    renderer: html
",
        &[
            (
                6,
                "/tools/0/renderer/file",
                "$arg is no expression: there are $args, $return, $chat_id, $workspace and $toolset. Write $$arg for the \
                 text",
            ),
            (7, "/tools/0/renderer/editable", "must be true, false or one expression"),
            (10, "/tools/1/renderer/type", "is missing: code, document, html or frame"),
            (11, "/tools/2/renderer", "must have artifact or content"),
            (12, "/tools/3/renderer/type", "must be one of code, document, html, frame. Did you mean html?"),
            (13, "/tools/4/renderer_config", "is given twice: renderer holds its own configuration"),
            (17, "/tool_overrides/0/renderer_config", "is given without renderer: code, document, html or frame"),
            (
                22,
                "/tool_overrides/1/renderer_config/url",
                "must begin with https://; http:// is for localhost, in open mode",
            ),
            (24, "/tool_overrides/2/renderer", "must have artifact or content"),
        ],
    );
}

#[test]
fn the_values_of_servers_are_texts() {
    check(
        "mcp_servers:
  - id: a
    command: npx
    args: [-y, 8080, true]
    env:
      PORT: 8080
      DEBUG: true
      NONE:
    transport: pipe
    enabled: on
  - id: b
    url: 5
    headers: [x]
    allowed_hosts: example.com
",
        &[
            (4, "/mcp_servers/0/args/1", "is a number and must be a text: write it in quotes"),
            (4, "/mcp_servers/0/args/2", "is true and must be a text: write it in quotes"),
            (6, "/mcp_servers/0/env/PORT", "is a number and must be a text: write it in quotes"),
            (7, "/mcp_servers/0/env/DEBUG", "is true and must be a text: write it in quotes"),
            (8, "/mcp_servers/0/env/NONE", "must be a text, not nothing"),
            (9, "/mcp_servers/0/transport", "must be one of streamable-http, sse, stdio"),
            (10, "/mcp_servers/0/enabled", "on is a text in YAML 1.2: write true or false"),
            (12, "/mcp_servers/1/url", "is a number and must be a text: write it in quotes"),
            (13, "/mcp_servers/1/headers", "must be an object, not a list"),
            (14, "/mcp_servers/1/allowed_hosts", "must be a list, not a text"),
        ],
    );
}

#[test]
fn lists_are_bounded() {
    let tools = (0..201).map(|it| format!("  - {{id: t{it}, entrypoint: 'm:f'}}\n")).collect::<String>();
    check(&format!("tools:\n{tools}"), &[(1, "/tools", "holds 201 entries; 200 are allowed")]);
    let servers = (0..51).map(|it| format!("  - {{id: s{it}, url: 'https://a.example'}}\n")).collect::<String>();
    check(&format!("mcp_servers:\n{servers}"), &[(1, "/mcp_servers", "holds 51 entries; 50 are allowed")]);
    let overrides = (0..401).map(|it| format!("  - {{tool_id: 's:t{it}', enabled: true}}\n")).collect::<String>();
    check(
        &format!("mcp_servers: [{{id: s, command: x}}]\ntool_overrides:\n{overrides}"),
        &[(2, "/tool_overrides", "holds 401 entries; 400 are allowed")],
    );
    let long = format!("tools: [{{id: a, entrypoint: 'm:f', description: {}}}]", "x".repeat(8_193));
    check(&long, &[(1, "/tools/0/description", "has 8193 characters; 8192 are allowed")]);
    check(
        "tools: [{id: a, entrypoint: 'm:f', name: \"a\\u202eb\"}]",
        &[(1, "/tools/0/name", "must hold no control, bidirectional or tag characters")],
    );
}

#[test]
fn what_could_be_read_is_there_for_further_checks() {
    let text = with("tools:\n  - {id: a}\n  - {id: b, entrypoint: 'm:b', enabled: perhaps}\n");
    let (manifest, faults) = Manifest::read("kit/toolset.yml", &text);
    let manifest = manifest.unwrap();
    assert_eq!((faults.len(), manifest.tools.len()), (2, 1));
    assert_eq!((manifest.tools[0].id.as_str(), manifest.tool_pointer("b")), ("b", "/tools/1"));
    let note = manifest.note(&format!("{}/entrypoint", manifest.tool_pointer("b")), "names no file of the bundle");
    let told = "kit/toolset.yml, line 8, /tools/1/entrypoint: names no file of the bundle";
    assert_eq!(note.to_string(), told);
}

#[test]
fn a_toolset_of_nothing_is_told() {
    let manifest = good(&with(""));
    assert_eq!(manifest.warnings()[0].message, "The toolset has neither tools nor MCP servers");
}

#[test]
fn hostile_manifests_are_refused_in_a_moment() {
    let laughs = (0..9).fold("a: &a0 [lol]\n".to_owned(), |text, it| {
        let aliases = vec![format!("*a{it}"); 9].join(", ");
        format!("{text}b{it}: &a{} [{aliases}]\n", it + 1)
    });
    let long = "x".repeat(1_000_000);
    let unknown = (0..90_000).map(|it| format!("k{it}: 1\n")).collect::<String>();
    let near = (0..20_000).map(|it| format!("tools{it}: 1\n")).collect::<String>();
    let keys = (0..60).map(|it| format!("{}{}:\n", " ".repeat(it), "k".repeat(1_000))).collect::<String>();
    let deep = format!("tools: {}", "[".repeat(500_000));
    let overrides = (0..400).map(|it| format!("  - tool_id: {}{it}\n", "y".repeat(60))).collect::<String>();
    let tools =
        (0..200).map(|it| format!("  - {{id: {}{it}, entrypoint: 'm:f'}}\n", "x".repeat(60))).collect::<String>();
    for (what, text) in [
        ("anchors", laughs),
        ("tags", with("tools: !!python/object:os.system x")),
        ("comes twice", with("id: other")),
        ("a tab", with("tools:\n\t- id: x")),
        ("second document", with("---\nid: x")),
        ("characters; 200 are allowed", with("").replace("name: Kit", &format!("name: {long}"))),
        ("lower-case", with("").replace("id: kit", &format!("id: {long}"))),
        ("is no field", format!("{{\"{long}\": 1}}")),
        ("semantic version", with("").replace("1.0.0", &long)),
        ("a module and a function", with(&format!("tools: [{{id: a, entrypoint: {long}}}]"))),
        ("no tool of this", with(&format!("tool_overrides: [{{tool_id: {long}}}]"))),
        ("is no field", unknown),
        ("is no field", near),
        ("is no field", with(&keys)),
        ("", deep),
        ("no tool of this", with(&format!("tools:\n{tools}tool_overrides:\n{overrides}"))),
        ("too many values", with(&format!("tools: [{}]", "1,".repeat(400_000)))),
        ("is empty", String::new()),
        ("", "\u{0}".to_owned()),
        ("", "\u{fffd}\u{fffd}m\u{0}a\u{0}".to_owned()),
    ] {
        let began = computed();
        let (_, faults) = Manifest::read("toolset.yaml", &text);
        assert!(
            computed().saturating_sub(began) < Duration::from_secs(10),
            "{what}: {:?}",
            computed().saturating_sub(began)
        );
        assert!(faults.iter().any(|it| it.message.contains(what)), "{what}: {:?}", faults.first());
        assert!(faults.len() <= 1_000);
        assert!(faults.iter().all(|it| it.to_string().len() < 2_000), "{what}");
    }
}

#[test]
fn a_manifest_is_written_in_the_documents_words() {
    let text = good(SECTION_3).write();
    let expected = r#"manifest_version: "1"
id: my-toolset
name: My Toolset
version: "1.0.0"
description: Two tools that look at data
tools:
  - id: analyze_data
    entrypoint: tools.analyze:run
  - id: transform_file
    entrypoint: tools.transform:run
tool_overrides:
  - tool_id: my-toolset:analyze_data
    renderer: html
    renderer_config:
      artifact: artifacts/results.html
      data: "$return"
  - tool_id: my-mcp-server:search
    name_override: Web Search
    requires_confirmation: false
  - tool_id: my-toolset:transform_file
    renderer: code
    renderer_config:
      file: "$args.output"
      language: auto
      editable: true
mcp_servers:
  - id: my-mcp-server
    command: npx
    args:
      - "-y"
      - my-mcp-package
    env:
      API_KEY: "${MY_API_KEY}"
"#;
    assert_eq!(text, expected);
}

#[test]
fn what_is_written_is_read_as_the_same_manifest() {
    let mut dice = Dice(8);
    for _ in 0..500 {
        let manifest = random::manifest(&mut dice);
        let text = manifest.write();
        let read = good(&text);
        assert_eq!(read, manifest, "{text}");
        assert_eq!(read.version.as_str(), manifest.version.as_str());
        assert_eq!(read.write(), text);
        for tool in &manifest.tools {
            let stored = serde_json::to_string(tool).unwrap();
            assert_eq!(&serde_json::from_str::<DeclaredTool>(&stored).unwrap(), tool);
        }
    }
}

#[test]
fn no_change_of_a_good_manifest_makes_the_reader_panic() {
    const PIECES: [&str; 30] = [
        "", " ", "\n", "\t", ":", ": ", "- ", "#", "'", "\"", "[", "]", "{", "}", ",", "&a", "*a", "!!str ", "|", ">",
        "? ", "---\n", "null", "yes", "0x1", "1e9", "é😀", "\u{feff}", "\u{0}", "tool_id",
    ];
    let mut dice = Dice(77);
    for _ in 0..3_000 {
        let mut text = dice.pick(&[SECTION_3, SECTION_10]).to_owned();
        for _ in 0..=dice.below(3) {
            let from = text.floor_char_boundary(dice.below(text.len() + 1));
            let to = text.floor_char_boundary((from + dice.below(12)).min(text.len()));
            text.replace_range(from..to, dice.pick(&PIECES));
        }
        let (manifest, faults) = Manifest::read("toolset.yaml", &text);
        assert!(manifest.is_some() || !faults.is_empty(), "{text}");
        if let Some(manifest) = manifest.filter(|_| faults.is_empty()) {
            let written = manifest.write();
            assert_eq!(good(&written), manifest, "{text}");
        }
    }
}
