//! The second room's promises to its clients.

use crate::client::{hash, named};
use crate::processes::{PATIENCE, eventually};
use crate::server::{Server, in_every_configuration_of_files};
use data_encoding::BASE64;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const MEBIBYTE: usize = 1 << 20;

/// Sends a request that must be refused, and returns the error.
#[track_caller]
fn refused(server: &Server, path: &str, body: &Value, status: u16, code: &str) -> Value {
    let (got, told, _) = server.exchange(path, body);
    assert_eq!((got, &told["error"]["code"]), (status, &json!(code)), "{path} {body:.300}: {told:.600}");
    told["error"].clone()
}

fn paths(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|each| each["path"].as_str().or(each.as_str()).unwrap()).collect()
}

#[test]
fn answers_have_one_shape() {
    let server = Server::start(&[]);
    let code = "import os\ndef run(name):\n    print('said')\n    text = open('a.txt').read()\n    open('b.bin', 'wb').write(b'\\0\\xff')\n    open('d.txt', 'w').write('é\\n')\n    os.remove('c/old')\n    return {name: text}";
    let files =
        json!([server.put("w", "/a.txt", b"text"), server.put("w", "/c/old", b"old"), server.put("w", "/c/kept", b"")]);
    let mut answer = server.run_on_files("w", code, &json!({"files": files, "arguments": {"name": "x"}}));
    assert!(answer["duration_ms"].take().is_u64());
    let timing = answer.as_object_mut().unwrap().remove("timing").unwrap();
    assert!(["folder_ms", "fork_ms", "snapshot_ms"].iter().all(|name| timing[name].is_f64()), "{timing}");
    assert_eq!(
        answer,
        json!({
            "ok": true, "error_kind": null, "error": null, "stdout": "said\n", "stderr": "", "result": {"x": "text"},
            "exit": 0, "truncated": {"stdout": false, "stderr": false}, "duration_ms": null,
            "files": {
                "changed": [
                    {"path": "/b.bin", "sha256": hash(b"\0\xff"), "size": 2, "content": {"encoding": "base64", "data": "AP8="}},
                    {"path": "/d.txt", "sha256": hash("é\n".as_bytes()), "size": 3, "content": {"encoding": "utf8", "data": "é\n"}},
                ],
                "deleted": ["/c/old"],
                "fault": null
            }
        })
    );
    let answer = server.run_on_files("w", "def run():\n    open('x', 'w').write('1')\n    1 / 0", &json!({}));
    assert_eq!((&answer["error_kind"], &answer["exit"]), (&json!("exception"), &json!(1)));
    let error = answer["error"].as_str().unwrap();
    assert!(error.starts_with("Traceback (most recent call last):\n  File \"main.py\", line 3, in run\n"), "{error}");
    assert!(error.ends_with("ZeroDivisionError: division by zero"), "{error}");
    assert_eq!(paths(&answer["files"]["changed"]), ["/x"], "also after an exception");
    let answer = server.run_on_files(
        "w",
        "def run():\n    open('x', 'w').write('1')\n    while True: pass",
        &json!({"limits": {"timeout_seconds": 0.5}}),
    );
    assert_eq!((&answer["error_kind"], &answer["error"]), (&json!("timeout"), &json!("Timed out after 0.5 s")));
    assert_eq!(paths(&answer["files"]["changed"]), ["/x"], "also after a timeout");
}

#[test]
fn tracebacks_show_the_lines_of_the_bundle() {
    let server = Server::start(&[]);
    let bundle = json!([
        server.put("w", "tools/a.py", b"import helper\n\ndef run():\n    return helper.half(0)\n"),
        server.put("w", "helper.py", b"def half(x):\n    return 1 / x\n")
    ]);
    let answer = server.run_on_files("w", "", &json!({"bundle": bundle, "module": "tools.a"}));
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains("File \"tools/a.py\", line 4, in run\n    return helper.half(0)"), "{error}");
    assert!(error.contains("File \"helper.py\", line 2, in half\n    return 1 / x"), "{error}");
    assert!(!error.contains("file_guest") && !error.contains("/work/"), "{error}");
    let answer = server.run_on_files("w", "", &json!({"bundle": bundle, "module": "tools.missing"}));
    assert_eq!(answer["error_kind"], "import", "{answer}");
    let answer = server.run_on_files("w", "import numpy\ndef run(): pass", &json!({}));
    let error = answer["error"].as_str().unwrap();
    assert!(answer["error_kind"] == "import" && error.contains("covalt_toolset and pydantic"), "{error}");
}

