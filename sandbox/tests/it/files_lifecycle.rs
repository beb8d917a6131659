//! The second room's processes: their start, their deaths, and the traces that they leave.

use crate::lifecycle::begin_at;
use crate::processes::{self, PATIENCE, eventually, is_alive, signal};
use crate::server::{Server, in_every_configuration_of_files};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Changes a file, and then runs for ever.
const ENDLESS: &str =
    r#"{"share":"w","code":"def run():\n    open('begun', 'w').write('x')\n    while True: pass","function":"run"}"#;

fn begin(server: &Server, body: &str) -> TcpStream {
    begin_at(server, "/files/run", body)
}

fn running(server: &Server) -> u64 {
    server.health()["files"]["queue"]["running"].as_u64().unwrap()
}

fn children(server: &Server) -> Vec<i32> {
    server.file_zygote().map_or_else(Vec::new, |zygote| processes::children(u32::try_from(zygote).unwrap()))
}

/// Waits until a call has begun, and returns its process.
fn begun(server: &Server) -> i32 {
    let mut child = None;
    eventually("it has begun", || {
        child = children(server).first().copied();
        child.is_some()
    });
    // The call has its process before it has changed its file.
    std::thread::sleep(Duration::from_millis(300));
    child.unwrap()
}

/// The answer to a request that was begun; none if the connection broke.
fn answer(mut stream: TcpStream) -> Option<Value> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((_, body)) = text.split_once("\r\n\r\n")
            && let Ok(told) = serde_json::from_str(body)
        {
            return Some(told);
        }
    }
}

fn must_work(server: &Server) {
    let file = server.put("w", "/a", b"x");
    let answer = server.run_on_files("w", "def run(): return open('a').read()", &json!({"files": [file]}));
    assert_eq!(answer["result"], "x", "{answer}");
}

#[test]
fn the_room_opens_at_the_first_call() {
    let server = Server::start(&[]);
    let supervisor = u32::try_from(server.supervisor()).unwrap();
    server.run_code("print(1)");
    server.put("w", "/x", b"x");
    server.check(&json!({"code": "", "function": "f"}));
    let (status, ..) = server.exchange("/files/run", &json!({"share": "w"}));
    assert_eq!(status, 400);
    assert_eq!(server.health()["files"]["status"], "idle");
    assert_eq!(processes::children(supervisor), [server.zygote()], "there is one zygote");
    assert!(server.scratches().is_empty(), "{:?}", server.scratches());
    // Racing first calls open it once.
    std::thread::scope(|scope| {
        for share in 0..3 {
            let server = &server;
            scope.spawn(move || {
                let share = format!("share {share}");
                assert_eq!(server.run_on_files(&share, "def run(): return 1", &json!({}))["result"], 1);
            });
        }
    });
    assert_eq!(server.health()["files"]["zygote"]["started"], 1);
    let mut zygotes = processes::children(supervisor);
    zygotes.sort_unstable();
    let mut ours = [server.zygote(), server.file_zygote().unwrap()];
    ours.sort_unstable();
    assert_eq!(zygotes, ours);
    server.assert_clean("the first calls");
}

#[test]
fn a_look_from_outside() {
    in_every_configuration_of_files(&[], |configuration, server| {
        let stream = begin(server, ENDLESS);
        let child = begun(server);
        let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}"));
            line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((field("Seccomp:"), field("NoNewPrivs:"), field("Groups:")), ("2".into(), "1".into(), "".into()));
        assert_eq!(field("Seccomp_filters:"), "4", "{configuration}");
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            assert_eq!(field(set), "0000000000000000", "{configuration}: {set}");
        }
        if let Some(user) = server.user {
            let four = [user.to_string(), user.to_string(), user.to_string(), user.to_string()].join(" ");
            assert_eq!(field("Uid:"), four, "{configuration}");
            // Only root can see these, because the child hides.
            let open: Vec<_> = fs::read_dir(format!("/proc/{child}/fd")).unwrap().collect();
            assert_eq!(open.len(), 4, "{configuration}");
            assert!(fs::read(format!("/proc/{child}/environ")).unwrap().is_empty(), "{configuration}");
            let limits = fs::read_to_string(format!("/proc/{child}/limits")).unwrap();
            let limit = |name: &str| {
                let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
                line[26..].split_whitespace().next().unwrap().to_owned()
            };
            for nothing in ["Max processes", "Max core file size", "Max locked memory", "Max msgqueue size"] {
                assert_eq!(limit(nothing), "0", "{configuration}: {nothing}");
            }
            assert!(limit("Max file size").parse::<u64>().unwrap() <= 64 << 20, "{configuration}");
            assert!(limit("Max open files").parse::<u64>().unwrap() <= 256, "{configuration}");
        } else {
            processes::skipped("which descriptors, limits and environment a child has");
        }
        drop(stream);
        eventually("it is gone", || running(server) == 0);
    });
}

