//! The keeper holds the port, so that no client is refused, and restarts the supervisor if it ends. The keeper does
//! little, so little can go wrong in it.

use crate::config::Config;
use crate::log::say;
use nix::sys::prctl::set_dumpable;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io::{Error, Read, Result};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The first argument that makes the binary a supervisor.
pub const SERVE: &str = "serve";

/// A supervisor that dies sooner than this is restarted only after a pause.
const SOON: Duration = Duration::from_secs(1);

/// Settings of glibc's allocator. The contents of files come and go, on several threads, and each thread would keep the memory
/// of the largest contents that it has ever freed.
const ALLOCATOR: [(&str, &str); 3] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

pub fn main(config: &Config, arguments: &[String]) -> Result<()> {
    let listener = TcpListener::bind(config.listen)
        .map_err(|cause| Error::other(format!("cannot listen on {}: {cause}", config.listen)))?;
    set_dumpable(false)?;
    let signals = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGCHLD].into_iter().collect::<SigSet>();
    signals.thread_block()?;
    let (mut stopping, mut has_served) = (false, false);
    loop {
        let begun = Instant::now();
        let mut supervisor = serve(&listener, arguments)?;
        let ended = attend(&supervisor, &signals, &mut stopping)?;
        has_served |= said_that_it_serves(&mut supervisor);
        match ended {
            // The supervisor was told to stop.
            WaitStatus::Exited(_, 0) => return Ok(()),
            // The supervisor cannot work here. If an earlier supervisor has worked, the trouble will pass, and the loop
            // continues.
            WaitStatus::Exited(_, status) if stopping || !has_served => {
                return Err(Error::other(format!("the server ended with status {status}")));
            }
            _ if stopping => return Ok(()),
            how => say(format!("the server has ended, starting it anew: {how:?}")),
        }
        if begun.elapsed() < SOON {
            sleep(SOON);
        }
    }
}

fn serve(listener: &TcpListener, arguments: &[String]) -> Result<Child> {
    let listener = OwnedFd::from(listener.try_clone()?);
    let mut supervisor = Command::new("/proc/self/exe");
    supervisor.arg(SERVE).args(arguments).stdin(listener).stdout(Stdio::piped());
    supervisor.envs(ALLOCATOR).spawn()
}

/// Tells whether a dead supervisor had reported that it serves. Only the supervisor had the other end of the pipe: see
/// `serve::tell_keeper`.
fn said_that_it_serves(supervisor: &mut Child) -> bool {
    supervisor.stdout.take().is_some_and(|mut said| said.read(&mut [0]).is_ok_and(|read| read > 0))
}

/// Passes signals on, and reaps processes, until the supervisor is dead.
fn attend(supervisor: &Child, signals: &SigSet, stopping: &mut bool) -> Result<WaitStatus> {
    let pid = Pid::from_raw(i32::try_from(supervisor.id()).map_err(Error::other)?);
    loop {
        match signals.wait()? {
            Signal::SIGCHLD => {
                // As the first process of a container, the keeper also reaps other processes.
                while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                    match status.pid() {
                        Some(dead) if dead == pid => return Ok(status),
                        Some(_) => {}
                        None => break,
                    }
                }
            }
            signal => {
                *stopping = true;
                kill(pid, signal)?;
            }
        }
    }
}
