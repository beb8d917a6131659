//! The walk of a call, as sections 4 and 5 of the document say it: files, context, errors, render plans and pages.

use super::{bundle, call, import, installed, kit, manifest, one_tool, replaced, stored};
use crate::harness::{Client, Sandbox, Server, unique, workspace};
use serde_json::{Value, json};

/// Looks around, writes, and ends as it is told.
const WALK_PY: &str = r#"
import json
from pathlib import Path
from covalt_toolset import get_context, tool

LOADED = []

@tool
def run(path: str = "out.txt", content: str = "", end: str = "return") -> dict:
    ctx = get_context()
    LOADED.append(path)
    seen = {str(it.relative_to(ctx.workspace)): it.read_text() for it in ctx.workspace.rglob("*") if it.is_file()}
    (ctx.workspace / path).write_text(content)
    if end == "raise":
        raise ValueError("after the write")
    while end == "loop":
        pass
    if end == "exit":
        raise SystemExit(3)
    asset = (Path(__file__).parent / "assets" / "note.txt").read_text()
    return {"seen": seen, "chat_id": ctx.chat_id, "toolset_id": ctx.toolset_id, "extra": ctx.extra, "asset": asset,
            "loaded": len(LOADED)}
"#;

fn with_walk(timeout: u32) -> Client {
    let client = workspace();
    let tools = format!(
        "tools:\n  - id: run\n    entrypoint: main:run\n    timeout_seconds: {timeout}\n    renderer: {{type: code, content: $return.asset}}\n"
    );
    let text = manifest("1.0.0", &tools);
    installed(&client, &bundle(&[("toolset.yaml", &text), ("main.py", WALK_PY), ("assets/note.txt", "a note")]));
    client
}

fn active(client: &Client, session: &str) -> Value {
    client.get(&format!("/api/sessions/{session}")).ok()["active_manifest_id"].clone()
}

#[test]
fn a_call_sees_the_files_and_leaves_one_manifest() {
    let client = with_walk(30);
    client.put("/api/sessions/chat/files/in.txt", "input").created();
    let before = active(&client, "chat");
    let done = call(&client, "chat", "kit:run", json!({"content": "output"})).result(200);
    assert_eq!(
        done["result"],
        json!({"seen": {"in.txt": "input"}, "chat_id": "chat", "toolset_id": "kit", "extra": {}, "asset": "a note", "loaded": 1})
    );
    assert_eq!((&done["pre_manifest_id"], &done["post_manifest_id"]), (&before, &active(&client, "chat")));
    assert_eq!(client.get("/api/sessions/chat/files/out.txt").text, "output");

    // 1.6 to 1.8
    let manifests = client.get("/api/sessions/chat/manifests").ok();
    let last = &manifests["manifests"][0];
    assert_eq!((&last["parent_id"], &last["source"], &last["files"]), (&before, &json!("tool_run"), &json!(2)));
    assert_eq!(last["source_ref"], done["call_id"]);
    let record = client.record(&done);
    assert_eq!(
        (&record["tool_name"], &record["status"], &record["error"]),
        (&json!("kit:run"), &json!("success"), &Value::Null)
    );
    assert_eq!((&record["result"], &record["render_plan"]), (&done["result"], &done["render_plan"]));
    assert_eq!(
        (&record["pre_manifest_id"], &record["post_manifest_id"]),
        (&done["pre_manifest_id"], &done["post_manifest_id"])
    );
    assert_eq!(
        record["arguments"],
        json!({"content": "output", "path": "out.txt", "end": "return"}),
        "with the defaults"
    );

    // The next call starts anew: no module is left from the last one, and another session has other files.
    let next = call(&client, "other", "kit:run", json!({})).success();
    assert_eq!((&next["seen"], &next["loaded"], &next["chat_id"]), (&json!({}), &json!(1), &json!("other")));
    // The files of the bundle are no files of the session.
    let names = client.get("/api/sessions/chat/files").ok()["entries"].as_array().unwrap().len();
    assert_eq!(names, 2);
}

#[test]
fn what_was_written_before_an_error_is_kept() {
    let client = with_walk(2);
    for (end, code) in [("raise", "TOOL_ERROR"), ("loop", "TIMEOUT"), ("exit", "TOOL_ERROR")] {
        let path = format!("{end}.txt");
        let answer = call(&client, "s", "kit:run", json!({"path": path, "content": "partial", "end": end}));
        let failed = answer.json();
        assert_eq!(failed["error"]["code"], code, "{failed}");
        assert_ne!(failed["pre_manifest_id"], failed["post_manifest_id"], "{failed}");
        assert_eq!(client.get(&format!("/api/sessions/s/files/{path}")).text, "partial");
        let record = client.record(&failed);
        assert_eq!((&record["status"], &record["error"]["code"]), (&json!("error"), &json!(code)), "{record}");
        let plan = &failed["render_plan"];
        assert_eq!((&plan["renderer"], &plan["error"]["code"]), (&json!("code"), &json!(code)), "{failed}");
        assert_eq!(plan["config"]["content"], Value::Null);
    }
    let failed = call(&client, "s", "kit:run", json!({"end": "raise"})).failed(200, "TOOL_ERROR");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("ValueError: after the write") && !message.contains("/work/"), "{message}");
}

