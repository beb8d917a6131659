//! The attacks, and the check that an attack was stopped. After each attack a plain call must find everything
//! unchanged. The code of each attack is also only looked at (`POST /check`), which must not run any of it.
//!
//! A file of attacks is Python. The code before the first attack is put before each of them. An attack begins with `#:
//! name -> outcome`, where the outcome is `ok` or kinds of error, separated by `|`, followed by any of `prints=TEXT`,
//! `time=SECONDS` and `memory=MB`. An attack that prints ESCAPED has succeeded. `SYS_name` is the number of a system
//! call; `ZYGOTE_PID` and `SUPERVISOR_PID` are process ids.

use crate::client::Client;
use crate::generated;
use nix::libc;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub struct Attack {
    pub name: String,
    pub code: String,
    pub outcomes: Vec<String>,
    pub prints: Option<String>,
    pub limits: Value,
}

const FILES: [&str; 9] = [
    include_str!("attacks/imports.py"),
    include_str!("attacks/python.py"),
    include_str!("attacks/files.py"),
    include_str!("attacks/processes.py"),
    include_str!("attacks/network.py"),
    include_str!("attacks/kernel.py"),
    include_str!("attacks/memory.py"),
    include_str!("attacks/time.py"),
    include_str!("attacks/output.py"),
];

/// A plain call that uses everything that attacks like to spoil.
pub const PLAIN: &str = "
import json, re, typing
print(json.dumps([1]), json.loads('{\"a\": 2}'), re.sub('a+', 'b', 'caat'), typing.List[int])
print(len('abc'), sorted({3, 1}), sum([1, 2]), isinstance(1, int), typing.sys.getrecursionlimit())
";
const PLAINLY: &str = "[1] {'a': 2} cbt typing.List[int]\n3 [1, 3] 3 True 1000\n";

/// The targets of attacks, by the process ids that a child sees.
#[derive(Clone, Copy)]
pub struct Targets {
    pub zygote: i32,
    pub supervisor: i32,
}

pub fn attacks(targets: Targets) -> Vec<Attack> {
    FILES.iter().flat_map(|file| parse(file, targets)).chain(generated::attacks()).collect()
}

impl Attack {
    pub fn run(&self, server: &Client) -> Result<(), String> {
        let begun = Instant::now();
        let answer = server.post(&json!({"code": self.code, "limits": self.limits}));
        let took = begun.elapsed();
        let told = answer.to_string();
        let outcome = answer["error_kind"].as_str().unwrap_or("ok");
        // The error is not searched: its traceback may show the source line that would have printed ESCAPED.
        if ["stdout", "stderr", "result"].iter().any(|part| answer[part].to_string().contains("ESCAPED")) {
            return Err(format!("it got out: {told:.600}"));
        }
        if !self.outcomes.iter().any(|each| each == outcome) {
            return Err(format!("{outcome} instead of {:?}: {told:.600}", self.outcomes));
        }
        if self.prints.as_ref().is_some_and(|prints| answer["stdout"].as_str().unwrap().trim_end() != prints) {
            return Err(format!("it printed something else: {told:.600}"));
        }
        self.must_be_over(took)?;
        self.must_be_only_looked_at(server)?;
        let begun = Instant::now();
        let plain = server.run_code(PLAIN);
        if plain["stdout"] != PLAINLY || begun.elapsed() > Duration::from_secs(2) {
            return Err(format!("the next call, after {:?}: {plain}", begun.elapsed()));
        }
        Ok(())
    }

    fn must_be_over(&self, took: Duration) -> Result<(), String> {
        let limit = Duration::from_secs_f64(self.limits["timeout_seconds"].as_f64().unwrap_or(5.0));
        if took > limit + Duration::from_secs(2) { Err(format!("it took {took:?}")) } else { Ok(()) }
    }

