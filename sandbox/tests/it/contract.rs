//! The server's promises to its clients.

use crate::processes::{self, PATIENCE, eventually};
use crate::server::{Server, in_every_configuration};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// The status and the body of the response to raw bytes.
pub fn exchange(server: &Server, sent: &[u8]) -> (u16, String) {
    let mut stream = server.raw();
    stream.write_all(sent).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer:?}")).parse().unwrap();
    (status, answer)
}

pub fn request(method: &str, path: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{kind}\r\n");
    [head.as_bytes(), body.as_bytes()].concat()
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn answers_have_one_shape() {
    let server = Server::start(&[]);
    let mut answer = server.run_code("import json\nprint(json.dumps({'result': 42}))");
    assert!(answer["duration_ms"].take().is_u64());
    assert_eq!(
        answer,
        json!({
            "ok": true, "error_kind": null, "error": null, "stdout": "{\"result\": 42}\n", "stderr": "", "result": null,
            "exit": 0, "truncated": {"stdout": false, "stderr": false}, "duration_ms": null
        })
    );
    let answer = server.run_code("print('to stderr', file=__import__('typing').sys.stderr)\n1 / 0");
    assert_eq!(
        (&answer["ok"], &answer["error_kind"], &answer["exit"]),
        (&json!(false), &json!("exception"), &json!(1))
    );
    assert_eq!(answer["stderr"], "to stderr\n");
    assert_eq!(
        answer["error"],
        "Traceback (most recent call last):\n  File \"main.py\", line 2, in <module>\n    1 / 0\n    ~~^~~\nZeroDivisionError: division by zero"
    );
}

#[test]
fn tracebacks_have_the_lines_of_the_code_alone() {
    let server = Server::start(&[]);
    let answer = server.run_code("import json\n\ndef read(text):\n    return json.loads(text)\n\nread('{')");
    let error = answer["error"].as_str().unwrap();
    assert!(error.contains("line 6, in <module>\n    read('{')"), "{error}");
    assert!(error.contains("line 4, in read\n    return json.loads(text)"), "{error}");
    assert!(
        error.ends_with("JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)")
    );
    assert!(!error.contains("decoder.py") && !error.contains("<guest>") && !error.contains("/usr"), "{error}");
    let chained = server.run_code("try:\n    {}['x']\nexcept KeyError:\n    raise ValueError('no x')");
    let error = chained["error"].as_str().unwrap();
    assert!(error.contains("KeyError: 'x'\n\nDuring handling of the above exception"), "{error}");
    let syntax = server.run_code("x = 1\nfor x in (1, 2:\n    print(x)");
    let error = syntax["error"].as_str().unwrap();
    assert!(error.contains("line 2") && error.contains("^") && error.contains("SyntaxError: "), "{error}");
}

#[test]
fn warnings_show_the_line_they_are_about() {
    let server = Server::start(&[]);
    // Python does not count the form feed as a line end.
    let answer = server.run_code("x = 1\n'\u{c}'\nprint(1 is 1)");
    assert_eq!(answer["stdout"], "True\n");
    let told = answer["stderr"].as_str().unwrap();
    assert!(told.starts_with("main.py:3: SyntaxWarning: ") && told.ends_with("\n  print(1 is 1)\n"), "{told}");
}

#[test]
fn however_code_stops_it_is_told() {
    let server = Server::start(&[]);
    let told = |code: &str| {
        let answer = server.run_code(code);
        assert_eq!((&answer["error_kind"], &answer["stderr"]), (&json!("exception"), &json!("")), "{code}: {answer}");
        (answer["error"].as_str().unwrap().to_owned(), answer["exit"].as_i64().unwrap())
    };
    let is = |error: &str, exit: i64| (error.to_owned(), exit);
    assert_eq!(told("exit(3)"), is("SystemExit: 3", 3));
    assert_eq!(told("exit(256)"), is("SystemExit: 256", 1));
    assert_eq!(told("exit('why')"), is("SystemExit: why", 1));
    let odd = "class Odd(int):\n    def __and__(self, other): return 'x'\n    __eq__ = None\n";
    assert_eq!(told(&format!("{odd}exit(Odd(3))")), is("SystemExit: 3", 3));
    let silent = "class Silent:\n    def __str__(self): 1 / 0\n";
    assert_eq!(told(&format!("{silent}exit(Silent())")), is("SystemExit", 1));
    let mute = "class Mute(SystemExit):\n    code = property(lambda self: 1 / 0)\n";
    assert_eq!(told(&format!("{mute}raise Mute")), is("SystemExit", 1));
    let nameless = "class Meta(type):\n    __name__ = __module__ = property(lambda self: 1 / 0)\nclass Named(Exception, metaclass=Meta): pass\n";
    assert_eq!(told(&format!("{nameless}raise Named")), is("Named", 1));
    let (error, exit) = told("exit('x' * 2_000_000)");
    assert!(exit == 1 && error.starts_with("SystemExit: xxx") && error.len() < 17_000, "{}", error.len());
    // An exception that passes all handlers ends the child, and shows nothing of the server's own code.
    let answer = server.run_code("import typing\ndel typing.sys.modules['report']._frame\n1 / 0");
    assert_eq!((&answer["error_kind"], &answer["exit"], &answer["stderr"]), (&json!("killed"), &json!(1), &json!("")));
}

#[test]
fn half_a_line_is_not_lost() {
    let server = Server::start(&[]);
    let code = "import typing\nprint('whole')\nprint('half', end='')\nprint('e', end='', file=typing.sys.stderr)\nwhile True: pass";
    let answer = server.post(&json!({"code": code, "limits": {"timeout_seconds": 0.5}}));
    assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!("whole\nhalf"), &json!("e")));
    // The code may replace a stream by any object that can be written to.
    let code = "class Own:\n    def write(self, text): said.append(text)\nsaid = []\nprint('a', 1, sep='-', file=Own())\nprint(said)";
    assert_eq!(server.run_code(code)["stdout"], "['a', '-', '1', '\\n']\n");
}

