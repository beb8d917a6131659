//! Uploads, with everything real except the distance: wrangler runs the files on a local database, which D1's own code
//! serves. The result equals that of a local import.

use crate::harness::{BINARY, assert_same, contents, folder, load, refused, root, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Real messages, one of them of more than 100,000 bytes; and four messages that are worse than any real one.
fn maildir(work: &Path) -> PathBuf {
    let folder = work.join("maildir");
    let copied =
        Command::new("cp").arg("-r").arg(root().join("samples/enron/edge-cases/maildir")).arg(&folder).status();
    assert!(copied.unwrap().success());
    let motley = Command::new("cp").arg("-r").arg(root().join("samples/enron/maildir/motley-m")).arg(&folder).status();
    assert!(motley.unwrap().success());
    let people: Vec<String> = (0..4_000).map(|each| format!("o'person.{each}@enron.com")).collect();
    let message = |id: &str, to: &str, subject: &str, body: &str| {
        format!(
            "Message-ID: <{id}@x>\nDate: Mon, 14 May 2001 20:58:00 -0700\nFrom: a@x\nTo: {to}\nSubject: {subject}\n\n{body}"
        )
    };
    let long = "it's a \"long\" line; it ends -- with /* nothing */ é\u{1}\n".repeat(36_000);
    let worst = [
        message("long", "b@x", "long", &long),
        message("many", &people.join(",\n "), &"many ".repeat(30_000), "to many, on a long subject"),
        message("sql", "b@x", &"BEGIN TRANSACTION; ".repeat(300), "sql, often"),
        message("sql2", "b@x", "BEGIN TRANSACTION; COMMIT;", "'; DROP TABLE emails; --\nBEGIN TRANSACTION;\nCOMMIT;\n"),
    ];
    for (number, text) in worst.iter().enumerate() {
        fs::write(folder.join(format!("allen-p/worst.{number}")), text).unwrap();
    }
    folder
}

/// D1's documented limits: bytes of a statement, and of an uploaded file (5 GiB; the test asks for 1 MB).
fn check_limits(files: &[PathBuf]) {
    for file in files {
        let sql = fs::read_to_string(file).unwrap();
        // One message alone needs two statements.
        assert!(sql.len() < 2_200_000, "{} has {} bytes", file.display(), sql.len());
        assert!(!sql.contains("BEGIN TRANSACTION"), "{}", file.display());
        let mut rest = sql.as_str();
        let mut longest = 0;
        while !rest.trim().is_empty() {
            let end = statement_end(rest);
            longest = longest.max(end);
            rest = &rest[end..];
        }
        assert!(longest <= 100_000, "{} has a statement of {longest} bytes", file.display());
    }
}

/// The end of the first statement: a semicolon and a line break outside of texts and triggers.
fn statement_end(sql: &str) -> usize {
    let is_trigger = sql.trim_start().starts_with("CREATE TRIGGER");
    let end = if is_trigger { "END;\n" } else { ";\n" };
    let mut quoted = false;
    for (at, byte) in sql.bytes().enumerate() {
        quoted ^= byte == b'\'';
        if !quoted && sql.as_bytes()[at..].starts_with(end.as_bytes()) {
            return at + end.len();
        }
    }
    sql.len()
}

fn sql_files(work: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(work.join("work/upload/sql")).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

/// wrangler with one word changed: commands for the deployed database go to a local one.
fn wrangler(work: &Path, state: &Path) -> PathBuf {
    let path = work.join("wrangler");
    let script = format!(
        "#!/usr/bin/env bash\narguments=()\nfor each in \"$@\"; do\n  if [[ $each == --remote ]]; then\n    \
         arguments+=(--local --persist-to {state})\n  else\n    arguments+=(\"$each\")\n  fi\ndone\n\
         WRANGLER_SEND_METRICS=false exec {program} \"${{arguments[@]}}\"\n",
        state = state.display(),
        program = root().join("node_modules/.bin/wrangler").display(),
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn an_upload_makes_what_a_local_import_makes() {
    let work = folder("upload");
    let maildir = maildir(&work);
    let local = work.join("local.sqlite");
    run(load(&work).arg(&maildir).arg("--database").arg(&local));
    let expected = contents(&local, false);

    let state = work.join("state");
    // The remains of an upload that was interrupted, or half deleted.
    for left in ["work/upload/sql", "work/upload.removed"] {
        fs::create_dir_all(work.join(left)).unwrap();
        fs::write(work.join(left).join("0001.sql"), "DROP TABLE emails;").unwrap();
    }
    let remote = || {
        let mut command = load(&work);
        command.arg(&maildir).args(["--remote", "--chunk-mb", "1", "--wrangler"]).arg(wrangler(&work, &state));
        command
    };
    let said = run(remote().arg("--prepare-only"));
    assert!(said.contains("SQL files are in"), "{said}");
    let files = sql_files(&work);
    assert!(files.len() > 4, "{files:?}");
    check_limits(&files);

    // The upload is killed at its last file. Then its progress is cut, as if it had been killed each time before it
    // noted a step.
    let mut child = remote().stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
    let done = work.join("work/upload/done");
    let noted = || fs::read_to_string(&done).map_or(0, |text| text.lines().count());
    let deadline = Instant::now() + Duration::from_secs(300);
    // The first two lines are about no file: they name the upload, and note that the database was empty.
    while noted() < files.len() + 1 {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "the upload got nowhere");
        sleep(Duration::from_millis(10));
    }
    // The whole process group, because the wrangler that it has just started would disturb the next one.
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    child.wait().unwrap();
    let lines = fs::read_to_string(&done).unwrap();
    assert_eq!(lines.lines().nth(1), Some("empty"));
    fs::write(&done, lines.split_inclusive('\n').take(2).collect::<String>()).unwrap();

    let other_config = work.join("other.toml");
    let config = fs::read_to_string(root().join("wrangler.toml")).unwrap();
    let config = config.replace("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002");
    let migrations = format!("\"{}/migrations/", root().display());
    fs::write(&other_config, config.replace("\"migrations/", &migrations)).unwrap();
    assert!(refused(remote().arg("--config").arg(&other_config)).contains("is of another upload"));
    assert!(refused(remote().args(["--limit", "5"])).contains("was interrupted here"));

    run(&mut remote());
    for left in ["work/upload", "work/upload.removed"] {
        assert!(!work.join(left).exists(), "{left} is left behind");
    }

    let database = database_in(&state);
    assert_same(&contents(&database, false), &expected);
    assert!(
        refused(&mut remote())
            .contains("holds 333 emails already, and an upload fills an empty one: make a new database\n")
    );
}

fn database_in(state: &Path) -> PathBuf {
    let folder = state.join("v3/d1/miniflare-D1DatabaseObject");
    let is_database =
        |path: &PathBuf| path.extension().is_some_and(|it| it == "sqlite") && !path.ends_with("metadata.sqlite");
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_database);
    files.next().unwrap()
}

#[test]
fn what_does_not_go_with_an_upload_is_refused() {
    for option in ["--dry-run", "--if-empty"] {
        let output = Command::new(BINARY).args(["load", "samples/enron", "--remote", option]).output().unwrap();
        assert!(!output.status.success());
    }
}
