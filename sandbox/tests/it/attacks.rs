//! The attacks, and the check that an attack was stopped. After each attack a plain call must find everything
//! unchanged. The code of each attack is also only looked at (`POST /check`), which must not run any of it.
//!
//! A file of attacks is Python. The code before the first attack is put before each of them. An attack begins with `#:
//! name -> outcome`, where the outcome is `ok` or kinds of error, separated by `|`, followed by any of `prints=TEXT`,
//! `time=SECONDS` and `memory=MB`. An attack that prints ESCAPED has succeeded. `SYS_name` is the number of a system
//! call; `ZYGOTE_PID` and `SUPERVISOR_PID` are process ids. `PRIVATE_ROOT` and `LANDLOCK` tell which layers there are.
//!
//! Attacks on the second room (`file_attacks`) have more words, none of which holds a space:
//!
//! | word | meaning |
//! |---|---|
//! | `result=JSON` | what the function returns |
//! | `changed=PATHS`, `deleted=PATHS` | the changes, separated by commas; without the word there is none, and `*` stands for any |
//! | `fault=TEXT` | a part of `files.fault`, with `_` for each space; without the word there is none, and `*` stands for any or none |
//! | `with=JSON` | further fields of the request |
//!
//! A line `#> files/PATH` or `#> bundle/PATH` ends the code, and begins a file of the session or of the bundle.

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
    pub on_files: OnFiles,
}

/// What an attack on the second room has and leaves besides.
#[derive(Clone, Default)]
pub struct OnFiles {
    pub files: Vec<(String, String)>,
    pub bundle: Vec<(String, String)>,
    /// Further fields of the request.
    pub request: Value,
    pub result: Option<Value>,
    /// None stands for any changes.
    pub changed: Option<Vec<String>>,
    pub deleted: Option<Vec<String>>,
    pub fault: Option<String>,
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

/// How long a run may take besides its limit. A shorter time would only measure how busy the machine is.
pub const GRACE: Duration = Duration::from_secs(30);

/// A plain call that uses everything that attacks like to spoil.
pub const PLAIN: &str = "
import json, re, typing
print(json.dumps([1]), json.loads('{\"a\": 2}'), re.sub('a+', 'b', 'caat'), typing.List[int])
print(len('abc'), sorted({3, 1}), sum([1, 2]), isinstance(1, int), typing.sys.getrecursionlimit())
";
const PLAINLY: &str = "[1] {'a': 2} cbt typing.List[int]\n3 [1, 3] 3 True 1000\n";

/// The targets of attacks, by the process ids that a child sees, and the layers around them.
#[derive(Clone, Copy)]
pub struct Targets {
    pub zygote: i32,
    pub supervisor: i32,
    pub private_root: bool,
    pub landlock: bool,
}

impl Targets {
    /// `zygote` is the process id outside, and `layers` are those of `GET /health`.
    pub fn of(zygote: i32, supervisor: i32, layers: &Value) -> Self {
        // In a pid namespace of its own the zygote is the first process, and the supervisor has no process id.
        let zygote = if layers["namespaces"] == json!([]) { zygote } else { 1 };
        let (private_root, landlock) = (layers["private_root"] == true, !layers["landlock"].is_null());
        Self { zygote, supervisor, private_root, landlock }
    }
}

pub fn attacks(targets: Targets) -> Vec<Attack> {
    FILES.iter().flat_map(|file| parse(file, targets)).chain(generated::attacks()).collect()
}

impl Attack {
    pub fn run(&self, server: &Client) -> Result<(), String> {
        let begun = Instant::now();
        let answer = server.post(&json!({"code": self.code, "limits": self.limits}));
        let took = begun.elapsed();
        self.must_be_stopped(&answer)?;
        self.must_be_over(took)?;
        self.must_be_only_looked_at(server)?;
        must_be_plain(server)
    }

    pub fn must_be_stopped(&self, answer: &Value) -> Result<(), String> {
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
        Ok(())
    }

