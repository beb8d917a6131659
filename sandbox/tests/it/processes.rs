//! Inspects the machine from outside of the sandbox.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The processes of a user; without a user of their own, the processes that have the word among their arguments.
pub fn of(user: Option<u32>, word: &str) -> Vec<i32> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    pids.filter(|pid: &i32| match user {
        Some(_) => user_of(*pid) == user && !is_zombie(*pid),
        None => arguments(*pid).iter().any(|each| each == word),
    })
    .collect()
}

/// Not the owner of the process's directory: the owner is root if the process hides.
fn user_of(pid: i32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Uid:\t"))?.split('\t').next()?.parse().ok()
}

pub fn arguments(pid: i32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|&byte| byte == 0).map(|each| String::from_utf8_lossy(each).into_owned()).collect()
}

pub fn children(parent: u32) -> Vec<i32> {
    let list = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

pub fn is_alive(pid: i32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap() && !is_zombie(pid)
}

fn is_zombie(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
}

/// The memory that a process occupies, in KiB.
pub fn resident_kib(pid: i32) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    statm.split(' ').nth(1).map_or(0, |pages| pages.parse::<u64>().unwrap() * 4)
}

/// The most memory that a process ever occupied, in KiB.
pub fn peak_kib(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Files of a user in the directories that every user can write to.
pub fn files_of(user: u32) -> Vec<PathBuf> {
    let places = ["/tmp", "/var/tmp", "/dev/shm", "/run/lock"];
    let entries = places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
    entries.filter(|entry| entry.metadata().is_ok_and(|meta| meta.uid() == user)).map(|entry| entry.path()).collect()
}

/// More than anything takes that a test waits for, also on a machine that does much else. Tests tell a wait that ends from one
/// that never ends; they measure nothing.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the condition holds, and fails if it never does.
#[track_caller]
pub fn eventually(what: &str, is_so: impl FnMut() -> bool) {
    eventually_within(PATIENCE, what, is_so);
}

#[track_caller]
pub fn eventually_within(time: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + time;
    while !is_so() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn signal(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Reports a skipped check, once. It writes past the test harness, which hides the output of tests that pass.
pub fn skipped(what: &'static str) {
    static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap().insert(what) {
        let _ = writeln!(std::io::stderr(), "SKIPPED, for these tests do not run as root: {what}");
    }
}

pub fn are_root() -> bool {
    rustix::process::geteuid().is_root()
}