#[test]
fn refusals_say_what_the_sandbox_lacks() {
    let server = Server::start(&[]);
    let error = |body: &str| {
        let answer = server.run_on_files("w", &format!("def run():\n    {body}"), &json!({}));
        answer["error"].as_str().map(str::to_owned).unwrap_or_else(|| panic!("{body}: {answer}"))
    };
    for body in [
        "import subprocess; subprocess.run('ls', shell=True)",
        "import os; os.fork()",
        "import socket; socket.socket()",
        "import socket; socket.create_connection(('example.org', 80))",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')",
    ] {
        let told = error(body);
        assert!(
            told.ends_with("\n(The sandbox has no network and no processes, and can write only the session's files.)"),
            "{told}"
        );
    }
    assert!(error("open('none.txt')").ends_with("'none.txt'"), "another error is as Python says it");
    assert!(error("1 / 0").ends_with("ZeroDivisionError: division by zero"));
    let odd = "exec('class Odd(PermissionError):\\n  __notes__ = 7\\nraise Odd(1, \"no\")', {})";
    assert!(error(odd).contains("Odd: [Errno 1] no"), "an error that takes no note is told without it");
}

#[test]
fn bad_requests_are_refused() {
    let server = Server::start(&[]);
    let empty = hash(b"");
    let run = json!({"share": "w", "code": "def run(): pass", "function": "run"});
    let with = |field: &str, value: Value| {
        let mut body = run.clone();
        body[field] = value;
        body
    };
    let without = |field: &str| {
        let mut body = run.clone();
        body.as_object_mut().unwrap().remove(field);
        body
    };
    let session = |path: &str| with("files", json!([[path, empty, 0]]));
    let bundle = |path: &str| with("bundle", json!([[path, empty, 0]]));
    let long = format!("/{}", "x".repeat(1024));
    for (body, told) in [
        (json!({}), "missing field"),
        (json!([]), "expected"),
        (without("share"), "share"),
        (with("share", json!("")), "share: 0 bytes"),
        (with("share", json!("x".repeat(257))), "share: 257 bytes"),
        (without("code"), "code, module"),
        (with("module", json!("a")), "code, module"),
        (without("function"), "function"),
        (with("function", json!("")), "function"),
        (with("code", json!("x".repeat(MEBIBYTE + 1))), "code: 1048577 bytes"),
        (with("unknown", json!(1)), "unknown field"),
        (with("arguments", json!([])), "arguments: an object"),
        (with("context", json!({"chat": 1})), "unknown field"),
        (with("context", json!({"extra": []})), "expected a map"),
        (with("limits", json!({"timeout_seconds": 0})), "timeout_seconds"),
        (with("limits", json!({"memory_mb": 0})), "memory_mb"),
        (with("files", json!([["/a", empty]])), "size 3"),
        (with("files", json!([["/a", "x", 0]])), "sha256"),
        (with("files", json!([["/a", empty.to_uppercase(), 0]])), "sha256"),
        (with("files", json!([["/a", empty, -1]])), "-1"),
        (with("files", json!([["/a", empty, 10 * MEBIBYTE + 1]])), "10485761 bytes"),
        (with("files", json!([["/a", empty, 0], ["/a", empty, 0]])), "twice"),
        (with("files", json!([["/a", empty, 0], ["/a/b", empty, 0]])), "both a file and a directory"),
        (session("a"), "slash"),
        (session("/"), "no path"),
        (session("/a/"), "no path"),
        (session("//a"), "no path"),
        (session("/./a"), "no path"),
        (session("/a/.."), "no path"),
        (session("/../a"), "no path"),
        (session("/a\u{0}b"), "no path"),
        (session("/a\nb"), "no path"),
        (session(&long), "no path"),
        (session(&long[..257]), "more than 255 bytes"),
        (bundle("/a"), "no path"),
        (bundle("../a"), "no path"),
        (bundle("a/../../b"), "no path"),
        (bundle(""), "no path"),
        (json!({"share": "w", "module": "../a", "function": "f"}), "module"),
        (json!({"share": "w", "module": "a..b", "function": "f"}), "module"),
        (json!({"share": "w", "module": "a b", "function": "f"}), "module"),
    ] {
        let error = refused(&server, "/files/run", &body, 400, "VALIDATION_ERROR");
        assert!(error["message"].as_str().unwrap().contains(told), "{body:.200}: {error}");
    }
    for (body, told) in [
        (json!({"share": "w", "entrypoints": []}), "1 to 200"),
        (json!({"share": "w", "entrypoints": vec!["main:f"; 201], "code": ""}), "1 to 200"),
        (json!({"share": "w", "entrypoints": ["main"], "code": ""}), "module:function"),
        (json!({"share": "w", "entrypoints": ["a/b:f"]}), "no name of a module"),
        (json!({"share": "w", "entrypoints": ["a:f"], "files": []}), "unknown field"),
    ] {
        let error = refused(&server, "/inspect", &body, 400, "VALIDATION_ERROR");
        assert!(error["message"].as_str().unwrap().contains(told), "{body:.200}: {error}");
    }
    refused(&server, "/files/read", &json!({"share": "w", "wanted": [{"sha256": "x"}]}), 400, "VALIDATION_ERROR");
    refused(&server, "/files/read", &json!({"share": "w", "wanted": [{"sha256": empty}]}), 404, "NOT_FOUND");
    let large = json!({"share": "w", "code": "x".repeat(9 << 20), "function": "f"});
    refused(&server, "/files/run", &large, 413, "PAYLOAD_TOO_LARGE");
    let large = json!({"share": "w", "pieces": [], "x": "x".repeat(13 << 20)});
    refused(&server, "/files/contents", &large, 413, "PAYLOAD_TOO_LARGE");
    for path in ["/files/run", "/files/contents", "/files/read", "/inspect"] {
        let (status, told) = crate::contract::exchange(&server, &crate::contract::request("POST", path, "", "{}"));
        assert!(status == 415 && told.contains("UNSUPPORTED_MEDIA_TYPE"), "{told}");
        let (status, told) = crate::contract::exchange(&server, &crate::contract::request("GET", path, "", ""));
        assert!(status == 405 && told.contains("METHOD_NOT_ALLOWED"), "{told}");
    }
    assert_eq!(server.health()["files"]["calls"], 0, "nothing was run");
}

