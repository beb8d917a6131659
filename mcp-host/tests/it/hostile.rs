use crate::host::{Host, Response};
use crate::mcp::{Mcp, hostile};
use crate::processes::{eventually, signal};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The words of a refusal.
#[track_caller]
fn words(response: &Response, status: u16) -> String {
    assert_eq!(response.status, status, "{}", response.body);
    response.body["error"].as_str().unwrap_or_else(|| panic!("{}", response.body)).to_owned()
}

/// A server whose only call ends it: the words of the call's refusal.
#[track_caller]
fn broken_call(flags: &[&str], name: &str) -> String {
    let host = Host::start(flags);
    let mcp = Mcp::open(&host, "a", hostile(name));
    let told = words(&mcp.try_call("x", json!({})), 502);
    host.assert_clean();
    assert_eq!(host.report("a")["state"], "backing_off");
    assert_eq!(host.report("a")["last_exit"], json!(told));
    told
}

#[test]
fn one_that_exits_at_once_waits_longer_each_time() {
    let host = Host::start(&[]);
    let mcp = Mcp::new(&host, "a", hostile("exits"));
    let first = mcp.try_initialize();
    assert_eq!(words(&first, 503), "The server ended: exit status: 3");
    assert_eq!(first.body["stderr"], "no configuration file\n");
    // If it did not wait, the server would have ended again.
    let waits = mcp.try_initialize();
    assert!(words(&waits, 503).contains("starts again in 1 s"), "{}", waits.body);
    assert_eq!(waits.headers["retry-after"], "1");
    let report = host.report("a");
    assert_eq!((&report["state"], &report["pid"]), (&json!("backing_off"), &Value::Null));
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(words(&mcp.try_initialize(), 503), "The server ended: exit status: 3");
    assert!(words(&mcp.try_initialize(), 503).contains("starts again in 2 s"));
    host.assert_clean();
}

#[test]
fn one_whose_program_is_missing_says_so() {
    let host = Host::start(&[]);
    let mcp = Mcp::new(&host, "a", json!({"command": "node", "args": ["no-such-file.js"]}));
    let missing = mcp.try_initialize();
    assert!(words(&missing, 503).contains("exit status: 1"));
    assert!(missing.body["stderr"].as_str().unwrap().contains("Cannot find module"), "{}", missing.body);
    host.assert_clean();
}

#[test]
fn one_that_dies_of_an_unknown_method_is_started_again() {
    let host = Host::start(&[]);
    let mcp = Mcp::open(&host, "a", hostile("exits_when_probed"));
    assert_eq!(mcp.call("echo", json!(1)), "1");
    host.delete("a");
    host.assert_clean();
}

#[test]
fn one_that_is_silent_about_an_unknown_method_is_an_old_one() {
    let host = Host::start(&[]);
    let mcp = Mcp::open(&host, "a", hostile("silent_about_discovery"));
    assert_eq!(mcp.call("x", json!({})), "old");
    host.delete("a");
    host.assert_clean();
}

#[test]
fn one_that_exits_in_a_call_tells_its_last_words() {
    let host = Host::start(&[]);
    let mcp = Mcp::open(&host, "a", hostile("exits_in_call"));
    let broken = mcp.try_call("x", json!({}));
    assert_eq!(words(&broken, 502), "The server ended: exit status: 7");
    assert_eq!(broken.body["stderr"], "the end of the world\n");
    host.assert_clean();
}

#[test]
fn children_in_sessions_of_their_own_do_not_stay() {
    let host = Host::start(&[]);
    for way in ["deleted", "server killed", "warden killed"] {
        let mcp = Mcp::open(&host, way.replace(' ', "-").as_str(), hostile("strays"));
        assert_eq!(mcp.call("x", json!({})), "here");
        eventually("it has two children", || host.processes().len() == 4);
        let warden = crate::processes::children(host.host_pid())[0];
        match way {
            "deleted" => {}
            "server killed" => signal(mcp.pid(), Signal::SIGKILL),
            _ => signal(warden, Signal::SIGKILL),
        }
        if way == "deleted" {
            host.delete(&mcp.key);
        } else {
            eventually("it has ended", || host.report(&mcp.key)["state"] == "backing_off");
        }
        eventually("nothing is left", || host.processes().is_empty());
        eventually("all are reaped", || crate::processes::children(host.host_pid()).is_empty());
        host.assert_clean();
    }
}

