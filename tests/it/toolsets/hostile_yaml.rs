//! Manifests that cannot be read, or that say what is not allowed.

use super::{bundle, faults, import, manifest, refused, timed, told};
use crate::harness::{Client, ZipEntry, workspace, zip};
use std::time::Duration;

/// A bundle of this manifest, and of a module `main` with a function `run`.
fn with(text: &str) -> Vec<u8> {
    bundle(&[("toolset.yaml", text), ("main.py", "def run(): pass\n")])
}

#[track_caller]
fn one(client: &Client, rest: &str, expected: &str) {
    refused(client, &with(&manifest("1.0.0", rest)), &[expected]);
}

#[test]
fn yaml_beyond_plain_data_is_refused_with_its_line() {
    let client = workspace();
    one(&client, "description: &a text\ntools: []\n", "toolset.yaml:5 - is not YAML that can be read");
    one(&client, "description: *a\n", "toolset.yaml:5 -");
    one(&client, "description: !!python/object/apply:os.system [ls]\n", "toolset.yaml:5 -");
    one(&client, "description: !secret x\n", "toolset.yaml:5 -");
    one(&client, "<<: {name: x}\n", "toolset.yaml:5");
    one(&client, "tools:\n\t- id: a\n", "toolset.yaml:6 -");
    one(&client, "tools: [\n", "toolset.yaml:");
    one(&client, "---\nid: other\n", "toolset.yaml:");
    one(&client, "description: \"open\n", "toolset.yaml:");
    one(&client, "description: \u{1}\n", "toolset.yaml:5 /description must hold no control");
    one(&client, "name: Again\n", "toolset.yaml:5");
    one(&client, "? [a, b]\n: c\n", "toolset.yaml:5");
    for text in ["", "# nothing\n", "text", "- a\n- b\n", "null"] {
        let faults = faults(&client, &with(text)).iter().map(told).collect::<Vec<_>>();
        assert!(faults.len() == 1 && faults[0].starts_with("toolset.yaml:"), "{text:?}: {faults:#?}");
    }
}

