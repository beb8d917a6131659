//! One server with one configuration: starts its process when it is needed, and knows what became of earlier ones.

use crate::backoff::Backoff;
use crate::command::Program;
use crate::configuration::ServerConfiguration;
use crate::error::Refusal;
use crate::file_set::FileSet;
use crate::handshake::{self, HandshakeFailure};
use crate::home::Home;
use crate::process::{Ended, Launch, Process};
use crate::servers::Servers;
use crate::stderr_tail;
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

const HANDSHAKE: Duration = Duration::from_secs(30);
/// How many requests may be under way, whether they wait for the start or for their answer.
pub const MAX_REQUESTS: usize = 64;

pub struct Server {
    /// The hash of the configuration.
    pub hash: String,
    program: Program,
    environment: Vec<(String, String)>,
    folder: Option<String>,
    /// What every process finds in its private folder.
    files: Option<Arc<FileSet>>,
    state: Mutex<ServerState>,
    /// Held by the one who starts the process.
    starting: Arc<tokio::sync::Mutex<()>>,
}

struct ServerState {
    process: Option<Arc<Process>>,
    backoff: Backoff,
    starts: u32,
    last_exit: Option<Ended>,
    /// Whether processes are asked for the modern kind of MCP. Some old server may not survive the question.
    probe: bool,
    /// The server was deleted or replaced, and is not started again.
    removed: bool,
    /// How many requests are under way.
    requests: usize,
    last_used: Instant,
}

/// A request that is under way. As long as there is one, the server is not idle.
pub struct Turn(Arc<Server>);

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.requests -= 1;
        state.last_used = Instant::now();
    }
}

/// What an admin wants to know.
#[derive(Serialize)]
pub struct ServerReport {
    state: &'static str,
    pid: Option<i32>,
    restarts: u32,
    started_at: Option<String>,
    last_exit: Option<String>,
    stderr: String,
    config: String,
}

