//! Python that works on the files of a session, in the real sandbox: what it changes becomes one file manifest.

use crate::files::{Files, id};
use crate::harness::{Answer, Client, Dice, ROOT_TOKEN, Sandbox, Server, definition, unique, workspace};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::Duration;

/// The document's first example, with `process` filled in.
const ANALYZE_DATA: &str = r#"
import json
from covalt_toolset import tool, get_context

def process(data):
    return [line.split(",") for line in data.splitlines()]

@tool(
    name="Analyze Data",
    description="Analyze a data file and return statistics",
)
def analyze_data(filename: str) -> dict:
    """
    Args:
        filename: File to analyze

    Returns:
        JSON-serializable dict. This becomes $return for renderer interpolation.
    """
    ctx = get_context()  # Access workspace, chat_id, toolset_id

    input_file = ctx.workspace / filename
    data = input_file.read_text()
    result = process(data)

    output_file = ctx.workspace / "output.json"
    output_file.write_text(json.dumps(result))

    return {
        "summary": "Processed 100 rows",
        "output_file": "output.json",
        "stats": {"rows": 100, "columns": 5}
    }
"#;

/// The document's second example, with its body filled in.
const TRANSFORM_FILE: &str = r#"
from pydantic import BaseModel, Field
from covalt_toolset import tool, get_context

class TransformConfig(BaseModel):
    input: str = Field(description="Input file path")
    output: str = Field(description="Output file path")
    template: str = Field(description="Template to apply")

@tool(name="Transform File", description="Transform a file using a template")
def transform_file(config: TransformConfig) -> dict:
    ctx = get_context()
    text = (ctx.workspace / config.input).read_text()
    (ctx.workspace / config.output).write_text(config.template.format(text=text))
    return {"config": type(config).__name__, "chat_id": ctx.chat_id, "toolset_id": ctx.toolset_id, "extra": ctx.extra}
"#;

/// Writes and deletes files as it is told, and then fails as it is told. A write makes room for itself.
const APPLY: &str = r#"
import base64, os, shutil, time

def run(workspace, writes={}, binary={}, deletes=[], rest="", pause=0):
    print("begun")
    time.sleep(pause)
    for path in deletes:
        (workspace / path.lstrip("/")).unlink()
    contents = {path: text.encode() for path, text in writes.items()}
    contents.update((path, base64.b64decode(text)) for path, text in binary.items())
    for path, data in contents.items():
        target = workspace / path.lstrip("/")
        for above in target.relative_to(workspace).parents:
            if (workspace / above).is_file():
                (workspace / above).unlink()
        if target.is_dir():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    if rest == "raise":
        raise ValueError("after all writes")
    while rest == "forever":
        pass
    if rest == "die":
        os.abort()
    return sorted(str(it.relative_to(workspace)) for it in workspace.rglob("*") if it.is_file())
"#;

/// The SHA-256 of each file.
const DIGESTS: &str = r#"
import hashlib

def run(workspace):
    files = [it for it in workspace.rglob("*") if it.is_file()]
    return {str(it.relative_to(workspace)): hashlib.sha256(it.read_bytes()).hexdigest() for it in files}
"#;

fn apply_schema() -> Value {
    json!({"type": "object", "properties": {
        "writes": {"type": "object"}, "binary": {"type": "object"}, "deletes": {"type": "array"},
        "rest": {"type": "string"}, "pause": {"type": "number"}}})
}

/// The handler of a tool that works on files.
fn on_files(code: &str, function: &str) -> Value {
    json!({"type": "python", "code": code, "function": function, "files": true})
}

/// Registers the tools `apply` and `digests`.
fn register(client: &Client) {
    let fields = json!({
        "parameters_schema": apply_schema(), "handler": on_files(APPLY, "run"), "timeout_seconds": 10,
    });
    client.register("apply", "1.0.0", fields);
    client.register(
        "digests",
        "1.0.0",
        json!({"parameters_schema": {"type": "object"}, "handler": on_files(DIGESTS, "run"), "timeout_seconds": 30}),
    );
}

/// A session in a new workspace with these tools.
fn session() -> Files {
    let files = Files::new();
    register(&files.client);
    files
}

fn call(files: &Files, tool: &str, arguments: Value) -> Answer {
    files.client.call(json!({"tool_name": tool, "arguments": arguments, "session_id": files.session}))
}

fn apply(files: &Files, arguments: Value) -> Value {
    let result = call(files, "apply", arguments).result(200);
    assert_eq!(result["success"], true, "{result}");
    result
}

/// The message of a call that failed.
#[track_caller]
fn refused(files: &Files, arguments: Value) -> (String, Value) {
    let result = call(files, "apply", arguments).failed(200, "TOOL_ERROR");
    (result["error"]["message"].as_str().unwrap().to_owned(), result)
}

