//! What imports, reads and calls cost: round trips, rows, memory.

use super::{TOOLSETS, bundle, call, import, installed, manifest, stored, timed};
use crate::harness::{Answer, Server, ZipEntry, unique, workspace, zip};
use serde_json::json;

const MIB: usize = 1024 * 1024;

fn print(what: &str, answer: &Answer) {
    println!("{what}: {} {}, wasm {} MiB", answer.status, answer.header("x-d1-cost").unwrap(), wasm(answer) / MIB);
}

/// The bytes of the Worker's memory after the request.
fn wasm(answer: &Answer) -> usize {
    answer.header("x-wasm-bytes").map_or(0, |it| it.parse().unwrap())
}

fn hundred(version: &str, description: &str) -> Vec<u8> {
    let tool = |it: usize| {
        format!("  - {{id: t{it}, entrypoint: 'tools.m{}:f{it}', description: '{description} {it}'}}\n", it / 10)
    };
    let overrides =
        (0..100).map(|it| format!("  - {{tool_id: t{it}, renderer: code, renderer_config: {{content: $return}}}}\n"));
    let text =
        format!("tools:\n{}tool_overrides:\n{}", (0..100).map(tool).collect::<String>(), overrides.collect::<String>());
    let module = |it: usize| {
        (0..10).map(|n| format!("def f{}(workspace, x: int = 0):\n    return x\n", it * 10 + n)).collect::<String>()
    };
    let mut files = vec![("toolset.yaml".to_owned(), manifest(version, &text))];
    files.extend((0..10).map(|it| (format!("tools/m{it}.py"), module(it))));
    bundle(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
}

#[test]
fn a_hundred_tools_cost_few_round_trips() {
    let client = workspace();
    let preview = import(&client, "?dry_run=true", &hundred("1.0.0", "Tool"));
    print("preview of 100 tools", &preview);
    assert_eq!(preview.cost("rows_written"), 0);
    let made = import(&client, "", &hundred("1.0.0", "Tool"));
    print("import of 100 tools", &made);
    made.created();
    assert!(made.cost("round_trips") <= 10);
    let same = import(&client, "?replace=true", &hundred("1.0.0", "Tool"));
    print("the same again", &same);
    assert!(same.cost("round_trips") <= 10 && same.cost("rows_read") < 5_000);
    let next = import(&client, "?replace=true", &hundred("1.1.0", "Other"));
    print("100 new versions", &next);
    assert!(next.cost("round_trips") <= 10);
    next.ok();
    for (what, answer) in [
        ("list", client.get(TOOLSETS)),
        ("get", client.get(&format!("{TOOLSETS}/kit"))),
        ("a file", client.get(&format!("{TOOLSETS}/kit/files/tools/m0.py"))),
        ("an override", client.get(&format!("{TOOLSETS}/kit/overrides/t0"))),
    ] {
        print(what, &answer);
        assert_eq!((answer.status, answer.cost("rows_written")), (200, 0), "{what}");
        assert!(answer.cost("round_trips") <= 2, "{what}");
    }
    let export = client.get(&format!("{TOOLSETS}/kit/export"));
    print("export", &export);
    assert!(export.cost("round_trips") <= 3);
    for what in ["disable", "enable"] {
        let answer = client.post(&format!("{TOOLSETS}/kit/{what}"), json!({}));
        print(what, &answer);
        assert!(answer.cost("round_trips") <= 3);
    }
    let gone = client.delete(&format!("{TOOLSETS}/kit"));
    print("uninstall", &gone);
    assert!(gone.cost("round_trips") <= 3);
    gone.no_content();
}

#[test]
fn a_call_costs_no_more_with_many_tools_beside_it() {
    let client = workspace();
    import(&client, "", &hundred("1.0.0", "Tool")).created();
    for what in ["the first call", "a call", "a call"] {
        let answer = call(&client, "s", "kit:t7", json!({"x": 1}));
        print(what, &answer);
        answer.success();
    }
    let answer = call(&client, "s", "kit:t7", json!({"x": 1}));
    assert!(answer.cost("round_trips") <= 4, "{}", answer.header("x-d1-cost").unwrap());
    assert!(answer.cost("rows_read") < 100, "{}", answer.header("x-d1-cost").unwrap());
}

#[test]
fn the_largest_bundles_fit_into_memory() {
    // 64 MiB inflated: six files of 10 MiB that compress well, and one of 3 MiB that does not.
    let client = workspace();
    let text = manifest("1.0.0", "tools:\n  - {id: run, entrypoint: 'main:run'}\n");
    let mut entries = vec![
        ZipEntry::deflated("toolset.yaml", &text),
        ZipEntry::deflated("main.py", "def run(workspace):\n    return 1\n"),
    ];
    let line = |it: usize| format!("{it} the quick brown fox jumps over the lazy dog\n").repeat(10 * MIB / 50);
    entries.extend((0..6).map(|it| ZipEntry::deflated(&format!("assets/{it}.txt"), line(it).as_bytes())));
    let mut seed = 1_u32;
    let noise = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    });
    entries.push(ZipEntry::stored("assets/noise.bin", noise.take(3 * MIB).collect::<Vec<_>>()));
    let zip = zip(&entries);
    println!("a ZIP of {} KiB", zip.len() / 1024);
    let (took, made) = timed(|| import(&client, "", &zip));
    print(&format!("import of 63 MiB in {took:?}"), &made);
    made.created();
    assert!(wasm(&made) < 110 * MIB, "an isolate has 128 MB");
    let (took, first) = timed(|| call(&client, "s", "kit:run", json!({})));
    print(&format!("the first call in {took:?}"), &first);
    first.success();
    let (took, export) = timed(|| client.get(&format!("{TOOLSETS}/kit/export")));
    print(&format!("export of {} KiB in {took:?}", export.bytes.len() / 1024), &export);
    assert_eq!(export.status, 200);
    assert!(wasm(&export) < 110 * MIB, "an isolate has 128 MB");
    client.delete(&format!("{TOOLSETS}/kit")).no_content();
}