    /// Code that is looked at prints nothing and raises nothing. Its source may still be too much for the compiler.
    fn must_be_only_looked_at(&self, server: &Client) -> Result<(), String> {
        let begun = Instant::now();
        let answer = server.check(&json!({"code": self.code, "function": "run", "limits": self.limits}));
        let told = answer.to_string();
        let is_stopped = matches!(answer["error_kind"].as_str(), Some("memory" | "timeout" | "killed"));
        if answer["stdout"] != "" || !(is_stopped || answer["result"]["importable"].is_array()) {
            return Err(format!("a look at it ran it: {told:.600}"));
        }
        if told.len() > 100_000 {
            return Err(format!("a look at it told {} bytes", told.len()));
        }
        self.must_be_over(begun.elapsed())
    }
}

fn parse(file: &str, targets: Targets) -> Vec<Attack> {
    let mut parts = file.split("\n#: ");
    let before = parts.next().unwrap();
    parts
        .map(|part| {
            let (head, code) = part.split_once('\n').unwrap();
            let (name, rest) = head.split_once(" -> ").unwrap_or_else(|| panic!("{head}"));
            let mut words = rest.split(' ');
            let outcomes = words.next().unwrap().split('|').map(str::to_owned).collect();
            let mut attack = Attack {
                name: name.into(),
                code: numbered(&format!("{before}\n{code}"), targets),
                outcomes,
                prints: None,
                limits: json!({}),
            };
            for word in words {
                match word.split_once('=').unwrap_or_else(|| panic!("{head}")) {
                    ("prints", text) => attack.prints = Some(text.into()),
                    ("time", seconds) => attack.limits["timeout_seconds"] = json!(seconds.parse::<f64>().unwrap()),
                    ("memory", mb) => attack.limits["memory_mb"] = json!(mb.parse::<u64>().unwrap()),
                    _ => panic!("{head}"),
                }
            }
            attack
        })
        .collect()
}

fn numbered(code: &str, targets: Targets) -> String {
    let numbers = [
        ("ZYGOTE_PID", targets.zygote.into()),
        ("SUPERVISOR_PID", targets.supervisor.into()),
        ("SYS_mount", libc::SYS_mount),
        ("SYS_socketpair", libc::SYS_socketpair),
        ("SYS_socket", libc::SYS_socket),
        ("SYS_connect", libc::SYS_connect),
        ("SYS_openat", libc::SYS_openat),
        ("SYS_memfd_create", libc::SYS_memfd_create),
        ("SYS_clone3", libc::SYS_clone3),
        ("SYS_clone", libc::SYS_clone),
        ("SYS_execveat", libc::SYS_execveat),
        ("SYS_execve", libc::SYS_execve),
        ("SYS_ptrace", libc::SYS_ptrace),
        ("SYS_tgkill", libc::SYS_tgkill),
        ("SYS_process_vm_readv", libc::SYS_process_vm_readv),
        ("SYS_process_vm_writev", libc::SYS_process_vm_writev),
        ("SYS_pidfd_open", libc::SYS_pidfd_open),
        ("SYS_pidfd_getfd", libc::SYS_pidfd_getfd),
        ("SYS_pidfd_send_signal", libc::SYS_pidfd_send_signal),
        ("SYS_io_uring_setup", libc::SYS_io_uring_setup),
        ("SYS_userfaultfd", libc::SYS_userfaultfd),
        ("SYS_bpf", libc::SYS_bpf),
        ("SYS_perf_event_open", libc::SYS_perf_event_open),
        ("SYS_keyctl", libc::SYS_keyctl),
        ("SYS_add_key", libc::SYS_add_key),
        ("SYS_prctl", libc::SYS_prctl),
        ("SYS_seccomp", libc::SYS_seccomp),
        ("SYS_unshare", libc::SYS_unshare),
        ("SYS_setns", libc::SYS_setns),
        ("SYS_prlimit64", libc::SYS_prlimit64),
        ("SYS_personality", libc::SYS_personality),
        ("SYS_shmget", libc::SYS_shmget),
        ("SYS_mmap", libc::SYS_mmap),
        ("SYS_mprotect", libc::SYS_mprotect),
        ("SYS_pkey_mprotect", libc::SYS_pkey_mprotect),
        ("SYS_brk", libc::SYS_brk),
        ("SYS_futex", libc::SYS_futex),
        ("SYS_madvise", libc::SYS_madvise),
    ];
    numbers.iter().fold(code.to_owned(), |code, (name, number)| code.replace(name, &number.to_string()))
}
