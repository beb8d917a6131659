//! Entry points that do not exist or do not load, and schemas that are none.

use super::{bundle, faults, import, manifest, one_tool, refused, timed, told};
use crate::harness::{Client, workspace};
use std::time::Duration;

/// The one fault of a bundle whose only module is this code, which is the fault of its entry point.
#[track_caller]
fn fault(client: &Client, code: &str) -> String {
    let faults = faults(client, &one_tool("1.0.0", code, "")).iter().map(told).collect::<Vec<_>>();
    assert_eq!(faults.len(), 1, "{faults:#?}");
    assert!(faults[0].starts_with("toolset.yaml:7 /tools/0/entrypoint "), "{faults:#?}");
    faults[0].clone()
}

#[test]
fn an_entry_point_is_a_function_of_a_module_that_loads() {
    let client = workspace();
    let check = |code: &str, parts: &[&str]| {
        let told = fault(&client, code);
        assert!(parts.iter().all(|it| told.contains(it)), "{code}: {told}");
    };
    check("def other(): pass\n", &["main", "run"]);
    check("run = 7\n", &["run"]);
    check("def run(:\n", &["SyntaxError", "line 1"]);
    check("import numpy\ndef run(): pass\n", &["numpy", "line 1"]);
    check("from helpers import x\ndef run(): pass\n", &["helpers"]);
    check("1 / 0\ndef run(): pass\n", &["ZeroDivisionError"]);
    check("import sys\nsys.exit(3)\ndef run(): pass\n", &["main"]);
    check("import os\nos._exit(0)\ndef run(): pass\n", &["cannot be loaded"]);
    check("import os\nos.kill(os.getpid(), 9)\ndef run(): pass\n", &["Error"]);
    check("x = bytearray(1_000_000_000)\ndef run(): pass\n", &["MemoryError"]);
    check("def f():\n    f()\nf()\ndef run(): pass\n", &["RecursionError"]);
    check("import subprocess\nsubprocess.run(['ls'])\ndef run(): pass\n", &["process"]);
    check("open('/etc/passwd').read()\ndef run(): pass\n", &["Error"]);
    check("open('/proc/self/environ').read()\ndef run(): pass\n", &["Error"]);
    check("raise SystemExit('bye')\n", &["bye"]);
    check("raise KeyboardInterrupt()\n", &["main"]);
    check("raise Exception('x' * 1_000_000)\n", &["Exception"]);
    check("def run(x: undefined_type): pass\n", &["undefined_type"]);
}

#[test]
fn a_module_that_loops_at_import_is_named() {
    let client = workspace();
    let (took, told) = timed(|| fault(&client, "while True: pass\ndef run(): pass\n"));
    assert!(told.contains("does not load within 20 seconds"), "{told}");
    println!("alone: {took:?}");
    // Of several modules, the one to blame.
    let tools = (0..40).map(|it| format!("  - {{id: t{it}, entrypoint: 'm{it}:run'}}\n")).collect::<String>();
    let with = |culprit: &str| {
        let text = manifest("1.0.0", &format!("tools:\n{tools}"));
        let code = |it: usize| if it == 23 { culprit } else { "def run(): pass\n" };
        let mut files = vec![("toolset.yaml".to_owned(), text.as_str())];
        files.extend((0..40).map(|it| (format!("m{it}.py"), code(it))));
        bundle(&files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>())
    };
    let (took, ()) = timed(|| {
        refused(
            &client,
            &with("import time\ntime.sleep(1000)\n"),
            &["toolset.yaml:29 /tools/23/entrypoint does not load"],
        );
    });
    println!("of forty: {took:?}");
    assert!(took < Duration::from_secs(90));
    refused(&client, &with("import os\nos._exit(0)\n"), &["toolset.yaml:29 /tools/23/entrypoint cannot be loaded"]);
}

