//! One workerd with its own state folder, started by `scripts/lib/serve.mjs`. It ends together with the test process,
//! because it watches its standard input.

use super::Client;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

pub const ROOT_TOKEN: &str = "root-token-of-the-tests";

pub struct Server {
    url: String,
    /// The file that the Worker logs to. None, if the log is not read.
    log: Option<PathBuf>,
    control: Mutex<Control>,
}

struct Control {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    process: Child,
}

impl Server {
    /// Starts the Worker on a copy of the migrated state.
    pub fn start(name: &str, vars: &[(&str, &str)]) -> Self {
        Self::start_on(&migrated_state(name), vars, &[])
    }

    /// Starts the Worker on a database that has not been migrated.
    pub fn start_unmigrated(name: &str, vars: &[(&str, &str)]) -> Self {
        Self::start_on(&state_folder(name), vars, &[])
    }

    /// Starts the Worker without one binding, as with a `wrangler.toml` that leaves it out.
    pub fn start_without(name: &str, vars: &[(&str, &str)], binding: &str) -> Self {
        Self::start_on(&migrated_state(name), vars, &["--without", binding])
    }

    /// Starts the Worker with a bound on the heap of JavaScript. The runtime crashes beyond the bound.
    pub fn start_with_heap(name: &str, vars: &[(&str, &str)], megabytes: u32) -> Self {
        Self::start_on(&migrated_state(name), vars, &["--heap", &megabytes.to_string()])
    }

    /// Starts the Worker with its log in a file, for [`Server::log`].
    pub fn start_with_log(name: &str, vars: &[(&str, &str)]) -> Self {
        let state = migrated_state(name);
        let log = state.join("log.txt");
        let file = fs::File::create(&log).unwrap();
        Self { log: Some(log), ..Self::start_logging(&state, vars, &[], file.into()) }
    }

    /// Starts the Worker with an R2 bucket for old calls.
    pub fn start_with_archive(name: &str, vars: &[(&str, &str)]) -> Self {
        Self::start_on(&migrated_state(name), vars, &["--bucket", "ARCHIVE"])
    }

    /// Ends this server, and starts the Worker on its state with other settings.
    pub fn start_again(self, name: &str, vars: &[(&str, &str)]) -> Self {
        let Control { stdin, mut process, .. } = self.control.into_inner().unwrap();
        drop(stdin);
        process.wait().unwrap();
        Self::start_on(&state_folder(name), vars, &[])
    }

    /// Starts the Worker with the sample mail, loaded as by `scripts/dev`.
    pub fn start_with_sample_mail(name: &str, vars: &[(&str, &str)]) -> Self {
        Self::start_on(&state_with_mail(name), vars, &[])
    }

