//! Mail that is written by SQL: some of every kind; and random mail, in our tables and in those of the specification's
//! first document.

use crate::harness::{Dice, Server, open};
use serde_json::{Value, json};
use std::sync::OnceLock;

pub const DATABASE: &str = "BENCHMARKS_DB";

pub const ADA: &str = "ada@mail.example";
/// An address without a mailbox, which has mail because messages name it.
pub const GUEST: &str = "guest@mail.example";
/// An address with more mail than the count covers.
pub const LARGE: &str = "large@mail.example";
pub const LARGE_COUNT: usize = 3_000;
/// Inboxes of random mail.
pub const RANDOM: [&str; 4] = ["r0@mail.example", "r1@mail.example", "r2@mail.example", "r3@mail.example"];

/// Two people with the same first name.
pub const TIMS: [&str; 2] = ["tim.a@mail.example", "tim.b@mail.example"];

/// The tables and triggers of the specification's first document, under names of their own.
const DOCUMENT_SCHEMA: [&str; 3] = [
    "CREATE TABLE document_emails (message_id TEXT PRIMARY KEY, inbox TEXT NOT NULL, subject TEXT, sender TEXT,
       recipients TEXT, date TEXT, body TEXT, created_at DATETIME DEFAULT CURRENT_TIMESTAMP)",
    "CREATE VIRTUAL TABLE document_fts USING fts5(subject, body, content='document_emails', content_rowid='rowid')",
    "CREATE TRIGGER document_ai AFTER INSERT ON document_emails BEGIN
       INSERT INTO document_fts(rowid, subject, body) VALUES (new.rowid, new.subject, new.body);
     END",
];

/// The open server, with mail of every kind.
pub fn server() -> &'static Server {
    static LOADED: OnceLock<()> = OnceLock::new();
    LOADED.get_or_init(|| load(open()));
    open()
}

/// A message: id, inbox, subject, sender, recipients, date, body.
type Mail = (String, &'static str, Value, String, Vec<String>, Value, String);

fn mails() -> Vec<Mail> {
    let mail = |id: &str, subject: Value, sender: &str, to: &[&str], date: Value, body: &str| -> Mail {
        let to = to.iter().map(|it| (*it).to_owned()).collect();
        (format!("<{id}@mail>"), ADA, subject, sender.into(), to, date, body.into())
    };
    let [jane, bob] = ["jane@mail.example", "bob@mail.example"];
    let monday = "Hi Ada,\n\nPlease review the meeting times.";
    let [first, second, third, last] =
        ["2001-05-15T10:30:00Z", "2001-05-16T23:59:59Z", "2001-05-17T00:00:00Z", "2001-06-01T00:00:00Z"]
            .map(Value::from);
    vec![
        mail("4", Value::Null, bob, &[], Value::Null, "meeting of no date"),
        mail("1", "Weekly meeting schedule".into(), "Jane@mail.example", &[ADA, "team@mail.example"], first, monday),
        mail("2", "Lunch".into(), bob, &["ADA@mail.example", GUEST], second, "No meeting today, lunch instead."),
        mail("3", "Re: Lunch".into(), GUEST, &[bob], third, "Lunch it is. No schedule."),
        mail("5", "Gaz naturel, \u{e9}t\u{e9}".into(), jane, &TIMS, last, "L'\u{e9}t\u{e9}, le gaz."),
    ]
}

fn load(server: &Server) {
    put(server, "emails", &mails());
    let batch = json!([
        {"sql": "INSERT INTO inboxes (inbox) VALUES (?1), (?2), (?3)", "params": [ADA, GUEST, LARGE]},
        {"sql": ENTRIES_OF_OWNERS},
        // The participant rule: the same message in a second inbox, but stored once.
        {"sql": "INSERT INTO entries (id, email_id, date)
            SELECT lo + row_number() OVER (ORDER BY date), e.id, date FROM emails e JOIN inboxes i ON i.inbox = ?1
            WHERE lower(sender) = ?1 OR EXISTS (SELECT 1 FROM json_each(recipients) WHERE lower(value) = ?1)", "params": [GUEST]},
        {"sql": "INSERT INTO emails (id, message_id, inbox, subject, sender, recipients, date, body)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(?2 AS INTEGER))
            SELECT 100000 + i, '<large' || i || '@mail>', ?1, 'Report ' || i, 'p' || (i % 10) || '@mail.example',
              json_array(?1, 'q' || (i % 100) || '@mail.example'), date('1990-01-01', '+' || i || ' days') || 'T00:00:00Z',
              'the common word, and that of its own: number' || i FROM n", "params": [LARGE, LARGE_COUNT]},
        {"sql": "INSERT INTO entries (id, email_id, date)
            SELECT lo + e.id, e.id, date FROM emails e JOIN inboxes USING (inbox) WHERE inbox = ?1", "params": [LARGE]},
    ]);
    run(server, batch);
}

/// Every message in the inbox of its owner, in the order of insertion.
const ENTRIES_OF_OWNERS: &str = "INSERT INTO entries (id, email_id, date)
    SELECT lo + e.id, e.id, coalesce(date, '') FROM emails e JOIN inboxes USING (inbox)";

/// Few words are common and most are rare, as in any language.
pub fn word(dice: &mut Dice) -> String {
    let most = 1 << dice.below(8);
    format!("{}{}", dice.pick(&["gas", "pow", "tra"]), dice.below(most))
}

fn words(dice: &mut Dice, most: usize) -> String {
    (0..=dice.below(most)).map(|_| word(dice)).collect::<Vec<_>>().join(" ")
}

/// A separate server, with the same random mail in our tables and in the document's.
pub fn document_server() -> Server {
    let server = Server::start("mail", &[("AUTH", "open")]);
    let mut dice = Dice(11);
    let mut mails = (0..400)
        .map(|number: usize| {
            let date = format!("2000-{:02}-{:02}T{:02}:00:00Z", 1 + dice.below(12), 1 + dice.below(28), dice.below(24));
            let inbox = RANDOM[number % 4 % (1 + number % 3)];
            let (subject, body) = (words(&mut dice, 5), words(&mut dice, 60));
            (format!("<r{number}@mail>"), inbox, subject.into(), "p@mail.example".into(), vec![], date.into(), body)
        })
        .collect::<Vec<Mail>>();
    mails.sort_by_key(|it| (it.1, it.5.to_string(), it.0.clone()));
    run(&server, json!(DOCUMENT_SCHEMA.map(|sql| json!({"sql": sql}))));
    put(&server, "document_emails", &mails);
    put(&server, "emails", &mails);
    let inboxes = "INSERT INTO inboxes (inbox) SELECT DISTINCT inbox FROM emails";
    run(&server, json!([{"sql": inboxes}, {"sql": ENTRIES_OF_OWNERS}]));
    server
}

fn put(server: &Server, table: &str, mails: &[Mail]) {
    let sql = format!(
        "INSERT INTO {table} (message_id, inbox, subject, sender, recipients, date, body)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value -> 4, value ->> 5, value ->> 6
         FROM json_each(?1) ORDER BY key"
    );
    run(server, json!([{"sql": sql, "params": [json!(mails).to_string()]}]));
}

fn run(server: &Server, batch: Value) {
    let answer = server.ask(json!({"db": DATABASE, "batch": batch}));
    assert!(answer["error"].is_null(), "{answer}");
}