#[test]
fn a_flood_on_stderr_is_drained() {
    let host = Host::start(&[]);
    let mcp = Mcp::open(&host, "a", hostile("floods_stderr"));
    assert_eq!(mcp.call("x", json!({})), "done");
    eventually("the end is there", || host.report("a")["stderr"].as_str().unwrap().contains("line 19999 "));
    assert_eq!(host.report("a")["stderr"].as_str().unwrap().len(), 16 * 1024);
    host.delete("a");
    host.assert_clean();
}

#[test]
fn one_that_ignores_sigterm_is_killed_after_two_seconds() {
    let host = Host::start(&[]);
    let mcp = Mcp::open(&host, "a", hostile("ignores_sigterm"));
    assert_eq!(mcp.call("x", json!({})), "here");
    let begun = Instant::now();
    host.delete("a");
    let took = begun.elapsed();
    assert!((Duration::from_millis(1900)..Duration::from_secs(30)).contains(&took), "{took:?}");
    host.assert_clean();
}

#[test]
fn one_that_breaks_a_limit_is_killed() {
    std::thread::scope(|scope| {
        let limits = [
            (&[][..], "long_line", "a line of more than 10 MiB"),
            (&["--memory-mb", "100"], "eats_memory", "more than 100 MiB of memory"),
            (&["--processes", "8"], "forks", "more than 8 processes"),
            (&[], "closes_output", "closed its output"),
        ];
        for (flags, name, expected) in limits {
            scope.spawn(move || {
                let told = broken_call(flags, name);
                assert!(told.contains(expected) && told.ends_with("was killed"), "{told}");
            });
        }
    });
}

#[test]
fn what_is_no_answer_is_passed_over() {
    let host = Host::start(&[]);
    for (name, expected) in [
        ("other_ids", "right"),
        ("talks_before", "after all"),
        ("asks", r#"["ok", -32601, -32601, -32601]"#),
        ("garbage", "clean"),
    ] {
        let mcp = Mcp::open(&host, name, hostile(name));
        for _ in 0..3 {
            assert_eq!(mcp.call("x", json!({})), expected, "{name}");
        }
    }
    let stderr = host.report("garbage")["stderr"].as_str().unwrap().to_owned();
    assert!(stderr.contains("skipped a line of stdout") && stderr.contains("Listening on port 3000"), "{stderr}");
    for name in ["other_ids", "talks_before", "asks", "garbage"] {
        host.delete(name);
    }
    host.assert_clean();
}

#[test]
fn one_that_never_answers_learns_that_nobody_waits() {
    let host = Host::start(&[]);
    let mcp = Mcp::open(&host, "a", hostile("never_answers"));
    // Two clients that leave: one without a word, one that cancels and goes on waiting.
    let stream = std::net::TcpStream::connect(host.url.strip_prefix("http://").unwrap()).unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}).to_string();
    let head = format!(
        "POST /servers/a/mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Mcp-Host-Config: {}\r\nMcp-Session-Id: {}\r\nContent-Length: {}\r\n\r\n{body}",
        crate::host::SECRET,
        mcp.hash,
        mcp.session.as_ref().unwrap(),
        body.len()
    );
    std::io::Write::write_all(&mut &stream, head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(mcp.call("count", json!({})), "[]");
    drop(stream);
    // The ids before are those of the probe, of the handshake and of the two calls.
    eventually("the process is told", || mcp.call("count", json!({})) == "[3]");
    let asked = json!({"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": {"name": "x"}});
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| mcp.post(&asked));
        std::thread::sleep(Duration::from_millis(200));
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mine"}});
        assert_eq!(mcp.post(&cancel).status, 202);
        eventually("the process is told", || mcp.call("count", json!({})).split(',').count() == 2);
        host.delete("a");
        assert_eq!(words(&waits.join().unwrap(), 502), "The server was removed");
    });
    host.assert_clean();
}
