//! `execute_python` and tools with a `python` handler, in the real sandbox.

use crate::harness::{Client, Sandbox, Server, definition, race, unique, workspace};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn execute(client: &Client, code: &str) -> Value {
    client.execute("execute_python", json!({"code": code})).success()
}

/// The error of code that fails.
#[track_caller]
fn fails(client: &Client, code: &str, expected: &str) -> Value {
    client.execute("execute_python", json!({"code": code})).failed(200, expected)["error"].clone()
}

/// A Worker whose sandbox is at this URL.
fn server_with(url: &str) -> Server {
    let vars = [("AUTH", "open"), ("SECRET_KEY", "a secret"), ("SANDBOX_URL", url)];
    Server::start(&unique("python"), &vars[..if url.is_empty() { 2 } else { 3 }])
}

/// Registers a tool whose handler is the function `run` of this code, with additional fields.
fn register(client: &Client, id: &str, code: &str, fields: Value) {
    let mut all = json!({
        "parameters_schema": {"type": "object"},
        "handler": {"type": "python", "code": code, "function": "run"},
    });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    client.register(id, "1.0.0", all);
}

#[test]
fn what_code_prints_is_its_result() {
    let client = workspace();
    let example = "import json\ndata = {'result': 42}\nprint(json.dumps(data))";
    assert_eq!(execute(&client, example), "{\"result\": 42}\n");
    assert_eq!(execute(&client, ""), "");
    assert_eq!(execute(&client, "x = 1"), "");
    assert_eq!(execute(&client, "print('ä\u{1F600}', end='')"), "ä\u{1F600}");
    let warned = "import re\nprint('out', end='')\nexec('1 is 1')";
    let said = execute(&client, warned);
    let said = said.as_str().unwrap();
    assert!(said.starts_with("out\n") && said.contains("SyntaxWarning"), "{said}");
}

#[test]
fn a_call_of_it_is_recorded_like_any_other() {
    let client = workspace();
    let answer = client.execute("execute_python", json!({"code": "print(6 * 7)"})).result(200);
    let record = client.record(&answer);
    assert_eq!((&record["result"], &record["status"]), (&json!("42\n"), &json!("success")));
    assert_eq!(record["arguments"], json!({"code": "print(6 * 7)"}));
    assert!(record["pre_manifest_id"].is_null() && record["post_manifest_id"].is_null());
}

#[test]
fn errors_help_to_mend_the_code() {
    let client = workspace();
    let code = "def f(x):\n    return 1 / x\nprint('so far')\nf(0)";
    let error = fails(&client, code, "TOOL_ERROR");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("Traceback (most recent call last):\n  File \"main.py\", line 4, in <module>"));
    assert!(message.ends_with("ZeroDivisionError: division by zero"), "{message}");
    assert_eq!(message.matches("File ").count(), message.matches("File \"main.py\"").count(), "{message}");
    assert_eq!(error["details"], json!({"kind": "exception", "output": "so far\n"}));

    let kinds = [
        ("print(", "syntax", "was never closed"),
        ("import os", "import", "only json, re, typing can be imported"),
        ("x = bytearray(10 ** 9)", "memory", "50 MB"),
        ("exit(3)", "exception", "SystemExit: 3"),
        ("open('/etc/passwd')", "exception", "open"),
        ("x = [0]\nwhile True: x = [x, x]", "memory", "MB"),
    ];
    for (code, kind, told) in kinds {
        let error = fails(&client, code, "TOOL_ERROR");
        assert_eq!(error["details"]["kind"], kind, "{code}: {error}");
        assert!(error["message"].as_str().unwrap().contains(told), "{code}: {error}");
    }
}

#[test]
fn time_is_up_after_the_tools_own_seconds() {
    let client = workspace();
    let forever = "def run(arguments):\n    print('begun')\n    while True: pass";
    register(&client, "slow", forever, json!({"timeout_seconds": 1}));
    let failed = client.execute("slow", json!({})).failed(200, "TIMEOUT");
    assert_eq!(failed["error"]["message"], "Timed out after 1 s");
    assert_eq!(failed["error"]["details"], json!({"kind": "timeout", "output": "begun\n"}));
    assert!(failed["duration_ms"].as_u64().unwrap() < 5_000, "{failed}");
}