impl Server {
    pub fn new(
        hash: String,
        program: Program,
        configuration: ServerConfiguration,
        files: Option<Arc<FileSet>>,
    ) -> Self {
        let state = ServerState {
            process: None,
            backoff: Backoff::default(),
            starts: 0,
            last_exit: None,
            probe: true,
            removed: false,
            requests: 0,
            last_used: Instant::now(),
        };
        Self {
            hash,
            program,
            environment: configuration.env.into_iter().collect(),
            folder: configuration.cwd,
            files,
            state: Mutex::new(state),
            starting: Arc::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a request begin, unless too many are under way.
    pub fn turn(self: &Arc<Self>) -> Result<Turn, Refusal> {
        let mut state = self.state();
        if state.requests >= MAX_REQUESTS {
            let words = format!("{MAX_REQUESTS} requests wait for this server already: try again");
            return Err(Refusal::later(words, Duration::from_secs(1)));
        }
        state.requests += 1;
        Ok(Turn(self.clone()))
    }

    /// The process, if one runs that has not ended.
    pub fn process(&self) -> Option<Arc<Process>> {
        self.state().process.clone().filter(|it| !it.has_ended())
    }

    /// The process, if one runs and its handshake is done.
    pub fn ready_process(&self) -> Option<Arc<Process>> {
        self.state().process.clone().filter(|it| it.is_usable() && it.era.get().is_some())
    }

    /// The process, which is started if none runs.
    pub async fn ready(self: &Arc<Self>, servers: &Arc<Servers>) -> Result<Arc<Process>, Refusal> {
        if let Some(process) = self.ready_process() {
            return Ok(process);
        }
        let turn = self.starting.clone().lock_owned().await;
        if let Some(process) = self.ready_process() {
            return Ok(process);
        }
        // A client that leaves does not spoil the start for others.
        let (server, servers) = (self.clone(), servers.clone());
        let started = tokio::spawn(async move {
            let _turn = turn;
            server.start(&servers).await
        });
        started.await.unwrap_or_else(|_| Err(Refusal::later("The start was lost", Duration::from_secs(1))))
    }

    async fn start(self: &Arc<Self>, servers: &Arc<Servers>) -> Result<Arc<Process>, Refusal> {
        loop {
            // The process before may be stopping.
            if let Some(before) = self.process() {
                before.end().await;
            }
            self.check_backoff()?;
            let permit = servers.room().await?;
            let home = self.new_home(servers).await?;
            let process = self.spawn(servers, permit, home)?;
            let probe = self.state().probe;
            let failure = match timeout(HANDSHAKE, handshake::find_era(&process.connection, probe)).await {
                Ok(Ok(era)) => {
                    let _ = process.era.set(era);
                    return Ok(process);
                }
                Ok(Err(failure)) => Some(failure),
                Err(_) => None,
            };
            match &failure {
                Some(HandshakeFailure::Refused(words)) => {
                    process.kill(format!("The server refused the handshake: {words}"));
                }
                Some(HandshakeFailure::Ended | HandshakeFailure::EndedWhenProbed) => {}
                None => {
                    let seconds = HANDSHAKE.as_secs();
                    process.kill(format!("The server did not answer the handshake within {seconds} seconds"));
                }
            }
            let ended = process.end().await;
            let mut state = self.state();
            if failure == Some(HandshakeFailure::EndedWhenProbed) && state.probe && ended.failed && !state.removed {
                // Once more, without the question.
                state.probe = false;
                state.backoff = Backoff::default();
                continue;
            }
            let after = state.backoff.left(Instant::now()).unwrap_or(Duration::from_secs(1));
            return Err(Refusal::Later { words: ended.words, after, stderr: ended.stderr });
        }
    }

    /// Refuses a start while the server must wait.
    fn check_backoff(&self) -> Result<(), Refusal> {
        let state = self.state();
        if state.removed {
            return Err(Refusal::Configuration);
        }
        let Some(after) = state.backoff.left(Instant::now()) else { return Ok(()) };
        let (words, stderr) = match &state.last_exit {
            Some(ended) => (ended.words.as_str(), ended.stderr.clone()),
            None => ("The server ended", String::new()),
        };
        let words = format!("{words}. It starts again in {} s at the earliest", after.as_secs_f64().ceil());
        Err(Refusal::Later { words, after, stderr })
    }

    /// The private folder of the next process, with copies of the server's files.
    async fn new_home(&self, servers: &Servers) -> Result<Home, Refusal> {
        let (id, files) = (servers.random_id()?, self.files.clone());
        let made = spawn_blocking(move || {
            let home = Home::create(id)?;
            files.map_or(Ok(()), |files| files.copy_to(home.path())).map(|()| home)
        });
        let made = made.await.unwrap_or_else(|cause| Err(std::io::Error::other(cause)));
        made.map_err(|cause| self.not_started(&cause))
    }

    fn not_started(&self, cause: &std::io::Error) -> Refusal {
        self.state().backoff.fail(Instant::now(), Duration::ZERO);
        Refusal::later(format!("The server cannot be started: {cause}"), Duration::from_secs(1))
    }

    fn spawn(
        self: &Arc<Self>,
        servers: &Servers,
        permit: tokio::sync::OwnedSemaphorePermit,
        home: Home,
    ) -> Result<Arc<Process>, Refusal> {
        let launch = Launch {
            program: &self.program,
            environment: &self.environment,
            folder: self.folder.as_deref(),
            path: servers.path(),
            limits: servers.limits(),
        };
        let mut state = self.state();
        // Under the lock, so that a process is either not started or found by `stop`.
        if state.removed {
            return Err(Refusal::Configuration);
        }
        let (server, born) = (Arc::downgrade(self), Instant::now());
        let on_end = move |ended: &Ended| {
            if let Some(server) = server.upgrade() {
                server.note_end(ended, born);
            }
        };
        let process = match Process::start(home, &launch, servers.wardens(), permit, on_end) {
            Ok(process) => process,
            Err(cause) => {
                drop(state);
                return Err(self.not_started(&cause));
            }
        };
        state.starts = state.starts.saturating_add(1);
        state.process = Some(process.clone());
        Ok(process)
    }

    fn note_end(&self, ended: &Ended, born: Instant) {
        let mut state = self.state();
        if ended.failed {
            state.backoff.fail(Instant::now(), born.elapsed());
        }
        state.last_exit = Some(ended.clone());
    }

    /// Whether a process runs that nobody uses.
    pub fn is_idle(&self) -> bool {
        self.ready_process().is_some() && self.state().requests == 0
    }

    pub fn last_used(&self) -> Instant {
        self.state().last_used
    }

    /// Stops the process. The next request starts another one.
    pub async fn stop(&self, why: &str) {
        if let Some(process) = self.process() {
            process.stop(why);
            process.end().await;
        }
    }

    /// Stops the process for good.
    pub async fn remove(&self) {
        self.state().removed = true;
        self.stop("The server was removed").await;
    }

    pub fn report(&self) -> ServerReport {
        let process = self.process();
        let state = self.state();
        let last = state.process.as_ref();
        let word = match &process {
            Some(it) if !it.is_usable() => "stopping",
            Some(it) if it.era.get().is_none() => "starting",
            Some(_) => "running",
            None if state.backoff.left(Instant::now()).is_some() => "backing_off",
            None => "stopped",
        };
        let time = |it: &Arc<Process>| it.started_at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
        ServerReport {
            state: word,
            pid: process.as_ref().and_then(|it| it.server_pid()),
            restarts: state.starts.saturating_sub(1),
            started_at: process.as_ref().map(time),
            last_exit: state.last_exit.as_ref().map(|it| it.words.clone()),
            stderr: last.map(|it| it.stderr(stderr_tail::MAX_BYTES)).unwrap_or_default(),
            config: self.hash.clone(),
        }
    }
}
