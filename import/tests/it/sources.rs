//! The messages that are read, and those that are not.

use crate::harness::{contents, corpus, folder, load, refused, root, rows, run};
use csv::{QuoteStyle, WriterBuilder};
use flate2::{Compression, write::GzEncoder};
use rusqlite::Connection;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const EDGE_CASES: &str = "samples/enron/edge-cases/maildir";

fn loaded(work: &Path, name: &str, source: &Path, options: &[&str]) -> (PathBuf, String) {
    let database = work.join(name);
    let said = run(load(work).arg(source).arg("--database").arg(&database).args(options));
    (database, said)
}

#[test]
fn all_kinds_of_sources_give_the_same_mail() {
    let work = folder("sources");
    let maildir = root().join(EDGE_CASES);
    let (from_maildir, said) = loaded(&work, "maildir.sqlite", &maildir, &[]);
    assert!(said.contains("messages loaded         33\n"), "{said}");
    let expected = contents(&from_maildir, true);
    // One message is in a folder of a folder (arora-h/inbox/saved_mail/49.), and one in no folder (baughman-d/1.).
    let select = "SELECT inbox FROM emails WHERE message_id IN
        ('<4423358.1075859176901.JavaMail.evans@thyme>', '<3385979.1075840327049.JavaMail.evans@thyme>') ORDER BY inbox";
    let owners =
        ["don.baughman@enron.com", "harry.arora@enron.com"].map(|owner| format!("{select}: [Text({owner:?})]"));
    assert_eq!(rows(&Connection::open(&from_maildir).unwrap(), select), owners);

    let (from_tarball, _) = loaded(&work, "tarball.sqlite", &tarball(&work, &maildir), &[]);
    assert!(contents(&from_tarball, true) == expected);
    let (from_csv, _) = loaded(&work, "csv.sqlite", &csv(&work, &maildir), &[]);
    assert!(contents(&from_csv, true) == expected);

    // Python's parser, which made this file, took two subjects with line breaks for the end of the header.
    let (from_parquet, _) =
        loaded(&work, "parquet.sqlite", &root().join("samples/enron/edge-cases/edge-cases.parquet"), &[]);
    let select = "SELECT message_id, inbox, subject, sender, recipients, date, body FROM emails ORDER BY message_id";
    let both = [from_maildir, from_parquet].map(|path| rows(&Connection::open(path).unwrap(), select));
    let different: Vec<_> = both[0].iter().zip(&both[1]).filter(|(left, right)| left != right).collect();
    assert_eq!(both.each_ref().map(Vec::len), [33, 33]);
    assert_eq!(different.len(), 2);
    for (left, _) in different {
        assert!(left.contains("Analyst Mtg - EB3321") || left.contains("Are you taking full advantage"), "{left:.300}");
    }
}

/// Synthetic messages are so plain that the test can read them in another way: each message is there, and complete.
#[test]
fn a_made_up_corpus_is_loaded_exactly() {
    let work = folder("exact");
    let (path, _) = loaded(&work, "a.sqlite", corpus(), &[]);
    let database = Connection::open(path).unwrap();
    let mut find =
        database.prepare("SELECT subject, sender, recipients, body FROM emails WHERE message_id = ?1").unwrap();
    let mut count = 0;
    for record in csv::Reader::from_path(corpus()).unwrap().records() {
        let text = record.unwrap()[1].to_owned();
        let (header, body) = text.split_once("\r\n\r\n").unwrap();
        let header = header.replace("\r\n\t", "");
        let field = |name: &str| header.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        let row = |row: &rusqlite::Row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        let [subject, sender, recipients, loaded]: [String; 4] = find.query_row([field("Message-ID:")], row).unwrap();
        assert_eq!((subject, sender, loaded.as_str()), (field("Subject:"), field("From:"), body));
        let mut expected = Vec::new();
        for address in field("To:").split(", ").map(str::to_owned) {
            if !expected.contains(&address) {
                expected.push(address);
            }
        }
        assert_eq!(recipients, serde_json::to_string(&expected).unwrap());
        count += 1;
    }
    assert_eq!(count, 600);
    assert_eq!(rows(&database, "SELECT count(*) FROM emails"), ["SELECT count(*) FROM emails: [Integer(600)]"]);
}

fn files(folder: &Path, prefix: &str) -> Vec<(String, PathBuf)> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let file = |entry: fs::DirEntry| {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() { files(&entry.path(), &format!("{name}/")) } else { vec![(name, entry.path())] }
    };
    entries.into_iter().flat_map(file).collect()
}