#[test]
fn the_sandbox_has_a_maximum_of_its_own() {
    let client = workspace();
    let error = fails(&client, "while True: pass", "TIMEOUT");
    assert_eq!(error["message"], "Timed out after 5 s");
}

#[test]
fn floods_are_cut_and_say_so() {
    let client = workspace();
    let said = execute(&client, "for line in range(20_000): print(line)\nprint('last')");
    let said = said.as_str().unwrap();
    assert!(said.starts_with("0\n1\n2\n") && said.len() < 70_000);
    assert!(said.ends_with("[stdout was longer: the rest is cut off]\n"), "{}", &said[said.len() - 100..]);
    // The error holds the end of the output before the failure.
    let error = fails(&client, "for line in range(2_000): print(line)\n1 / 0", "TOOL_ERROR");
    let output = error["details"]["output"].as_str().unwrap();
    assert!(output.len() <= 4096 && output.ends_with("\n1998\n1999\n"), "{output}");
}

#[test]
fn what_the_sandbox_would_not_take_is_refused_before() {
    let client = workspace();
    let long = client.execute("execute_python", json!({"code": "#".repeat(1024 * 1024 + 1)}));
    assert_eq!(long.failed(400, "INVALID_ARGUMENTS")["error"]["details"]["violations"][0]["path"], "/code");
    assert_eq!(execute(&client, &format!("print(1)\n{}", "#".repeat(1024 * 1024 - 9))), "1\n");
    let escaped = client.execute("execute_python", json!({"code": "\u{1}".repeat(1024 * 1024)}));
    escaped.failed(400, "INVALID_ARGUMENTS");
}

#[test]
fn one_call_leaves_nothing_for_the_next() {
    let client = workspace();
    let poison = "import json\njson.dumps = lambda it: 'poisoned'\n__builtins__['len'] = None\nx = 1";
    execute(&client, poison);
    assert_eq!(execute(&client, "import json\nprint(json.dumps([1]), len('abc'), 'x' in globals())"), "[1] 3 False\n");
    let other = workspace();
    assert_eq!(execute(&other, "import json\nprint(json.dumps([1]))"), "[1]\n");
}

#[test]
fn a_python_tool_gets_checked_arguments_and_answers_json() {
    let client = workspace();
    let code = "import re\n\ndef run(arguments):\n    words = re.findall(r'\\w+', arguments['text'])\n    \
        return {'words': len(words), 'longest': max(words, key=len), 'top': arguments['top']}";
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1}, "top": {"type": "integer", "default": 3}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let returns = json!({"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]});
    register(&client, "count_words", code, json!({"parameters_schema": schema, "returns_schema": returns}));
    let result = client.execute("count_words", json!({"text": "to be or notwithstanding"})).success();
    assert_eq!(result, json!({"words": 4, "longest": "notwithstanding", "top": 3}));
    client.execute("count_words", json!({"text": ""})).failed(400, "INVALID_ARGUMENTS");
    let failed = client.execute("count_words", json!({"text": "!"})).failed(200, "TOOL_ERROR");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("main.py\", line 5, in run") && message.contains("ValueError"), "{message}");
}

#[test]
fn a_python_tool_is_held_to_its_result() {
    let client = workspace();
    let returns = json!({"type": "object", "required": ["words"]});
    register(&client, "wrong", "def run(arguments):\n    return [1]", json!({"returns_schema": returns}));
    client.execute("wrong", json!({})).failed(200, "INVALID_RESULT");
    register(&client, "odd", "def run(arguments):\n    return {1, 2}", json!({}));
    let failed = client.execute("odd", json!({})).failed(200, "TOOL_ERROR");
    assert!(failed["error"]["message"].as_str().unwrap().contains("is not JSON"), "{failed}");
    register(&client, "many", "def run(arguments):\n    return [0] * 300_000", json!({}));
    let failed = client.execute("many", json!({})).failed(200, "TOOL_ERROR");
    assert!(failed["error"]["message"].as_str().unwrap().contains("250000 values"), "{failed}");
    register(&client, "nothing", "def run(arguments):\n    print('to the record')", json!({}));
    let made = client.execute("nothing", json!({})).result(200);
    assert_eq!(made["result"], Value::Null);
    assert_eq!(client.record(&made)["details"], json!({"output": "to the record\n", "warnings": []}));
}