/// The paths and sizes of the session's present files.
fn present(files: &Files) -> BTreeMap<String, u64> {
    let session = files.client.get(&files.url(""));
    let Some(manifest) = session.json()["active_manifest_id"].as_str().map(str::to_owned) else {
        return BTreeMap::new();
    };
    let entries = files.client.pages(&files.url(&format!("/manifests/{manifest}")), "entries", 200);
    entries.iter().map(|it| (id(it, "path"), it["size"].as_u64().unwrap())).collect()
}

fn active(files: &Files) -> Value {
    files.client.get(&files.url("")).json()["active_manifest_id"].clone()
}

fn paths(files: &Files) -> Vec<String> {
    present(files).into_keys().collect()
}

/// What a call changed, by path.
fn changed_by(files: &Files, result: &Value) -> Vec<String> {
    let (from, to) = (id(result, "pre_manifest_id"), id(result, "post_manifest_id"));
    let changes = files.client.pages(&files.url(&format!("/diff?from={from}&to={to}")), "changes", 50);
    changes.iter().map(|it| format!("{} {}", id(it, "change"), id(it, "path"))).collect()
}

/// A Worker with a sandbox, and with further settings.
fn server_with(url: &str, more: &[(&str, &str)]) -> Server {
    let vars = [("AUTH", "open"), ("SECRET_KEY", "a secret"), ("SANDBOX_URL", url), ("COST_HEADER", "on")];
    Server::start(&unique("python_files"), &[&vars[..], more].concat())
}

fn sandbox_url() -> String {
    std::env::var("PEGBOARD_SANDBOX_URL").unwrap()
}