#[test]
fn plans_hold_what_the_interpolation_table_says() {
    let client = workspace();
    let code = "def run(workspace, name, n=0):\n    return {'a': {'b': [10, {'c': name}]}, 'text': 'T'}\n";
    let more = "    renderer:
      type: code
      content: $return.text
      one: $args.name
      all_args: $args
      nested: $return.a.b[1].c
      item: $return.a.b[0]
      whole: $return
      chat: $chat_id
      workspace: $workspace/x
      toolset: $toolset/artifacts/a.html
      mixed: 'name=$args.name n=$args.n t=$return.text'
      list: [$args.n, {deep: $return.a.b}]
      gone: $return.none.at.all
      price: 5$ and 100 $
";
    installed(&client, &one_tool("1.0.0", code, more));
    let done = call(&client, "chat-1", "kit:run", json!({"name": "N", "n": 3})).result(200);
    let result = json!({"a": {"b": [10, {"c": "N"}]}, "text": "T"});
    assert_eq!(
        done["render_plan"],
        json!({"renderer": "code", "config": {
            "content": "T", "one": "N", "all_args": {"name": "N", "n": 3}, "nested": "N", "item": 10, "whole": result,
            "chat": "chat-1", "workspace": "/api/sessions/chat-1/files/x", "toolset": "/api/toolsets/kit/files/artifacts/a.html",
            "mixed": "name=N n=3 t=T", "list": [3, {"deep": [10, {"c": "N"}]}], "gone": null, "price": "5$ and 100 $",
            "missing": ["$return.none.at.all"],
        }})
    );
}