#[test]
fn functions_are_called_with_their_arguments() {
    let server = Server::start(&[]);
    let call =
        |code: &str, arguments: Value| server.post(&json!({"code": code, "function": "f", "arguments": arguments}));
    let echo = "def f(arguments):\n    return arguments";
    let arguments = json!({"text": "é😀\u{0}", "list": [1, 2.5, null, true], "deep": {"a": {"b": []}}, "big": 1e300});
    assert_eq!(call(echo, arguments.clone())["result"], arguments);
    assert_eq!(server.post(&json!({"code": echo, "function": "f"}))["result"], json!({}));
    assert_eq!(call("f = lambda a: sum(a['n'])", json!({"n": [1, 2]}))["result"], 3);
    assert_eq!(call("def f(a):\n    print('said')\n    return None", json!({}))["stdout"], "said\n");
    assert_eq!(call("class f:\n    def __new__(cls, a): return 1", json!({}))["result"], 1);
    for (code, told) in [
        ("x = 1", "NameError: the code defines no function 'f'"),
        ("f = 1", "NameError: the code defines no function 'f'"),
        ("def f(): pass", "takes 0 positional arguments but 1 was given"),
        (
            "def f(a): return {1}",
            "what f() returned is not JSON: TypeError: Object of type set is not JSON serializable",
        ),
        ("def f(a): return float('nan')", "what f() returned is not JSON: ValueError"),
        ("async def f(a): yield a", "Object of type async_generator is not JSON serializable"),
        ("def f(a): return 10 ** 400", "cannot be passed on: number out of range"),
        ("def f(a): return 'x' * (2 << 20)", "bytes long as JSON"),
        ("def f(a):\n    x = []\n    x.append(x)\n    return x", "Circular reference detected"),
        ("def f(a): exit(0)", "SystemExit: 0"),
        ("def f(a): return a['missing']", "KeyError: 'missing'"),
    ] {
        let answer = call(code, json!({}));
        assert_eq!((&answer["ok"], &answer["error_kind"]), (&json!(false), &json!("exception")), "{code}");
        assert!(answer["error"].as_str().unwrap().contains(told), "{code}: {answer}");
    }
    assert_eq!(call("def f(a): return '\\ud800'", json!({}))["result"], "?");
    assert_eq!(call("def f(a): return 'x' * 1000000", json!({}))["result"].as_str().unwrap().len(), 1_000_000);
    let large = "9".repeat(30);
    let body = format!(r#"{{"code":"def f(a): return a['n']","function":"f","arguments":{{"n":{large}}}}}"#);
    let (status, answer) = exchange(&server, &request("POST", "/run", JSON, &body));
    assert!(status == 200 && answer.contains(&format!(r#""result":{large},"#)), "{answer}");
}

#[test]
fn a_function_whose_parameters_are_properties_gets_keyword_arguments() {
    let server = Server::start(&[]);
    let call = |code: &str, arguments: Value| {
        let body =
            json!({"code": code, "function": "f", "arguments": arguments, "properties": ["a", "b", "arguments"]});
        let answer = server.post(&body);
        if answer["ok"] == true { answer["result"].clone() } else { answer["error"].clone() }
    };
    let both = json!({"a": 1, "b": 2});
    for (code, arguments, expected) in [
        ("def f(a, b): return [a, b]", both.clone(), json!([1, 2])),
        ("def f(b, a=7, *, arguments=None): return [a, b, arguments]", json!({"b": 2}), json!([7, 2, null])),
        ("def f(arguments): return arguments", json!({"arguments": 3}), json!(3)),
        ("f = lambda a, b: a + b", both.clone(), json!(3)),
        ("def f(a, **rest): return rest", json!({"a": 1, "b": 2, "c": 3}), json!({"b": 2, "c": 3})),
        ("def f(): return 'none'", json!({}), json!("none")),
        // The schema does not know `c`.
        ("def f(a, b): return [a, b]", json!({"a": 1, "b": 2, "c": 3}), json!([1, 2])),
        ("async def f(a, b): return [a, b]", both.clone(), json!([1, 2])),
        ("async def g(a): return a\nasync def f(given): return await g(given)", both.clone(), both.clone()),
        // All other functions get the one dict.
        ("def f(given): return given", both.clone(), both.clone()),
        ("def f(a, given=None): return [a, given]", both.clone(), json!([both, null])),
        ("def f(given=7): return given", both.clone(), both.clone()),
        ("def f(given, a=7): return given", both.clone(), both.clone()),
        ("def f(a, /): return a", both.clone(), both.clone()),
        ("def f(a, *b): return [a, b]", both.clone(), json!([both, []])),
        ("class f:\n    def __new__(cls, a): return a", both.clone(), both.clone()),
    ] {
        assert_eq!(call(code, arguments), expected, "{code}");
    }
    let told = call("def f(a, b): return 1", json!({"a": 1}));
    assert!(told.as_str().unwrap().ends_with("TypeError: f() missing 1 required positional argument: 'b'"), "{told}");
    let waits = "class Never:\n    def __await__(self): yield\nasync def f(a, b): await Never()";
    let told = call(waits, both.clone());
    assert!(told.as_str().unwrap().contains("there is no event loop"), "{told}");
    let told = call("def f(a): return 1", both);
    assert!(told.as_str().unwrap().ends_with("TypeError: f() got an unexpected keyword argument 'b'"), "{told}");
}

#[test]
fn code_can_be_looked_at_without_running_it() {
    let server = Server::start(&[]);
    let check = |code: &str| {
        let answer = server.check(&json!({"code": code, "function": "run", "share": "x"}));
        assert_eq!((&answer["ok"], &answer["stdout"]), (&json!(true), &json!("")), "{code}: {answer}");
        answer["result"].clone()
    };
    assert_eq!(
        check("import json\nprint('ran')\ndef run(text, limit=5): return json.dumps(text)"),
        json!({
            "fault": null, "function": true, "functions": ["run"],
            "parameters": {
                "names": ["text", "limit"], "required": ["text"], "takes_one": true, "by_keyword": true, "takes_all": false
            },
            "only_prints": false, "imports": [], "importable": ["json", "re", "typing"]
        })
    );
    for (code, line, message) in [
        ("x = 1\ndef run(a:\n    pass", json!(2), "SyntaxError: '(' was never closed"),
        ("def run(a):\npass", json!(2), "IndentationError: "),
        ("def run(a): pass\nreturn 1", json!(2), "SyntaxError: 'return' outside function"),
        ("def run(a): pass\0", json!(null), "null bytes"),
    ] {
        let fault = check(code)["fault"].clone();
        assert_eq!(fault["line"], line, "{code}: {fault}");
        assert!(fault["message"].as_str().unwrap().contains(message), "{code}: {fault}");
    }
    for (code, expected) in [
        ("def run(a): pass", json!(true)),
        ("run = print", json!(true)),
        ("class run: pass", json!(true)),
        ("if 1:\n    def run(a): pass", json!(true)),
        ("def other():\n    global run\n    run = 1", json!(true)),
        ("class A:\n    def run(self): pass", json!(false)),
        ("def other(a):\n    def run(b): pass", json!(false)),
        ("", json!(false)),
        // Only a run would tell.
        ("exec('def run(a): pass')", json!(null)),
        ("globals()['run'] = print", json!(null)),
        ("from typing import *", json!(null)),
    ] {
        assert_eq!(check(code)["function"], expected, "{code}");
    }
    let imports = check(
        "import os, json.decoder, __future__\ndef run(a):\n    from numpy.linalg import norm\n    import os\n    from . import b",
    );
    assert_eq!(
        imports["imports"],
        json!([{"name": "os", "line": 1}, {"name": "numpy.linalg", "line": 3}, {"name": ".", "line": 5}])
    );
    let parameters = |code: &str| check(code)["parameters"].clone();
    assert_eq!(
        parameters("def run(a, /, *b, c, **d): pass"),
        json!({"names": ["a", "c"], "required": ["a", "c"], "takes_one": false, "by_keyword": false, "takes_all": true})
    );
    let takes = |parameters: &str| {
        let found = check(&format!("def run({parameters}): pass"))["parameters"].clone();
        (found["required"].clone(), found["takes_one"].clone())
    };
    assert_eq!(takes("a, b=1, *, c=2"), (json!(["a"]), json!(true)));
    assert_eq!(takes("a, b"), (json!(["a", "b"]), json!(false)));
    assert_eq!(takes("*a"), (json!([]), json!(true)));
    assert_eq!(takes("*, a=1"), (json!([]), json!(false)));
    for (code, expected) in [
        ("def run(a): print(a)", true),
        ("async def run(a):\n    if a: print(a)\n    return", true),
        ("def run(a):\n    print(a)\n    return a", false),
        ("def run(a):\n    print(a)\n    yield a", false),
        ("def run(a):\n    def inner(): print(a)", false),
        ("def run(a): pass", false),
        ("@print\ndef run(a): print(a)", false),
    ] {
        assert_eq!(check(code)["only_prints"], expected, "{code}");
    }
    assert_eq!(parameters("@print\ndef run(a): pass"), json!(null));
}

#[test]
fn a_look_has_the_limits_of_a_run() {
    let server = Server::start(&[]);
    let dense = "a=1;".repeat(250_000);
    let check = |limits: Value| server.check(&json!({"code": dense, "function": "run", "limits": limits}));
    let answer = check(json!({"timeout_seconds": 0.05}));
    assert_eq!((&answer["error_kind"], &answer["result"]), (&json!("timeout"), &json!(null)), "{answer}");
    let answer = check(json!({"memory_mb": 5}));
    assert_eq!((&answer["error_kind"], &answer["result"]), (&json!("memory"), &json!(null)), "{answer}");
    assert_eq!(server.health()["calls"], 2, "a look is counted as a call");
}

#[test]
fn what_code_may_use_works() {
    let server = Server::start(&[]);
    for code in [
        "import typing\n@typing.runtime_checkable\nclass P(typing.Protocol):\n    def x(self): ...\nprint(isinstance(1, P))",
        "from typing import NamedTuple, TypedDict, get_type_hints\nclass A(NamedTuple):\n    a: int\nprint(A(1), get_type_hints(A))",
        "print('é'.encode('latin-1'), 'x'.encode('utf-16'), b'\\x80'.decode('cp1252'), 'é'.encode('ascii', 'replace'))",
        "print('ł'.encode('iso8859-2'), 'ж'.encode('koi8-r'), 'bücher.example'.encode('idna'), 'é'.encode('utf-7'))",
        "import re\nprint(re.findall(r'(?i)\\bÉ\\w+', 'élan Été'), re.compile('x', re.VERBOSE | re.DOTALL))",
        "import json\nprint(json.dumps({'é': [1]}, indent=2, sort_keys=True, ensure_ascii=False), json.JSONDecoder().raw_decode('1 x'))",
        "x = 10 ** 4000 // 3 ** 2000\nprint(len(str(x)))",
        "class A(Exception): pass\ntry:\n    raise A from ValueError()\nexcept A as e:\n    print(repr(e.__cause__))",
        "match {'a': 1}:\n    case {'a': int(x)}: print(x)",
        "print(*sorted([3, 1]), sum(x for x in range(10)), f'{3.14159:.2f}', [*'abc'], {**{'a': 1}}, sep='|')",
        "if __name__ == '__main__':\n    print('main')",
        "import json.decoder\nprint(json.decoder.JSONDecodeError)",
        "def g():\n    yield 1\n    yield from [2]\nprint(list(g()))",
    ] {
        let answer = server.run_code(code);
        assert!(answer["ok"] == true && answer["stdout"] != "", "{code}: {answer}");
    }
}

#[test]
fn output_is_kept_to_a_length() {
    let server = Server::start(&[]);
    let length = 64 << 10;
    let answer = server.run_code(&format!("print('x' * {length}, end='')"));
    assert_eq!(answer["stdout"].as_str().unwrap().len(), length);
    assert_eq!(answer["truncated"], json!({"stdout": false, "stderr": false}));
    let answer = server.run_code(&format!("import typing\nprint('é' * {length}, end='', file=typing.sys.stderr)"));
    assert_eq!(answer["stderr"].as_str().unwrap().len(), length);
    assert_eq!((&answer["ok"], &answer["truncated"]), (&json!(true), &json!({"stdout": false, "stderr": true})));
    let answer = server.run_code("for each in range(200): print('x' * (1 << 20))");
    assert_eq!((&answer["error_kind"], &answer["truncated"]["stdout"]), (&json!("killed"), &json!(true)));
}

#[test]
fn bad_requests_are_refused() {
    let server = Server::start(&[]);
    let good = r#"{"code":"print(1)"}"#;
    let large = format!(r#"{{"code":"{}"}}"#, "x".repeat(5 << 20));
    for (sent, status, told) in [
        (request("POST", "/run", JSON, good), 200, r#""stdout":"1\n""#),
        (request("POST", "/run", "content-type: application/JSON; charset=utf-8\r\n", good), 200, r#""ok":true"#),
        (request("POST", "/run", "", good), 415, "UNSUPPORTED_MEDIA_TYPE"),
        (request("POST", "/run", "Content-Type: text/plain\r\n", good), 415, "UNSUPPORTED_MEDIA_TYPE"),
        (request("POST", "/run", JSON, ""), 400, "VALIDATION_ERROR"),
        (request("POST", "/run", JSON, "{"), 400, "VALIDATION_ERROR"),
        (request("POST", "/run", JSON, r#"{"cod":""}"#), 400, "unknown field `cod`"),
        (request("POST", "/run", JSON, r#"{"code":"\ud800"}"#), 400, "VALIDATION_ERROR"),
        (request("POST", "/run", JSON, r#"{"code":"","arguments":{}}"#), 400, "arguments: "),
        (request("POST", "/run", JSON, &large), 413, "PAYLOAD_TOO_LARGE"),
        (request("POST", "/run", "", &large), 415, "UNSUPPORTED_MEDIA_TYPE"),
        (request("GET", "/run", "", ""), 405, "METHOD_NOT_ALLOWED"),
        (request("POST", "/health", "", ""), 405, "METHOD_NOT_ALLOWED"),
        (request("POST", "/check", JSON, r#"{"code":"","function":"f"}"#), 200, r#""function": false"#),
        (request("POST", "/check", "", r#"{"code":"","function":"f"}"#), 415, "UNSUPPORTED_MEDIA_TYPE"),
        (request("POST", "/check", JSON, r#"{"code":""}"#), 400, "missing field `function`"),
        (request("POST", "/check", JSON, &large), 413, "PAYLOAD_TOO_LARGE"),
        (request("GET", "/check", "", ""), 405, "METHOD_NOT_ALLOWED"),
        (request("GET", "/", "", ""), 404, "NOT_FOUND"),
        (b"\r\n\r\nnonsense\r\n\r\n".to_vec(), 400, ""),
        (b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n".to_vec(), 400, ""),
    ] {
        let (got, answer) = exchange(&server, &sent);
        assert!(got == status && answer.contains(told), "{got} {answer:.300}");
    }
    let chunked = b"POST /run HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n{\"code\":\"print(1)\"}\r\n0\r\n\r\n";
    assert_eq!(exchange(&server, chunked).0, 200);
}

#[test]
fn what_is_refused_is_not_kept() {
    let server = Server::start(&[]);
    let supervisor = server.supervisor();
    server.run_code("");
    let before = processes::peak_kib(supervisor);
    let length = 4 << 20;
    let head = format!("POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    std::thread::scope(|scope| {
        for _ in 0..48 {
            scope.spawn(|| {
                let mut stream = server.raw();
                stream.write_all(head.as_bytes()).unwrap();
                // Sends everything except the end, and waits until the server gives up.
                let _ = stream.write_all(&vec![b' '; length - 1]);
                let mut answer = String::new();
                let _ = stream.take(12).read_to_string(&mut answer);
                assert_eq!(answer, "HTTP/1.1 415");
            });
        }
    });
    let grown = processes::peak_kib(supervisor) - before;
    assert!(grown < 48 << 10, "{grown} KiB");
}

#[test]
fn health_says_what_is_on() {
    let server = Server::start(&["--slots", "3", "--memory-mb", "64"]);
    server.run_code("");
    let health = server.health();
    assert_eq!(health["status"], "ok");
    for layer in ["seccomp", "no_new_privs", "rlimits", "non_root"] {
        assert_eq!(health["layers"][layer], true, "{layer}");
    }
    assert_eq!(health["calls"], 1);
    assert_eq!(health["queue"], json!({"running": 0, "slots": 3, "waiting": 0, "capacity": 24}));
    assert_eq!(health["limits"], json!({"timeout_seconds": 5.0, "memory_mb": 64}));
}

#[test]
fn limits_can_be_lowered_and_not_raised() {
    let server = Server::start(&["--timeout-seconds", "1", "--memory-mb", "20"]);
    let timed = |limits: Value| {
        let begun = Instant::now();
        let answer =
            server.post(&json!({"code": "import typing\ntyping.sys.modules['time'].sleep(90)", "limits": limits}));
        assert_eq!(answer["error_kind"], "timeout");
        (answer["error"].as_str().unwrap().to_owned(), begun.elapsed())
    };
    let (told, took) = timed(json!({"timeout_seconds": 0.2}));
    assert!(told == "Timed out after 0.2 s" && took < PATIENCE, "{told} {took:?}");
    let (told, took) = timed(json!({"timeout_seconds": 60}));
    assert!(told == "Timed out after 1 s" && took < PATIENCE, "{told} {took:?}");
    let block = |limits: Value| {
        server.post(&json!({"code": "x = bytearray(15 << 20)", "limits": limits}))["error_kind"].clone()
    };
    assert_eq!(block(json!({})), Value::Null);
    assert_eq!(block(json!({"memory_mb": 10})), "memory");
    let answer = server.post(&json!({"code": "x = bytearray(30 << 20)", "limits": {"memory_mb": 500}}));
    assert!(answer["error"].as_str().unwrap().ends_with("MemoryError\n(the limit is 20 MB)"), "{answer}");
}

#[test]
fn the_limits_of_the_document_hold_by_default() {
    let server = Server::start(&[]);
    let begun = Instant::now();
    let answer = server.run_code("import typing\nprint('before')\ntyping.sys.modules['time'].sleep(90)");
    let took = begun.elapsed();
    assert!((Duration::from_secs(4)..PATIENCE).contains(&took), "{took:?}");
    assert_eq!((&answer["error"], &answer["stdout"]), (&json!("Timed out after 5 s"), &json!("before\n")));
    assert_eq!(server.run_code("x = bytearray(44 << 20)")["ok"], true);
    assert_eq!(server.run_code("x = bytearray(51 << 20)")["error_kind"], "memory");
}

#[test]
fn a_full_house_says_so() {
    let server = Server::start(&["--slots", "1"]);
    let sleeping =
        json!({"code": "import typing\ntyping.sys.modules['time'].sleep(90)", "limits": {"timeout_seconds": 4}});
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..12).map(|_| scope.spawn(|| server.send(&sleeping))).collect();
        eventually("one runs, eight wait", || {
            let health = server.health();
            health["queue"]["running"] == 1 && health["queue"]["waiting"] == 8
        });
        let mut refused = server.send(&json!({"code": "print(1)"}));
        assert_eq!(refused.status(), 429);
        assert_eq!(refused.headers()["retry-after"], "1");
        let told: Value = refused.body_mut().read_json().unwrap();
        assert_eq!(told["error"]["code"], "RATE_LIMITED");
        let statuses: Vec<u16> = calls.into_iter().map(|call| call.join().unwrap().status().as_u16()).collect();
        assert_eq!(statuses.iter().filter(|&&status| status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|&status| status == 200 || status == 429), "{statuses:?}");
    });
    assert_eq!(server.run_code("print(1)")["stdout"], "1\n");
}

#[test]
fn racing_calls_do_not_meet() {
    in_every_configuration(&["--slots", "4"], |configuration, server| {
        std::thread::scope(|scope| {
            for caller in 0..12 {
                scope.spawn(move || {
                    for round in 0..10 {
                        let mine = format!("{caller}-{round}");
                        let code = "def f(a):\n    print(a['mine'])\n    return [a['mine']] * 3";
                        let answer = server.post(&json!({"code": code, "function": "f", "arguments": {"mine": mine}}));
                        assert_eq!(answer["stdout"], format!("{mine}\n"), "{configuration}");
                        assert_eq!(answer["result"], json!([mine, mine, mine]), "{configuration}");
                    }
                });
            }
        });
        server.assert_clean("the race");
        assert_eq!(server.health()["calls"], 120, "{configuration}");
    });
}

#[test]
fn a_share_gives_slots_back_when_another_waits() {
    let server = Server::start(&["--slots", "2", "--timeout-seconds", "20"]);
    let endless = json!({"code": "while True: pass", "share": "greedy", "limits": {"timeout_seconds": 10}});
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| server.send(&endless))).collect();
        eventually("two run, two wait", || {
            let health = server.health();
            health["queue"]["running"] == 2 && health["queue"]["waiting"] == 2
        });
        let begun = std::time::Instant::now();
        let mut answer = server.send(&json!({"code": "print(1)", "share": "other"}));
        assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
        let told: Value = answer.body_mut().read_json().unwrap();
        assert_eq!(told["stdout"], "1\n", "{told}");
        for call in calls {
            let mut answer = call.join().unwrap();
            let status = answer.status();
            let told: Value = answer.body_mut().read_json().unwrap();
            match status.as_u16() {
                200 => assert_eq!(told["error_kind"], "timeout", "{told}"),
                429 => assert!(matches!(told["error"]["details"]["reason"].as_str(), Some("busy" | "share")), "{told}"),
                other => panic!("{other}: {told}"),
            }
        }
    });
    let long = server.send(&json!({"code": "", "share": "x".repeat(257)}));
    assert_eq!(long.status(), 400);
}
