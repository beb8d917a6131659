//! All servers that the host knows, and the room for their processes.

use crate::command;
use crate::config::Limits;
use crate::configuration::{self, ServerConfiguration};
use crate::error::Refusal;
use crate::file_set::FileSet;
use crate::key::ServerKey;
use crate::packages::Packages;
use crate::server::Server;
use crate::wardens::Wardens;
use data_encoding::HEXLOWER;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many configurations the host keeps. They are small, and cost no process.
const MAX_KNOWN: usize = 1_000;
const RETRY: Duration = Duration::from_secs(5);

pub struct Servers {
    known: Mutex<HashMap<ServerKey, Arc<Server>>>,
    /// The files of servers, which come before the configurations that name them.
    files: Mutex<HashMap<ServerKey, Arc<FileSet>>>,
    room: Arc<Semaphore>,
    limits: Limits,
    packages: Packages,
    wardens: Arc<Wardens>,
}

impl Servers {
    pub fn new(limits: Limits, packages: Packages) -> Self {
        let room = Arc::new(Semaphore::new(limits.servers));
        Self { known: Mutex::default(), files: Mutex::default(), room, limits, packages, wardens: Arc::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<ServerKey, Arc<Server>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_files(&self) -> MutexGuard<'_, HashMap<ServerKey, Arc<FileSet>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files that came last for this server.
    pub fn files(&self, key: &ServerKey) -> Option<Arc<FileSet>> {
        self.kept_files().get(key).cloned()
    }

    /// Takes a list of files, unless it is the one that is there. A process that runs with other files keeps them.
    pub fn put_files(&self, key: ServerKey, list: &[u8]) -> Result<Arc<FileSet>, Refusal> {
        let hash = configuration::hash(list);
        if let Some(files) = self.files(&key).filter(|it| it.hash == hash) {
            return Ok(files);
        }
        let mut all = self.kept_files();
        if all.len() >= MAX_KNOWN && !all.contains_key(&key) {
            return Err(Refusal::later(format!("The host keeps the files of {MAX_KNOWN} servers already"), RETRY));
        }
        let files = Arc::new(FileSet::new(list, &self.random_id()?).map_err(Refusal::Invalid)?);
        all.insert(key, files.clone());
        Ok(files)
    }

    /// The files that a configuration names, all of them whole. Files that no configuration names are not kept.
    fn files_of(&self, key: &ServerKey, hash: Option<&str>) -> Result<Option<Arc<FileSet>>, Refusal> {
        let Some(hash) = hash else {
            self.kept_files().remove(key);
            return Ok(None);
        };
        let files = self.files(key).filter(|it| it.hash == hash && it.missing().is_empty());
        files.map(Some).ok_or(Refusal::Files)
    }

    pub fn all(&self) -> Vec<Arc<Server>> {
        self.known().values().cloned().collect()
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    pub fn path(&self) -> &str {
        &self.packages.path
    }

    pub fn wardens(&self) -> Arc<Wardens> {
        self.wardens.clone()
    }

    pub fn random_id(&self) -> Result<String, Refusal> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|cause| Refusal::later(format!("no random bytes: {cause}"), RETRY))?;
        Ok(HEXLOWER.encode(&bytes))
    }

    pub fn find(&self, key: &ServerKey) -> Option<Arc<Server>> {
        self.known().get(key).cloned()
    }

    /// Takes a configuration, and returns its hash. Another configuration under the same key is stopped first.
    pub async fn put(&self, key: ServerKey, bytes: &[u8]) -> Result<String, Refusal> {
        let hash = configuration::hash(bytes);
        if self.find(&key).is_some_and(|it| it.hash == hash) {
            return Ok(hash);
        }
        let configuration = ServerConfiguration::parse(bytes).map_err(Refusal::Invalid)?;
        let program = command::resolve(&configuration.command, &configuration.args, &self.packages);
        let program = program.map_err(Refusal::Command)?;
        let files = self.files_of(&key, configuration.files.as_deref())?;
        let server = Server::new(hash.clone(), program, configuration, files);
        let before = {
            let mut known = self.known();
            if known.len() >= MAX_KNOWN && !known.contains_key(&key) {
                return Err(Refusal::later(format!("The host knows {MAX_KNOWN} servers already"), RETRY));
            }
            known.insert(key, Arc::new(server))
        };
        if let Some(before) = before {
            before.remove().await;
        }
        Ok(hash)
    }

    pub async fn remove(&self, key: &ServerKey) {
        self.kept_files().remove(key);
        let removed = self.known().remove(key);
        if let Some(server) = removed {
            server.remove().await;
        }
    }

    /// Room for one more process. If there is none, the idle process that was used longest ago makes room.
    pub async fn room(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        // Another start may take the room that was made.
        for _ in 0..3 {
            if let Ok(permit) = self.room.clone().try_acquire_owned() {
                return Ok(permit);
            }
            let Some(idle) = self.all().into_iter().filter(|it| it.is_idle()).min_by_key(|it| it.last_used()) else {
                break;
            };
            idle.stop("The server was stopped to make room for another one").await;
        }
        let most = self.limits.servers;
        Err(Refusal::later(format!("All {most} places for servers are taken: try again in a few seconds"), RETRY))
    }

    /// How many processes run.
    pub fn running(&self) -> usize {
        self.limits.servers - self.room.available_permits()
    }

    /// Stops all servers for good, at the same time.
    pub async fn remove_all(&self) {
        let all: Vec<_> = self.known().drain().map(|(_, server)| server).collect();
        let stopping: Vec<_> = all.into_iter().map(|it| tokio::spawn(async move { it.remove().await })).collect();
        for each in stopping {
            let _ = each.await;
        }
    }
}