#[test]
fn data_goes_into_the_page_and_cannot_leave_its_script() {
    let client = workspace();
    let page = |at: &str| match at {
        "head" => "<!doctype html><html><head><title>x</title></head><body>B</body></html>",
        "body" => "<body class=\"a\">B</body>",
        _ => "<p>bare</p>",
    };
    let tools = ["head", "body", "bare"].map(|it| {
        format!(
            "  - {{id: {it}, entrypoint: 'main:run', renderer: {{type: html, artifact: {it}.html, data: $return}}}}\n"
        )
    });
    let text = manifest("1.0.0", &format!("tools:\n{}", tools.concat()));
    let code = "def run(workspace, text: str) -> dict:\n    return {'text': text}\n";
    installed(
        &client,
        &bundle(&[
            ("toolset.yaml", &text),
            ("main.py", code),
            ("head.html", page("head")),
            ("body.html", page("body")),
            ("bare.html", page("bare")),
        ]),
    );
    let hostile = "</script><script>alert(1)</script><!--\u{2028}\u{2029}]]>";
    for at in ["head", "body", "bare"] {
        let done = call(&client, "s", &format!("kit:{at}"), json!({"text": hostile})).result(200);
        let answer = client.get(&format!("/api/tool-calls/{}/render", done["call_id"].as_str().unwrap()));
        assert_eq!(answer.status, 200, "{}", answer.text);
        let html = &answer.text;
        assert_eq!(html.matches("</script>").count(), 1, "{html}");
        assert!(!html.contains(['\u{2028}', '\u{2029}']) && !html.contains("<!--"), "{html}");
        let script = html.find("<script>window.__TOOL_DATA__ = ").unwrap();
        match at {
            "head" => {
                assert_eq!(html[script..].find("</head>").unwrap(), html[script..].find("</script>").unwrap() + 9)
            }
            "body" => assert!(html.starts_with("<body class=\"a\"><script>"), "{html}"),
            _ => assert_eq!(script, 0),
        }
        let data = html[script..].strip_prefix("<script>window.__TOOL_DATA__ = ").unwrap();
        let data = data.split_once(";</script>").unwrap().0;
        assert_eq!(serde_json::from_str::<Value>(data).unwrap(), json!({"text": hostile}));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("sandbox allow-scripts") && policy.contains("default-src 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    let other = workspace();
    let done = call(&client, "s", "kit:head", json!({"text": ""})).result(200);
    other.get(&format!("/api/tool-calls/{}/render", done["call_id"].as_str().unwrap())).refused(404, "NOT_FOUND");
}

#[test]
fn arguments_and_results_keep_their_types() {
    let client = workspace();
    let code = r#"
import asyncio, dataclasses, datetime, decimal, enum
from typing import Annotated, Literal, Optional
from pydantic import BaseModel, Field
from covalt_toolset import tool

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Point(BaseModel):
    x: int
    y: Annotated[float, Field(ge=0)] = 0.5

@tool
async def run(color: Color, size: Literal["s", "m"], point: Point, when: datetime.date, tags: Optional[list[str]] = None) -> dict:
    await asyncio.sleep(0)
    return {"color": color.name, "size": size, "point": type(point).__name__, "x": point.x + 1, "year": when.year, "tags": tags}
"#;
    installed(&client, &one_tool("1.0.0", code, ""));
    let given = json!({"color": "red", "size": "s", "point": {"x": 1}, "when": "2026-11-18"});
    let done = client.execute("kit:run", given.clone()).success();
    assert_eq!(done, json!({"color": "RED", "size": "s", "point": "Point", "x": 2, "year": 2026, "tags": null}));
    for (name, wrong) in
        [("color", json!("green")), ("size", json!("l")), ("point", json!({})), ("point", json!({"x": 1, "y": -1}))]
    {
        let mut bad = given.clone();
        bad[name] = wrong;
        client.execute("kit:run", bad).failed(400, "INVALID_ARGUMENTS");
    }
}

#[test]
fn results_that_are_no_json_are_errors() {
    let client = workspace();
    installed(&client, &one_tool("0.0.1", "def run(workspace): pass\n", ""));
    for (body, message) in [
        ("object()", "the result is of type object, which is no JSON value"),
        ("lambda: 1", "the result is of type function, which is no JSON value"),
        ("float('nan')", "Out of range float values"),
        ("'x' * 20_000_000", "is 20000002 bytes long as JSON, and 1048576 are allowed"),
        ("[[]] * 10 ** 7", "the result has more than 600000 values"),
    ] {
        let code =
            format!("def run(workspace):\n    (workspace / 'done').write_text('{}')\n    return {body}\n", body.len());
        replaced(&client, &one_tool("1.0.0", &code, ""));
        let failed = client.execute("kit:run", json!({})).failed(200, "TOOL_ERROR");
        assert!(failed["error"]["message"].as_str().unwrap().contains(message), "{failed}");
        assert_ne!(failed["pre_manifest_id"], failed["post_manifest_id"], "what was written is kept");
    }
    for (body, expected) in [("{3}", json!([3])), ("(1, 'a')", json!([1, "a"])), ("None", json!(null))] {
        replaced(&client, &one_tool("1.0.0", &format!("def run(workspace):\n    return {body}\n"), ""));
        assert_eq!(client.execute("kit:run", json!({})).success(), expected);
    }
}

#[test]
fn the_bundle_cannot_be_changed_by_its_tools() {
    let client = workspace();
    let code = r#"
from pathlib import Path

def run(workspace):
    told = []
    here = Path(__file__).parent
    for what in (lambda: (here / "main.py").write_text("x"), lambda: (here / "new").write_text("x"), lambda: (here / "main.py").unlink()):
        try:
            what()
            told.append("done")
        except OSError as e:
            told.append(type(e).__name__)
    return told
"#;
    installed(&client, &one_tool("1.0.0", code, ""));
    for _ in 0..2 {
        let told = client.execute("kit:run", json!({})).success();
        assert_eq!(told, json!(["PermissionError", "PermissionError", "PermissionError"]));
    }
    let file = client.get("/api/toolsets/kit/files/main.py");
    assert_eq!(file.text, code);
}

#[test]
fn another_sandbox_gets_the_files_of_the_toolset() {
    let address = Sandbox::free_address();
    let url = format!("http://{address}");
    let server = Server::start(
        "toolset_sandbox",
        &[("AUTH", "open"), ("SECRET_KEY", "a secret"), ("SANDBOX_URL", url.as_str())],
    );
    let client = server.client(&unique("ws"));
    // Without a sandbox nobody knows what the tools are.
    let before = stored(&server, &client);
    import(&client, "", &kit("1.0.0")).refused(503, "UNAVAILABLE");
    assert_eq!(stored(&server, &client), before);
    let sandbox = Sandbox::start_at(&address, &[]);
    let code = "from pathlib import Path\n\ndef run(workspace):\n    return len((Path(__file__).parent / 'large.txt').read_text())\n";
    let text = manifest("1.0.0", "tools:\n  - {id: run, entrypoint: 'main:run'}\n");
    let large = "0123456789abcdef".repeat(600_000);
    installed(&client, &bundle(&[("toolset.yaml", &text), ("main.py", code), ("large.txt", &large)]));
    assert_eq!(client.execute("kit:run", json!({})).success(), 9_600_000);
    drop(sandbox);
    client.execute("kit:run", json!({})).failed(200, "UNREACHABLE");
    let _sandbox = Sandbox::start_at(&address, &[]);
    assert_eq!(client.execute("kit:run", json!({})).success(), 9_600_000);
}
