//! Deaths and restarts of processes, and the traces that they leave.

use crate::processes::{self, PATIENCE, eventually, is_alive, signal};
use crate::server::{OwnPython, Server, binary, in_every_configuration, python};
use rustix::process::{Pid, Signal};
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ENDLESS: &str = r#"{"code":"while True: pass"}"#;

fn begin(server: &Server, body: &str) -> std::net::TcpStream {
    begin_at(server, "/run", body)
}

pub fn begin_at(server: &Server, path: &str, body: &str) -> std::net::TcpStream {
    let mut stream = server.raw();
    let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}

fn running(server: &Server) -> u64 {
    server.health()["queue"]["running"].as_u64().unwrap()
}

#[test]
fn a_client_that_leaves_takes_its_call_along() {
    in_every_configuration(&["--timeout-seconds", "30"], |configuration, server| {
        for _ in 0..3 {
            let stream = begin(server, ENDLESS);
            eventually("it runs", || running(server) == 1);
            let begun = Instant::now();
            drop(stream);
            eventually("it is gone", || running(server) == 0);
            assert!(begun.elapsed() < Duration::from_secs(20), "{configuration}");
            server.assert_clean("a disconnect");
        }
    });
}

#[test]
fn clients_that_leave_at_once_leave_nothing() {
    const HALF: &[u8] =
        b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
    in_every_configuration(&[], |configuration, server| {
        for round in 0..60 {
            let stream = begin(server, ENDLESS);
            // Some clients disconnect before the body is read, some before the fork, some after it.
            std::thread::sleep(Duration::from_micros(100 * round));
            drop(stream);
        }
        let mut half = server.raw();
        half.write_all(HALF).unwrap();
        drop(half);
        eventually("all are gone", || {
            let queue = &server.health()["queue"];
            queue["running"] == 0 && queue["waiting"] == 0
        });
        server.assert_clean("many disconnects");
        assert_eq!(server.run_code("print(1)")["stdout"], "1\n", "{configuration}");
    });
}