    pub fn must_be_over(&self, took: Duration) -> Result<(), String> {
        let limit = Duration::from_secs_f64(self.limits["timeout_seconds"].as_f64().unwrap_or(5.0));
        if took > limit + GRACE { Err(format!("it took {took:?}")) } else { Ok(()) }
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

/// A plain call in the first room, which finds everything unchanged.
pub fn must_be_plain(server: &Client) -> Result<(), String> {
    let begun = Instant::now();
    let (_, plain, _) = server.try_exchange("/run", &json!({"code": PLAIN}))?;
    if plain["stdout"] != PLAINLY || begun.elapsed() > GRACE {
        return Err(format!("the next call, after {:?}: {plain}", begun.elapsed()));
    }
    Ok(())
}

pub fn parse(file: &str, targets: Targets) -> Vec<Attack> {
    let mut parts = file.split("\n#: ");
    let before = parts.next().unwrap();
    parts
        .map(|part| {
            let (head, rest) = part.split_once('\n').unwrap();
            let rest = format!("\n{rest}");
            let mut sections = rest.split("\n#> ");
            let code = sections.next().unwrap();
            let mut on_files = OnFiles { changed: Some(Vec::new()), deleted: Some(Vec::new()), ..OnFiles::default() };
            for section in sections {
                let (path, text) = section.split_once('\n').unwrap_or((section, ""));
                let text = numbered(text.trim_end_matches('\n'), targets);
                match path.split_once('/').unwrap_or_else(|| panic!("{head}: {path}")) {
                    ("files", path) => on_files.files.push((format!("/{path}"), text)),
                    ("bundle", path) => on_files.bundle.push((path.into(), text)),
                    _ => panic!("{head}: {path}"),
                }
            }
            let (name, rest) = head.split_once(" -> ").unwrap_or_else(|| panic!("{head}"));
            let mut words = rest.split(' ');
            let outcomes = words.next().unwrap().split('|').map(str::to_owned).collect();
            let mut attack = Attack {
                name: name.into(),
                code: numbered(&format!("{before}\n{code}"), targets),
                outcomes,
                prints: None,
                limits: json!({}),
                on_files,
            };
            let paths = |list: &str| (list != "*").then(|| list.split(',').map(str::to_owned).collect());
            for word in words {
                match word.split_once('=').unwrap_or_else(|| panic!("{head}")) {
                    ("prints", text) => attack.prints = Some(text.into()),
                    ("time", seconds) => attack.limits["timeout_seconds"] = json!(seconds.parse::<f64>().unwrap()),
                    ("memory", mb) => attack.limits["memory_mb"] = json!(mb.parse::<u64>().unwrap()),
                    ("result", result) => attack.on_files.result = Some(serde_json::from_str(result).unwrap()),
                    ("changed", list) => attack.on_files.changed = paths(list),
                    ("deleted", list) => attack.on_files.deleted = paths(list),
                    ("fault", text) => attack.on_files.fault = Some(text.replace('_', " ")),
                    ("with", fields) => attack.on_files.request = serde_json::from_str(fields).unwrap(),
                    _ => panic!("{head}"),
                }
            }
            attack
        })
        .collect()
}

fn numbered(code: &str, targets: Targets) -> String {
    let mut numbers = [
        ("ZYGOTE_PID", targets.zygote.into()),
        ("SUPERVISOR_PID", targets.supervisor.into()),
        ("SYS_mount", libc::SYS_mount),
        ("SYS_openat2", libc::SYS_openat2),
        ("SYS_symlinkat", libc::SYS_symlinkat),
        ("SYS_linkat", libc::SYS_linkat),
        ("SYS_mknodat", libc::SYS_mknodat),
        ("SYS_renameat2", libc::SYS_renameat2),
        ("SYS_name_to_handle_at", libc::SYS_name_to_handle_at),
        ("SYS_open_by_handle_at", libc::SYS_open_by_handle_at),
        ("SYS_inotify_init1", libc::SYS_inotify_init1),
        ("SYS_fanotify_init", libc::SYS_fanotify_init),
        ("SYS_landlock_create_ruleset", libc::SYS_landlock_create_ruleset),
        ("SYS_landlock_restrict_self", libc::SYS_landlock_restrict_self),
        ("SYS_open_tree", libc::SYS_open_tree),
        ("SYS_move_mount", libc::SYS_move_mount),
        ("SYS_fsopen", libc::SYS_fsopen),
        ("SYS_mount_setattr", libc::SYS_mount_setattr),
        ("SYS_umount2", libc::SYS_umount2),
        ("SYS_chroot", libc::SYS_chroot),
        ("SYS_pivot_root", libc::SYS_pivot_root),
        ("SYS_remap_file_pages", libc::SYS_remap_file_pages),
        ("SYS_swapon", libc::SYS_swapon),
        ("SYS_quotactl", libc::SYS_quotactl),
        ("SYS_splice", libc::SYS_splice),
        ("SYS_vmsplice", libc::SYS_vmsplice),
        ("SYS_tee", libc::SYS_tee),
        ("SYS_io_submit", libc::SYS_io_submit),
        ("SYS_io_setup", libc::SYS_io_setup),
        ("SYS_statx", libc::SYS_statx),
        ("SYS_fcntl", libc::SYS_fcntl),
        ("SYS_ioctl", libc::SYS_ioctl),
        ("SYS_sendmsg", libc::SYS_sendmsg),
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
    // One name may begin with another.
    numbers.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let truths = [("PRIVATE_ROOT", targets.private_root), ("LANDLOCK", targets.landlock)];
    let code = truths
        .iter()
        .fold(code.to_owned(), |code, (name, is_so)| code.replace(name, if *is_so { "True" } else { "False" }));
    numbers.iter().fold(code, |code, (name, number)| code.replace(name, &number.to_string()))
}
