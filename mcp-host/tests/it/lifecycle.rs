use crate::host::Host;
use crate::mcp::{Mcp, hostile};
use crate::processes::eventually;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn an_idle_server_is_stopped_and_started_again() {
    let host = Host::start(&["--idle-seconds", "1"]);
    let mut mcp = Mcp::open(&host, "a", hostile("sleep"));
    assert_eq!(mcp.call("sleep", json!({"seconds": 2.5})), "slept", "a server that works is not idle");
    eventually("it is stopped", || host.report("a")["state"] == "stopped");
    host.assert_clean();
    assert!(host.report("a")["last_exit"].as_str().unwrap().contains("idle"));
    assert_eq!(mcp.try_call("sleep", json!({"seconds": 0})).status, 404, "the session is lost");
    host.assert_clean();
    mcp.initialize();
    assert_eq!(mcp.call("sleep", json!({"seconds": 0})), "slept");
    host.delete("a");
    host.assert_clean();
}

#[test]
fn only_so_many_servers_run_at_once() {
    let host = Host::start(&["--servers", "1"]);
    let first = Mcp::open(&host, "first", hostile("sleep"));
    let second = Mcp::open(&host, "second", hostile("sleep"));
    assert!(host.report("first")["last_exit"].as_str().unwrap().contains("to make room"), "an idle one makes room");
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| second.call("sleep", json!({"seconds": 2})));
        std::thread::sleep(Duration::from_millis(300));
        let full = Mcp { session: None, ..first }.try_initialize();
        assert_eq!((full.status, full.headers["retry-after"].as_bytes()), (503, &b"5"[..]), "{}", full.body);
        assert!(full.body["error"].as_str().unwrap().contains("try again"), "{}", full.body);
        assert_eq!(busy.join().unwrap(), "slept");
    });
    host.delete("first");
    host.delete("second");
    host.assert_clean();
}

#[test]
fn only_so_many_requests_wait_for_one_server() {
    let host = Host::start(&[]);
    let mcp = Mcp::open(&host, "a", hostile("sleep"));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..70).map(|_| scope.spawn(|| mcp.try_call("sleep", json!({"seconds": 0.02})).status)).collect();
        all.into_iter().map(|each| each.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(statuses.iter().filter(|status| **status == 200).count() >= 64, "{statuses:?}");
    host.delete("a");
    host.assert_clean();
}

#[test]
fn nothing_is_left_of_a_host_that_ends() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
        let host = Host::start(&[]);
        for (key, name) in [("a", "strays"), ("b", "ignores_sigterm"), ("c", "echo")] {
            Mcp::open(&host, key, hostile(name));
        }
        // In the middle of a start, too.
        let starting = Mcp::new(&host, "d", hostile("silent_about_discovery"));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
                // There may still be a response, or not.
                let _ = starting.try_post(&asked);
            });
            eventually("it starts", || host.report("d")["state"] == "starting");
            crate::processes::signal(host.host_pid() as i32, signal);
        });
        host.gone();
    }
}

#[test]
fn a_start_can_be_deleted() {
    let host = Host::start(&[]);
    let mcp = Mcp::new(&host, "a", hostile("silent_about_discovery"));
    std::thread::scope(|scope| {
        let started = scope.spawn(|| mcp.try_initialize());
        eventually("it starts", || host.report("a")["state"] == "starting");
        host.delete("a");
        host.assert_clean();
        let started = started.join().unwrap();
        assert_eq!(started.status, 503, "{}", started.body);
    });
    host.assert_clean();
}

#[test]
fn a_server_sees_only_what_its_configuration_says() {
    let host = Host::start(&[]);
    let mut configuration = hostile("tells_environment");
    configuration["env"] = json!({"API_KEY": "k", "FILE": "~/data", "LANG": "de_DE.UTF-8"});
    configuration["cwd"] = "work/deep".into();
    let arguments = configuration["args"].as_array_mut().unwrap();
    arguments.extend(["$HOME; id".into(), "~/x".into(), "*".into()]);
    let mcp = Mcp::open(&host, "a", configuration);
    let told: Value = serde_json::from_str(&mcp.call("x", json!({}))).unwrap();
    let environment = told["env"].as_object().unwrap();
    let home = environment["HOME"].as_str().unwrap();
    assert_eq!(told["mode"], "0o700");
    assert_eq!(told["cwd"], json!(format!("{home}/work/deep")));
    assert_eq!(told["argv"], json!(["$HOME; id", format!("{home}/x"), "*"]), "there is no shell");
    assert_eq!(environment["FILE"], json!(format!("{home}/data")));
    assert_eq!((&environment["API_KEY"], &environment["LANG"]), (&json!("k"), &json!("de_DE.UTF-8")));
    let mut names: Vec<&str> = environment.keys().map(String::as_str).filter(|name| *name != "LC_CTYPE").collect();
    names.sort_unstable();
    assert_eq!(names, ["API_KEY", "FILE", "HOME", "LANG", "MARK", "PATH"]);
    host.delete("a");
    host.assert_clean();
}
