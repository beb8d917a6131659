//! A server for one test.

use crate::client::Client;
use crate::processes;
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

pub struct Server {
    keeper: Child,
    client: Client,
    /// The user that Python runs as. No other process on the machine has this user.
    pub user: Option<u32>,
    /// Where the server makes the directory of its calls' folders.
    pub scratch: PathBuf,
    log: Arc<Mutex<String>>,
}

/// The binary at a path where every user can execute it.
static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let built = Path::new(env!("CARGO_BIN_EXE_pegboard-sandbox"));
    if built.ancestors().all(|part| fs::metadata(part).unwrap().mode() & 1 == 1) {
        return built.to_owned();
    }
    let binary = FOLDER.0.join("pegboard-sandbox");
    fs::copy(built, &binary).unwrap();
    binary
});

/// A folder that every user can read, and the stdin of a process that removes the folder when the tests end, however
/// they end.
static FOLDER: LazyLock<(PathBuf, ChildStdin)> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("pegboard-sandbox-it-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let mut remover = Command::new("/bin/sh");
    // In a process group of its own, because an interrupt at the terminal is meant for the tests only.
    remover.args(["-c", "cat; rm -r -- \"$0\""]).arg(&folder).process_group(0).stdin(Stdio::piped());
    let input = remover.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap().stdin.unwrap();
    (folder, input)
});

/// The Python packages of the second room, at a path where every user can read them.
static PACKAGES: LazyLock<PathBuf> = LazyLock::new(|| {
    let given = std::env::var_os("SANDBOX_PACKAGES")
        .expect("SANDBOX_PACKAGES names the second room's Python packages: run `scripts/test sandbox`");
    let given = fs::canonicalize(given).expect("SANDBOX_PACKAGES is a folder");
    if given.ancestors().all(|part| fs::metadata(part).unwrap().mode() & 1 == 1) {
        return given;
    }
    let packages = FOLDER.0.join("packages");
    assert!(Command::new("cp").arg("-R").arg(&given).arg(&packages).status().unwrap().success());
    packages
});

/// A directory in which one server makes its folders, as in /tmp. Servers of other tests are not disturbed.
fn new_scratch() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let scratch = FOLDER.0.join(format!("scratch-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir(&scratch).unwrap();
    fs::set_permissions(&scratch, fs::Permissions::from_mode(0o1777)).unwrap();
    scratch
}

/// A Python for one test, which the test can remove and restore.
pub struct OwnPython {
    pub path: PathBuf,
}

impl OwnPython {
    pub fn new(name: &str) -> Self {
        let prefix = FOLDER.0.join(name);
        let real = fs::canonicalize(python()).unwrap();
        let version = real.file_name().unwrap();
        fs::create_dir_all(prefix.join("bin")).unwrap();
        fs::create_dir_all(prefix.join("lib")).unwrap();
        let library = real.parent().unwrap().parent().unwrap().join("lib").join(version);
        std::os::unix::fs::symlink(library, prefix.join("lib").join(version)).unwrap();
        let own = Self { path: prefix.join("bin").join(version) };
        own.put(&real);
        own
    }

    pub fn flag(&self) -> [&str; 2] {
        ["--python", self.path.to_str().unwrap()]
    }

    pub fn put(&self, program: &Path) {
        let beside = self.path.with_extension("new");
        fs::copy(program, &beside).unwrap();
        fs::rename(beside, &self.path).unwrap();
    }

    pub fn give_back(&self) {
        self.put(&fs::canonicalize(python()).unwrap());
    }
}

/// Runs a test in four configurations at the same time, because tests mostly wait: as root and not as root, with all
/// layers and with seccomp and rlimits alone.
pub fn in_every_configuration(flags: &[&str], check: impl Fn(&str, &Server) + Sync) {
    let bare = [flags, &["--landlock", "off", "--namespaces", "off"]].concat();
    let check_bare = |configuration: &str, server: &Server| {
        let layers = &server.health()["layers"];
        assert!(layers["landlock"].is_null() && layers["namespaces"] == json!([]), "{layers}");
        check(configuration, server);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check("unprivileged, all layers", &Server::start_unprivileged(flags)));
        scope.spawn(|| check_bare("unprivileged, seccomp and rlimits alone", &Server::start_unprivileged(&bare)));
        if processes::are_root() {
            scope.spawn(|| check("root, all layers", &Server::start(flags)));
            scope.spawn(|| check_bare("root, seccomp and rlimits alone", &Server::start(&bare)));
        } else {
            processes::skipped("what a server does that is started as root");
        }
    });
}

/// The layers that keep a call of the second room to its folder: all of them, and each of them without the other.
const LAYERS: [(&str, &[&str]); 3] = [
    ("all layers", &[]),
    ("landlock without private mounts", &["--namespaces", "off"]),
    ("private mounts without landlock", &["--landlock", "off"]),
];

