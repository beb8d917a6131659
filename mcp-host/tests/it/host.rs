//! A host for one test.

use crate::processes::{self, eventually};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub const SECRET: &str = "a-secret-of-the-tests";

pub struct Host {
    process: Child,
    pub url: String,
    /// Stands in the environment of the host and of every process of its servers.
    pub mark: String,
    /// The folder for temporary files.
    pub folder: PathBuf,
    agent: ureq::Agent,
}

pub struct Response {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub body: Value,
}

/// A host that has not been started.
pub fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pegboard-mcp-host"));
    command.env_clear().env("PATH", std::env::var("PATH").unwrap());
    command
}

pub fn packages() -> String {
    std::env::var("MCP_HOST_PACKAGES").expect("MCP_HOST_PACKAGES names the packages: run scripts/test host")
}

impl Host {
    pub fn start(flags: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("mcp-host-it-{}-{}-mark", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(&mark);
        fs::create_dir_all(&folder).unwrap();
        let mut command = binary();
        command.env("MCP_HOST_SECRET", SECRET).env("TMPDIR", &folder);
        command.args(["--port", "0", "--packages", &packages()]).args(flags);
        let mut process = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let line = lines.next().expect("the host says where it listens").unwrap();
        let address = line.split_once("listening on ").expect(&line).1.split(' ').next().unwrap().to_owned();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("{line}")));
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(40)))
            .build()
            .into();
        Self { process, url: format!("http://{address}"), mark, folder, agent }
    }

    pub fn send(&self, request: ureq::http::request::Builder, body: impl Into<Vec<u8>>) -> Response {
        self.try_send(request, body).unwrap()
    }

    /// Fails if there is no response.
    pub fn try_send(
        &self,
        request: ureq::http::request::Builder,
        body: impl Into<Vec<u8>>,
    ) -> Result<Response, ureq::Error> {
        let mut response = self.agent.run(request.body(body.into()).unwrap())?;
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string()?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Response { status: response.status().as_u16(), headers: response.headers().clone(), body })
    }

    /// A request with the secret.
    pub fn request(&self, method: &str, path: &str) -> ureq::http::request::Builder {
        let uri = format!("{}{path}", self.url);
        let request = ureq::http::Request::builder().method(method).uri(uri);
        request.header("Authorization", format!("Bearer {SECRET}")).header("Content-Type", "application/json")
    }

    /// Takes a configuration, to which it adds this host's mark, and returns the hash.
    #[track_caller]
    pub fn put(&self, key: &str, mut configuration: Value) -> String {
        configuration["env"]["MARK"] = self.mark.as_str().into();
        let response = self.send(self.request("PUT", &format!("/servers/{key}")), configuration.to_string());
        assert_eq!(response.status, 200, "{}", response.body);
        response.body["config"].as_str().unwrap().to_owned()
    }

    pub fn report(&self, key: &str) -> Value {
        self.send(self.request("GET", &format!("/servers/{key}")), "").body
    }

    /// The process id of a running server.
    #[track_caller]
    pub fn pid(&self, key: &str) -> i32 {
        let report = self.report(key);
        report["pid"].as_i64().unwrap_or_else(|| panic!("no process: {report}")) as i32
    }

    #[track_caller]
    pub fn delete(&self, key: &str) {
        assert_eq!(self.send(self.request("DELETE", &format!("/servers/{key}")), "").status, 204);
    }

    pub fn host_pid(&self) -> u32 {
        self.process.id()
    }

    /// The processes of the servers, with their wardens.
    pub fn processes(&self) -> Vec<i32> {
        let mut all = processes::with_mark(&self.mark);
        all.retain(|pid| *pid != self.process.id() as i32);
        all
    }

    /// Fails if a process or a file of a server is there.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert_eq!(self.processes(), Vec::<i32>::new(), "processes are left");
        assert_eq!(processes::children(self.host_pid()), Vec::<i32>::new(), "children are left");
        let left: Vec<_> = fs::read_dir(&self.folder).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "files are left");
    }

    /// Waits for the end of a host that was told to end, and checks that nothing is left.
    #[track_caller]
    pub fn gone(mut self) {
        self.process.wait().unwrap();
        eventually("no process is left", || self.processes().is_empty());
        eventually("no file is left", || fs::read_dir(&self.folder).unwrap().next().is_none());
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if !std::thread::panicking() {
            eventually("no process is left", || self.processes().is_empty());
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