#[test]
fn missing_contents_are_asked_for_once() {
    let server = Server::start(&[]);
    let (one, two) = (b"one".as_slice(), b"two".as_slice());
    let code = "def run():\n    return [open('1').read(), open('2').read(), open('3').read()]";
    let files = json!({"files": [named("/1", one), named("/2", two), named("/3", one)]});
    let body = json!({"share": "w", "code": code, "function": "run", "files": files["files"]});
    let error = refused(&server, "/files/run", &body, 409, "CONTENTS_MISSING");
    let mut missing = [hash(one), hash(two)];
    missing.sort();
    assert_eq!(error["details"], json!({"missing": missing}), "each is named once");
    server.put("w", "/1", one);
    let error = refused(&server, "/files/run", &body, 409, "CONTENTS_MISSING");
    assert_eq!(error["details"], json!({"missing": [hash(two)]}));
    assert_eq!(server.health()["files"]["calls"], 0, "nothing was run");
    server.put("w", "/2", two);
    for _ in 0..3 {
        assert_eq!(server.run_on_files("w", code, &files)["result"], json!(["one", "two", "one"]));
    }
    let mut other = body.clone();
    other["share"] = json!("another");
    refused(&server, "/files/run", &other, 409, "CONTENTS_MISSING");
    let asked = json!({"share": "another", "wanted": [{"sha256": hash(one)}]});
    refused(&server, "/files/read", &asked, 404, "NOT_FOUND");
    let lie = json!({"share": "w", "code": code, "function": "run", "files": [["/1", hash(one), 4]]});
    let error = refused(&server, "/files/run", &lie, 400, "VALIDATION_ERROR");
    assert!(error["message"].as_str().unwrap().contains("/1"), "{error}");
}

#[test]
fn contents_come_in_pieces() {
    let server = Server::start(&[]);
    let whole = "zwölf Boxkämpfer".as_bytes();
    let piece = |encoding: &str, number: u32, count: u32, data: &str| json!({"sha256": hash(whole), "encoding": encoding, "number": number, "count": count, "data": data});
    let send = |pieces: Value| server.exchange("/files/contents", &json!({"share": "w", "pieces": pieces}));
    let kept = |pieces: Value| {
        let (status, told, _) = send(pieces);
        assert_eq!(status, 200, "{told}");
        told["kept"].clone()
    };
    assert_eq!(kept(json!([piece("utf8", 0, 3, "zwölf ")])), json!([]));
    let between = json!({"sha256": hash(b"x"), "encoding": "base64", "number": 0, "count": 1, "data": "eA=="});
    assert_eq!(kept(json!([between, piece("utf8", 1, 3, "Box")])), json!([hash(b"x")]));
    assert_eq!(kept(json!([piece("utf8", 2, 3, "kämpfer")])), json!([hash(whole)]));
    let text = BASE64.encode(whole);
    let halves = json!([piece("base64", 0, 2, &text[..8]), piece("base64", 1, 2, &text[8..])]);
    assert_eq!(kept(halves), json!([hash(whole)]));
    for pieces in [
        json!([piece("utf8", 1, 2, "x")]),
        json!([piece("utf8", 0, 0, "x")]),
        json!([piece("utf8", 0, 1, "zwölf Boxkampfer")]),
        json!([piece("base64", 0, 1, "???")]),
        json!([piece("utf8", 0, 3, "zwölf "), piece("utf8", 2, 3, "kämpfer")]),
        json!([piece("utf8", 0, 3, "zwölf "), piece("utf8", 1, 2, "Boxkämpfer")]),
        json!([piece("utf8", 0, 2, "zwölf "), piece("base64", 1, 2, "Ym94")]),
        json!([{"sha256": "../../x", "encoding": "utf8", "number": 0, "count": 1, "data": ""}]),
        json!([{"sha256": hash(b""), "encoding": "latin1", "number": 0, "count": 1, "data": ""}]),
        json!([{"sha256": hash(b""), "encoding": "utf8", "number": -1, "count": 1, "data": ""}]),
    ] {
        let (status, told, _) = send(pieces.clone());
        assert_eq!((status, &told["error"]["code"]), (400, &json!("VALIDATION_ERROR")), "{pieces}: {told}");
    }
    assert_eq!(send(json!("x")).0, 400);
    // Pieces of one share do not complete those of another.
    kept(json!([piece("utf8", 0, 2, "zwölf ")]));
    let (status, ..) =
        server.exchange("/files/contents", &json!({"share": "v", "pieces": [piece("utf8", 1, 2, "Boxkämpfer")]}));
    assert_eq!(status, 400);
}

