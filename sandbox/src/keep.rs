//! The keeper: holds the port, so that nobody is turned away, and starts the supervisor anew if it ends. It does so
//! little that there is little in it to go wrong.

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

/// The first argument, that makes the binary a supervisor.
pub const SERVE: &str = "serve";

/// One that dies sooner than this is given a moment.
const SOON: Duration = Duration::from_secs(1);

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
            // It was told to.
            WaitStatus::Exited(_, 0) => return Ok(()),
            // It cannot work here. Where one could, this will pass.
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
    Command::new("/proc/self/exe").arg(SERVE).args(arguments).stdin(listener).stdout(Stdio::piped()).spawn()
}

/// Of one that is dead, which alone had the other end of the pipe: see `serve::tell_keeper`.
fn said_that_it_serves(supervisor: &mut Child) -> bool {
    supervisor.stdout.take().is_some_and(|mut said| said.read(&mut [0]).is_ok_and(|read| read > 0))
}

/// Passes signals on, and buries, until the supervisor is dead.
fn attend(supervisor: &Child, signals: &SigSet, stopping: &mut bool) -> Result<WaitStatus> {
    let pid = Pid::from_raw(i32::try_from(supervisor.id()).map_err(Error::other)?);
    loop {
        match signals.wait()? {
            Signal::SIGCHLD => {
                // Also others', where we are the first process of a container.
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