#[test]
fn an_interrupt_is_not_for_python() {
    let server = Server::start(&[]);
    let zygote = server.zygote();
    let code = r#"{"code":"import typing\nprint(1)\ntyping.sys.modules['time'].sleep(1)\nprint(2)"}"#;
    let mut under_way = begin(&server, code);
    eventually("it runs", || !processes::children(u32::try_from(zygote).unwrap()).is_empty());
    let [child] = processes::children(u32::try_from(zygote).unwrap())[..] else { panic!("one runs") };
    signal(zygote, Signal::INT);
    signal(child, Signal::INT);
    let mut buffer = [0; 2048];
    let read = under_way.read(&mut buffer).unwrap();
    let answer = String::from_utf8_lossy(&buffer[..read]);
    assert!(answer.contains(r#""stdout":"1\n2\n""#), "{answer}");
    assert_eq!(server.zygote(), zygote);
    assert!(!server.log().contains("Traceback"), "{}", server.log());
    // An interrupt at the terminal of the server does not even reach the zygote.
    let group = |pid: i32| rustix::process::getpgid(Pid::from_raw(pid)).unwrap();
    assert_ne!(group(zygote), group(server.supervisor()));
}

#[test]
fn a_call_that_gets_no_process_is_refused_alone() {
    let server = Server::start(&[]);
    let (zygote, calls) = (server.zygote(), server.health()["calls"].clone());
    // The limit is set as the user of the zygote, because root may lack the privilege here.
    const LIMIT: &str = "
import resource, sys
process, most = map(int, sys.argv[1:])
_, hard = resource.prlimit(process, resource.RLIMIT_NPROC)
resource.prlimit(process, resource.RLIMIT_NPROC, (most or hard, hard))
";
    let limit = |most: &str| {
        let mut command = Command::new(python());
        command.args(["-I", "-c", LIMIT, &zygote.to_string(), most]);
        if let Some(user) = server.user {
            command.uid(user).gid(user);
        }
        assert!(command.status().unwrap().success());
    };
    limit("1");
    let mut refused = server.send(&json!({"code": "print(1)"}));
    assert_eq!(refused.status(), 503);
    let told = refused.body_mut().read_to_string().unwrap();
    assert!(told.contains("the system gives no process just now"), "{told}");
    assert_eq!(server.health()["calls"], calls, "it was not run");
    limit("0");
    assert_eq!(server.run_code("print(1)")["stdout"], "1\n");
    assert_eq!(server.zygote(), zygote);
    server.assert_clean("a refused call");
}

#[test]
fn a_server_that_has_served_waits_for_better_times() {
    let python = OwnPython::new("served");
    let server = Server::start(&python.flag());
    let served = server.supervisor();
    fs::remove_file(&python.path).unwrap();
    signal(served, Signal::KILL);
    eventually("others have tried", || server.log().matches("starting it anew: Exited").count() >= 2);
    python.give_back();
    assert_eq!(server.run_code("print(1)")["stdout"], "1\n", "the port is never closed");
    assert_ne!(server.supervisor(), served);
}

#[test]
fn a_zygote_that_cannot_be_started_leaves_nobody() {
    let python = OwnPython::new("zygote");
    let server = Server::start(&python.flag());
    let (supervisor, zygote) = (server.supervisor(), server.zygote());
    python.put(Path::new("/bin/true"));
    signal(zygote, Signal::KILL);
    eventually("others were tried", || server.log().matches("Python did not start").count() >= 3);
    // The next attempt may already be running.
    let children = processes::children(u32::try_from(supervisor).unwrap());
    assert!(children.len() <= 1, "{children:?}");
    python.give_back();
    eventually("one is there", || server.send(&json!({"code": "print(1)"})).status() == 200);
    assert_eq!(server.supervisor(), supervisor);
}

#[test]
fn python_may_be_anywhere() {
    // The usual Python, but under the folder of the tests, which is usually in /tmp.
    let python = OwnPython::new("anywhere");
    in_every_configuration(&python.flag(), |configuration, server| {
        assert_eq!(server.run_code("print(1)")["stdout"], "1\n", "{configuration}");
        let layers = &server.health()["layers"];
        assert_eq!(layers["private_root"], json!(layers["namespaces"] != json!([])), "{configuration}");
    });
}

#[test]
fn told_to_stop_it_waits_for_calls_and_not_for_anybody_else() {
    let mut server = Server::start(&["--timeout-seconds", "1"]);
    let mut half = server.raw();
    half.write_all(b"POST /run HTTP/1.1\r\nHo").unwrap();
    let mut under_way = begin(&server, r#"{"code":"import typing\ntyping.sys.modules['time'].sleep(0.5)\nprint(1)"}"#);
    eventually("it runs", || running(&server) == 1);
    let begun = Instant::now();
    signal(server.keeper(), Signal::TERM);
    let mut answer = String::new();
    under_way.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(r#""stdout":"1\n""#), "{answer}");
    assert!(server.wait().success());
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    drop(half);
}

#[test]
fn a_killed_zygote_comes_back() {
    let server = Server::start(&[]);
    for how in [Signal::KILL, Signal::STOP] {
        let before = server.zygote();
        let mut under_way = begin(&server, ENDLESS);
        eventually("it runs", || running(&server) == 1);
        signal(before, how);
        let begun = Instant::now();
        assert_eq!(server.run_code("print(1)")["stdout"], "1\n");
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
        let mut buffer = [0; 2048];
        let read = under_way.read(&mut buffer).unwrap();
        let answer = String::from_utf8_lossy(&buffer[..read]);
        assert!(answer.contains("200 OK") && answer.contains(r#""ok":false"#), "{answer}");
        assert!(!is_alive(before), "before the call is made again, the old one is gone, and its children with it");
        assert_ne!(server.zygote(), before);
        server.assert_clean("the zygote's death");
    }
}

#[test]
fn a_look_from_outside() {
    let server = Server::start(&[]);
    let stream = begin(&server, ENDLESS);
    eventually("it runs", || running(&server) == 1);
    // A call has its slot before it has its process.
    let children = || processes::children(u32::try_from(server.zygote()).unwrap());
    eventually("it has a process", || !children().is_empty());
    let [child] = children()[..] else { panic!("{:?}", children()) };
    let status = std::fs::read_to_string(format!("/proc/{child}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}"));
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    eventually("it is behind the wall", || {
        std::fs::read_to_string(format!("/proc/{child}/status")).unwrap().contains("Seccomp:\t2")
    });
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Groups:"), "");
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(field(set), "0000000000000000", "{set}");
    }
    if server.user.is_none() {
        processes::skipped("which descriptors and environment a child has");
    }
    if let Some(user) = server.user {
        assert_eq!(field("Uid:"), [user.to_string(), user.to_string(), user.to_string(), user.to_string()].join(" "));
        // Only root can see these, because the child hides.
        let open: Vec<_> = std::fs::read_dir(format!("/proc/{child}/fd")).unwrap().collect();
        assert_eq!(open.len(), 3);
        assert!(std::fs::read(format!("/proc/{child}/environ")).unwrap().is_empty());
    }
    drop(stream);
}

#[test]
fn a_killed_supervisor_comes_back() {
    let server = Server::start(&[]);
    let (supervisor, zygote) = (server.supervisor(), server.zygote());
    let under_way = begin(&server, ENDLESS);
    eventually("it runs", || running(&server) == 1);
    signal(supervisor, Signal::KILL);
    eventually("it is dead", || !is_alive(supervisor));
    let begun = Instant::now();
    assert_eq!(server.run_code("print(1)")["stdout"], "1\n", "the port is never closed");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    eventually("the old zygote is gone", || !is_alive(zygote));
    drop(under_way);
    server.assert_clean("the supervisor's death");
}

#[test]
fn nothing_outlives_the_keeper() {
    for how in [Signal::KILL, Signal::TERM] {
        let mut server = Server::start(&[]);
        let (supervisor, zygote) = (server.supervisor(), server.zygote());
        let word = processes::arguments(zygote).into_iter().find(|each| each.starts_with("pegboard-sandbox-")).unwrap();
        let stream = begin(&server, ENDLESS);
        eventually("it runs", || running(&server) == 1);
        if how == Signal::TERM {
            drop(stream);
        }
        signal(server.keeper(), how);
        let status = server.wait();
        assert_eq!(status.success(), how == Signal::TERM, "{status}");
        eventually("all are gone", || {
            !is_alive(supervisor) && !is_alive(zygote) && processes::of(server.user, &word).is_empty()
        });
    }
}

#[test]
fn zygotes_are_replaced_and_nobody_notices() {
    let server = Server::start(&["--recycle-calls", "20"]);
    let first = server.zygote();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let until = Instant::now() + Duration::from_secs(120);
                while server.health()["zygote"]["started"].as_u64().unwrap() < 4 {
                    assert_eq!(server.run_code("print(1)")["stdout"], "1\n");
                    assert!(Instant::now() < until);
                }
            });
        }
    });
    eventually("the first is gone", || !is_alive(first));
    eventually("one is left", || processes::children(u32::try_from(server.supervisor()).unwrap()) == [server.zygote()]);
    server.assert_clean("being replaced");
}