#[test]
fn what_a_tool_prints_is_kept_with_its_result() {
    let client = workspace();
    let schema = json!({"type": "object", "properties": {
        "lines": {"type": "integer"}, "key": {"type": "string", "format": "password"}}});
    let code = "import typing\ndef run(lines=0, key=''):\n    print('key', key)\n    for each in range(lines): print('x' * 99)\n    \
        print('done', file=typing.sys.stderr)\n    return lines";
    register(&client, "prints", code, json!({"parameters_schema": schema}));
    let output = |arguments: Value| {
        let made = client.execute("prints", arguments).result(200);
        assert_eq!(made["success"], true, "{made}");
        client.record(&made)["details"]["output"].as_str().unwrap().to_owned()
    };
    assert_eq!(output(json!({})), "key \ndone\n");
    assert_eq!(output(json!({"key": "hunter22"})), "key [redacted]\ndone\n", "a secret is kept nowhere");
    let long = output(json!({"lines": 700}));
    assert!(
        long.len() <= 64 * 1024 && long.len() > 64_000 && long.ends_with("[the rest is cut off]\n"),
        "{}",
        long.len()
    );
    let listed = client.get("/api/tool-calls").ok()["tool_calls"][0]["details"]["output"].as_str().unwrap().to_owned();
    assert!(listed.len() < 1_200 && listed.contains("[cut: the whole is at GET /api/tool-calls/call_"), "{listed}");
    let returns = json!({"properties": {"key": {"type": "string", "writeOnly": true}}});
    let code = "def run():\n    print('made', 'hunter33')\n    return {'key': 'hunter33'}";
    register(&client, "makes", code, json!({"returns_schema": returns}));
    let record = client.record(&client.execute("makes", json!({})).result(200));
    assert_eq!(record["result"], json!({"key": "[redacted]"}));
    assert_eq!(record["details"]["output"], "made [redacted]\n", "nor is a secret of the result");
    // What a tool prints costs no row.
    register(&client, "silent", "def run(): return 1", json!({}));
    register(&client, "speaks", "def run():\n    print(1)\n    return 1", json!({}));
    let cost = |tool: &str| client.execute(tool, json!({})).cost("rows_written");
    assert_eq!(cost("silent"), cost("speaks"));
}

#[test]
fn a_function_gets_keyword_arguments_if_its_parameters_are_properties() {
    let client = workspace();
    let schema = json!({"type": "object", "properties": {
        "text": {"type": "string"}, "limit": {"type": "integer", "default": 2}, "arguments": {}}, "required": ["text"]});
    let given = json!({"text": "a b c"});
    for (id, code, expected) in [
        ("named", "def run(text, limit, arguments=None):\n    return text.split()[:limit]", json!(["a", "b"])),
        ("all", "def run(text, **rest):\n    return rest", json!({"limit": 2})),
        ("dict", "def run(given):\n    return given", json!({"text": "a b c", "limit": 2})),
        ("mixed", "def run(text, more=None):\n    return text", json!({"text": "a b c", "limit": 2})),
        ("async", "async def run(text, limit, arguments=0):\n    return text", json!("a b c")),
        ("rest", "def run(*text):\n    return text", json!([{"text": "a b c", "limit": 2}])),
        ("first", "def run(text, /):\n    return text", json!({"text": "a b c", "limit": 2})),
    ] {
        register(&client, id, code, json!({"parameters_schema": schema}));
        assert_eq!(client.execute(id, given.clone()).success(), expected, "{code}");
    }
    let code = "def run(arguments, text, limit):\n    return arguments";
    register(&client, "trap", code, json!({"parameters_schema": schema}));
    assert_eq!(client.execute("trap", json!({"text": "a", "arguments": 7})).success(), 7, "a property of that name");
    let failed = client.execute("trap", given).failed(200, "TOOL_ERROR");
    assert!(
        failed["error"]["message"].as_str().unwrap().contains("missing 1 required positional argument: 'arguments'")
    );
    // An argument that the schema does not name is left out, and told.
    let made = client.execute("named", json!({"text": "a", "limt": 1})).result(200);
    assert_eq!(made["result"], json!(["a"]));
    assert_eq!(client.record(&made)["details"]["warnings"][0]["path"], "/limt");
}

/// The body that registers a Python tool.
fn python_definition(id: &str, code: &str) -> Value {
    definition(id, "1.0.0", json!({"handler": {"type": "python", "code": code, "function": "run"}}))
}