#[test]
fn large_contents_are_read_in_pieces() {
    let server = Server::start(&[]);
    let code = "def run():\n    open('large', 'wb').write(bytes(i % 251 for i in range(1000)) * 10485 + bytes(760))\n    open('small', 'w').write('s')";
    let told = server.run_on_files("w", code, &json!({}))["files"].clone();
    let [large, small] = &told["changed"].as_array().unwrap()[..] else { panic!("{told:.300}") };
    assert_eq!((&large["size"], &large["content"]), (&json!(10 * MEBIBYTE), &Value::Null));
    assert_eq!(small["content"]["data"], "s", "the smallest come along");
    let mut whole = Vec::new();
    loop {
        let asked = json!({"share": "w", "wanted": [{"sha256": large["sha256"], "from": whole.len()}]});
        let piece = server.post_files("/files/read", &asked)["pieces"][0].clone();
        assert_eq!((&piece["size"], &piece["from"]), (&json!(10 * MEBIBYTE), &json!(whole.len())));
        let bytes = BASE64.decode(piece["data"].as_str().unwrap().as_bytes()).unwrap();
        assert!(bytes.len() <= 3 * MEBIBYTE);
        if bytes.is_empty() {
            break;
        }
        whole.extend(bytes);
    }
    assert_eq!(hash(&whole), large["sha256"].as_str().unwrap());
    let read = |fields: Value| {
        let mut wanted = json!({"sha256": large["sha256"]});
        wanted.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let asked = json!({"share": "w", "wanted": [wanted]});
        let data = server.post_files("/files/read", &asked)["pieces"][0]["data"].clone();
        BASE64.decode(data.as_str().unwrap().as_bytes()).unwrap()
    };
    assert_eq!(read(json!({"from": 5, "bytes": 3})), [5, 6, 7]);
    assert_eq!(read(json!({"bytes": 100 * MEBIBYTE})).len(), 3 * MEBIBYTE);
    assert_eq!(read(json!({"from": 10 * MEBIBYTE + 5})), Vec::<u8>::new());
    let asked = json!({"share": "w", "wanted": [
        {"sha256": small["sha256"]}, {"sha256": large["sha256"]}, {"sha256": small["sha256"]},
    ]});
    let pieces = server.post_files("/files/read", &asked)["pieces"].clone();
    let lengths = pieces.as_array().unwrap().iter().map(|it| BASE64.decode(it["data"].as_str().unwrap().as_bytes()));
    let lengths: Vec<usize> = lengths.map(|it| it.unwrap().len()).collect();
    assert_eq!(lengths, [1, 3 * MEBIBYTE - 1, 0], "what has no room is cut off");
    // The next call needs no contents to be sent.
    let files = json!({"files": [[large["path"], large["sha256"], large["size"]]]});
    let answer = server.run_on_files("w", "import os\ndef run(): return os.path.getsize('large')", &files);
    assert_eq!((&answer["result"], &answer["files"]["changed"]), (&json!(10 * MEBIBYTE), &json!([])));
}

#[test]
fn an_answer_holds_two_mebibytes_of_contents_however_they_are_written() {
    let server = Server::start(&[]);
    for text in ["'x'", "'\\x01'", "'\"'", "'\\n'", "'\\u2028'", "'\\x7f'"] {
        let code = format!("def run():\n    for i in range(40):\n        open(str(i), 'w').write({text} * 100000)");
        let (status, answer, length) =
            server.exchange("/files/run", &json!({"share": "w", "code": code, "function": "run"}));
        assert_eq!(status, 200, "{answer:.300}");
        let inline = answer["files"]["changed"].as_array().unwrap().iter().filter(|file| !file["content"].is_null());
        let bytes: u64 = inline.map(|file| file["size"].as_u64().unwrap()).sum();
        assert!(bytes <= 2 * MEBIBYTE as u64 && bytes > MEBIBYTE as u64, "{text}: {bytes}");
        assert!(length < 5 * MEBIBYTE, "{text}: {length} bytes");
    }
}

