//! One running server: its warden, its pipes, its private folder. A process is started once and ends once.

use crate::bounded_line::{self, BoundedLines, Line};
use crate::command::Program;
use crate::config::Limits;
use crate::connection::Connection;
use crate::handshake::Era;
use crate::home::Home;
use crate::process_table::ProcessTable;
use crate::stderr_tail::StderrTail;
use crate::tree;
use crate::warden;
use crate::wardens::Wardens;
use chrono::{DateTime, Utc};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{Error, Result};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How much of stderr the response to a broken call repeats.
const TOLD_STDERR_BYTES: usize = 2048;
/// How long the last words on stderr may take after the process has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long a process may take to end after it has closed its input or output.
const CLOSING: Duration = Duration::from_secs(1);
/// How long a warden may take besides the time that its server gets.
const WARDEN_BESIDES: Duration = Duration::from_secs(3);

/// In a container on Cloudflare, HTTPS to allowed hosts is intercepted, and answered with a certificate of this authority.
const CERTIFICATE: &str = "/etc/cloudflare/certs/cloudflare-containers-ca.crt";
/// The variables by which Node, Python and what they use find it.
const CERTIFICATE_VARIABLES: [&str; 3] = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"];

pub struct Process {
    /// Random; also the name of the session of a server that has sessions.
    pub id: String,
    pub warden: i32,
    pub started_at: DateTime<Utc>,
    pub connection: Arc<Connection>,
    /// Set when the handshake is done.
    pub era: OnceLock<Era>,
    tail: Mutex<StderrTail>,
    order: watch::Sender<Option<Order>>,
    ended: watch::Sender<Option<Ended>>,
}

/// The order to end.
#[derive(Clone, Debug)]
pub enum Order {
    /// Nobody needs the process any more. It has some time to end by itself.
    Stop(String),
    /// The process did what it must not do.
    Kill(String),
}

/// How a process ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub words: String,
    pub stderr: String,
    /// Whether the process itself is to blame.
    pub failed: bool,
}

/// What a process is started with.
pub struct Launch<'a> {
    pub program: &'a Program,
    pub environment: &'a [(String, String)],
    pub folder: Option<&'a str>,
    pub path: &'a str,
    pub limits: Limits,
}

impl Process {
    /// Starts the warden, which starts the server. `on_end` runs before anybody who waits for an answer learns of the end.
    pub fn start(
        home: Home,
        launch: &Launch<'_>,
        wardens: Arc<Wardens>,
        permit: OwnedSemaphorePermit,
        on_end: impl FnOnce(&Ended) + Send + 'static,
    ) -> Result<Arc<Self>> {
        let mut child = spawn(launch, home.path())?;
        let warden = child.id().and_then(|it| i32::try_from(it).ok()).ok_or_else(|| Error::other("no process id"))?;
        wardens.add(warden);
        let (connection, queued) = Connection::new();
        let process = Arc::new(Self {
            id: home.id.clone(),
            warden,
            started_at: Utc::now(),
            connection,
            era: OnceLock::new(),
            tail: Mutex::default(),
            order: watch::Sender::new(None),
            ended: watch::Sender::new(None),
        });
        if let Some(input) = child.stdin.take() {
            tokio::spawn(process.clone().write_lines(input, queued));
        }
        tokio::spawn(process.clone().live(child, home, wardens, permit, on_end));
        Ok(process)
    }

    /// Waits for the end of the process, and clears up.
    async fn live(
        self: Arc<Self>,
        mut child: Child,
        home: Home,
        wardens: Arc<Wardens>,
        permit: OwnedSemaphorePermit,
        on_end: impl FnOnce(&Ended) + Send + 'static,
    ) {
        let mut reading = child.stdout.take().map(|output| tokio::spawn(self.clone().read_lines(output)));
        let draining = child.stderr.take().map(|output| tokio::spawn(self.clone().drain(output)));
        let order = self.first_event(&mut child, &mut reading).await;
        self.connection.close_input();
        let status = match &order {
            None => child.wait().await,
            Some(Order::Stop(_)) => self.stop_warden(&mut child, warden::GRACE + WARDEN_BESIDES).await,
            Some(Order::Kill(_)) => {
                self.kill_tree();
                self.stop_warden(&mut child, WARDEN_BESIDES).await
            }
        };
        wardens.remove(self.warden);
        // A server may have killed its warden.
        if let Ok(table) = ProcessTable::read() {
            wardens.sweep_orphans(&table);
        }
        // So that the answers that were written last still arrive. A pipe may be held open by nobody now.
        for task in [reading, draining].into_iter().flatten() {
            let stop = task.abort_handle();
            let _ = timeout(LAST_WORDS, task).await;
            stop.abort();
        }
        // The warden does this too, unless it was killed.
        let _ = tokio::task::spawn_blocking(move || drop(home)).await;
        let ended = Ended {
            words: match &order {
                Some(Order::Stop(why) | Order::Kill(why)) => why.clone(),
                None => format!("The server ended: {}", status.map_or_else(|it| it.to_string(), |it| it.to_string())),
            },
            stderr: self.stderr(TOLD_STDERR_BYTES),
            failed: !matches!(order, Some(Order::Stop(_))),
        };
        on_end(&ended);
        self.ended.send_replace(Some(ended));
        drop(permit);
        self.connection.close();
    }