#[test]
fn the_documents_examples_run_as_written() {
    let files = Files::new();
    let client = &files.client;
    let filename = json!({"type": "object", "properties": {"filename": {"type": "string"}}, "required": ["filename"]});
    let mut handler = on_files(ANALYZE_DATA, "analyze_data");
    handler["requirements"] = json!(["covalt_toolset"]);
    let made =
        client.register("analyze_data", "1.0.0", json!({"parameters_schema": filename, "handler": handler.clone()}));
    assert_eq!(made["warnings"], json!([]));
    files.put("data.csv", "a,b\n1,2\n").created();
    let before = active(&files);
    let result = call(&files, "analyze_data", json!({"filename": "data.csv"})).result(200);
    assert_eq!(result["result"]["summary"], "Processed 100 rows", "{result}");
    assert_eq!(files.get("output.json").text, r#"[["a", "b"], ["1", "2"]]"#);
    assert_eq!((&result["pre_manifest_id"], &result["post_manifest_id"]), (&before, &active(&files)));
    assert_eq!(changed_by(&files, &result), ["added /output.json"]);
    // The file manifest is found by its call.
    let record = client.record(&result);
    assert_eq!((&record["pre_manifest_id"], &record["post_manifest_id"]), (&before, &result["post_manifest_id"]));
    let listed = client.get(&files.url(&format!("/manifests?source_ref={}", id(&result, "call_id")))).ok();
    assert_eq!(
        (&listed["manifests"][0]["id"], &listed["manifests"][0]["source"]),
        (&active(&files), &json!("tool_run"))
    );

    let config = json!({"type": "object", "properties": {
        "input": {"type": "string"}, "output": {"type": "string"}, "template": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": {"config": config}, "required": ["config"]});
    let mut handler = on_files(TRANSFORM_FILE, "transform_file");
    handler["requirements"] = json!(["pydantic", "covalt_toolset"]);
    client.register("transform_file", "1.0.0", json!({"parameters_schema": schema, "handler": handler}));
    let asked = json!({"config": {"input": "data.csv", "output": "out.txt", "template": "<{text}>"}});
    let result = call(&files, "transform_file", asked).success();
    let expected = json!({"config": "TransformConfig", "chat_id": files.session, "toolset_id": null, "extra": {}});
    assert_eq!((result, files.get("out.txt").text), (expected, "<a,b\n1,2\n>".to_owned()));
    // A reader changes nothing, and its file manifests are the same.
    let failed = call(&files, "analyze_data", json!({"filename": "none.csv"})).failed(200, "TOOL_ERROR");
    assert!(failed["error"]["message"].as_str().unwrap().contains("FileNotFoundError"), "{failed}");
    assert_eq!((&failed["pre_manifest_id"], &failed["post_manifest_id"]), (&active(&files), &active(&files)));
}

#[test]
fn files_of_every_kind_are_written_and_deleted_at_once() {
    let files = session();
    let first =
        apply(&files, json!({"writes": {"/a": "1", "/d/b": "ä\u{1F600}", "/d/empty": ""}, "binary": {"/x": "AP8B"}}));
    assert_eq!(first["pre_manifest_id"], Value::Null, "a session that did not exist springs up");
    assert_eq!(first["result"], json!(["a", "d/b", "d/empty", "x"]));
    let contents = |path: &str| files.get(path).bytes;
    assert_eq!((contents("x"), contents("d/b"), contents("d/empty")), (vec![0, 255, 1], "ä\u{1F600}".into(), vec![]));
    let second = apply(&files, json!({"writes": {"/a": "2", "/n": "new"}, "deletes": ["/d/b", "/x"]}));
    assert_eq!(second["pre_manifest_id"], first["post_manifest_id"]);
    assert_eq!(changed_by(&files, &second), ["modified /a", "removed /d/b", "added /n", "removed /x"]);
    assert_eq!(paths(&files), ["/a", "/d/empty", "/n"]);
    // A file becomes a directory, and the reverse.
    apply(&files, json!({"writes": {"/a/b": "3", "/d": "4"}}));
    assert_eq!(paths(&files), ["/a/b", "/d", "/n"]);
    // What was written is what the next run sees.
    assert_eq!(apply(&files, json!({}))["result"], json!(["a/b", "d", "n"]));
    let unchanged = apply(&files, json!({"writes": {"/d": "4"}}));
    assert_eq!((&unchanged["pre_manifest_id"], &unchanged["post_manifest_id"]), (&active(&files), &active(&files)));
    apply(&files, json!({"deletes": ["/a/b", "/d", "/n"]}));
    assert_eq!(paths(&files), [""; 0]);
    let nothing = Files { client: files.client.clone(), session: unique("session") };
    let empty = apply(&nothing, json!({}));
    assert_eq!((&empty["result"], &empty["pre_manifest_id"]), (&json!([]), &Value::Null));
    assert_eq!(empty["post_manifest_id"], Value::Null);
    nothing.client.get(&nothing.url("")).ok();
}

#[test]
fn what_was_written_before_a_failure_stays() {
    let files = session();
    files.put("kept", "1").created();
    for (number, (rest, code, told)) in [
        ("raise", "TOOL_ERROR", "ValueError: after all writes"),
        ("forever", "TIMEOUT", "Timed out after 10 s"),
        ("die", "TOOL_ERROR", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let before = active(&files);
        let path = format!("/{number}");
        let asked = json!({"writes": {&path: "partial"}, "deletes": [], "rest": rest});
        let failed = call(&files, "apply", asked).failed(200, code);
        assert!(failed["error"]["message"].as_str().unwrap().contains(told), "{failed}");
        assert_eq!(failed["error"]["details"]["output"], "begun\n", "{failed}");
        assert_eq!((&failed["pre_manifest_id"], &failed["post_manifest_id"]), (&before, &active(&files)));
        assert_eq!(changed_by(&files, &failed), [format!("added {path}")]);
        let record = files.client.record(&failed);
        assert_eq!((&record["post_manifest_id"], &record["status"]), (&active(&files), &json!("error")));
    }
    assert_eq!(paths(&files), ["/0", "/1", "/2", "/kept"]);
}

#[test]
fn a_limit_is_named_and_nothing_is_written() {
    let files = session();
    files.put("a", "1").created();
    let before = active(&files);
    let code = "def run(workspace, files=1, size=1, name='f'):\n    for number in range(files):\n        \
        (workspace / f'{name}{number}').write_bytes(bytes(size))\n    print('said')";
    let schema = json!({"type": "object", "properties": {
        "files": {"type": "integer"}, "size": {"type": "integer"}, "name": {"type": "string"}}});
    let fields = json!({"parameters_schema": schema, "handler": on_files(code, "run"), "timeout_seconds": 30});
    files.client.register("fill", "1.0.0", fields);
    for (asked, told) in [
        (json!({"size": 10 * 1024 * 1024 + 1}), "f0"),
        (json!({"files": 2_000}), "2000"),
        (json!({"files": 7, "size": 10 * 1024 * 1024}), "67108864"),
    ] {
        let failed = call(&files, "fill", asked.clone()).failed(200, "TOOL_ERROR");
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.replace([',', '_'], "").contains(told), "{asked}: {message}");
        assert_eq!(failed["error"]["details"], json!({"kind": "files", "output": "said\n"}));
        assert_eq!((&failed["pre_manifest_id"], &failed["post_manifest_id"]), (&before, &before));
        assert_eq!(active(&files), before);
    }
    // As many files as are allowed, in one file manifest.
    let full = call(&files, "fill", json!({"files": 1_999})).result(200);
    assert_eq!(full["success"], true, "{full}");
    assert_eq!(present(&files).len(), 2_000);
    files.put("one-more", "x").created();
    let failed = call(&files, "fill", json!({})).failed(200, "TOOL_ERROR");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("The session has 2001 files of 2001 bytes together"), "{message}");
    let other = Files { client: files.client.clone(), session: unique("session") };
    other.put("a", "1").created();
    crate::harness::open().sql("UPDATE manifests SET bytes = 67108865 WHERE id = ?1", &[active(&other)]);
    let failed = call(&other, "fill", json!({})).failed(200, "TOOL_ERROR");
    assert!(failed["error"]["message"].as_str().unwrap().contains("1 files of 67108865 bytes"), "{failed}");
}

#[test]
fn files_that_others_change_meanwhile_stay_unless_the_run_changed_them_too() {
    let files = session();
    for path in ["mine", "theirs", "gone", "both", "both-gone"] {
        files.put(path, "0").created();
    }
    std::thread::scope(|threads| {
        let run = threads.spawn(|| {
            let writes = json!({"/mine": "run", "/both": "run", "/new/run": "run"});
            apply(&files, json!({"writes": writes, "deletes": ["/both-gone"], "pause": 3}))
        });
        sleep(Duration::from_millis(1_000));
        files.put("theirs", "other").ok();
        files.put("both", "other").ok();
        files.put("both-gone", "other").ok();
        files.put("new/other", "other").created();
        files.delete("gone").no_content();
        let meanwhile = active(&files);
        let result = run.join().unwrap();
        assert_eq!(result["pre_manifest_id"], meanwhile, "the run comes after the others");
        assert_eq!(
            changed_by(&files, &result),
            ["modified /both", "removed /both-gone", "modified /mine", "added /new/run"]
        );
    });
    assert_eq!(paths(&files), ["/both", "/mine", "/new/other", "/new/run", "/theirs"]);
    let text = |path: &str| files.get(path).text;
    assert_eq!((text("both").as_str(), text("mine").as_str(), text("theirs").as_str()), ("run", "run", "other"));
}

#[test]
fn a_path_that_is_a_file_for_one_and_a_directory_for_the_other_is_a_conflict() {
    for (theirs, mine, told) in [
        ("d", "/d/run", "Cannot write /d/run: /d is a file, not a directory"),
        ("d/other", "/d", "Cannot write /d: it is a directory"),
    ] {
        let files = session();
        files.put("kept", "0").created();
        std::thread::scope(|threads| {
            let run = threads.spawn(|| refused(&files, json!({"writes": {mine: "run", "/other": "run"}, "pause": 3})));
            sleep(Duration::from_millis(1_000));
            files.put(theirs, "other").created();
            let (message, result) = run.join().unwrap();
            assert_eq!(message, told);
            assert_eq!(result["error"]["details"], json!({"kind": "files", "output": "begun\n"}));
        });
        assert_eq!(paths(&files), [format!("/{theirs}"), "/kept".to_owned()]);
    }
}

#[test]
fn many_runs_at_once_lose_nothing() {
    let files = session();
    crate::harness::race(4, |caller| {
        for turn in 0..3 {
            apply(&files, json!({"writes": {format!("/{caller}/{turn}"): "x", "/shared": format!("{caller}")}}));
        }
    });
    assert_eq!(present(&files).len(), 13);
    let manifests = files.client.pages(&files.url("/manifests"), "manifests", 50);
    assert_eq!(manifests.len(), 12);
}

#[test]
fn the_limit_of_a_session_and_the_quota_hold() {
    let server = server_with(&sandbox_url(), &[("SESSION_MAX_BYTES", "20"), ("WORKSPACE_QUOTA_BYTES", "12000")]);
    let files = Files::on(&server);
    register(&files.client);
    apply(&files, json!({"writes": {"/a": "0123456789"}}));
    let before = active(&files);
    let (message, result) = refused(&files, json!({"writes": {"/b": "01234", "/c": "012345"}}));
    assert_eq!(message, "Cannot write the files: the session's files would have 21 bytes; 20 are allowed");
    assert_eq!((&result["pre_manifest_id"], &result["post_manifest_id"]), (&before, &before));
    let (message, _) = refused(&files, json!({"writes": {"/b": "0123456789!"}, "rest": "raise"}));
    assert!(message.starts_with("Cannot write the files: ") && message.contains("ValueError"), "{message}");
    apply(&files, json!({"writes": {"/b": "0123456789"}}));
    apply(&files, json!({"writes": {"/c": "01234"}, "deletes": ["/a"]}));
    // Each file manifest takes 600 bytes, and each entry 300.
    let mut made = 0;
    let (message, _) = loop {
        let answer = call(&files, "apply", json!({"writes": {"/c": format!("{made}")}})).result(200);
        if answer["success"] == false {
            break (answer["error"]["message"].as_str().unwrap().to_owned(), answer);
        }
        made += 1;
        assert!(made < 20);
    };
    assert!(message.starts_with("Cannot write the files: the workspace stores"), "{message}");
    assert_eq!(paths(&files), ["/b", "/c"]);
}

#[test]
fn contents_of_other_workspaces_are_never_visible() {
    let (mine, theirs) = (session(), session());
    mine.put("secret", "only here").created();
    assert_eq!(call(&mine, "digests", json!({})).success().as_object().unwrap().len(), 1);
    let theirs = Files { session: mine.session.clone(), ..theirs };
    assert_eq!(call(&theirs, "digests", json!({})).success(), json!({}));
    let code = "import os\ndef run(workspace):\n    found = []\n    for top in ('/', str(workspace.parent), '/tmp', '/proc'):\n        \
        for folder, _, names in os.walk(top):\n            found += [n for n in names if n == 'secret']\n    return found";
    theirs.client.register(
        "search",
        "1.0.0",
        json!({"parameters_schema": {"type": "object"},
        "handler": on_files(code, "run"), "timeout_seconds": 20}),
    );
    assert_eq!(call(&theirs, "search", json!({})).success(), json!([]));
}

#[test]
fn a_bound_token_works_on_the_sessions_of_its_agent() {
    let server = Server::start(
        &unique("python_files"),
        &[("ROOT_TOKEN", ROOT_TOKEN), ("SECRET_KEY", "a secret"), ("SANDBOX_URL", &sandbox_url())],
    );
    let root = server.client(&unique("ws")).with_token(ROOT_TOKEN);
    register(&root);
    let agent = root.agent(json!({}));
    root.post(&format!("/api/agents/{agent}/tools"), json!({"tool_id": "apply"})).created();
    let bound = root.token(json!({"name": "b", "level": "owner", "agent_id": agent}));
    root.put("/api/sessions/theirs/files/secret", "x").created();
    let theirs = Files { client: bound.clone(), session: "theirs".into() };
    // A session of others looks like one that does not exist, and cannot be written to.
    let seen = apply(&theirs, json!({}));
    assert_eq!((&seen["result"], &seen["pre_manifest_id"]), (&json!([]), &Value::Null));
    let (message, _) = refused(&theirs, json!({"writes": {"/n": "x"}}));
    assert!(message.contains("the session theirs was not made by this agent"), "{message}");
    let own = Files { client: bound.clone(), session: "own".into() };
    apply(&own, json!({"writes": {"/n": "x"}}));
    assert_eq!(apply(&own, json!({}))["result"], json!(["n"]));
    assert_eq!(root.get("/api/sessions/theirs/files").ok()["entries"].as_array().unwrap().len(), 1);
    assert_eq!(bound.get("/api/sessions").ok()["sessions"].as_array().unwrap().len(), 1);
}

/// In the steady state the sandbox has all contents, so nothing but hashes is read from D1.
#[test]
fn the_cost_follows_the_changed_files() {
    let measure = |count: usize| {
        let files = session();
        let writes =
            (0..count).map(|it| (format!("/d/{it}"), json!(format!("{it}")))).collect::<serde_json::Map<_, _>>();
        apply(&files, json!({"writes": writes}));
        let one = call(&files, "apply", json!({"writes": {"/d/3": "changed"}}));
        assert_eq!(one.result(200)["success"], true);
        let none = call(&files, "apply", json!({}));
        assert_eq!(none.result(200)["success"], true);
        assert_eq!(none.cost("round_trips"), 3, "the look-up, the list of files, the record");
        assert_eq!(one.cost("round_trips"), 4, "and the commit");
        (one.cost("rows_written"), one.cost("rows_read"), none.cost("rows_read"))
    };
    let (few, many) = (measure(10), measure(200));
    eprintln!("1 of 10 files: {few:?}, 1 of 200 files: {many:?}");
    assert_eq!(few.0, many.0, "rows written");
    // Only the list of the files grows with their number, by a few rows for each.
    assert!(many.1 - many.2 <= few.1 - few.2 + 3, "the commit itself: {few:?} {many:?}");
    assert!(many.2 <= few.2 + 8 * 190, "the list: {few:?} {many:?}");
}

#[test]
fn large_contents_go_both_ways_in_pieces() {
    let address = Sandbox::free_address();
    let sandbox = Sandbox::start_at(&address, &[]);
    let server = server_with(&format!("http://{address}"), &[]);
    let files = Files::on(&server);
    register(&files.client);
    let code = "import random, hashlib\ndef run(workspace):\n    random.seed(7)\n    digests = {}\n    \
        for number in range(3):\n        data = random.randbytes(7_000_000 + number)\n        \
        (workspace / f'binary{number}').write_bytes(data)\n        digests[f'binary{number}'] = hashlib.sha256(data).hexdigest()\n    \
        for number in range(3):\n        data = ('\\u00e4\\n\"\\\\' * 700_000 + str(number)).encode()\n        \
        (workspace / f'text{number}').write_bytes(data)\n        digests[f'text{number}'] = hashlib.sha256(data).hexdigest()\n    \
        for number in range(300):\n        data = str(number).encode()\n        \
        (workspace / f'small{number}').write_bytes(data)\n        digests[f'small{number}'] = hashlib.sha256(data).hexdigest()\n    \
        return digests";
    let fields =
        json!({"parameters_schema": {"type": "object"}, "handler": on_files(code, "run"), "timeout_seconds": 30});
    files.client.register("make", "1.0.0", fields);
    let digests = call(&files, "make", json!({})).success();
    assert_eq!(present(&files).len(), 306);
    assert_eq!(call(&files, "digests", json!({})).success(), digests);
    let kept = server.sql("SELECT count(*) AS n FROM stale_blobs WHERE keep_until IS NOT NULL", &[]);
    assert!(kept[0]["n"].as_u64().unwrap() > 0, "some contents were stored ahead");
    // The sweep leaves them alone now, and deletes nothing that is used later.
    assert_eq!(server.ask(json!({"scheduled": "*/5 * * * *"}))["outcome"], "ok");
    server.sql("UPDATE stale_blobs SET keep_until = '2026-01-01T00:00:00.000Z'", &[]);
    for _ in 0..3 {
        assert_eq!(server.ask(json!({"scheduled": "*/5 * * * *"}))["outcome"], "ok");
    }
    assert_eq!(server.sql("SELECT count(*) AS n FROM stale_blobs", &[])[0]["n"], 0);
    // A new sandbox has no contents, and gets them as they are stored.
    drop(sandbox);
    let _sandbox = Sandbox::start_at(&address, &[]);
    let again = call(&files, "digests", json!({}));
    assert_eq!(again.success(), digests);
    let stored = 3 * 7_000_000 * 4 / 3 + 3 * 700_000 * 5 + 1_000;
    let most = 3 + stored / (3 * 1024 * 1024) + 1;
    assert!(again.cost("round_trips") <= most, "{} round trips", again.cost("round_trips"));
    assert_eq!(call(&files, "digests", json!({})).cost("round_trips"), 3);
}

#[test]
fn a_tool_on_files_is_registered_like_others() {
    let client = workspace();
    let with = |change: Value| {
        let mut handler = on_files("def run(workspace): return 1", "run");
        handler.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        definition("tool", "1.0.0", json!({"parameters_schema": {"type": "object"}, "handler": handler}))
    };
    let paths = |change: Value| {
        let refused = client.post("/api/tools", with(change)).refused(400, "VALIDATION_ERROR");
        (refused.paths().iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), refused.details.to_string())
    };
    let (at, told) = paths(json!({"requirements": ["pydantic", "numpy"]}));
    assert_eq!(at, ["/handler/requirements/1"]);
    assert!(told.contains("numpy") && told.contains("pydantic, covalt_toolset"), "{told}");
    assert_eq!(paths(json!({"files": false, "requirements": ["pydantic"]})).0, ["/handler/requirements"]);
    assert_eq!(paths(json!({"files": "yes"})).0, ["/handler/files"]);
    assert_eq!(paths(json!({"code": "def run(workspace: return 1"})).0, ["/handler/code"]);
    assert_eq!(paths(json!({"function": "walk"})).0, ["/handler/function"]);

    let made = client.post("/api/tools", with(json!({"requirements": ["pydantic"]}))).created();
    assert_eq!((&made["warnings"], &made["handler"]["requirements"]), (&json!([]), &json!(["pydantic"])));
    let plain = json!({"type": "python", "code": "def run(workspace): return 1", "function": "run"});
    let small = json!({"parameters_schema": {"type": "object"}, "handler": plain.clone()});
    let warned = client.post("/api/tools", definition("plain", "1.0.0", small)).created();
    assert_eq!(warned["handler"], plain, "what is not used is not shown");
    // A version that no longer works on files is another version.
    let next = json!({"parameters_schema": {"type": "object"}, "handler": plain});
    client.post("/api/tools", definition("tool", "1.0.1", next)).created();
    assert_eq!(client.get("/api/tools/tool?version=1.0.0").ok()["handler"]["files"], true);

    let code =
        "import os, numpy\nfrom pydantic import BaseModel\nimport covalt_toolset\ndef run(workspace, text): return 1";
    let mut handler = on_files(code, "run");
    handler["requirements"] = json!(["pydantic", "covalt_toolset"]);
    let schema = json!({"type": "object", "properties": {"text": {}, "more": {}}, "required": ["text"]});
    let made = client
        .post("/api/tools", definition("warned", "1.0.0", json!({"parameters_schema": schema, "handler": handler})));
    let warnings =
        made.created()["warnings"].as_array().unwrap().iter().map(|it| id(it, "message")).collect::<Vec<_>>();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("line 1 imports numpy, and only the standard library, "), "{warnings:?}");
    assert_eq!(warnings[1], "run has no parameter more: this argument is left out");
}

#[test]
fn a_backup_holds_such_a_tool() {
    let client = workspace();
    register(&client);
    let mut handler = on_files(APPLY, "run");
    handler["requirements"] = json!(["pydantic"]);
    client.register("apply", "1.0.1", json!({"parameters_schema": apply_schema(), "handler": handler.clone()}));
    let backup = client.get("/api/registry/backup").ok();
    let other = workspace();
    other.post("/api/registry/restore", backup.clone()).ok();
    assert_eq!(other.get("/api/registry/backup").ok()["tools"], backup["tools"]);
    assert_eq!(other.get("/api/tools/apply").ok()["handler"], handler);
    let files = Files { client: other, session: unique("session") };
    apply(&files, json!({"writes": {"/a": "1"}}));
    assert_eq!(paths(&files), ["/a"]);
}

/// A tool that only reads counts as safe, but may change files all the same: its call is written down before it runs.
#[test]
fn a_call_is_recorded_before_it_runs() {
    let files = Files::new();
    let fields = json!({
        "parameters_schema": apply_schema(), "handler": on_files(APPLY, "run"), "risk_level": "safe", "timeout_seconds": 10,
    });
    files.client.register("apply", "1.0.0", fields);
    std::thread::scope(|threads| {
        let run = threads.spawn(|| apply(&files, json!({"writes": {"/a": "1"}, "pause": 2})));
        sleep(Duration::from_millis(700));
        assert_eq!(files.client.get("/api/tool-calls?status=running").ok()["tool_calls"].as_array().unwrap().len(), 1);
        run.join().unwrap();
    });
}

/// A tool with a timeout above 30 seconds runs in a Durable Object.
#[test]
fn a_long_call_keeps_its_file_manifests() {
    let files = Files::new();
    let fields = json!({"parameters_schema": apply_schema(), "handler": on_files(APPLY, "run"), "timeout_seconds": 60});
    files.client.register("apply", "1.0.0", fields);
    let made = apply(&files, json!({"writes": {"/a": "1"}}));
    assert_eq!(made["post_manifest_id"], active(&files));
    let failed = call(&files, "apply", json!({"writes": {"/b": "1"}, "rest": "raise"})).failed(200, "TOOL_ERROR");
    assert_eq!((&failed["pre_manifest_id"], &failed["post_manifest_id"]), (&made["post_manifest_id"], &active(&files)));
    assert_eq!(paths(&files), ["/a", "/b"]);
}

#[test]
fn without_a_sandbox_nothing_is_written() {
    for (url, told) in [("http://127.0.0.1:9", "nothing answers at SANDBOX_URL"), ("", "this deployment has none")] {
        let vars = [("AUTH", "open"), ("SECRET_KEY", "a secret"), ("SANDBOX_URL", url)];
        let server = Server::start(&unique("python_files"), &vars[..if url.is_empty() { 2 } else { 3 }]);
        let files = Files::on(&server);
        register(&files.client);
        files.put("a", "1").created();
        let failed = call(&files, "apply", json!({"writes": {"/b": "1"}})).failed(200, "UNREACHABLE");
        assert!(failed["error"]["message"].as_str().unwrap().contains(told), "{failed}");
        assert_eq!(paths(&files), ["/a"]);
    }
}

/// Kills the sandbox at random moments. Every run has either changed all of its files or none.
#[test]
fn a_sandbox_that_dies_leaves_the_files_before_or_after() {
    let address = Sandbox::free_address();
    let server = server_with(&format!("http://{address}"), &[]);
    let files = Files::on(&server);
    let code = "import time\ndef run(workspace, turn):\n    for number in range(20):\n        \
        (workspace / f'{number}').write_text(str(turn))\n        time.sleep(0.01)\n    return turn";
    let schema = json!({"type": "object", "properties": {"turn": {"type": "integer"}}});
    let fields = json!({"parameters_schema": schema, "handler": on_files(code, "run"), "timeout_seconds": 10});
    let mut sandbox = Some(Sandbox::start_at(&address, &[]));
    files.client.register("fill", "1.0.0", fields);
    assert_eq!(call(&files, "fill", json!({"turn": 0})).success(), 0);
    let mut dice = Dice(3);
    let (mut last, mut died) = (0, 0);
    for turn in 1..=12 {
        let pause = Duration::from_millis(dice.below(450) as u64);
        let result = std::thread::scope(|threads| {
            let run = threads.spawn(|| call(&files, "fill", json!({"turn": turn})).result(200));
            sleep(pause);
            drop(sandbox.take());
            run.join().unwrap()
        });
        if result["success"] == true {
            last = turn;
        } else {
            died += 1;
            assert_eq!(result["error"]["code"], "UNREACHABLE", "{result}");
        }
        let texts = (0..20).map(|it| files.get(&it.to_string()).text).collect::<BTreeSet<_>>();
        assert_eq!(texts, BTreeSet::from([last.to_string()]), "turn {turn} after {pause:?}: {result}");
        sandbox = Some(Sandbox::start_at(&address, &[]));
    }
    assert!(died > 0, "some runs were killed");
    assert_eq!(call(&files, "fill", json!({"turn": 99})).success(), 99);
}

type State = BTreeMap<String, String>;

/// The files after `apply` has deleted and written files. A write makes room for itself.
fn applied(mut state: State, writes: &State, deletes: &BTreeSet<String>) -> State {
    state.retain(|it, _| !deletes.contains(it));
    let below = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
    for (path, text) in writes {
        state.retain(|it, _| !below(it, path) && !below(path, it));
        state.insert(path.clone(), text.clone());
    }
    state
}

/// After any pattern of runs, checkouts and branches every file manifest reads as it was made.
#[test]
fn every_run_reads_as_it_was_made() {
    const PATHS: [&str; 10] = ["/a", "/b", "/d", "/d/x", "/d/y", "/d/e/z", "/d0", "/d-1", "/f", "/f/g"];
    let client = workspace();
    register(&client);
    let mut dice = Dice(11);
    let mut sessions = vec![(unique("session"), None::<String>, Vec::<String>::new())];
    let mut states = BTreeMap::<String, State>::new();
    for step in 0..150 {
        let at = dice.below(sessions.len());
        let (name, now, own) = sessions[at].clone();
        let files = Files { client: client.clone(), session: name };
        match dice.below(8) {
            0 | 1 if !own.is_empty() => {
                let manifest = dice.pick(&own).clone();
                client.post(&files.url("/checkout"), json!({"manifest_id": manifest})).ok();
                sessions[at].1 = Some(manifest);
            }
            2 if !own.is_empty() && sessions.len() < 5 => {
                let manifest = dice.pick(&own).clone();
                let made = client.post(&files.url("/branch"), json!({"manifest_id": manifest})).created();
                let first = id(&made, "active_manifest_id");
                states.insert(first.clone(), states[&manifest].clone());
                sessions.push((id(&made, "id"), Some(first.clone()), vec![first]));
            }
            _ => {
                let state = now.as_ref().map(|it| states[it].clone()).unwrap_or_default();
                let held = state.keys().cloned().collect::<Vec<_>>();
                let most = if held.is_empty() { 1 } else { 3 };
                let deletes = (0..dice.below(most)).map(|_| dice.pick(&held).clone());
                let deletes = deletes.collect::<BTreeSet<_>>();
                let writes = (0..dice.below(4)).map(|_| ((*dice.pick(&PATHS)).to_owned(), format!("{}", step % 20)));
                let writes = writes.collect::<State>();
                let wanted = applied(state.clone(), &writes, &deletes);
                let result = apply(&files, json!({"writes": writes, "deletes": deletes}));
                assert_eq!(result["pre_manifest_id"], json!(now));
                let post = result["post_manifest_id"].as_str().map(str::to_owned);
                assert_eq!(post == now, wanted == state, "{step}: {result}");
                if let Some(post) = post.filter(|it| Some(it) != now.as_ref()) {
                    states.insert(post.clone(), wanted);
                    sessions[at].1 = Some(post.clone());
                    sessions[at].2.push(post);
                }
            }
        }
    }
    for (name, now, own) in &sessions {
        let files = Files { client: client.clone(), session: name.clone() };
        assert_eq!(files.client.get(&files.url("")).ok()["active_manifest_id"], json!(now));
        for manifest in own {
            let entries = client.pages(&files.url(&format!("/manifests/{manifest}")), "entries", 200);
            let seen =
                entries.iter().map(|it| (id(it, "path"), it["size"].as_u64().unwrap())).collect::<BTreeMap<_, _>>();
            let expected = states[manifest].iter().map(|(path, text)| (path.clone(), text.len() as u64)).collect();
            assert_eq!(seen, expected, "{name} {manifest}");
            for (path, text) in states[manifest].iter().take(2) {
                assert_eq!(&files.get(&format!("{}?manifest_id={manifest}", &path[1..])).text, text);
            }
        }
    }
}

/// An isolate has 128 MB. The heap of JavaScript is bounded here, and the memory of WebAssembly is measured.
#[test]
fn a_run_that_changes_large_files_takes_less_than_100_mb() {
    const HEAP_MEGABYTES: u32 = 40;
    let address = Sandbox::free_address();
    let sandbox = Sandbox::start_at(&address, &[]);
    let url = format!("http://{address}");
    let vars = [("AUTH", "open"), ("COST_HEADER", "on"), ("SECRET_KEY", "a secret"), ("SANDBOX_URL", &url)];
    let server = Server::start_with_heap(&unique("python_files"), &vars, HEAP_MEGABYTES);
    let files = Files::on(&server);
    register(&files.client);
    // Files that need several batches, and many small ones.
    let code = "import random\ndef run(workspace):\n    for number in range(2):\n        \
        (workspace / f'large{number}').write_bytes(random.randbytes(10 * 1024 * 1024))\n    \
        for number in range(300):\n        (workspace / f'small{number}').write_text(str(number) * 300)";
    let fields =
        json!({"parameters_schema": {"type": "object"}, "handler": on_files(code, "run"), "timeout_seconds": 30});
    files.client.register("make", "1.0.0", fields);
    let wasm = |answer: &Answer| answer.header("x-wasm-bytes").unwrap().parse::<usize>().unwrap();
    let made = call(&files, "make", json!({}));
    assert_eq!(made.result(200)["success"], true, "{}", made.text);
    drop(sandbox);
    let _sandbox = Sandbox::start_at(&address, &[]);
    let read = call(&files, "digests", json!({}));
    assert_eq!(read.success().as_object().unwrap().len(), 302);
    let took = |answer: &Answer| answer.json()["duration_ms"].clone();
    println!("writing: {} bytes, {} ms; reading: {} bytes, {} ms", wasm(&made), took(&made), wasm(&read), took(&read));
    assert!(wasm(&read).max(wasm(&made)) < (100 - HEAP_MEGABYTES as usize) * 1_000_000);
}
