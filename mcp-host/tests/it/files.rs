//! Files that a server brings along.

use crate::host::{Host, Response};
use crate::mcp::Mcp;
use crate::processes::eventually;
use data_encoding::{BASE64, HEXLOWER};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A server that is a file: it imports a module beside it, and counts its calls in a file of its own folder.
const SERVER: &str = r#"
import json, os, sys
import words

for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            info = {"name": "bundled", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/call":
            calls = int(open("calls.txt").read()) + 1
            open("calls.txt", "w").write(str(calls))
            told = {"calls": calls, "words": words.WORDS, "cwd": os.path.relpath(os.getcwd(), os.environ["HOME"])}
            told["argument"] = open(sys.argv[1]).read()
            result = {"content": [{"type": "text", "text": json.dumps(told)}]}
        case _ if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
            continue
        case _:
            continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

fn list(files: &[(&str, &[u8])]) -> String {
    let files = files.iter().map(|(path, it)| json!({"path": path, "sha256": sha256(it), "size": it.len()}));
    json!({"files": files.collect::<Vec<_>>()}).to_string()
}

fn put_list(host: &Host, list: &str) -> Response {
    host.send(host.request("PUT", "/servers/a/files"), list)
}

fn post_pieces(host: &Host, pieces: Value) -> Response {
    host.send(host.request("POST", "/servers/a/files"), json!({"pieces": pieces}).to_string())
}

fn whole(bytes: &[u8]) -> Value {
    json!({"sha256": sha256(bytes), "encoding": "base64", "number": 0, "count": 1, "data": BASE64.encode(bytes)})
}

/// Brings the files, and returns the hash of their list.
fn bring(host: &Host, files: &[(&str, &[u8])]) -> String {
    let response = put_list(host, &list(files));
    assert_eq!(response.status, 200, "{}", response.body);
    let missing = response.body["missing"].as_array().unwrap();
    let sent = files.iter().filter(|(_, it)| missing.contains(&json!(sha256(it)))).map(|(_, it)| whole(it));
    let sent = post_pieces(host, json!(sent.collect::<Vec<_>>()));
    assert_eq!(sent.status, 204, "{}", sent.body);
    assert_eq!(put_list(host, &list(files)).body["missing"], json!([]));
    response.body["files"].as_str().unwrap().to_owned()
}

fn configuration(files: &str) -> Value {
    json!({"command": "python3", "args": ["server.py", "~/data/text"], "cwd": "servers", "files": files})
}

fn told(mcp: &Mcp<'_>) -> Value {
    serde_json::from_str(&mcp.call("tell", json!({}))).unwrap()
}

#[test]
fn a_server_may_be_a_file_and_every_process_finds_the_files_as_they_came() {
    let host = Host::start(&["--idle-seconds", "1"]);
    let mut files: Vec<(&str, &[u8])> = vec![
        ("data/text", b"of the bundle"),
        ("servers/calls.txt", b"0"),
        ("servers/server.py", SERVER.as_bytes()),
        ("servers/words.py", b"WORDS = ['one', 'two']\n"),
    ];
    let hash = bring(&host, &files);
    let mut mcp = Mcp::open(&host, "a", configuration(&hash));
    assert_eq!(told(&mcp), json!({"calls": 1, "words": ["one", "two"], "cwd": "servers", "argument": "of the bundle"}));
    assert_eq!(told(&mcp)["calls"], 2, "a process may change its files");
    eventually("it is stopped", || host.report("a")["state"] == "stopped");
    host.assert_clean();
    mcp.initialize();
    assert_eq!(told(&mcp)["calls"], 1, "the next process does not see the changes");

    // Other files are another configuration.
    files[3].1 = b"WORDS = ['three']\n";
    let other = bring(&host, &files);
    assert_eq!(told(&mcp)["words"], json!(["one", "two"]), "the process that runs keeps its files");
    let mcp = Mcp::open(&host, "a", configuration(&other));
    assert_eq!(told(&mcp)["words"], json!(["three"]));
    host.delete("a");
    host.assert_clean();
}

#[test]
fn a_configuration_waits_for_all_of_its_files() {
    let host = Host::start(&[]);
    let put = |files: &str| {
        let response = host.send(host.request("PUT", "/servers/a"), configuration(files).to_string());
        (response.status, response.body["error"].as_str().unwrap_or_default().to_owned())
    };
    let needed = (412, "files needed".to_owned());
    assert_eq!(put(&"0".repeat(64)), needed);
    assert_eq!(post_pieces(&host, json!([])).status, 412, "no list says which contents may come");
    let files: [(&str, &[u8]); 2] = [("servers/server.py", SERVER.as_bytes()), ("large", &vec![b'x'; 3_000_000])];
    let hash = put_list(&host, &list(&files)).body["files"].as_str().unwrap().to_owned();
    assert_eq!(hash, sha256(list(&files).as_bytes()));
    assert_eq!(post_pieces(&host, json!([whole(files[0].1)])).status, 204);
    assert_eq!(put(&hash), needed);
    let piece = |number: u32, data: &str| {
        post_pieces(
            &host,
            json!([{"sha256": sha256(files[1].1), "encoding": "utf8", "number": number, "count": 2,
            "data": data}]),
        )
    };
    assert_eq!(piece(1, "x").status, 400, "the pieces come in order");
    assert_eq!(piece(0, &"x".repeat(2_000_000)).status, 204);
    assert_eq!(put(&hash), needed);
    assert_eq!(piece(1, &"x".repeat(1_000_000)).status, 204);
    assert_eq!(put(&hash).0, 200);
    host.delete("a");
    assert_eq!(put(&hash), needed, "the files go with the server");

    for (list, words) in [
        (list(&[("../a", b"")]), "without \\\"..\\\""),
        (list(&[("a", b""), ("a/b", b"")]), "inside another file"),
        (json!({"files": [{"path": "a", "sha256": sha256(b""), "size": 65 << 20}]}).to_string(), "at most"),
        ("{".to_owned(), "EOF"),
    ] {
        let refused = put_list(&host, &list);
        assert_eq!(refused.status, 400, "{list}");
        assert!(refused.body.to_string().contains(words), "{}", refused.body);
    }
    host.assert_clean();
}