#[test]
fn the_bounds_of_files_hold_on_the_way_in() {
    let server = Server::start(&[]);
    let (small, mega) = (server.put("w", "/", b"x"), server.put("w", "/", &vec![7; MEBIBYTE]));
    let files = |count: usize, file: &Value| -> Vec<Value> {
        (0..count).map(|number| json!([format!("/d{}/{number}", number % 7), file[1], file[2]])).collect()
    };
    let code = "import os\ndef run(): return sum(len(names) for _, _, names in os.walk('.'))";
    let body = |files: Vec<Value>| json!({"share": "w", "code": code, "function": "run", "files": files});
    let (_, answer, _) = server.exchange("/files/run", &body(files(2_000, &small)));
    assert_eq!((&answer["result"], &answer["files"]["fault"]), (&json!(2_000), &Value::Null), "{answer:.300}");
    let error = refused(&server, "/files/run", &body(files(2_001, &small)), 400, "VALIDATION_ERROR");
    assert!(error["message"].as_str().unwrap().contains("2001 files"), "{error}");
    let (_, answer, _) = server.exchange("/files/run", &body(files(64, &mega)));
    assert_eq!((&answer["result"], &answer["files"]["fault"]), (&json!(64), &Value::Null), "{answer:.300}");
    let both = [files(64, &mega), files(65, &small)[64..].to_vec()].concat();
    let error = refused(&server, "/files/run", &body(both), 400, "VALIDATION_ERROR");
    assert!(error["message"].as_str().unwrap().contains("67108865 bytes"), "{error}");
    // The bundle counts too.
    let mut together = body(files(1_500, &small));
    together["bundle"] = (0..501).map(|number| json!([format!("{number}"), small[1], small[2]])).collect();
    refused(&server, "/files/run", &together, 400, "VALIDATION_ERROR");
    let largest = server.put("w", "/largest", &vec![1; 10 * MEBIBYTE]);
    let (_, answer, _) = server.exchange("/files/run", &body(vec![largest]));
    assert_eq!(answer["result"], 1, "{answer:.300}");
}

#[test]
fn sessions_that_do_not_fit_are_refused_alone() {
    in_every_configuration_of_files(&[], |configuration, server| {
        let zygote = server.file_zygote();
        let small = server.put("deep", "/", b"x");
        // Each file in 120 directories of its own.
        let deep = |number: usize| (0..120).map(|level| format!("/{number}x{level}")).collect::<String>() + "/f";
        let files: Vec<Value> = (0..80).map(|number| json!([deep(number), small[1], small[2]])).collect();
        std::thread::scope(|scope| {
            let neighbour = scope.spawn(|| {
                let code = "import time\ndef run():\n    time.sleep(1)\n    return 1";
                server.run_on_files("neighbour", code, &json!({}))
            });
            eventually("it runs", || server.health()["files"]["queue"]["running"] == 1);
            let body = json!({"share": "deep", "code": "def run(): pass", "function": "run", "files": files});
            refused(server, "/files/run", &body, 400, "VALIDATION_ERROR");
            assert_eq!(neighbour.join().unwrap()["result"], 1, "{configuration}");
        });
        assert_eq!(server.file_zygote(), zygote, "{configuration}: {}", server.log());
        server.assert_clean("a refused session");
    });
}

#[test]
fn limits_can_be_lowered_and_not_raised() {
    let server = Server::start(&["--files-timeout-seconds", "1", "--files-memory-mb", "64"]);
    let timed = |limits: Value| {
        let begun = Instant::now();
        let answer = server.run_on_files("w", "import time\ndef run(): time.sleep(90)", &json!({"limits": limits}));
        assert_eq!(answer["error_kind"], "timeout", "{answer}");
        (answer["error"].as_str().unwrap().to_owned(), begun.elapsed())
    };
    for (limits, expected) in [
        (json!({"timeout_seconds": 0.2}), "Timed out after 0.2 s"),
        (json!({"timeout_seconds": 600}), "Timed out after 1 s"),
        (json!({}), "Timed out after 1 s"),
    ] {
        let (told, took) = timed(limits);
        assert!(told == expected && took < PATIENCE, "{told} {took:?}");
    }
    let block = |megabytes: u32, limits: Value| {
        let code = format!("def run():\n    x = bytearray({megabytes} << 20)");
        server.run_on_files("w", &code, &json!({"limits": limits}))["error_kind"].clone()
    };
    assert_eq!(block(50, json!({})), Value::Null);
    assert_eq!(block(65, json!({"memory_mb": 500})), "memory");
    assert_eq!(block(20, json!({"memory_mb": 10})), "memory");
}

