//! A server of a test's own, and the ways to speak to it.

use crate::processes;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

/// A way to speak to a server.
pub struct Client {
    pub address: String,
    agent: ureq::Agent,
}

pub struct Server {
    keeper: Child,
    client: Client,
    /// Whom Python runs as, and nobody else on the machine.
    pub user: Option<u32>,
    log: Arc<Mutex<String>>,
}

/// The binary where every user can execute it.
static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let built = Path::new(env!("CARGO_BIN_EXE_pegboard-sandbox"));
    if built.ancestors().all(|part| fs::metadata(part).unwrap().mode() & 1 == 1) {
        return built.to_owned();
    }
    let folder = std::env::temp_dir().join(format!("pegboard-sandbox-it-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let binary = folder.join("pegboard-sandbox");
    fs::copy(built, &binary).unwrap();
    binary
});

/// The one that a server finds.
pub fn python() -> &'static str {
    let usual = ["/usr/local/bin/python3", "/usr/bin/python3"];
    usual.into_iter().find(|path| fs::exists(path).unwrap()).expect("there is Python")
}

pub fn binary() -> Command {
    let mut command = Command::new(&*BINARY);
    command.env_clear().env("PEGBOARD_SECRET", "a secret of the supervisor");
    command
}

impl Server {
    /// As whoever runs the tests; Python as a user of its own, where that is root.
    pub fn start(flags: &[&str]) -> Self {
        let user = processes::are_root().then(a_user);
        let mut command = binary();
        command.args(flags);
        if let Some(user) = user {
            command.args(["--user", &user.to_string()]);
        }
        Self::run(command, user)
    }

    /// As nobody in particular, which only root can bring about.
    pub fn start_unprivileged(flags: &[&str]) -> Self {
        let user = processes::are_root().then(a_user);
        let mut command = binary();
        command.args(flags);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        Self::run(command, user)
    }

    fn run(mut command: Command, user: Option<u32>) -> Self {
        command.args(["--listen", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut keeper = command.spawn().unwrap();
        let mut lines = BufReader::new(keeper.stderr.take().unwrap()).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let address = loop {
            let line = lines.next().expect("the server says where it listens").unwrap();
            if let Some((_, rest)) = line.split_once("listening on ") {
                break rest.split(' ').next().unwrap().to_owned();
            }
            log.lock().unwrap().push_str(&line);
        };
        let rest = log.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut log = rest.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        Self { keeper, client: Client::of(address), user, log }
    }

    pub fn keeper(&self) -> i32 {
        i32::try_from(self.keeper.id()).unwrap()
    }

    pub fn supervisor(&self) -> i32 {
        let mut found = None;
        processes::eventually("there is a supervisor", || {
            found = processes::children(self.keeper.id()).first().copied();
            found.is_some()
        });
        found.unwrap()
    }

    pub fn zygote(&self) -> i32 {
        i32::try_from(self.health()["zygote"]["pid"].as_i64().unwrap()).unwrap()
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits for the end after a signal, and gives the exit status.
    pub fn wait(&mut self) -> std::process::ExitStatus {
        self.keeper.wait().unwrap()
    }

    /// Fails if anything of a call is still there.
    #[track_caller]
    pub fn assert_clean(&self, after: &str) {
        let zygote = self.zygote();
        let ours = [self.keeper(), self.supervisor(), zygote];
        let word = processes::arguments(zygote).into_iter().find(|each| each.starts_with("pegboard-sandbox-")).unwrap();
        processes::eventually(&format!("no process is left after {after}"), || {
            processes::of(self.user, &word).iter().all(|pid| ours.contains(pid))
        });
        if let Some(user) = self.user {
            assert_eq!(processes::files_of(user), Vec::<PathBuf>::new(), "files are left after {after}");
        }
    }
}

impl Deref for Server {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Client {
    pub fn of(address: String) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A kept connection would die with a supervisor that is killed.
            .max_idle_connections(0)
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .into();
        Self { address, agent }
    }

    pub fn health(&self) -> Value {
        let mut response = self.agent.get(format!("http://{}/health", self.address)).call().unwrap();
        assert_eq!(response.status(), 200);
        response.body_mut().read_json().unwrap()
    }

    pub fn send(&self, body: &Value) -> ureq::http::Response<ureq::Body> {
        self.agent.post(format!("http://{}/run", self.address)).send_json(body).unwrap()
    }

    /// What is answered of a request that must be taken.
    #[track_caller]
    pub fn post(&self, body: &Value) -> Value {
        let mut response = self.send(body);
        let text = response.body_mut().with_config().limit(4 << 20).read_to_string().unwrap();
        assert_eq!(response.status(), 200, "{text}");
        assert!(text.len() < 2 << 20, "{}", text.len());
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    pub fn run_code(&self, code: &str) -> Value {
        self.post(&json!({"code": code}))
    }

    pub fn raw(&self) -> std::net::TcpStream {
        let stream = std::net::TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the server's log: {}", self.log());
        }
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

fn a_user() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    640_000 + std::process::id() % 10_000 * 20 + NEXT.fetch_add(1, Ordering::Relaxed)
}
