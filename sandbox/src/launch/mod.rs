//! Starts Python behind the layers that are entered once. The launcher is a process of its own, because a
//! single-threaded process can lock itself in with safe code. The launcher ends as soon as Python runs; then the
//! supervisor, as the nearest reaper, becomes Python's parent.

mod landlock;
mod namespaces;
mod python;
mod root;
pub mod slots;

use crate::config::Config;
use nix::sys::prctl::set_no_new_privs;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{Error, Result, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The first argument that makes the binary a launcher.
pub const LAUNCH: &str = "launch";

/// The zygote's descriptors: two for each child, and a few more.
const MAX_DESCRIPTORS: u64 = 256;

/// A launch takes milliseconds on a working system.
const LAUNCHED_WITHIN: Duration = Duration::from_secs(10);
/// The timeout for killed processes to end.
const GONE_WITHIN: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The task of a launcher.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Plan {
    pub python: PathBuf,
    /// The user to become, if the server runs as root.
    pub user: Option<u32>,
    pub landlock: bool,
    pub namespaces: bool,
    /// The process id of the supervisor, visible in `ps`.
    pub owner: u32,
    /// The second room, which works on files; none for the first room.
    pub files: Option<FilesPlan>,
}

/// What a zygote of the second room needs besides.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FilesPlan {
    /// The folder of Python packages.
    pub packages: PathBuf,
    /// How many calls run at once.
    pub slots: usize,
    /// The directory of the calls' folders, where no file system can be mounted.
    pub scratch: PathBuf,
}

/// The launcher's report.
#[derive(Debug, Deserialize, Serialize)]
pub struct Launched {
    pub pid: i32,
    pub layers: Layers,
    /// How many slots were mounted. Their descriptors come over the zygote's socket.
    pub slots: usize,
}

/// The layers that not every kernel or container offers.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Layers {
    /// The version of landlock.
    pub landlock: Option<i32>,
    pub namespaces: Vec<String>,
    /// Whether all files except Python's are hidden.
    pub private_root: bool,
}

impl Layers {
    /// Whether a call on files is kept to its own folder. Without landlock, its folder can be told from others only by
    /// names that nobody can guess, and the rest of the machine only by a root of its own.
    pub fn keep_to_a_folder(&self) -> bool {
        self.landlock.is_some() || self.private_root
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seccomp")?;
        if let Some(version) = self.landlock {
            write!(f, ", landlock {version}")?;
        }
        if !self.namespaces.is_empty() {
            write!(f, ", namespaces ({})", self.namespaces.join(" "))?;
        }
        Ok(())
    }
}

impl Plan {
    pub fn of(config: &Config) -> Result<Self> {
        Ok(Self {
            python: python::find(config.python.as_deref())?,
            user: nix::unistd::geteuid().is_root().then_some(config.user),
            landlock: config.landlock,
            namespaces: config.namespaces,
            owner: std::process::id(),
            files: None,
        })
    }
}

/// Starts a launcher for the supervisor. `control` becomes the zygote's socket.
pub async fn start(plan: &Plan, control: OwnedFd) -> Result<Launched> {
    let mut launcher = tokio::process::Command::new("/proc/self/exe");
    launcher.arg(LAUNCH).arg(serde_json::to_string(plan)?).env_clear().stdin(control);
    let told = gather(launcher, LAUNCHED_WITHIN).await?;
    Ok(serde_json::from_slice(&told)?)
}

/// Returns the output of a program. The program gets a process group of its own, and all of the group is killed if the
/// program fails.
async fn gather(mut program: tokio::process::Command, within: Duration) -> Result<Vec<u8>> {
    let program = program.stdout(Stdio::piped()).process_group(0).spawn()?;
    let group = program.id().and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
    match timeout(within, program.wait_with_output()).await {
        Ok(Ok(output)) if output.status.success() => return Ok(output.stdout),
        _ => {}
    }
    if let Some(group) = group {
        let _ = timeout(GONE_WITHIN, end(group)).await;
    }
    Err(Error::other("Python could not be launched"))
}

