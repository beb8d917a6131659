//! The supervisor: first checks the protection, and only then serves.

use crate::config::Config;
use crate::files::FileApp;
use crate::gate::Gate;
use crate::http::{self, App};
use crate::launch::Plan;
use crate::limits::Limits;
use crate::log::say;
use crate::pool::Zygotes;
use crate::scratch;
use nix::sys::prctl::{set_child_subreaper, set_dumpable, set_pdeathsig};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use rustix::fs::Mode;
use rustix::process::umask;
use std::future::Future;
use std::io::{Error, Result, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::sleep;

/// How much time a call may take besides its own when the server stops: for waiting in the queue, and for being killed.
const BESIDES: Duration = Duration::from_secs(5);

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

#[tokio::main(flavor = "current_thread")]
pub async fn run(config: Config) -> Result<()> {
    // The signal mask was inherited from the keeper, which blocks its signals.
    SigSet::all().thread_unblock()?;
    let told_to_stop = told_to_stop()?;
    // The supervisor dies with the keeper: nobody else would stop it, and the next keeper needs the port.
    set_pdeathsig(Signal::SIGKILL)?;
    // Processes of the same user may not inspect the supervisor.
    set_dumpable(false)?;
    // The supervisor becomes the parent of a launcher's child.
    set_child_subreaper(true)?;
    // A call has about ten descriptors, and a connection has one.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most.min(65536), most)?;
    // The folders of calls get exactly the permissions that their code names.
    umask(Mode::empty());
    scratch::sweep(&config.scratch);
    let zygotes = Zygotes::start(Plan::of(&config)?, None, &config).await?;
    let layers = zygotes.current().map(|zygote| zygote.layers.clone()).unwrap_or_default();
    let listener = listener()?;
    tell_keeper()?;
    say(format!("listening on {} behind {layers}", listener.local_addr()?));
    let files = Arc::new(FileApp::new(&config));
    let gate = Gate::new(config.slots);
    let app =
        Arc::new(App { zygotes, gate, limits: Limits::of(&config), calls: AtomicU64::new(0), files: files.clone() });
    let (stop, stopping) = oneshot::channel();
    let told = async {
        told_to_stop.await;
        let _ = stop.send(());
    };
    let overdue = async {
        let _ = stopping.await;
        sleep(config.timeout + BESIDES).await;
        // Calls on files may take longer, and have limits of their own.
        while files.is_busy() {
            sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::select! {
        ended = axum::serve(listener, http::router(app)).with_graceful_shutdown(told).into_future() => ended,
        // All calls are over, but a client keeps a connection open without a complete request.
        () = overdue => Ok(()),
    }
}

/// Reports the start to the keeper. Standard output is a pipe to the keeper alone, so this fails if the keeper died
/// before `set_pdeathsig`.
fn tell_keeper() -> Result<()> {
    let told = std::io::stdout().write_all(b"serving\n").and_then(|()| std::io::stdout().flush());
    told.map_err(|cause| Error::other(format!("the keeper is gone: {cause}")))
}

/// The keeper's listener, which is the supervisor's standard input.
fn listener() -> Result<TcpListener> {
    let listener = std::net::TcpListener::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

fn told_to_stop() -> Result<impl Future<Output = ()>> {
    let (mut terminated, mut interrupted) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
    })
}