#[test]
fn a_client_that_leaves_takes_its_call_along() {
    in_every_configuration_of_files(&[], |configuration, server| {
        for _ in 0..2 {
            let stream = begin(server, ENDLESS);
            begun(server);
            let left = Instant::now();
            drop(stream);
            eventually("it is gone", || running(server) == 0);
            assert!(left.elapsed() < Duration::from_secs(20), "{configuration}");
            server.assert_clean("a disconnect");
        }
        for round in 0..30 {
            let stream = begin(server, ENDLESS);
            // Some clients disconnect before the body is read, some before the fork, some after it.
            std::thread::sleep(Duration::from_micros(700 * round));
            drop(stream);
        }
        eventually("all are gone", || {
            let queue = &server.health()["files"]["queue"];
            queue["running"] == 0 && queue["waiting"] == 0
        });
        server.assert_clean("many disconnects");
        must_work(server);
    });
}

#[test]
fn told_to_stop_it_waits_for_calls() {
    let mut server = Server::start(&["--namespaces", "off"]);
    must_work(&server);
    let body = r#"{"share":"w","code":"import time\ndef run():\n    time.sleep(0.7)\n    open('a', 'w').write('done')\n    return 1","function":"run"}"#;
    let stream = begin(&server, body);
    begun(&server);
    signal(server.keeper(), Signal::TERM);
    let told = answer(stream).expect("the call is finished");
    assert_eq!((&told["result"], &told["files"]["changed"][0]["path"]), (&json!(1), &json!("/a")));
    assert!(server.wait().success());
    assert!(server.scratches().is_empty(), "{:?}", server.scratches());
}

#[test]
fn a_killed_child_is_told_with_its_changes() {
    in_every_configuration_of_files(&[], |configuration, server| {
        let zygote = server.file_zygote();
        let stream = begin(server, ENDLESS);
        signal(begun(server), Signal::KILL);
        let told = answer(stream).unwrap();
        assert_eq!((&told["error_kind"], &told["exit"]), (&json!("killed"), &json!(-9)), "{configuration}: {told}");
        assert_eq!(told["files"]["changed"][0]["path"], "/begun", "{configuration}: {told}");
        assert_eq!(server.file_zygote(), zygote, "{configuration}");
        server.assert_clean("a killed child");
        must_work(server);
    });
}

#[test]
fn a_killed_zygote_comes_back_and_nothing_is_run_twice() {
    in_every_configuration_of_files(&[], |configuration, server| {
        let (first_room, before) = (server.zygote(), server.file_zygote().unwrap());
        let stream = begin(server, ENDLESS);
        let child = begun(server);
        signal(before, Signal::KILL);
        let told = answer(stream).unwrap();
        assert_eq!((&told["error_kind"], &told["exit"]), (&json!("killed"), &Value::Null), "{configuration}: {told}");
        assert_eq!(told["files"]["changed"][0]["path"], "/begun", "{configuration}: {told}");
        assert!(!is_alive(child) && !is_alive(before), "{configuration}");
        eventually("another is there", || server.file_zygote().is_some_and(|zygote| zygote != before));
        // The call has begun, so it is not made again: the new zygote has made only the call that checks it.
        std::thread::sleep(Duration::from_millis(500));
        let health = server.health();
        assert_eq!(health["files"]["zygote"]["calls"], 1, "{configuration}");
        assert_eq!(server.zygote(), first_room, "{configuration}: the first room is not concerned");
        server.assert_clean("the zygote's death");
        must_work(server);
    });
}

