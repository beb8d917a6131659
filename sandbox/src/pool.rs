//! Keeps a zygote ready at all times. A new zygote starts when one dies, and at intervals: children share the hash seed
//! and the memory layout of their zygote, and an attacker must not learn much about either.

use crate::answer::{Answer, Stopped};
use crate::call::{self, NotRun, Task};
use crate::config::Config;
use crate::launch::Plan;
use crate::log::say;
use crate::probe;
use crate::request::Request;
use crate::zygote::Zygote;
use std::future::Future;
use std::io::{Error, Result};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How long a call waits for a zygote that is starting.
const AT_HAND_WITHIN: Duration = Duration::from_secs(5);
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(500);
/// How often the pool checks whether its zygote must be replaced.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub struct Zygotes {
    plan: Plan,
    /// The directory of the folders of calls on files, for zygotes that could mount no slots.
    scratch: Option<OwnedFd>,
    recycle_calls: u64,
    recycle_after: Duration,
    current: watch::Sender<Option<Arc<Zygote>>>,
    started: AtomicU64,
}

impl Zygotes {
    /// Starts the pool with a first zygote, whose protection has been checked.
    pub async fn start(plan: Plan, scratch: Option<OwnedFd>, config: &Config) -> Result<Arc<Self>> {
        let zygotes = Arc::new(Self {
            plan,
            scratch,
            recycle_calls: config.recycle_calls,
            recycle_after: config.recycle_after,
            current: watch::Sender::new(None),
            started: AtomicU64::new(0),
        });
        let first = zygotes.checked().await?;
        zygotes.current.send_replace(Some(Arc::new(first)));
        tokio::spawn(zygotes.clone().keep());
        Ok(zygotes)
    }

    pub fn current(&self) -> Option<Arc<Zygote>> {
        self.current.borrow().clone().filter(|zygote| !zygote.is_leaving())
    }

    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Makes the call. It retries once if the zygote died before it reported the start of the call.
    pub async fn call(&self, request: &Request, abandoned: impl Future<Output = ()>) -> Result<Answer> {
        let interrupted = async {
            abandoned.await;
            Stopped::Abandoned
        };
        tokio::pin!(interrupted);
        let task = Task { text: &request.task, limits: request.limits, folder: None };
        let zygote = self.at_hand().await?;
        match call::run(&zygote, &task, &mut interrupted).await {
            Err(NotRun::Zygote(_)) => {
                // The child may have started without a report, and must not run beside its retry.
                zygote.end().await;
                Ok(call::run(&*self.at_hand().await?, &task, interrupted).await?)
            }
            ended => Ok(ended?),
        }
    }

    /// The user that Python runs as, if the server is root.
    pub fn user(&self) -> Option<u32> {
        self.plan.user
    }

    pub async fn at_hand(&self) -> Result<Arc<Zygote>> {
        let mut current = self.current.subscribe();
        let ready = current.wait_for(|zygote| zygote.as_ref().is_some_and(|zygote| !zygote.is_leaving()));
        match timeout(AT_HAND_WITHIN, ready).await {
            Ok(Ok(zygote)) => zygote.clone().ok_or_else(|| Error::other("no interpreter")),
            Ok(Err(_)) | Err(_) => Err(Error::other("no interpreter could be started")),
        }
    }

    async fn keep(self: Arc<Self>) {
        loop {
            if let Some(zygote) = self.current() {
                self.until_due(&zygote).await;
                if zygote.is_leaving() {
                    say("the zygote has died; starting another");
                }
            }
            // Until the new zygote is ready, the old one serves. The old zygote ends with its last call.
            let another = self.another().await;
            self.current.send_replace(Some(Arc::new(another)));
        }
    }

    async fn until_due(&self, zygote: &Zygote) {
        loop {
            let _ = timeout(LOOK_EVERY, zygote.wait_leaving()).await;
            if zygote.is_leaving()
                || zygote.calls() >= self.recycle_calls
                || zygote.born.elapsed() >= self.recycle_after
            {
                return;
            }
        }
    }

    async fn another(&self) -> Zygote {
        loop {
            match self.checked().await {
                Ok(zygote) => return zygote,
                Err(cause) => say(cause),
            }
            sleep(BETWEEN_ATTEMPTS).await;
        }
    }

    /// Starts a zygote, and checks that its children are locked in.
    async fn checked(&self) -> Result<Zygote> {
        let zygote = Zygote::start(&self.plan).await?;
        if let Some(files) = &self.plan.files {
            if !zygote.layers.keep_to_a_folder() {
                return Err(Error::other("neither landlock nor a private mount namespace works here"));
            }
            if !zygote.layers.private_root
                && let Some(scratch) = &self.scratch
            {
                for _ in 0..files.slots {
                    zygote.put_slot(scratch.try_clone()?);
                }
            }
        }
        probe::check(&zygote, &self.plan).await?;
        self.started.fetch_add(1, Ordering::Relaxed);
        Ok(zygote)
    }
}
