//! One call, from the fork to the child's death.

use crate::answer::{Answer, Ended, MAX_FRAME_BYTES, Stopped};
use crate::output::{Captured, KEPT_BYTES, capture};
use crate::request::Request;
use crate::zygote::{Born, Unborn, Zygote};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::future::Future;
use std::io::{Error, Result, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// The timeout for steps that take no time once a child is dead.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// Why no code was run.
pub enum NotRun {
    /// The zygote is no longer usable. After its end, a retry with another zygote may work.
    Zygote(Error),
    Here(Error),
}

impl From<Error> for NotRun {
    fn from(cause: Error) -> Self {
        Self::Here(cause)
    }
}

impl From<Unborn> for NotRun {
    fn from(unborn: Unborn) -> Self {
        match unborn {
            Unborn::Refused => Self::Here(Error::other("the system gives no process just now")),
            Unborn::Lost(cause) => Self::Zygote(cause),
        }
    }
}

impl From<NotRun> for Error {
    fn from(not_run: NotRun) -> Self {
        match not_run {
            NotRun::Zygote(cause) | NotRun::Here(cause) => cause,
        }
    }
}

/// Runs the code. When `abandoned` is ready, the child is killed.
pub async fn run(
    zygote: &Zygote,
    request: &Request,
    abandoned: impl Future<Output = ()>,
) -> std::result::Result<Answer, NotRun> {
    let [stdout, stderr, frame] = [pipe()?, pipe()?, pipe()?];
    let sent = [sealed(&request.task)?, stdout.1, stderr.1, frame.1];
    let descriptors = sent.each_ref().map(AsFd::as_fd);
    let mut child = zygote.fork(request.limits, descriptors).await?;
    // The supervisor drops its copies, so that the pipes end when the child ends.
    drop(sent);
    let begun = Instant::now();
    let flooded = Notify::new();
    let reading = async {
        tokio::join!(
            capture(stdout.0, KEPT_BYTES, &flooded),
            capture(stderr.0, KEPT_BYTES, &flooded),
            capture(frame.0, MAX_FRAME_BYTES, &flooded),
        )
    };
    let ending = async {
        let stopped = tokio::select! {
            exit = child.exit() => return (None, exit, begun.elapsed()),
            () = sleep(request.limits.timeout) => Stopped::TimedOut,
            () = flooded.notified() => Stopped::Flooded,
            () = abandoned => Stopped::Abandoned,
        };
        let exit = killed(&mut child).await;
        (Some(stopped), exit, begun.elapsed())
    };
    let (read, (stopped, exit, duration)) = {
        tokio::pin!(reading);
        tokio::pin!(ending);
        tokio::select! {
            // The child may close its pipes long before it ends.
            read = &mut reading => (Some(read), ending.await),
            ended = &mut ending => (timeout(AFTERWARDS, reading).await.ok(), ended),
        }
    };
    // The code was run, even if its output could not be read.
    let (stdout, stderr, frame) = read.unwrap_or_else(|| (Captured::lost(), Captured::lost(), Captured::lost()));
    Ok(Answer::of(Ended { stopped, exit, stdout, stderr, frame, duration }, request.limits))
}

async fn killed(child: &mut Born) -> Option<i32> {
    child.kill();
    timeout(AFTERWARDS, child.exit()).await.ok().flatten()
}

fn pipe() -> Result<(Receiver, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Receiver::from_owned_fd(read)?, write))
}

/// The task as a sealed file in memory, which no process can change.
fn sealed(task: &[u8]) -> Result<OwnedFd> {
    let mut file = File::from(memfd_create("task", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(task)?;
    fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    Ok(file.into())
}