#[test]
fn the_limits_of_the_document_hold_by_default() {
    let server = Server::start(&[]);
    let limits = server.health()["files"]["limits"].clone();
    assert_eq!(
        limits,
        json!({
            "timeout_seconds": 120.0, "memory_mb": 256, "files": 2_000, "file_bytes": 10 * MEBIBYTE,
            "total_bytes": 64 * MEBIBYTE
        })
    );
    assert_eq!(server.run_on_files("w", "def run():\n    x = bytearray(240 << 20)", &json!({}))["ok"], true);
    let answer = server.run_on_files("w", "def run():\n    x = bytearray(257 << 20)", &json!({}));
    assert_eq!(answer["error_kind"], "memory");
    // The time of a call that asks for none. The client of these tests waits for 30 s, so somebody else must ask.
    let body = r#"{"share":"w","code":"import time\ndef run(): time.sleep(60)","function":"run"}"#;
    let mut stream = crate::lifecycle::begin_at(&server, "/files/run", body);
    stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let begun = Instant::now();
    let mut buffer = [0; 4096];
    let read = std::io::Read::read(&mut stream, &mut buffer).unwrap();
    let told = String::from_utf8_lossy(&buffer[..read]);
    assert!(told.contains("Timed out after 30 s"), "{told}");
    assert!(begun.elapsed() > Duration::from_secs(29));
}

#[test]
fn functions_are_inspected() {
    let server = Server::start(&[]);
    let code = "\
from covalt_toolset import tool
import pydantic

class Filter(pydantic.BaseModel):
    '''Which rows.'''
    column: str
    least: float = 0

@tool(name='Analyze', requires_confirmation=True)
def analyze(filename: str, filters: list[Filter], workspace, limit: int = 5) -> dict:
    '''Analyzes a file.

    Args:
        filename: The file to analyze
    '''
    print('it was called')

def plain(x): return x
";
    let entrypoints = ["main:analyze", "main:plain", "main:missing", "nowhere:f", "tools.b:run", "tools.bad:run"];
    let bundle = json!([
        server.put("w", "tools/b.py", b"def run(n: int) -> int:\n    '''Doubles.'''\n    return 2 * n"),
        server.put("w", "tools/bad.py", b"raise SystemExit(0)")
    ]);
    let body = json!({"share": "w", "code": code, "bundle": bundle, "entrypoints": entrypoints});
    let answer = server.post_files("/inspect", &body);
    assert_eq!((&answer["ok"], &answer["stdout"]), (&json!(true), &json!("")), "{answer}");
    assert!(answer["files"].is_null(), "nothing is told of files");
    let tools = answer["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.iter().map(|tool| tool["entrypoint"].as_str().unwrap()).collect::<Vec<_>>(), entrypoints);
    let fields: BTreeSet<&str> = tools[0].as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "category",
        "decorated",
        "description",
        "entrypoint",
        "fault",
        "name",
        "parameters_schema",
        "requires_confirmation",
        "returns_schema",
        "warnings",
    ];
    assert_eq!(fields, expected.into());
    let [analyze, plain, missing, nowhere, double, bad] = &tools[..] else { panic!("{tools:?}") };
    assert_eq!((&analyze["name"], &analyze["requires_confirmation"]), (&json!("Analyze"), &json!(true)));
    assert_eq!(analyze["description"], "Analyzes a file.");
    let schema = &analyze["parameters_schema"];
    assert_eq!(schema["required"], json!(["filename", "filters"]), "{schema}");
    assert_eq!(schema["properties"]["filename"]["description"], "The file to analyze");
    assert_eq!(schema["properties"]["limit"]["default"], 5);
    assert!(schema["properties"]["workspace"].is_null() && schema["$defs"]["Filter"].is_object(), "{schema}");
    assert_eq!((&plain["decorated"], plain["warnings"].as_array().unwrap().len()), (&json!(false), 1));
    assert_eq!(double["description"], "Doubles.");
    for (tool, told) in [(missing, "missing"), (nowhere, "nowhere"), (bad, "SystemExit")] {
        assert!(tool["fault"].as_str().unwrap().contains(told) && tool["parameters_schema"].is_null(), "{tool}");
    }
    for endless in ["while True: pass", "def f(): pass\nwhile True: pass"] {
        let body =
            json!({"share": "w", "code": endless, "entrypoints": ["main:f"], "limits": {"timeout_seconds": 0.3}});
        assert_eq!(server.post_files("/inspect", &body)["error_kind"], "timeout");
    }
    server.assert_clean("inspections");
}