    /// Starts the Worker with everything that a fresh `scripts/dev` has: the sample mail, and the workspace `sample`.
    pub fn start_with_samples(name: &str, vars: &[(&str, &str)]) -> Self {
        let state = state_with_mail(name);
        let output = Command::new("scripts/lib/load-sample").arg(&state).output().expect("load-sample starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self::start_on(&state, vars, &[])
    }

    fn start_on(state: &Path, vars: &[(&str, &str)], options: &[&str]) -> Self {
        Self::start_logging(state, vars, options, Stdio::inherit())
    }

    fn start_logging(state: &Path, vars: &[(&str, &str)], options: &[&str], log: Stdio) -> Self {
        let command = variable("PEGBOARD_SERVE");
        let mut words = command.split_whitespace();
        let mut process = Command::new(words.next().unwrap());
        process.args(words).arg("--state").arg(state).args(options);
        let storage = std::env::var("PEGBOARD_STORAGE").unwrap_or_else(|_| "d1".into());
        for (name, value) in [("STORAGE", storage.as_str())].iter().chain(vars) {
            process.arg("--var").arg(format!("{name}={value}"));
        }
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut process = process.spawn().expect("serve.mjs starts");
        let mut control = Control {
            stdin: process.stdin.take().unwrap(),
            stdout: BufReader::new(process.stdout.take().unwrap()),
            process,
        };
        let ready = control.line();
        let url = ready["url"].as_str().expect("serve.mjs says its URL").to_owned();
        Self { url, log: None, control: Mutex::new(control) }
    }

    /// What the Worker has logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log.as_ref().expect("the server was started with a log")).unwrap()
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// A client without a token, in this workspace.
    pub fn client(&self, workspace: &str) -> Client {
        Client::new(&self.url, workspace)
    }

    /// Runs SQL on the real database, without the API.
    pub fn sql(&self, sql: &str, params: &[Value]) -> Vec<Value> {
        self.sql_on("DB", sql, params)
    }

    /// Runs SQL on another database than the registry's.
    pub fn sql_on(&self, database: &str, sql: &str, params: &[Value]) -> Vec<Value> {
        let answer = self.ask(json!({"db": database, "sql": sql, "params": params}));
        answer["rows"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// The message with which the database refuses this SQL.
    pub fn sql_error(&self, sql: &str) -> String {
        let answer = self.ask(json!({"sql": sql, "params": []}));
        answer["error"].as_str().unwrap_or_else(|| panic!("{sql} was accepted: {answer}")).to_owned()
    }

    /// Kills workerd at once, as the kernel does when memory runs out.
    pub fn kill_runtime(&self) {
        let node = self.control.lock().unwrap().process.id();
        let workerd = workerd_of(node).expect("workerd runs");
        assert!(Command::new("kill").args(["-9", &workerd]).status().unwrap().success());
    }

    /// The CPU time of workerd so far, in ticks of a hundredth of a second.
    pub fn cpu_ticks(&self) -> u64 {
        let stat = fs::read_to_string(self.runtime_file("stat")).unwrap();
        // The fields after the name: the 12th and the 13th are the times in user mode and in the kernel.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        fields.split(' ').skip(11).take(2).map(|it| it.parse::<u64>().unwrap()).sum()
    }

    /// The most memory that workerd had, in bytes. All isolates and the database are part of it.
    pub fn peak_bytes(&self) -> u64 {
        let status = fs::read_to_string(self.runtime_file("status")).unwrap();
        let line = status.lines().find(|it| it.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    fn runtime_file(&self, name: &str) -> PathBuf {
        let node = self.control.lock().unwrap().process.id();
        Path::new("/proc").join(workerd_of(node).expect("workerd runs")).join(name)
    }

    /// Starts the runtime again on the same state.
    pub fn restart(&self) {
        let answer = self.ask(json!({"restart": true}));
        assert!(answer["error"].is_null(), "{answer}");
    }

    /// Sends a request to `serve.mjs`, and returns its response.
    pub fn ask(&self, mut request: Value) -> Value {
        let mut control = self.control.lock().unwrap();
        request["id"] = 1.into();
        writeln!(control.stdin, "{request}").unwrap();
        control.line()
    }
}

/// The id of the process named workerd that node has started.
fn workerd_of(node: u32) -> Option<String> {
    fs::read_dir("/proc").unwrap().flatten().find_map(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).ok()?;
        let (pid, rest) = stat.split_once(" (workerd) ")?;
        (rest.split(' ').nth(1)? == node.to_string()).then(|| pid.to_owned())
    })
}

impl Control {
    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("serve.mjs said {line:?}; its errors are above"))
    }
}

pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run these tests with scripts/test it"))
}

fn state_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("state-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn migrated_state(name: &str) -> PathBuf {
    let state = state_folder(name);
    copy_folder(Path::new(&variable("PEGBOARD_TEMPLATE_STATE")), &state);
    state
}

/// The migrated state with the sample mail.
fn state_with_mail(name: &str) -> PathBuf {
    let state = migrated_state(name);
    let mut import = Command::new("scripts/import-enron");
    import.arg("samples/enron/maildir").arg("--persist-to").arg(&state).arg("--work").arg(state.join("import"));
    let output = import.env("PEGBOARD_PROFILE", "dev").output().expect("scripts/import-enron starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    state
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).expect("the migrated state is there").map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