/// Kills and reaps all processes of a group. The supervisor, as the nearest reaper, becomes the parent of the leader's
/// children.
async fn end(group: Pid) {
    loop {
        match waitpid(Pid::from_raw(-group.as_raw()), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => {
                let _ = killpg(group, Signal::SIGKILL);
                sleep(LOOK_EVERY).await;
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// The launcher.
pub fn main(arguments: &[String]) -> Result<()> {
    let plan = arguments.get(1).ok_or_else(|| Error::other("nothing to launch"))?;
    let plan: Plan = serde_json::from_str(plan)?;
    // If memory runs out, the kernel should kill Python before the supervisor. Not every system allows this, and no
    // protection depends on it.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    let packages = plan.files.as_ref().map(|files| &*files.packages);
    let needed = python::needed(&plan.python, packages);
    let mut layers = Layers::default();
    let mut mounted = Vec::new();
    if plan.namespaces {
        layers.namespaces = namespaces::enter();
        let count = plan.files.as_ref().map_or(0, |files| files.slots);
        let can_mount = layers.namespaces.iter().any(|name| name == "mnt");
        if let Some(slots) = can_mount.then(|| root::enter(&needed, count)).flatten() {
            layers.private_root = true;
            mounted = slots;
        }
    }
    setrlimit(Resource::RLIMIT_NOFILE, MAX_DESCRIPTORS, MAX_DESCRIPTORS)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    set_no_new_privs()?;
    if plan.landlock {
        let folders = plan.files.as_ref().map(|files| match layers.private_root {
            true => slots::directory(),
            false => files.scratch.clone(),
        });
        layers.landlock = landlock::enter(&needed, folders.as_deref());
    }
    if !mounted.is_empty() {
        slots::send(std::io::stdin().as_fd(), &mounted)?;
    }
    let room = packages.map(|packages| python::RoomSettings {
        packages,
        landlock: layers.landlock.is_some(),
        mounted: layers.private_root,
    });
    let mut command = python::command(&plan.python, plan.owner, room.as_ref());
    if let Some(user) = plan.user {
        // This also leaves all supplementary groups.
        command.uid(user).gid(user);
    }
    let started = spawn(command).map_err(|cause| {
        let user = plan.user.map(|user| format!(" as user {user}")).unwrap_or_default();
        Error::other(format!("cannot start {}{user}: {cause}", plan.python.display()))
    })?;
    let pid = i32::try_from(started).map_err(Error::other)?;
    let launched = serde_json::to_vec(&Launched { pid, layers, slots: mounted.len() })?;
    std::io::stdout().write_all(&launched)
}

fn spawn(mut command: Command) -> Result<u32> {
    // Python's own output goes to the supervisor's log.
    let child = command.env_clear().current_dir("/").stdout(std::io::stderr()).spawn()?;
    Ok(child.id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::prctl::set_child_subreaper;
    use std::time::Instant;

    fn shell(script: &str) -> tokio::process::Command {
        let mut command = tokio::process::Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[tokio::test]
    async fn a_launch_ends_in_time_and_leaves_nobody_if_it_fails() {
        set_child_subreaper(true).unwrap();
        assert_eq!(gather(shell("echo told"), LAUNCHED_WITHIN).await.unwrap(), b"told\n");
        let begun = Instant::now();
        let soon = Duration::from_millis(200);
        for (script, within) in [("sleep 60 & sleep 60", soon), ("sleep 60 >&2 & exit 3", LAUNCHED_WITHIN)] {
            assert!(gather(shell(script), within).await.is_err(), "{script}");
        }
        assert!(begun.elapsed() < LAUNCHED_WITHIN);
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path().join("children"));
        let children: String = tasks.map(|list| std::fs::read_to_string(list).unwrap_or_default()).collect();
        assert_eq!(children, "");
    }
}