#[test]
fn code_on_files_can_be_looked_at() {
    let server = Server::start(&[]);
    let code =
        "import os, pydantic, numpy\nfrom covalt_toolset import tool\nprint('ran')\ndef run(workspace, x): return x";
    let answer = server.check(&json!({"code": code, "function": "run", "share": "w", "files": true}));
    assert_eq!((&answer["ok"], &answer["stdout"]), (&json!(true), &json!("")), "{answer}");
    let result = &answer["result"];
    assert_eq!(result["standard_library"], true);
    assert_eq!(result["imports"], json!([{"name": "numpy", "line": 1}]));
    for package in ["covalt_toolset", "pydantic"] {
        assert!(result["importable"].as_array().unwrap().contains(&json!(package)), "{result}");
    }
    assert_eq!(result["function"], true);
    let answer = server.check(&json!({"code": "import os\ndef run(x): pass", "function": "run", "files": false}));
    assert_eq!(answer["result"]["imports"], json!([{"name": "os", "line": 1}]));
    assert!(answer["result"]["standard_library"].is_null());
    assert_eq!(server.health()["files"]["status"], "idle", "a look needs no second room");
}

#[test]
fn contents_that_were_not_used_for_long_are_dropped() {
    let server = Server::start(&["--contents-mb", "128"]);
    assert_eq!(server.health()["files"]["contents"], json!({"bytes": 0, "most": 128 * MEBIBYTE}));
    let of = |byte: u8| vec![byte; 8 * MEBIBYTE];
    let is_there = |share: &str, byte: u8| {
        let asked = json!({"share": share, "wanted": [{"sha256": hash(&of(byte)), "bytes": 0}]});
        server.exchange("/files/read", &asked).0 == 200
    };
    for byte in 0..9 {
        server.put("greedy", "/x", &of(byte));
    }
    let kept = (0..9).filter(|byte| is_there("greedy", *byte)).collect::<Vec<_>>();
    assert_eq!(kept, [2, 3, 4, 5, 6, 7, 8], "half of everything is for one share");
    server.put("other", "/x", &of(99));
    assert!(is_there("other", 99) && is_there("greedy", 8) && !is_there("other", 8));
    for share in 0..20 {
        server.put(&format!("share {share}"), "/x", &of(share));
    }
    let bytes = server.health()["files"]["contents"]["bytes"].as_u64().unwrap();
    assert!((100 * MEBIBYTE as u64..=128 * MEBIBYTE as u64).contains(&bytes), "{bytes}");
    assert!(is_there("share 19", 19) && !is_there("greedy", 2));
}

#[test]
fn pieces_that_wait_for_others_have_a_bound() {
    let server = Server::start(&[]);
    let supervisor = server.supervisor();
    server.put("w", "/x", b"x");
    let before = crate::processes::resident_kib(supervisor);
    let text = "x".repeat(4 * MEBIBYTE);
    for share in 0..60_u8 {
        let pieces: Vec<Value> = (0..2_u8)
            .map(|number| {
                json!({"sha256": hash(&[share, number]), "encoding": "utf8", "number": 0, "count": 2, "data": text})
            })
            .collect();
        server.exchange("/files/contents", &json!({"share": format!("share {share}"), "pieces": pieces}));
    }
    let grown = crate::processes::resident_kib(supervisor).saturating_sub(before);
    assert!(grown < 160 << 10, "{grown} KiB");
    assert_eq!(server.put("w", "/y", b"y")[2], 1, "others go on");
}

#[test]
fn a_share_gets_half_of_the_slots() {
    let server = Server::start(&["--files-slots", "4"]);
    let endless = json!({
        "share": "greedy", "code": "import time\ndef run(): time.sleep(60)", "function": "run",
        "limits": {"timeout_seconds": 10}
    });
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| server.exchange("/files/run", &endless))).collect();
        eventually("two run, two wait", || {
            let queue = &server.health()["files"]["queue"];
            queue["running"] == 2 && queue["waiting"] == 2
        });
        let begun = Instant::now();
        assert_eq!(server.run_on_files("other", "def run(): return 1", &json!({}))["result"], 1);
        assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
        let outcomes: Vec<_> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        let run = outcomes.iter().filter(|(status, ..)| *status == 200).collect::<Vec<_>>();
        assert_eq!(run.len(), 2, "{outcomes:?}");
        // A call that was begun is never stopped for another one.
        assert!(run.iter().all(|(_, told, _)| told["error_kind"] == "timeout"), "{outcomes:?}");
        for (_, told, _) in outcomes.iter().filter(|(status, ..)| *status == 429) {
            assert_eq!(told["error"]["details"]["reason"], "share", "{told}");
        }
    });
}

