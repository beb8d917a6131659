//! Kills the importer with SIGKILL, anywhere. The final result equals that of an uninterrupted run, to the last page of
//! the index.

use crate::harness::{assert_same, contents, corpus, folder, load, refused, run};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread::{sleep, spawn};
use std::time::Duration;

fn import(work: &Path) -> Command {
    let mut command = load(work);
    command.arg(corpus()).args(["--batch", "20"]).arg("--database").arg(work.join("mail.sqlite"));
    command
}

/// Starts the importer, waits until it reports a stage and then for a given time, and kills it. Tells whether it was
/// still running.
fn kill(work: &Path, stage: &str, wait: Duration) -> bool {
    kill_command(&mut import(work), stage, wait)
}

fn kill_command(command: &mut Command, stage: &str, wait: Duration) -> bool {
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let (sender, said) = channel();
    // The output is read to the end, because the importer might die of a pipe that nobody reads.
    let reading = spawn(move || stderr.lines().for_each(|line| drop(sender.send(line.unwrap()))));
    let _in_time = said.iter().find(|line| line == stage);
    sleep(wait);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    reading.join().unwrap();
    assert!(status.success() || status.signal() == Some(9), "{status}");
    !status.success()
}

fn unbroken(name: &str) -> (Vec<String>, String) {
    let work = folder(name);
    run(&mut import(&work));
    (contents(&work.join("mail.sqlite"), true), std::fs::read_to_string(work.join("work/report.tsv")).unwrap())
}

#[test]
fn killed_in_each_stage_it_goes_on() {
    let (expected, report) = unbroken("resume-unbroken");
    for (stage, milliseconds) in
        [("reading", 0), ("reading", 30), ("reading", 90), ("placing", 0), ("indexing", 0), ("indexing", 50)]
    {
        let work = folder("resume-once");
        assert!(kill(&work, stage, Duration::from_millis(milliseconds)), "it was over before {stage}");
        let said = import(&work).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        assert!(String::from_utf8_lossy(&said.stderr).starts_with("going on after "), "after {stage}");
        assert_same(&contents(&work.join("mail.sqlite"), true), &expected);
        assert_eq!(std::fs::read_to_string(work.join("work/report.tsv")).unwrap(), report);
    }
}

#[test]
fn killed_again_and_again_it_comes_to_the_end() {
    let (expected, _) = unbroken("resume-unbroken-too");
    let work = folder("resume-often");
    // Each time a little later; otherwise a step that takes longer than the wait would never finish. The last kill
    // comes too late.
    let kills = (1..).take_while(|times| kill(&work, "reading", Duration::from_millis(15 * times))).count();
    assert!(kills > 2, "killed only {kills} times");
    assert_same(&contents(&work.join("mail.sqlite"), true), &expected);
}

#[test]
fn another_import_does_not_go_on_with_it() {
    let work = folder("resume-other");
    assert!(kill(&work, "placing", Duration::ZERO));
    assert!(refused(import(&work).args(["--limit", "7"])).contains("was interrupted here"));
    let owners = work.join("owners.tsv");
    std::fs::write(&owners, "allen-p\tsomeone.else@enron.com\n").unwrap();
    assert!(refused(import(&work).arg("--owners").arg(&owners)).contains("was interrupted here"));
    run(import(&work).args(["--limit", "7", "--restart"]));
    let other = folder("resume-other-unbroken");
    run(import(&other).args(["--limit", "7"]));
    assert_same(&contents(&work.join("mail.sqlite"), true), &contents(&other.join("mail.sqlite"), true));
}

#[test]
fn a_maildir_that_has_changed_is_another() {
    let work = folder("resume-changed");
    let maildir = work.join("maildir/allen-p");
    std::fs::create_dir_all(&maildir).unwrap();
    for number in 0..400 {
        std::fs::write(maildir.join(format!("{number:04}.")), format!("Message-ID: <{number}@x>\n\n{number}")).unwrap();
    }
    let import = || {
        let mut command = load(&work);
        command.arg(work.join("maildir")).args(["--batch", "1"]).arg("--database").arg(work.join("mail.sqlite"));
        command
    };
    assert!(kill_command(&mut import(), "placing", Duration::ZERO), "it was over before");
    std::fs::rename(maildir.join("0007."), maildir.join("new.")).unwrap();
    assert!(refused(&mut import()).contains("was interrupted here"));
    std::fs::rename(maildir.join("new."), maildir.join("0007.")).unwrap();
    // An import that wants an empty database leaves this one alone, unless the unfinished import is its own.
    let other = import().arg("--if-empty").args(["--inbox", "a@x"]).output().unwrap();
    assert!(other.status.success() && other.stdout.is_empty(), "{}", String::from_utf8_lossy(&other.stderr));
    assert!(String::from_utf8_lossy(&other.stderr).contains("holds an import that was interrupted already"));
    assert!(run(import().arg("--if-empty")).contains("messages loaded         400\n"));
}