    /// Waits until the process ends, or is ordered to. A process that closes its output is ordered to end.
    async fn first_event(&self, child: &mut Child, reading: &mut Option<JoinHandle<()>>) -> Option<Order> {
        let mut orders = self.order.subscribe();
        tokio::select! {
            _ = child.wait() => return None,
            order = orders.wait_for(Option::is_some) => return order.ok().and_then(|it| it.clone()),
            () = async { if let Some(reading) = reading { let _ = reading.await; } } => {}
        }
        *reading = None;
        if self.order.borrow().is_none() {
            // Mostly because it has ended, which its warden tells in a moment.
            if timeout(CLOSING, child.wait()).await.is_ok() {
                return None;
            }
            self.kill("The server closed its output, and was killed".into());
        }
        self.order.borrow().clone()
    }

    /// Tells the warden to end, and kills everything if it does not.
    async fn stop_warden(&self, child: &mut Child, patience: Duration) -> Result<ExitStatus> {
        // The child has not been reaped, so its id is still its own.
        let _ = kill(Pid::from_raw(self.warden), Signal::SIGTERM);
        if let Ok(status) = timeout(patience, child.wait()).await {
            return status;
        }
        self.kill_tree();
        let _ = child.start_kill();
        child.wait().await
    }

    /// Kills all processes of the server. Its warden notices, and ends.
    fn kill_tree(&self) {
        if let Ok(table) = ProcessTable::read() {
            tree::kill_all(&tree::running(&table, self.warden));
        }
    }

    async fn write_lines(self: Arc<Self>, mut input: ChildStdin, mut queued: mpsc::Receiver<Vec<u8>>) {
        while let Some(line) = queued.recv().await {
            let written = input.write_all(&line).await;
            self.connection.written(line.len());
            if written.is_err() {
                // Mostly because the process has ended, which `live` notices in a moment.
                self.connection.close_input();
                sleep(CLOSING).await;
                return self.kill("The server closed its input, and was killed".into());
            }
        }
    }

    async fn read_lines(self: Arc<Self>, output: impl AsyncRead + Unpin) {
        let mut lines = BoundedLines::new(output, bounded_line::MAX_BYTES);
        loop {
            match lines.next().await {
                Line::Whole(line) => {
                    if let Some(note) = self.connection.receive(&line) {
                        self.tail().note(&note);
                    }
                }
                Line::TooLong => {
                    let most = bounded_line::MAX_BYTES >> 20;
                    return self.kill(format!("The server wrote a line of more than {most} MiB, and was killed"));
                }
                Line::End => return,
            }
        }
    }

    async fn drain(self: Arc<Self>, mut output: impl AsyncRead + Unpin) {
        let mut piece = vec![0; 16 * 1024];
        while let Ok(bytes @ 1..) = output.read(&mut piece).await {
            self.tail().push(&piece[..bytes]);
        }
    }

    fn tail(&self) -> std::sync::MutexGuard<'_, StderrTail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The end of stderr.
    pub fn stderr(&self, max_bytes: usize) -> String {
        self.tail().text(max_bytes)
    }

    /// Orders the process to end, unless it was ordered to before.
    pub fn stop(&self, why: &str) {
        self.give(Order::Stop(why.to_owned()));
    }

    pub fn kill(&self, why: String) {
        self.give(Order::Kill(why));
    }

    fn give(&self, order: Order) {
        self.order.send_if_modified(|given| {
            let first = given.is_none();
            if first {
                *given = Some(order);
            }
            first
        });
    }

    /// Whether the process takes requests.
    pub fn is_usable(&self) -> bool {
        self.order.borrow().is_none() && self.ended.borrow().is_none() && self.connection.is_open()
    }

    pub fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Waits until nothing of the process is left.
    pub async fn end(&self) -> Ended {
        let mut ended = self.ended.subscribe();
        let ended = ended.wait_for(Option::is_some).await.ok().and_then(|it| it.clone());
        // `self` holds the sender, so there is always an end to wait for.
        ended.unwrap_or_else(|| Ended { words: String::new(), stderr: String::new(), failed: true })
    }

    /// The process id of the server itself: the first child of its warden.
    pub fn server_pid(&self) -> Option<i32> {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.warden)).ok()?;
        children.split_ascii_whitespace().next()?.parse().ok()
    }
}

fn spawn(launch: &Launch<'_>, home: &Path) -> Result<Child> {
    let folder = launch.folder.map_or_else(|| home.to_owned(), |folder| home.join(folder));
    std::fs::create_dir_all(&folder)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(warden::ROLE).arg(std::process::id().to_string()).arg(launch.limits.open_files.to_string());
    command.arg(home).arg(&launch.program.path);
    command.args(launch.program.arguments.iter().map(|it| in_home(it, home)));
    command.env_clear().env("PATH", launch.path).env("HOME", home).env("LANG", "C.UTF-8");
    if Path::new(CERTIFICATE).exists() {
        command.envs(CERTIFICATE_VARIABLES.map(|name| (name, CERTIFICATE)));
    }
    command.envs(launch.environment.iter().map(|(name, value)| (name, in_home(value, home))));
    command.current_dir(folder).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// A text that begins with `~/` names a file in the home of the server, as it does in a shell. There is no other way to name
/// one, because the home has another name each time.
fn in_home(text: &str, home: &Path) -> String {
    match text.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", home.display()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_leading_tilde_and_slash_name_the_home() {
        let home = Path::new("/tmp/h");
        for (text, expected) in [("~/a", "/tmp/h/a"), ("~", "~"), ("a~/b", "a~/b"), ("~x/a", "~x/a"), ("", "")] {
            assert_eq!(in_home(text, home), expected);
        }
    }
}
