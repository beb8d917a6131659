//! The host: serves until it is told to stop, and leaves nothing behind.

use crate::config::Config;
use crate::http::{self, App};
use crate::log::say;
use crate::packages::Packages;
use crate::servers::Servers;
use crate::watch::watch;
use nix::sys::prctl::{set_child_subreaper, set_dumpable};
use std::future::{Future, IntoFuture};
use std::io::Result;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

// One thread: a warden dies with the thread that started it.
#[tokio::main(flavor = "current_thread")]
pub async fn run(config: Config) -> Result<()> {
    let told_to_stop = told_to_stop()?;
    // Processes of the same user may not read the secret from the host's environment.
    set_dumpable(false)?;
    // The host becomes the parent of processes that have lost their warden.
    set_child_subreaper(true)?;
    let packages = Packages::read(&config.packages)?;
    let installed = packages.npm.keys().chain(packages.python.keys()).cloned().collect::<Vec<_>>().join(", ");
    let listener = TcpListener::bind(config.listen).await?;
    say(format!("listening on {} with {installed}", listener.local_addr()?));
    let servers = Arc::new(Servers::new(config.limits, packages));
    tokio::spawn(watch(servers.clone()));
    let app = Arc::new(App { servers: servers.clone(), secret: config.secret });
    let ended = tokio::select! {
        ended = axum::serve(listener, http::router(app)).into_future() => ended,
        () = told_to_stop => Ok(()),
    };
    servers.remove_all().await;
    ended
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
