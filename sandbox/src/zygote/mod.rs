//! The supervisor's side of the warm interpreter.

mod process;
mod wire;

use crate::filter;
use crate::launch::{self, Launched, Layers, Plan};
use crate::limits::Limits;
use crate::log::say;
use process::{Process, address_space};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SendFlags, Shutdown, SocketFlags, SocketType, send, shutdown, socketpair};
use rustix::process::{Signal, pidfd_send_signal};
use std::collections::HashMap;
use std::io::{Error, Result};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, timeout};
use wire::{Said, Trouble};

const READY_WITHIN: Duration = Duration::from_secs(20);
/// A fork takes milliseconds.
const BORN_WITHIN: Duration = Duration::from_secs(4);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A zygote. It is dropped with its last call, and then its process ends.
pub struct Zygote {
    link: Arc<Link>,
    pub pid: i32,
    pub python: String,
    pub layers: Layers,
    pub born: Instant,
    /// The address space of the zygote itself, to which the memory limit of a call is added.
    own_bytes: u64,
    /// The slots that no call uses at the moment. The first room has none.
    slots: Mutex<Vec<OwnedFd>>,
    state: watch::Receiver<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum State {
    Serving,
    /// The zygote takes no more calls.
    Leaving,
    /// The zygote is dead, and its children with it.
    Gone,
}

/// Why there is no child.
#[derive(Debug)]
pub enum Unborn {
    /// The system has no process to give at the moment; the zygote is well.
    Refused,
    /// The zygote is no longer usable. Until its process is gone, the child may still exist.
    Lost(Error),
}

/// A child that has started. It is killed when this value is dropped.
pub struct Born {
    pidfd: OwnedFd,
    exit: oneshot::Receiver<i32>,
}

/// The state that the zygote's task and its calls share.
struct Link {
    /// This socket keeps messages apart (SOCK_SEQPACKET). The type `UnixStream` is used only for waiting.
    control: UnixStream,
    expected: Mutex<HashMap<u64, Expected>>,
    calls: AtomicU64,
}

/// The receivers of the child's start, until it has started, and of its end.
struct Expected {
    birth: Option<(oneshot::Sender<Option<Born>>, oneshot::Receiver<i32>)>,
    death: oneshot::Sender<i32>,
}

impl Zygote {
    pub async fn start(plan: &Plan) -> Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        let ours = std::os::unix::net::UnixStream::from(ours);
        ours.set_nonblocking(true)?;
        let Launched { pid, layers, slots } = launch::start(plan, theirs).await?;
        let process = Process::of(pid)?;
        // The launcher has sent the slots before it reported the launch.
        let slots = if slots > 0 { wire::receive_slots(ours.as_fd())? } else { Vec::new() };
        let filters = if plan.files.is_some() { filter::files() } else { filter::code() };
        let (control, python, own_bytes) = match meet(ours, pid, &filters?).await {
            Ok(met) => met,
            Err(cause) => {
                process.end().await;
                return Err(cause);
            }
        };
        let link = Arc::new(Link { control, expected: Mutex::default(), calls: AtomicU64::new(0) });
        let (is_in, state) = watch::channel(State::Serving);
        tokio::spawn(listen(link.clone(), process, is_in));
        Ok(Self { link, pid, python, layers, born: Instant::now(), own_bytes, slots: Mutex::new(slots), state })
    }

    pub async fn fork(&self, limits: Limits, descriptors: &[BorrowedFd<'_>]) -> std::result::Result<Born, Unborn> {
        let id = self.link.calls.fetch_add(1, Ordering::Relaxed);
        let (birth, born) = oneshot::channel();
        let (death, exit) = oneshot::channel();
        self.link.expected().insert(id, Expected { birth: Some((birth, exit)), death });
        let address_space = self.own_bytes.saturating_add(limits.memory_bytes);
        let control = &self.link.control;
        let send = || wire::send_call(control.as_fd(), id, address_space, limits.cpu_seconds(), descriptors);
        if let Err(cause) = control.async_io(Interest::WRITABLE, send).await {
            self.link.expected().remove(&id);
            return Err(Unborn::Lost(cause));
        }
        match timeout(BORN_WITHIN, born).await {
            Ok(Ok(born)) => born.ok_or(Unborn::Refused),
            Ok(Err(_)) => Err(Unborn::Lost(Error::other("the zygote is gone"))),
            Err(_) => Err(Unborn::Lost(Error::other("the zygote does not answer"))),
        }
    }

    /// Takes a slot, if one is free.
    pub fn take_slot(&self) -> Option<OwnedFd> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Gives an empty slot back, or adds one.
    pub fn put_slot(&self, slot: OwnedFd) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
    }