#[test]
fn an_upgrade_of_many_files_reads_each_row_a_few_times() {
    let client = workspace();
    let files = |version: &str, contents: &str| {
        let manifest = ZipEntry::stored("toolset.yaml", manifest(version, ""));
        let files = (0..1_999).map(|it| ZipEntry::stored(&format!("assets/{it}.txt"), contents));
        zip(&std::iter::once(manifest).chain(files).collect::<Vec<_>>())
    };
    installed(&client, &files("1.0.0", "a"));
    let upgraded = import(&client, "?replace=true", &files("2.0.0", "b"));
    print("an upgrade that changes 1,999 files", &upgraded);
    assert_eq!(upgraded.ok()["changes"]["files"]["changed"].as_array().unwrap().len(), 1_999);
    assert!(upgraded.cost("rows_read") < 30_000);
}

#[test]
fn a_bundle_without_room_takes_no_room() {
    let sandbox = std::env::var("PEGBOARD_SANDBOX_URL").unwrap();
    let vars = [
        ("AUTH", "open"),
        ("SECRET_KEY", "a"),
        ("SANDBOX_URL", sandbox.as_str()),
        ("WORKSPACE_QUOTA_BYTES", "20000000"),
    ];
    let server = Server::start("toolset_quota", &vars);
    let client = server.client(&unique("ws"));
    let before = stored(&server, &client);
    let large = |byte: u8| ZipEntry::deflated(&format!("{byte}.bin"), vec![byte; 9 * MIB]);
    let entries = [ZipEntry::stored("toolset.yaml", manifest("1.0.0", "")), large(b'a'), large(b'b'), large(b'c')];
    import(&client, "", &zip(&entries)).refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(stored(&server, &client), before, "contents come in several batches, and none of them was written");
    import(&client, "", &zip(&entries[..3])).created();
    import(&client, "?replace=true", &zip(&entries)).refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(client.get(&format!("{TOOLSETS}/kit")).ok()["files"].as_array().unwrap().len(), 2);
}