#[test]
fn a_full_house_says_so() {
    let server = Server::start(&["--files-slots", "1"]);
    let sleeping = |share: usize| {
        json!({
            "share": format!("share {share}"), "code": "import time\ndef run(): time.sleep(60)", "function": "run",
            "limits": {"timeout_seconds": 4}
        })
    };
    let server = &server;
    std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..12).map(|share| scope.spawn(move || server.exchange("/files/run", &sleeping(share)).0)).collect();
        eventually("one runs, eight wait", || {
            let queue = &server.health()["files"]["queue"];
            queue["running"] == 1 && queue["waiting"] == 8
        });
        let error = refused(server, "/files/run", &sleeping(99), 429, "RATE_LIMITED");
        assert_eq!(error["details"]["reason"], "busy");
        // The first room is not concerned.
        assert_eq!(server.run_code("print(1)")["stdout"], "1\n");
        let statuses: Vec<u16> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        assert_eq!(statuses.iter().filter(|&&status| status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|&status| status == 200 || status == 429), "{statuses:?}");
    });
}

#[test]
fn health_says_what_is_on() {
    let server = Server::start(&["--files-slots", "3", "--contents-mb", "200"]);
    let idle = server.health()["files"].clone();
    assert_eq!((&idle["status"], &idle["reason"], &idle["layers"]), (&json!("idle"), &Value::Null, &Value::Null));
    assert_eq!(idle["contents"]["most"], 200 * MEBIBYTE);
    server.run_on_files("w", "def run(): pass", &json!({}));
    let open = server.health()["files"].clone();
    assert_eq!((&open["status"], &open["reason"], &open["calls"]), (&json!("ok"), &Value::Null, &json!(1)));
    assert_eq!(open["queue"], json!({"running": 0, "slots": 3, "waiting": 0, "capacity": 24}));
    assert!(open["layers"]["landlock"].is_i64() || open["layers"]["private_root"] == true, "{open}");
    assert!(open["zygote"]["pid"].is_i64() && open["zygote"]["pid"] != server.health()["zygote"]["pid"]);
}

#[test]
fn without_both_layers_nothing_is_run() {
    let flags = ["--landlock", "off", "--namespaces", "off"];
    std::thread::scope(|scope| {
        for start in [Server::start as fn(&[&str]) -> Server, Server::start_unprivileged] {
            scope.spawn(move || {
                let server = start(&flags);
                let body = json!({"share": "w", "code": "print('ESCAPED')\ndef run(): pass", "function": "run"});
                for path in ["/files/run", "/inspect", "/files/run"] {
                    let mut body = body.clone();
                    if path == "/inspect" {
                        body = json!({"share": "w", "code": "print('ESCAPED')", "entrypoints": ["main:run"]});
                    }
                    let error = refused(&server, path, &body, 503, "UNAVAILABLE");
                    assert_eq!(error["details"]["reason"], "unavailable", "{error}");
                    assert!(error["message"].as_str().unwrap().contains("landlock"), "{error}");
                }
                let files = server.health()["files"].clone();
                assert_eq!((&files["status"], &files["calls"]), (&json!("unavailable"), &json!(0)), "{files}");
                assert!(files["reason"].as_str().unwrap().contains("landlock") && files["zygote"].is_null(), "{files}");
                assert_eq!(server.run_code("print(1)")["stdout"], "1\n", "the first room is open");
                assert!(!server.log().contains("ESCAPED"));
                // Contents are kept all the same.
                server.put("w", "/x", b"x");
            });
        }
    });
}

#[test]
fn without_packages_the_room_is_unavailable() {
    for (packages, told) in [("", "--packages"), ("/nowhere/at/all", "/nowhere/at/all")] {
        let server = Server::start_with_packages(packages);
        let body = json!({"share": "w", "code": "def run(): pass", "function": "run"});
        let error = refused(&server, "/files/run", &body, 503, "UNAVAILABLE");
        assert_eq!(error["details"]["reason"], "unavailable");
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
        assert_eq!(server.run_code("print(1)")["stdout"], "1\n");
    }
}

#[test]
fn racing_calls_do_not_meet() {
    in_every_configuration_of_files(&["--files-slots", "4"], |configuration, server| {
        std::thread::scope(|scope| {
            for caller in 0..4 {
                scope.spawn(move || {
                    for round in 0..8 {
                        let (share, mine) = (format!("share {caller}"), format!("{caller}-{round}"));
                        let file = server.put(&share, "/mine", mine.as_bytes());
                        let code = "import os, tempfile\ndef run():\n    mine = open('mine').read()\n    seen = os.listdir('.') + os.listdir(tempfile.gettempdir())\n    open('out', 'w').write(mine * 2)\n    return [mine, seen]";
                        let answer = server.run_on_files(&share, code, &json!({"files": [file]}));
                        assert_eq!(answer["result"], json!([mine, ["mine"]]), "{configuration}");
                        let changed = &answer["files"]["changed"];
                        assert_eq!(changed[0]["content"]["data"], mine.repeat(2), "{configuration}");
                        assert_eq!(changed.as_array().unwrap().len(), 1, "{configuration}");
                    }
                });
            }
        });
        server.assert_clean("the race");
    });
}