#[test]
fn a_call_that_has_not_begun_is_made_again() {
    in_every_configuration_of_files(&[], |configuration, server| {
        let before = server.file_zygote().unwrap();
        // A zygote that does not fork any more.
        signal(before, Signal::STOP);
        let body =
            r#"{"share":"w","code":"def run():\n    open('a', 'a').write('once')\n    return 1","function":"run"}"#;
        let stream = begin(server, body);
        eventually("it waits for its process", || running(server) == 1);
        std::thread::sleep(Duration::from_millis(300));
        signal(before, Signal::KILL);
        let told = answer(stream).unwrap();
        assert_eq!(told["result"], 1, "{configuration}: {told}");
        assert_eq!(told["files"]["changed"][0]["content"]["data"], "once", "{configuration}: {told}");
        eventually("another is there", || server.file_zygote().is_some_and(|zygote| zygote != before));
        server.assert_clean("the zygote's death");
    });
}

#[test]
fn a_zygote_that_hangs_is_replaced() {
    let server = Server::start(&[]);
    must_work(&server);
    let before = server.file_zygote().unwrap();
    signal(before, Signal::STOP);
    let begun = Instant::now();
    must_work(&server);
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert!(!is_alive(before));
    server.assert_clean("a zygote that hangs");
}

#[test]
fn a_killed_supervisor_comes_back_whatever_it_was_doing() {
    in_every_configuration_of_files(&[], |configuration, server| {
        // Before the room is open again, while the folder is made, before and after the fork, in the middle of the run.
        for milliseconds in [0, 3, 8, 20, 400] {
            let (supervisor, zygote) = (server.supervisor(), server.file_zygote());
            let stream = begin(server, ENDLESS);
            std::thread::sleep(Duration::from_millis(milliseconds));
            signal(supervisor, Signal::KILL);
            assert_eq!(answer(stream), None, "{configuration}: nobody answers");
            eventually("it is dead", || !is_alive(supervisor));
            let killed = Instant::now();
            must_work(server);
            assert!(killed.elapsed() < PATIENCE, "{configuration}: {:?}", killed.elapsed());
            eventually("the old zygote is gone", || zygote.is_none_or(|zygote| !is_alive(zygote)));
            // The directory of the dead server is gone, and that of the new one is empty.
            server.assert_clean("the supervisor's death");
        }
    });
}

#[test]
fn directories_of_dead_servers_are_swept_and_those_of_living_ones_are_not() {
    let flags = ["--namespaces", "off"];
    let mut dead = Server::start(&flags);
    let _begun = begin(&dead, ENDLESS);
    begun(&dead);
    let left = dead.scratches();
    assert_eq!(left.len(), 1);
    signal(dead.keeper(), Signal::KILL);
    dead.wait();
    assert_eq!(dead.scratches(), left, "nobody has removed it");
    let next = Server::start_beside(&dead, &flags);
    eventually("it is swept", || next.scratches().is_empty());
    let stream = begin(
        &next,
        r#"{"share":"w","code":"import os, time\ndef run():\n    time.sleep(1.5)\n    open('a', 'w').write('x')\n    return os.listdir('.')","function":"run"}"#,
    );
    begun(&next);
    let living = next.scratches();
    let third = Server::start_beside(&next, &flags);
    must_work(&third);
    assert!(living.iter().all(|path| path.exists()), "{living:?}");
    let told = answer(stream).unwrap();
    assert_eq!(told["result"], json!(["a"]), "{told}");
}

#[test]
fn nothing_outlives_the_keeper() {
    in_every_configuration_of_files(&[], |configuration, server| {
        let (supervisor, zygotes) = (server.supervisor(), [server.zygote(), server.file_zygote().unwrap()]);
        let stream = begin(server, ENDLESS);
        let child = begun(server);
        signal(server.keeper(), Signal::KILL);
        eventually(&format!("all are gone ({configuration})"), || {
            ![supervisor, zygotes[0], zygotes[1], child].into_iter().any(is_alive)
        });
        drop(stream);
    });
}

#[test]
fn the_room_is_tried_again_after_a_while() {
    let python = crate::server::OwnPython::new("files");
    let server = Server::start(&python.flag());
    let good = fs::read(&python.path).unwrap();
    fs::remove_file(&python.path).unwrap();
    let body = json!({"share": "w", "code": "def run(): return 1", "function": "run"});
    let (status, told, _) = server.exchange("/files/run", &body);
    assert_eq!((status, &told["error"]["details"]["reason"]), (503, &json!("unavailable")), "{told}");
    drop(good);
    python.give_back();
    eventually("it is tried again", || server.exchange("/files/run", &body).0 == 200);
    server.assert_clean("a late start");
}
