//! The local file as workerd and wrangler see it.

use crate::harness::{folder, load, refused, root, run};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const SAMPLE: &str = "samples/enron/maildir";

/// workerd, on a state of its own. It ends with its standard input.
struct Server {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Server {
    fn start(state: &Path) -> Self {
        let mut command = Command::new("node");
        command.current_dir(root()).args(["scripts/lib/serve.mjs", "--worker", "bench/baseline.js", "--state"]);
        let mut child = command.arg(state).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut server = Self { answers: BufReader::new(child.stdout.take().unwrap()), child };
        assert!(server.line().contains("url"));
        server
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }

    fn ask(&mut self, sql: &str) -> String {
        let question = serde_json::json!({ "db": "BENCHMARKS_DB", "sql": sql });
        writeln!(self.child.stdin.as_ref().unwrap(), "{question}").unwrap();
        self.line()
    }

    fn stop(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

#[test]
fn workerd_serves_what_was_loaded_and_keeps_others_out() {
    let work = folder("serve");
    let state = work.join("state");
    let import = || {
        let mut command = load(&work);
        command.arg(SAMPLE).arg("--persist-to").arg(&state);
        command
    };
    // Even before anybody has asked for the database.
    let server = Server::start(&state);
    assert!(refused(&mut import()).contains("the dev server is running"));
    server.stop();

    run(&mut import());
    let mut server = Server::start(&state);
    let found = server.ask("SELECT count(*) AS n FROM emails_fts WHERE emails_fts MATCH 'gas'");
    let number: u64 = serde_json::from_str::<serde_json::Value>(&found).unwrap()["rows"][0]["n"].as_u64().unwrap();
    assert!(number > 5, "{found}");
    let inboxes = server.ask("SELECT inbox, emails FROM inboxes");
    assert!(inboxes.contains(r#"[{"inbox":"matt.motley@enron.com","emails":296}]"#), "{inboxes}");
    assert!(refused(&mut import()).contains("the dev server is running"));
    server.stop();

    // The runtime has turned the file to write-ahead logging; and wrangler finds nothing to migrate.
    run(&mut import());
    let mut wrangler = Command::new(root().join("node_modules/.bin/wrangler"));
    wrangler.current_dir(root()).args(["d1", "migrations", "apply", "BENCHMARKS_DB", "--local", "--persist-to"]);
    let said = run(wrangler.arg(&state).env("CI", "true").env("WRANGLER_SEND_METRICS", "false"));
    assert!(said.contains("No migrations to apply"), "{said}");
}
