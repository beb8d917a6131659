//! Keeps a zygote ready at all times. A new zygote starts when one dies, and at intervals: children share the hash seed
//! and the memory layout of their zygote, and an attacker must not learn much about either.

use crate::answer::Answer;
use crate::call::{self, NotRun};
use crate::config::Config;
use crate::launch::Plan;
use crate::limits::Limits;
use crate::log::say;
use crate::request::Request;
use crate::zygote::Zygote;
use std::future::{Future, pending};
use std::io::{Error, Result};
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
    recycle_calls: u64,
    recycle_after: Duration,
    current: watch::Sender<Option<Arc<Zygote>>>,
    started: AtomicU64,
}

impl Zygotes {
    /// Starts the pool with a first zygote, whose protection has been checked.
    pub async fn start(config: &Config) -> Result<Arc<Self>> {
        let zygotes = Arc::new(Self {
            plan: Plan::of(config)?,
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
        tokio::pin!(abandoned);
        let zygote = self.at_hand().await?;
        match call::run(&zygote, request, &mut abandoned).await {
            Err(NotRun::Zygote(_)) => {
                // The child may have started without a report, and must not run beside its retry.
                zygote.end().await;
                Ok(call::run(&*self.at_hand().await?, request, abandoned).await?)
            }
            ended => Ok(ended?),
        }
    }

    async fn at_hand(&self) -> Result<Arc<Zygote>> {
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

    /// Starts a zygote, and checks with a probe that only seccomp can stop that its children are locked in.
    async fn checked(&self) -> Result<Zygote> {
        const PROBE: &str = r#"{"code":"import typing\ntry:\n    typing.sys.modules['posix'].stat('/')\nexcept PermissionError as error:\n    print(error.errno)"}"#;
        let zygote = Zygote::start(&self.plan).await?;
        let limits = Limits { timeout: Duration::from_secs(10), memory_bytes: 32 << 20 };
        let answer =
            call::run(&zygote, &Request { task: PROBE.into(), limits, share: String::new() }, pending()).await?;
        if answer.stdout != "1\n" {
            let told = answer.error.unwrap_or_default();
            return Err(Error::other(format!("seccomp does not work here, and nothing is run without it. {told}")));
        }
        self.started.fetch_add(1, Ordering::Relaxed);
        Ok(zygote)
    }
}