#[test]
fn what_a_module_prints_and_starts_does_no_harm() {
    let client = workspace();
    for code in [
        "print('hello ' * 100_000)\ndef run(): pass\n",
        "import sys\nsys.stdout.close()\ndef run(): pass\n",
        "import sys\nsys.stderr.write('x' * 1_000_000)\ndef run(): pass\n",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\ndef run(): pass\n",
        "import os\nos.write(1, b'{\"tools\": []}\\n')\nos.write(2, b'x')\ndef run(): pass\n",
        "import sys\nsys.modules.clear()\ndef run(): pass\n",
        "import json\njson.dumps = json.loads = None\ndef run(): pass\n",
        "import builtins\nbuiltins.len = builtins.print = builtins.isinstance = None\ndef run(): pass\n",
        "import sys\nsys.path.clear()\nsys.setrecursionlimit(50)\ndef run(): pass\n",
        "import atexit, os\natexit.register(os._exit, 9)\ndef run(): pass\n",
    ] {
        let answer = import(&client, "?dry_run=true", &one_tool("1.0.0", code, ""));
        assert!([200, 400].contains(&answer.status), "{code}: {} {}", answer.status, answer.text);
        println!(
            "{} {}: {}",
            answer.status,
            code.lines().nth(1).unwrap(),
            answer.text.chars().take(200).collect::<String>()
        );
        // What one bundle did is gone with it.
        import(&client, "?dry_run=true", &one_tool("1.0.0", "def run(): pass\n", "")).ok();
    }
}

#[test]
fn modules_of_the_bundle_do_not_replace_the_runtimes_own() {
    let client = workspace();
    let tools = "tools:\n  - {id: a, entrypoint: 'a:run'}\n";
    let evil = "raise Exception('taken over')\n";
    let zip = bundle(&[
        ("toolset.yaml", &manifest("1.0.0", tools)),
        (
            "a.py",
            "import json, pathlib\nfrom covalt_toolset import tool\n@tool\ndef run(x: int) -> int:\n    return x\n",
        ),
        ("json.py", evil),
        ("pathlib.py", evil),
        ("sitecustomize.py", evil),
        ("usercustomize.py", evil),
        ("covalt_toolset.py", evil),
        ("pydantic/__init__.py", evil),
        ("tools/json.py", evil),
    ]);
    let answer = import(&client, "?dry_run=true", &zip);
    println!("{} {}", answer.status, answer.text);
    assert!([200, 400].contains(&answer.status), "{}", answer.text);
}

#[test]
fn schemas_that_are_none_are_refused_with_their_places() {
    let client = workspace();
    let code = "def run(**more): pass\n";
    let check = |schema: &str, expected: &[&str]| {
        refused(&client, &one_tool("1.0.0", code, &format!("    input_schema: {schema}\n")), expected);
    };
    check("{type: objekt}", &["toolset.yaml:8 /tools/0/input_schema"]);
    check(
        "{type: object, properties: {a: {type: 7}}}",
        &["toolset.yaml:8 /tools/0/input_schema is not a usable JSON Schema 2020-12: at /properties/a/type"],
    );
    check(
        "{type: object, properties: {a: {$ref: 'https://example.com/x.json'}}}",
        &["toolset.yaml:8 /tools/0/input_schema"],
    );
    check("{type: object, properties: {a: {pattern: '('}}}", &["toolset.yaml:8 /tools/0/input_schema"]);
    check("{type: object, required: a}", &["toolset.yaml:8 /tools/0/input_schema"]);
    let returns = one_tool("1.0.0", code, "    input_schema: {type: object}\n    returns_schema: {type: nothing}\n");
    refused(&client, &returns, &["toolset.yaml:9 /tools/0/returns_schema"]);
    let category = one_tool("1.0.0", code, "    category: A B\n");
    refused(&client, &category, &["toolset.yaml:8 /tools/0/category"]);
    let example = one_tool(
        "1.0.0",
        code,
        "    input_schema: {type: object, properties: {n: {type: integer}}}\n    examples:\n      - {description: x, params: {n: text}}\n",
    );
    let faults = faults(&client, &example).iter().map(told).collect::<Vec<_>>();
    assert!(faults.len() == 1 && faults[0].starts_with("toolset.yaml:10 /tools/0/examples/0"), "{faults:#?}");
}
