//! One call, from the fork to the child's death.

use crate::answer::{Answer, Ended, MAX_FRAME_BYTES, Stopped};
use crate::limits::Limits;
use crate::output::{Captured, KEPT_BYTES, capture};
use crate::zygote::{Born, Unborn, Zygote};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::future::Future;
use std::io::{Error, Result, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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

/// The word by which the supervisor lets a child of the second room begin.
const GO: &[u8] = b"g";

/// What a child runs.
pub struct Task<'a> {
    /// The task in the child's format.
    pub text: &'a [u8],
    pub limits: Limits,
    /// The folder of a call on files. Such a child waits for the supervisor's word, so that a call whose child is not known
    /// to exist has surely not begun.
    pub folder: Option<BorrowedFd<'a>>,
}

/// Runs the code. When `interrupted` is ready, the child is killed for that reason.
pub async fn run(
    zygote: &Zygote,
    task: &Task<'_>,
    interrupted: impl Future<Output = Stopped>,
) -> std::result::Result<Answer, NotRun> {
    let [stdout, stderr, frame] = [pipe()?, pipe()?, pipe()?];
    let mut sent = vec![sealed(task.text)?, stdout.1, stderr.1, frame.1];
    let word = match task.folder {
        Some(_) => {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(Error::from)?;
            sent.push(read);
            Some(write)
        }
        None => None,
    };
    let descriptors: Vec<BorrowedFd> = sent.iter().map(AsFd::as_fd).chain(task.folder).collect();
    let asked = Instant::now();
    let mut child = zygote.fork(task.limits, &descriptors).await?;
    let forked = asked.elapsed();
    // The supervisor drops its copies, so that the pipes end when the child ends.
    drop(sent);
    if let Some(word) = word {
        rustix::io::write(&word, GO).map_err(Error::from)?;
    }
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
            () = sleep(task.limits.timeout) => Stopped::TimedOut,
            () = flooded.notified() => Stopped::Flooded,
            why = interrupted => why,
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
    // The zygote's report, or its death, comes before the last moment of the child.
    let is_dead = exit.is_some() || timeout(AFTERWARDS, child.dead()).await.is_ok();
    // The code was run, even if its output could not be read.
    let (stdout, stderr, frame) = read.unwrap_or_else(|| (Captured::lost(), Captured::lost(), Captured::lost()));
    Ok(Answer::of(Ended { stopped, exit, stdout, stderr, frame, duration, forked, is_dead }, task.limits))
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
