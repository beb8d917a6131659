//! wrangler, for the deployed database. It needs an account, from `wrangler login` or CLOUDFLARE_API_TOKEN.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub struct Wrangler<'a> {
    pub program: &'a Path,
    pub config: &'a Path,
    pub binding: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Count>,
}

#[derive(Deserialize)]
struct Count {
    emails: u64,
}

impl Wrangler<'_> {
    pub fn migrate(&self) -> Result<()> {
        self.run(&["migrations", "apply", self.binding, "--remote"]).map(|_| ())
    }

    pub fn count_emails(&self) -> Result<u64> {
        let question = "SELECT count(*) AS emails FROM emails";
        let output = self.run(&["execute", self.binding, "--remote", "--yes", "--json", "--command", question])?;
        let said = String::from_utf8_lossy(&output.stdout);
        let answers: Option<Vec<Answer>> = said.find('[').and_then(|at| serde_json::from_str(&said[at..]).ok());
        let count = answers.and_then(|answers| answers.first().and_then(|it| it.results.first()).map(|it| it.emails));
        count.with_context(|| format!("cannot read the number of emails; wrangler printed: {said}"))
    }

    /// Runs all of the file or, after a failure, nothing of it.
    pub fn execute(&self, file: &Path) -> Result<()> {
        let path = file.to_str().context("a path that is not UTF-8")?;
        self.run(&["execute", self.binding, "--remote", "--yes", "--file", path]).map(|_| ())
    }

    fn run(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new(self.program);
        // With CI set, wrangler asks no questions, which nobody could answer.
        command.arg("d1").args(arguments).arg("--config").arg(self.config).env("CI", "true").stdin(Stdio::null());
        let output = command.output().with_context(|| format!("cannot run {}", self.program.display()))?;
        ensure!(
            output.status.success(),
            "wrangler d1 {} failed; start again to go on from here:\n{}{}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(output)
    }
}