    /// Looks at the slots that no call uses at the moment.
    pub fn free_slots<T>(&self, look: impl FnMut(&OwnedFd) -> T) -> Vec<T> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).iter().map(look).collect()
    }

    pub fn calls(&self) -> u64 {
        self.link.calls.load(Ordering::Relaxed)
    }

    pub fn is_leaving(&self) -> bool {
        *self.state.borrow() >= State::Leaving
    }

    /// Both sides read the end of the socket: the zygote leaves, and `listen` makes sure of it.
    pub fn dismiss(&self) {
        let _ = shutdown(&self.link.control, Shutdown::Both);
    }

    pub async fn wait_leaving(&self) {
        let _ = self.state.clone().wait_for(|state| *state >= State::Leaving).await;
    }

    /// After this, no child of the zygote runs.
    pub async fn end(&self) {
        self.dismiss();
        let _ = self.state.clone().wait_for(|state| *state == State::Gone).await;
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl Born {
    /// The child's exit status; `None` if the child died with the zygote.
    pub async fn exit(&mut self) -> Option<i32> {
        (&mut self.exit).await.ok()
    }

    /// Ends when the child is dead, whoever its parent is.
    pub async fn dead(&self) {
        let is_dead = || {
            let mut pidfd = [PollFd::new(&self.pidfd, PollFlags::IN)];
            poll(&mut pidfd, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
        };
        while !is_dead() {
            sleep(LOOK_EVERY).await;
        }
    }

    pub fn kill(&self) {
        // This fails only if the child is already dead.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

impl Drop for Born {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Link {
    fn expected(&self) -> MutexGuard<'_, HashMap<u64, Expected>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a message, and tells whether the message was valid.
    fn heed(&self, said: Said) -> bool {
        let mut expected = self.expected();
        match said {
            Said::Ready { .. } => false,
            Said::Born { id, pidfd } => match expected.get_mut(&id).and_then(|call| call.birth.take()) {
                Some((birth, exit)) => {
                    // If the call no longer waits, the child is dropped here, and thereby killed.
                    let _ = birth.send(Some(Born { pidfd, exit }));
                    true
                }
                None => false,
            },
            Said::Unborn { id } => match expected.remove(&id).and_then(|call| call.birth) {
                Some((birth, _)) => {
                    let _ = birth.send(None);
                    true
                }
                None => false,
            },
            Said::Dead { id, status } => match expected.remove(&id) {
                Some(call) => {
                    let _ = call.death.send(status);
                    call.birth.is_none()
                }
                None => false,
            },
        }
    }
}

/// Handles the zygote's messages until it ends or sends an invalid message, and then reaps it.
async fn listen(link: Arc<Link>, process: Process, is_in: watch::Sender<State>) {
    let why = loop {
        match next(&link.control).await {
            Ok(said) => {
                if !link.heed(said) {
                    break Trouble::Nonsense;
                }
            }
            Err(trouble) => break trouble,
        }
    };
    if !matches!(why, Trouble::Over) {
        say(format!("the zygote is ended: {why:?}"));
    }
    let _ = is_in.send(State::Leaving);
    // The children die with the zygote, so they have been killed when this wait ends.
    process.end().await;
    let _ = is_in.send(State::Gone);
    // The map is cleared last, because calls that wait for a child's end continue at this moment.
    link.expected().clear();
}

/// The zygote's socket, the version of its Python, and its address space.
async fn meet(
    ours: std::os::unix::net::UnixStream,
    pid: i32,
    filters: &[Vec<u8>],
) -> Result<(UnixStream, String, u64)> {
    let control = UnixStream::from_std(ours)?;
    match timeout(READY_WITHIN, greet(&control, filters)).await {
        Ok(Ok(Said::Ready { python })) => Ok((control, python, address_space(pid)?)),
        other => Err(Error::other(format!("Python did not start: {other:?}"))),
    }
}

async fn greet(control: &UnixStream, filters: &[Vec<u8>]) -> std::result::Result<Said, Trouble> {
    for filter in filters {
        send(control, filter, SendFlags::NOSIGNAL).map_err(|cause| Trouble::Broken(cause.into()))?;
    }
    next(control).await
}

async fn next(control: &UnixStream) -> std::result::Result<Said, Trouble> {
    control.async_io(Interest::READABLE, || wire::receive(control.as_fd())).await.map_err(Trouble::Broken)?
}