#[test]
fn expensive_yaml_is_refused_quickly() {
    let client = workspace();
    let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..10 {
        let before = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    let deep = format!("description: {}\n", "[".repeat(100_000));
    let wide = format!("tools: [{}]\n", "1, ".repeat(300_000));
    let keys = (0..60_000).map(|it| format!("k{it}: 1\n")).collect::<String>();
    let scalar = format!("description: {}\n", "x".repeat(1_000_000));
    let quoted = format!("description: \"{}\"\n", "\\u0041".repeat(150_000));
    let flow = format!("description: {}\n", "{a: ".repeat(200_000));
    let dashes = format!("tools:\n{}\n", "- ".repeat(400_000));
    for (what, rest) in [
        ("laughs", laughs),
        ("deep", deep),
        ("wide", wide),
        ("keys", keys),
        ("scalar", scalar),
        ("quoted", quoted),
        ("flow", flow),
        ("dashes", dashes),
    ] {
        let (took, faults) = timed(|| faults(&client, &with(&manifest("1.0.0", &rest))));
        println!(
            "{what}: {took:?}, {} faults, {}",
            faults.len(),
            told(&faults[0]).chars().take(200).collect::<String>()
        );
        assert!(faults.len() <= 101 && took < Duration::from_secs(5), "{what}: {took:?}");
        assert!(faults.iter().all(|it| told(it).len() < 2_000), "{what}");
    }
}

#[test]
fn other_encodings_are_refused() {
    let client = workspace();
    let text = manifest("1.0.0", "description: \"caf\u{e9}\"\n");
    let zip_of = |bytes: &[u8]| zip(&[ZipEntry::stored("toolset.yaml", bytes)]);
    let latin = text.chars().map(|it| it as u32 as u8).collect::<Vec<_>>();
    refused(&client, &zip_of(&latin), &["is not UTF-8 (line 5)"]);
    let wide = text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    for bom in [&[][..], &[0xff, 0xfe]] {
        let faults = faults(&client, &zip_of(&[bom, &wide].concat()));
        assert_eq!((faults.len(), faults[0]["file"].as_str()), (1, Some("toolset.yaml")), "{faults:?}");
    }
    refused(&client, &zip_of(&vec![b'#'; 1024 * 1024 + 1]), &["has 1048577 bytes; a manifest has at most 1048576"]);
    // A mark of the byte order, and lines of Windows, are fine.
    for text in [format!("\u{feff}{text}"), text.replace('\n', "\r\n")] {
        assert_eq!(import(&client, "?dry_run=true", &zip_of(text.as_bytes())).ok()["description"], "caf\u{e9}");
    }
}

#[test]
fn unknown_fields_name_what_was_meant() {
    let client = workspace();
    one(&client, "tool:\n  - id: a\n", "toolset.yaml:5 /tool ");
    one(&client, "descripton: x\n", "description");
    let text = "tools:
  - id: run
    entrypoint: main:run
    inputschema: {type: object}
    requiresConfirmation: true
    requires_approval: true
    renderer:
      type: code
      file: $args.path
      languag: python
tool_overrides:
  - tool_id: run
    nameOverride: A
    name: B
mcp_servers:
  - id: remote
    uri: https://mcp.example.com
";
    let faults = faults(&client, &with(&manifest("1.0.0", text))).iter().map(told).collect::<Vec<_>>();
    for part in [
        "toolset.yaml:8 /tools/0/inputschema ",
        "toolset.yaml:10 /tools/0/requires_approval is the same field as requiresConfirmation",
        "toolset.yaml:18 /tool_overrides/0/name ",
        "toolset.yaml:21 /mcp_servers/0/uri ",
    ] {
        assert!(faults.iter().any(|it| it.starts_with(part)), "{part}: {faults:#?}");
    }
}

#[test]
fn every_fault_of_a_manifest_is_told_at_once() {
    let client = workspace();
    let text = "manifest_version: 2
id: Kit Nr. 1
name: \"\"
version: 1.0
description: 7
tools:
  - id: a:b
    entrypoint: main
    timeout_seconds: 121
    risk_level: deadly
    requires_confirmation: yes
    input_schema: [object]
    rate_limit: 0
  - entrypoint: main:run
tool_overrides: none
mcp_servers:
  - id: a
  - id: a
";
    let faults = faults(&client, &with(text)).iter().map(told).collect::<Vec<_>>();
    for part in [
        "toolset.yaml:1 /manifest_version ",
        "toolset.yaml:2 /id must be 1 to 64 lower-case letters",
        "toolset.yaml:3 /name ",
        "toolset.yaml:4 /version is a number",
        "toolset.yaml:5 /description is a number",
        "toolset.yaml:7 /tools/0/id ",
        "toolset.yaml:8 /tools/0/entrypoint must be a module and a function",
        "toolset.yaml:9 /tools/0/timeout_seconds must be a whole number from 1 to 120",
        "toolset.yaml:10 /tools/0/risk_level ",
        "toolset.yaml:11 /tools/0/requires_confirmation yes is a text in YAML 1.2",
        "toolset.yaml:12 /tools/0/input_schema ",
        "toolset.yaml:13 /tools/0/rate_limit ",
        "toolset.yaml:14 /tools/1/id is missing",
        "toolset.yaml:15 /tool_overrides ",
        "toolset.yaml:18 /mcp_servers/1/id a comes twice",
    ] {
        assert!(faults.iter().any(|it| it.starts_with(part)), "{part}: {faults:#?}");
    }
    // With an id, the checks go on to the files and the sandbox.
    let text = manifest("one", "tools:\n  - id: a\n    entrypoint: main:none\n  - id: b\n    entrypoint: gone:run\n");
    refused(
        &client,
        &with(&text),
        &["toolset.yaml:4 /version ", "toolset.yaml:9 /tools/1/entrypoint ", "toolset.yaml:7 /tools/0/entrypoint "],
    );
}
