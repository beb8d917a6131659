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
        let mut process = Command::new(variable("PEGBOARD_SANDBOX"));
        process
            .env_clear()
            .envs(std::env::vars().filter(|(name, _)| name == "SANDBOX_PYTHON" || name == "SANDBOX_PACKAGES"));
        let mut process = process
            .args(["--listen", "127.0.0.1:0"])
            .args(flags)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the sandbox starts");
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let told = lines.map_while(Result::ok).find(|line| line.contains("listening on")).expect("it listens");
        let address = told.split_once("listening on ").unwrap().1.split(' ').next().unwrap();
        Self { url: format!("http://{address}"), process }
    }

    pub fn url(&self) -> &str {
        &self.url
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
