//! The second room's zygotes, which start on first use: most servers never run a call on files.

use crate::config::Config;
use crate::folder;
use crate::launch::{FilesPlan, Plan};
use crate::log::say;
use crate::pool::Zygotes;
use crate::scratch::Scratch;
use std::io::{Error, ErrorKind, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex as AsyncMutex;

/// How long a failed start stands before the next attempt.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(5);

const NO_PACKAGES: &str = "the server was started without --packages, and so without pydantic";

pub struct Room {
    config: Config,
    /// Held while the room starts, so that racing first calls start it once.
    starting: AsyncMutex<()>,
    state: Mutex<State>,
}

#[derive(Clone)]
pub enum State {
    Idle,
    Open(Arc<OpenRoom>),
    Unavailable { why: String, since: Instant },
}

pub struct OpenRoom {
    pub zygotes: Arc<Zygotes>,
    /// Removed with the room.
    scratch: Scratch,
}

impl OpenRoom {
    /// How many folders there are besides those of running calls. A shared directory has the folders of running calls too.
    pub fn folders(&self) -> Option<usize> {
        let zygote = self.zygotes.current()?;
        match zygote.layers.private_root {
            true => Some(zygote.free_slots(|slot| folder::count(slot).unwrap_or(1)).into_iter().sum()),
            false => folder::count(&self.scratch.directory).ok(),
        }
    }
}

impl Room {
    pub fn new(config: &Config) -> Self {
        Self { config: config.clone(), starting: AsyncMutex::new(()), state: Mutex::new(State::Idle) }
    }

    pub fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The zygotes, or the reason why there are none.
    pub async fn open(&self) -> std::result::Result<Arc<OpenRoom>, String> {
        if let State::Open(room) = self.state() {
            return Ok(room);
        }
        let _starting = self.starting.lock().await;
        match self.state() {
            State::Open(room) => return Ok(room),
            State::Unavailable { why, since } if since.elapsed() < BETWEEN_ATTEMPTS => return Err(why),
            State::Idle | State::Unavailable { .. } => {}
        }
        let (state, opened) = match self.start().await {
            Ok(room) => {
                let room = Arc::new(room);
                (State::Open(room.clone()), Ok(room))
            }
            Err(cause) => {
                let why = cause.to_string();
                say(format!("there is no room for calls on files: {why}"));
                (State::Unavailable { why: why.clone(), since: Instant::now() }, Err(why))
            }
        };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        opened
    }

    async fn start(&self) -> Result<OpenRoom> {
        let config = &self.config;
        let packages = config.packages.as_ref().ok_or_else(|| Error::new(ErrorKind::NotFound, NO_PACKAGES))?;
        let packages = packages
            .canonicalize()
            .map_err(|cause| Error::other(format!("the packages at {} cannot be read: {cause}", packages.display())))?;
        let scratch = Scratch::make(&config.scratch).map_err(|cause| {
            Error::other(format!("no directory can be made in {}: {cause}", config.scratch.display()))
        })?;
        let files = FilesPlan { packages, slots: config.files_slots, scratch: scratch.path.clone() };
        let plan = Plan { files: Some(files), ..Plan::of(config)? };
        let directory = scratch.directory.try_clone()?;
        let zygotes = Zygotes::start(plan, Some(directory), config).await?;
        Ok(OpenRoom { zygotes, scratch })
    }
}