#[test]
fn a_zygote_is_replaced_by_age() {
    let server = Server::start(&["--recycle-seconds", "1"]);
    let first = server.zygote();
    eventually("it is replaced", || server.zygote() != first);
    eventually("the first is gone", || !is_alive(first));
}

#[test]
fn it_does_not_start_without_seccomp() {
    // Python installs a filter that allows everything except seccomp itself, and then becomes the server.
    const WITHOUT: &str = "
import ctypes, os, struct, sys
def step(code, yes, no, k): return struct.pack('HBBI', code, yes, no, k)
prctl, seccomp = (157, 317) if os.uname().machine == 'x86_64' else (167, 277)
steps = b''.join([
    step(0x20, 0, 0, 0),            # the call's number
    step(0x15, 4, 0, seccomp),
    step(0x15, 0, 2, prctl),
    step(0x20, 0, 0, 16),           # its first argument
    step(0x15, 1, 0, 22),           # PR_SET_SECCOMP
    step(0x06, 0, 0, 0x7fff0000),   # allow
    step(0x06, 0, 0, 0x00050016),   # EINVAL
])
steps_at = ctypes.create_string_buffer(steps)
program = struct.pack('HxxxxxxQ', len(steps) // 8, ctypes.addressof(steps_at))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
";
    let server = binary();
    let run = std::process::Command::new(python())
        .args(["-I", "-c", WITHOUT])
        .arg(server.get_program())
        .args(["--listen", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && told.contains("seccomp does not work here"), "{told}");
    assert!(!told.contains("listening"), "{told}");
}

#[test]
fn what_cannot_work_is_said_at_once() {
    for (flags, told) in [
        (&["--python", "/nowhere/python3"][..], "there is no Python at"),
        (&["--python", "/bin/true"], "Python did not start"),
        (&["--slots", "none"], "--slots cannot be"),
        (&["--unknown", "1"], "--landlock VALUE"),
        (&["--listen", "192.0.2.1:1"], "cannot listen on"),
    ] {
        let run = binary().args(["--listen", "127.0.0.1:0"]).args(flags).stdin(Stdio::null()).output().unwrap();
        let error = String::from_utf8_lossy(&run.stderr);
        assert!(!run.status.success() && error.contains(told), "{flags:?}: {error}");
    }
}