/// Runs a test of the second room in six configurations at the same time: as root and not as root, with each choice of
/// `LAYERS`.
pub fn in_every_configuration_of_files(flags: &[&str], check: impl Fn(&str, &Server) + Sync) {
    let check = &check;
    std::thread::scope(|scope| {
        for (name, layers) in LAYERS {
            let flags = [flags, layers].concat();
            let of_root = flags.clone();
            scope.spawn(move || {
                let server = Server::start_unprivileged(&flags);
                must_have_layers(&server, layers);
                check(&format!("unprivileged, {name}"), &server);
            });
            if processes::are_root() {
                scope.spawn(move || {
                    let server = Server::start(&of_root);
                    must_have_layers(&server, layers);
                    check(&format!("root, {name}"), &server);
                });
            } else {
                processes::skipped("what a server does that is started as root");
            }
        }
    });
}

/// Fails if the second room, which this starts, has other layers than it should have.
fn must_have_layers(server: &Server, flags: &[&str]) {
    server.run_on_files("plain", "def run(): pass", &json!({}));
    let layers = &server.health()["files"]["layers"];
    assert_eq!(layers["landlock"].is_null(), flags.contains(&"--landlock"), "{layers}");
    assert_eq!(layers["private_root"] == false, flags.contains(&"--namespaces"), "{layers}");
}

/// The Python that a server finds.
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
    /// A server as the user that runs the tests. If this is root, Python runs as a user of its own.
    pub fn start(flags: &[&str]) -> Self {
        let user = processes::are_root().then(a_user);
        let mut command = binary();
        command.args(flags);
        if let Some(user) = user {
            command.args(["--user", &user.to_string()]);
        }
        Self::run(command, user)
    }

    /// A server as an unprivileged user, which only root can start.
    pub fn start_unprivileged(flags: &[&str]) -> Self {
        let user = processes::are_root().then(a_user);
        let mut command = binary();
        command.args(flags);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        Self::run(command, user)
    }

    /// A server with other packages than the usual ones.
    pub fn start_with_packages(packages: &str) -> Self {
        let user = processes::are_root().then(a_user);
        let mut command = binary();
        if let Some(user) = user {
            command.args(["--user", &user.to_string()]);
        }
        Self::run_with(command, user, new_scratch(), packages)
    }

    /// A server that makes its folders where another server has made its own. It runs as the same user.
    pub fn start_beside(other: &Self, flags: &[&str]) -> Self {
        let mut command = binary();
        command.args(flags);
        if let Some(user) = other.user {
            command.args(["--user", &user.to_string()]);
        }
        Self::run_with(command, other.user, other.scratch.clone(), PACKAGES.to_str().unwrap())
    }

    fn run(command: Command, user: Option<u32>) -> Self {
        Self::run_with(command, user, new_scratch(), PACKAGES.to_str().unwrap())
    }

    fn run_with(mut command: Command, user: Option<u32>, scratch: PathBuf, packages: &str) -> Self {
        command.arg("--scratch").arg(&scratch).args(["--packages", packages]);
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
        Self { keeper, client: Client::of(address), user, scratch, log }
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

    /// The second room's zygote, if the second room is open.
    pub fn file_zygote(&self) -> Option<i32> {
        Some(i32::try_from(self.health()["files"]["zygote"]["pid"].as_i64()?).unwrap())
    }

    /// The directories of the calls' folders: one, if the second room is open.
    pub fn scratches(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.scratch).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits for the end after a signal, and returns the exit status.
    pub fn wait(&mut self) -> std::process::ExitStatus {
        let mut status = None;
        processes::eventually("the server ends", || {
            status = self.keeper.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Fails if a call has left a process or a file.
    #[track_caller]
    pub fn assert_clean(&self, after: &str) {
        let zygote = self.zygote();
        let ours = [Some(self.keeper()), Some(self.supervisor()), Some(zygote), self.file_zygote()];
        let word = processes::arguments(zygote).into_iter().find(|each| each.starts_with("pegboard-sandbox-")).unwrap();
        processes::eventually(&format!("no process is left after {after}"), || {
            processes::of(self.user, &word).iter().all(|pid| ours.contains(&Some(*pid)))
        });
        processes::eventually(&format!("no call and no folder is left after {after}"), || {
            let files = &self.health()["files"];
            files["queue"]["running"] == 0 && (files["folders"] == 0 || files["status"] == "idle")
        });
        match self.user {
            Some(user) => {
                assert_eq!(processes::files_of(user), Vec::<PathBuf>::new(), "files are left after {after}");
                let scratches = self.scratches();
                let inside = scratches.iter().flat_map(|path| fs::read_dir(path).unwrap()).count();
                assert!(inside == 0 && scratches.len() <= 1, "folders are left after {after}: {scratches:?}");
            }
            None => processes::skipped("whether files are left, which only a user of the server's own shows"),
        }
    }
}

impl Deref for Server {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
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