#[test]
fn python_that_cannot_run_is_refused_when_it_is_registered() {
    let client = workspace();
    let refused = |code: &str, path: &str, told: &str| {
        let refused = client.post("/api/tools", python_definition("bad", code)).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), [path], "{code}");
        assert!(refused.details["problems"][0]["message"].as_str().unwrap().contains(told), "{refused:?}");
    };
    refused("def run(text):\n    return (text\n", "/handler/code", "line 2: SyntaxError: '(' was never closed");
    refused("def run(text):\nreturn 1", "/handler/code", "line 2: IndentationError: ");
    refused(&format!("x = {}1", "-".repeat(100_000)), "/handler/code", "does not compile");
    refused("def walk(text): ...\nclass A:\n    def run(self): ...", "/handler/function", "which defines walk");
    client.get("/api/tools/bad").refused(404, "NOT_FOUND");
    let health = client.get("/api/registry/health").ok();
    assert_eq!(health["failed_registrations_24h"]["invalid"], 4);
}

#[test]
fn python_that_may_fail_is_registered_with_a_warning() {
    let client = workspace();
    let warnings = |id: &str, code: &str| {
        let answer = client.post("/api/tools", python_definition(id, code)).created();
        let warnings = answer["warnings"].as_array().unwrap();
        assert!(warnings.iter().all(|it| it["path"] == "/handler/code"), "{answer}");
        warnings.iter().map(|it| it["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(warnings("good", "import json, re\nprint('not run')\ndef run(text): return json.dumps(text)"), [""; 0]);
    assert_eq!(
        warnings("imports", "import os.path\ndef run(text):\n    import numpy as np\n    return np"),
        [
            "line 1 imports os.path, and only json, re, typing can be imported",
            "line 3 imports numpy, and only json, re, typing can be imported"
        ]
    );
    assert_eq!(warnings("lambda", "run = lambda text: text"), [""; 0]);
    assert_eq!(
        warnings("hidden", "exec('def run(text): return 1')"),
        ["may or may not define run: only a call will tell"]
    );
    assert_eq!(client.execute("hidden", json!({"text": "a"})).success(), 1);
    assert_eq!(warnings("none", "def run(): return 1"), ["run has no parameter text: a call with this argument fails"]);
    client.execute("none", json!({"text": "a"})).failed(200, "TOOL_ERROR");
    assert_eq!(
        warnings("extra", "def run(text, limit=3): return text[:limit]"),
        ["run gets one dict of all arguments, because limit is no property of the schema"]
    );
    assert_eq!(
        warnings("misnamed", "def run(txt): return txt.upper()"),
        ["run gets one dict of all arguments, because txt is no property of the schema. Did you mean text?"]
    );
    assert_eq!(
        warnings("more", "def run(text, limit): return text[:limit]"),
        [
            "run gets one dict of all arguments, because limit is no property of the schema; every call fails, because it \
          needs more than one argument"
        ]
    );
    client.execute("more", json!({"text": "a"})).failed(200, "TOOL_ERROR");
    assert_eq!(
        warnings("prints", "def run(text): print(text)"),
        ["run returns no value: the result is null, and the printed text is only in the record"]
    );
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this runs on the host")]
fn a_registration_waits_a_second_for_the_sandbox_at_most() {
    // A server that accepts connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    for (url, told) in [
        (url.as_str(), "was not checked: The sandbox did not answer within a second"),
        ("http://127.0.0.1:9", "was not checked: The sandbox cannot be used: nothing answers at SANDBOX_URL"),
        ("", "was not checked: Python runs in a sandbox, and this deployment has none"),
    ] {
        let server = server_with(url);
        let client = server.client("ws");
        client.get("/api/tools").ok();
        let begun = Instant::now();
        let answer = client.post("/api/tools", python_definition("tool", "def walk(text): ...")).created();
        let took = begun.elapsed();
        assert!(took < Duration::from_millis(2_500), "{took:?}");
        let messages = answer["warnings"].as_array().unwrap().iter().map(|it| it["message"].as_str().unwrap());
        let messages = messages.collect::<Vec<_>>();
        assert!(messages[0].starts_with(told), "{messages:?}");
        assert_eq!(messages[1], "does not seem to define the function");
    }
}

#[test]
fn many_calls_at_once_each_get_their_own_answer() {
    let client = workspace();
    let answers = race(8, |caller| {
        (0..5).map(|turn| execute(&client, &format!("print({caller} * 100 + {turn})"))).collect::<Vec<_>>()
    });
    for (caller, answers) in answers.iter().enumerate() {
        for (turn, answer) in answers.iter().enumerate() {
            assert_eq!(*answer, format!("{}\n", caller * 100 + turn));
        }
    }
}

#[test]
fn without_a_sandbox_it_is_said_what_to_configure() {
    let server = server_with("");
    let client = server.client("ws");
    let error = fails(&client, "print(1)", "UNREACHABLE");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("SANDBOX_URL") && message.contains("wrangler.toml"), "{message}");
    register(&client, "count", "def run(arguments):\n    return 1", json!({}));
    client.execute("count", json!({})).failed(200, "UNREACHABLE");
}

#[test]
fn a_sandbox_that_is_not_there_or_no_sandbox_is_told() {
    let nobody = server_with("http://127.0.0.1:9");
    let error = fails(&nobody.client("ws"), "print(1)", "UNREACHABLE");
    assert_eq!(error["message"], "The sandbox cannot be used: nothing answers at SANDBOX_URL");
    let no_url = server_with("sandbox");
    assert!(fails(&no_url.client("ws"), "print(1)", "UNREACHABLE")["message"].as_str().unwrap().contains("no URL"));
    let other = server_with(nobody.url());
    let error = fails(&other.client("ws"), "print(1)", "UNREACHABLE");
    assert!(error["message"].as_str().unwrap().contains("status 404"), "{error}");
}

#[test]
fn a_full_sandbox_says_to_come_back() {
    let sandbox = Sandbox::start(&["--slots", "1", "--timeout-seconds", "60"]);
    let server = server_with(sandbox.url());
    let client = server.client("ws");
    register(&client, "forever", "def run(arguments):\n    while True: pass", json!({"timeout_seconds": 6}));
    std::thread::scope(|threads| {
        threads.spawn(|| client.execute("forever", json!({})).failed(200, "TIMEOUT"));
        sandbox.settle(1);
        let error = fails(&client, "print(1)", "UNREACHABLE");
        assert_eq!(error["message"], "The sandbox is busy: call again in a second");
    });
    assert_eq!(execute(&client, "print(1)"), "1\n");
}

/// Endless calls of one workspace use all slots only while nobody else waits.
#[test]
fn one_workspace_does_not_keep_another_waiting() {
    let sandbox = Sandbox::start(&["--slots", "4", "--timeout-seconds", "60"]);
    let server = server_with(sandbox.url());
    let (greedy, other) = (server.client("greedy"), server.client("other"));
    register(&greedy, "forever", "def run(arguments):\n    while True: pass", json!({"timeout_seconds": 6}));
    execute(&other, "print('warm')");
    std::thread::scope(|threads| {
        let endless = (0..10).map(|_| threads.spawn(|| greedy.execute("forever", json!({})).result(200)));
        let endless = endless.collect::<Vec<_>>();
        sandbox.settle(4);
        let plain = other.execute("execute_python", json!({"code": "print(1)"})).result(200);
        assert_eq!(plain["result"], "1\n", "{plain}");
        assert!(plain["duration_ms"].as_u64().unwrap() < 2_000, "{plain}");
        for answer in endless {
            let error = answer.join().unwrap()["error"].clone();
            assert!(matches!(error["code"].as_str(), Some("TIMEOUT" | "UNREACHABLE")), "{error}");
        }
    });
    assert_eq!(execute(&greedy, "print(1)"), "1\n");
}

#[test]
fn a_workspace_is_told_that_its_own_calls_are_in_the_way() {
    let sandbox = Sandbox::start(&["--slots", "2", "--timeout-seconds", "60"]);
    let server = server_with(sandbox.url());
    let (greedy, other) = (server.client("greedy"), server.client("other"));
    for client in [&greedy, &other] {
        register(client, "forever", "def run(arguments):\n    while True: pass", json!({"timeout_seconds": 6}));
    }
    std::thread::scope(|threads| {
        threads.spawn(|| greedy.execute("forever", json!({})).failed(200, "TIMEOUT"));
        sandbox.settle(1);
        threads.spawn(|| other.execute("forever", json!({})).failed(200, "TIMEOUT"));
        sandbox.settle(2);
        let error = fails(&greedy, "print(1)", "UNREACHABLE");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("This workspace's own calls hold its half of the sandbox"), "{message}");
    });
}