fn tarball(work: &Path, maildir: &Path) -> PathBuf {
    let path = work.join("mail.tar.gz");
    let mut tar = tar::Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::fast()));
    for (name, file) in files(maildir, "maildir/") {
        tar.append_path_with_name(file, name).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
    path
}

fn csv(work: &Path, maildir: &Path) -> PathBuf {
    let path = work.join("emails.csv");
    let mut csv = WriterBuilder::new().quote_style(QuoteStyle::Always).from_path(&path).unwrap();
    csv.write_record(["file", "message"]).unwrap();
    for (name, file) in files(maildir, "") {
        csv.write_record([name.as_bytes(), &fs::read(file).unwrap()]).unwrap();
    }
    csv.flush().unwrap();
    path
}

#[test]
fn what_cannot_be_used_is_counted_and_named() {
    let work = folder("skipped");
    let mailbox = work.join("maildir/allen-p/inbox");
    fs::create_dir_all(&mailbox).unwrap();
    let message = |id: &str, body: &str| format!("Message-ID: <{id}@x>\nFrom: a@x\nTo: b@x\n\n{body}");
    fs::write(mailbox.join("1."), message("1", "one")).unwrap();
    fs::write(mailbox.join("2."), message("1", "the same once more")).unwrap();
    fs::write(mailbox.join("3."), "").unwrap();
    fs::write(mailbox.join("4."), "no header").unwrap();
    fs::write(mailbox.join("5."), message("5", &"x".repeat(2_000_000))).unwrap();
    std::os::unix::fs::symlink(mailbox.join("nowhere"), mailbox.join("6.")).unwrap();
    // This file takes no space on disk, and is never read.
    File::create(mailbox.join("7.")).unwrap().set_len(700 << 20).unwrap();
    let expected = [
        "reason\tfile\tdetail",
        "duplicate Message-ID\tallen-p/inbox/2.\t<1@x>",
        "empty\tallen-p/inbox/3.\t",
        "no Message-ID\tallen-p/inbox/4.\t",
        "too large for D1\tallen-p/inbox/5.\t2000014 bytes",
        "unreadable\tallen-p/inbox/6.\tNo such file or directory (os error 2)",
        "too large for D1\tallen-p/inbox/7.\t734003200 bytes",
    ];

    let report = work.join("report.tsv");
    let options = ["--report", report.to_str().unwrap()];
    let (database, said) = loaded(&work, "a.sqlite", &work.join("maildir"), &options);
    assert!(said.contains("skipped                 6\n") && said.contains("  duplicate Message-ID  1\n"), "{said}");
    let memory =
        said.lines().find_map(|line| line.strip_prefix("peak memory")?.trim().strip_suffix(" MB")?.parse().ok());
    assert!(memory.is_none_or(|megabytes: u64| megabytes < 300), "{said}");
    assert_eq!(fs::read_to_string(&report).unwrap().lines().collect::<Vec<_>>(), expected);
    let body = rows(&Connection::open(database).unwrap(), "SELECT inbox, body FROM emails");
    assert_eq!(body, [r#"SELECT inbox, body FROM emails: [Text("phillip.allen@enron.com"), Text("one")]"#]);

    fs::remove_file(&report).unwrap();
    let dry = run(load(&work).arg(work.join("maildir")).args(options).arg("--dry-run"));
    assert!(dry.contains("messages loaded         1\n") && dry.contains("skipped                 6\n"), "{dry}");
    assert_eq!(fs::read_to_string(&report).unwrap().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn inboxes_can_be_chosen_by_either_rule() {
    let work = folder("rules");
    let maildir = root().join("samples/enron");
    let (owner, said) = loaded(&work, "owner.sqlite", &maildir, &["--inbox", "Matt.Motley@enron.com"]);
    assert!(said.contains("messages loaded         296\n") && said.contains("in no chosen inbox      33\n"), "{said}");
    let inboxes = "SELECT inbox, emails FROM inboxes";
    assert_eq!(rows(&Connection::open(&owner).unwrap(), inboxes).len(), 1);

    let chosen = ["--inbox-rule", "participant", "--inbox", "matt.motley@enron.com", "--inbox", "tim.belden@enron.com"];
    let (both, _) = loaded(&work, "both.sqlite", &maildir, &chosen);
    let database = Connection::open(&both).unwrap();
    contents(&both, false);
    // This counts in another way than the importer: by the table of people.
    let wrong =
        "SELECT count(*) FROM inboxes i WHERE emails <> (SELECT count(*) FROM entries n WHERE n.inbox_id = i.id)
                 OR emails <> (SELECT count(DISTINCT entry_id) FROM people p JOIN addresses a ON a.id = p.address_id
                   WHERE a.address = i.inbox AND p.entry_id BETWEEN i.lo AND i.hi)";
    assert_eq!(rows(&database, wrong), [format!("{wrong}: [Integer(0)]")]);
    assert_eq!(rows(&database, inboxes).len(), 2);
    let twice = "SELECT count(*) > 0 FROM (SELECT email_id FROM entries GROUP BY email_id HAVING count(*) = 2)";
    assert_eq!(rows(&database, twice), [format!("{twice}: [Integer(1)]")]);
    let unordered =
        "SELECT count(*) FROM entries a JOIN entries b ON a.inbox_id = b.inbox_id AND a.id < b.id AND a.date > b.date";
    assert_eq!(rows(&database, unordered), [format!("{unordered}: [Integer(0)]")]);

    // The rule can be changed later without new mail, if the user asks for it. The searchable tables are rebuilt.
    let change = || {
        let mut command = load(&work);
        command.arg(&maildir).arg("--database").arg(&both).args(["--inbox", "matt.motley@enron.com"]);
        command
    };
    assert!(refused(&mut change()).contains("was placed by other options (--inbox-rule participant, "));
    assert_eq!(rows(&database, inboxes).len(), 2);
    run(change().arg("--replace-inboxes"));
    assert_eq!(rows(&database, inboxes).len(), 1);
}

#[test]
fn inboxes_are_added_to_those_that_there_are() {
    let work = folder("inboxes-added");
    let (database, _) = loaded(&work, "a.sqlite", corpus(), &[]);
    let inboxes = || rows(&Connection::open(&database).unwrap(), "SELECT inbox, emails FROM inboxes ORDER BY inbox");
    let before = inboxes();
    assert!(before.len() > 50, "{before:?}");

    let newguy = work.join("maildir/newguy-x/inbox");
    fs::create_dir_all(&newguy).unwrap();
    fs::write(newguy.join("1."), "Message-ID: <new@x>\n\nnew").unwrap();
    let add = |options: &[&str]| {
        let mut command = load(&work);
        command.arg(work.join("maildir")).arg("--database").arg(&database).args(options);
        command
    };
    // A mailbox that is not in the table is still a mailbox, because it is in `maildir`.
    run(load(&work).arg(work.join("maildir/newguy-x")).args(["--inbox", "newguy-x", "--database"]).arg(&database));
    let after = inboxes();
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|inbox| after.contains(inbox)));

    assert!(refused(&mut add(&["--inbox-rule", "participant"])).contains("--replace-inboxes"));
    assert_eq!(inboxes(), after);
    run(&mut add(&["--inbox", "newguy-x", "--replace-inboxes"]));
    assert_eq!(inboxes().len(), 1);
    // An import that asks for another inbox keeps the existing ones.
    run(&mut add(&["--inbox", "phillip.allen@enron.com"]));
    assert_eq!(inboxes().len(), 2);
}

#[test]
fn mail_can_be_added_to_mail() {
    let work = folder("added");
    let (all, _) = loaded(&work, "all.sqlite", &root().join("samples/enron"), &[]);
    let (added, said) = loaded(&work, "added.sqlite", &root().join(EDGE_CASES), &["--limit", "10"]);
    assert!(said.contains("messages read           10\n"), "{said}");
    run(load(&work).arg(root().join("samples/enron")).arg("--database").arg(&added));
    // The ids of messages follow the order of loading; everything else is the same.
    let select = "SELECT n.id, message_id, e.inbox FROM entries n JOIN emails e ON e.id = n.email_id ORDER BY n.id";
    let both = [&all, &added].map(|path| rows(&Connection::open(path).unwrap(), select));
    assert_eq!(both[0], both[1]);
    contents(&added, false);

    let untouched = contents(&added, true);
    let mut again = load(&work);
    let output =
        again.arg(root().join("samples/enron")).arg("--if-empty").arg("--database").arg(&added).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(contents(&added, true) == untouched);
}

#[test]
fn triggers_are_back_and_keep_what_was_loaded() {
    let work = folder("triggers");
    let (path, _) = loaded(&work, "a.sqlite", &root().join(EDGE_CASES), &[]);
    let database = Connection::open(&path).unwrap();
    let found = "SELECT count(*) FROM emails_fts WHERE emails_fts MATCH 'streamer'";
    assert_eq!(rows(&database, found), [format!("{found}: [Integer(1)]")]);
    database.execute_batch("DELETE FROM emails WHERE subject LIKE '%Streamer%'").unwrap();
    assert_eq!(rows(&database, found), [format!("{found}: [Integer(0)]")]);
    drop(database);
    contents(&path, false);
}

#[test]
fn a_source_that_is_none_is_said_to_be_none() {
    let work = folder("wrong");
    let database = work.join("a.sqlite");
    let says = |source: &Path| refused(load(&work).arg(source).arg("--database").arg(&database));
    assert!(says(Path::new("nowhere")).contains("cannot open nowhere"));
    assert!(says(&root().join("README.md")).contains("a source is a folder, a .tar.gz, a .csv or a .parquet"));
    fs::write(work.join("a.csv"), "one,two\n1,2\n").unwrap();
    assert!(says(&work.join("a.csv")).contains("has no column `file`"));
    fs::write(work.join("a.parquet"), "PAR1").unwrap();
    assert!(says(&work.join("a.parquet")).contains("cannot read"));

    let whole = fs::read(tarball(&work, &root().join(EDGE_CASES))).unwrap();
    fs::write(work.join("cut.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    assert!(says(&work.join("cut.tar.gz")).contains("is damaged after"));
}

/// Truncated archives are in circulation: the messages before the damage can be loaded.
#[test]
fn what_is_whole_of_a_damaged_archive_can_be_loaded() {
    let work = folder("damaged");
    let whole = tarball(&work, &root().join("samples/enron/maildir"));
    let bytes = fs::read(&whole).unwrap();
    let cut = work.join("cut.tar.gz");
    fs::write(&cut, &bytes[..bytes.len() - 4_000]).unwrap();
    let database = work.join("a.sqlite");
    let import = || {
        let mut command = load(&work);
        command.arg(&cut).args(["--batch", "3"]).arg("--database").arg(&database);
        command
    };
    let said = refused(&mut import());
    let advice = said.split("--limit ").nth(1).unwrap().split(' ').next().unwrap();
    // So many messages that some were loaded before the damage.
    assert!(advice.parse::<u64>().unwrap() > 256 && said.contains("is damaged after"), "{said}");
    assert!(refused(&mut import()).contains("going on after "));
    run(import().args(["--limit", advice]));
    let (expected, _) = loaded(&work, "b.sqlite", &whole, &["--batch", "3", "--limit", advice]);
    assert!(contents(&database, true) == contents(&expected, true));
}

#[test]
fn links_in_an_archive_and_names_without_end_are_counted() {
    let work = folder("odd");
    let message = "Message-ID: <1@x>\n\none";
    let path = work.join("links.tar");
    let mut tar = tar::Builder::new(File::create(&path).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_size(message.len() as u64);
    tar.append_data(&mut header.clone(), "maildir/allen-p/1.", message.as_bytes()).unwrap();
    for (name, kind) in [("2.", tar::EntryType::Link), ("3.", tar::EntryType::Symlink)] {
        header.set_entry_type(kind);
        header.set_size(0);
        tar.append_link(&mut header.clone(), format!("maildir/allen-p/{name}"), "maildir/allen-p/1.").unwrap();
    }
    tar.into_inner().unwrap();
    let (_, said) = loaded(&work, "a.sqlite", &path, &[]);
    assert!(said.contains("messages loaded         1\n") && said.contains("  unreadable            2\n"), "{said}");
    let report = fs::read_to_string(work.join("work/report.tsv")).unwrap();
    assert!(report.contains("unreadable\tmaildir/allen-p/2.\ta link to maildir/allen-p/1.\n"), "{report}");

    let path = work.join("names.csv");
    let other = message.replace('1', "2");
    let records = [
        ("file", "message"),
        (&"x".repeat(20_000), message),
        ("allen-p/9.", &"x".repeat(17 << 20)),
        ("allen-p/2.", &other),
    ];
    fs::write(&path, records.map(|(file, message)| format!("{file},\"{message}\"\n")).concat()).unwrap();
    let (_, said) = loaded(&work, "b.sqlite", &path, &[]);
    assert!(said.contains("messages loaded         1\n") && said.contains("  too large for D1      2\n"), "{said}");
    let report = fs::read_to_string(work.join("work/report.tsv")).unwrap();
    assert!(report.len() < 11_000 && report.contains("too large for D1\tallen-p/9.\t17825802 bytes\n"));
}
