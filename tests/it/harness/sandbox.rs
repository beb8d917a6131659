//! A Python sandbox for one test: the real server, as a plain process.

use super::server::variable;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub struct Sandbox {
    process: Child,
    url: String,
}

impl Sandbox {
    pub fn start(flags: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", flags)
    }

    /// Starts the server at an address, so that another one can follow it there. The processes of a server that was killed
    /// may hold the port a little longer.
    pub fn start_at(address: &str, flags: &[&str]) -> Self {
        for _ in 0..100 {
            match Self::try_start(address, flags) {
                Ok(sandbox) => return sandbox,
                Err(said) => assert!(said.contains("Address already in use"), "the sandbox does not listen: {said}"),
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{address} stays in use");
    }

    /// The server, or what it said before it ended.
    fn try_start(address: &str, flags: &[&str]) -> Result<Self, String> {
        let mut process = Command::new(variable("PEGBOARD_SANDBOX"));
        process
            .env_clear()
            .envs(std::env::vars().filter(|(name, _)| name == "SANDBOX_PYTHON" || name == "SANDBOX_PACKAGES"));
        let mut process =
            process.args(["--listen", address]).args(flags).stderr(Stdio::piped()).spawn().expect("the sandbox starts");
        let mut said = String::new();
        for line in BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok) {
            if let Some((_, told)) = line.split_once("listening on ") {
                let address = told.split(' ').next().unwrap_or_default();
                return Ok(Self { url: format!("http://{address}"), process });
            }
            said.push_str(&line);
        }
        process.wait().unwrap();
        Err(said)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// An address of this machine that no server listens on.
    pub fn free_address() -> String {
        std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
    }

    /// How many calls the sandbox runs now.
    pub fn running(&self) -> u64 {
        let health = ureq::get(format!("{}/health", self.url)).call().unwrap().body_mut().read_json::<Value>().unwrap();
        health["queue"]["running"].as_u64().unwrap()
    }

    /// Waits until the sandbox runs this many calls.
    pub fn settle(&self, running: u64) {
        for _ in 0..1_000 {
            if self.running() == running {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{} calls run, not {running}", self.running());
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
