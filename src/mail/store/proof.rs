//! Tests that a search finds what the query of the first document finds: the same rows, in the same order, with the
//! same scores. Both queries run on a native SQLite, each on its own schema, over the same mail.

use super::{PARTS, count, inboxes_near, page, people, people_near};
use crate::db::native::{migrated, migrations};
use crate::db::{Statement, sql};
use crate::dice::Dice;
use crate::mail::MailSearch;
use crate::mail::search::{MailOrder, Role};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The schema of the first document, word for word.
const DOCUMENT_SCHEMA: &str = "
CREATE TABLE emails (
  message_id TEXT PRIMARY KEY,
  inbox TEXT NOT NULL,
  subject TEXT,
  sender TEXT,
  recipients TEXT, -- JSON array
  date TEXT,
  body TEXT,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX idx_emails_inbox ON emails(inbox);
CREATE INDEX idx_emails_date ON emails(date);
CREATE VIRTUAL TABLE emails_fts USING fts5(
  subject,
  body,
  content='emails',
  content_rowid='rowid'
);
CREATE TRIGGER emails_ai AFTER INSERT ON emails BEGIN
  INSERT INTO emails_fts(rowid, subject, body)
  VALUES (new.rowid, new.subject, new.body);
END;";

const DOCUMENT_QUERY: &str = "SELECT rank AS score,
  e.message_id,
  e.subject,
  e.sender,
  e.date,
  snippet(emails_fts, 0, '<mark>', '</mark>', '...', 32) as subject_snippet,
  snippet(emails_fts, 1, '<mark>', '</mark>', '...', 64) as body_snippet
FROM emails_fts
INNER JOIN emails e ON emails_fts.rowid = e.rowid
WHERE emails_fts MATCH ?1
  AND e.inbox = ?2
ORDER BY rank
LIMIT +?3";

struct Mail {
    message_id: String,
    inbox: String,
    subject: Option<String>,
    sender: String,
    recipients: Vec<String>,
    date: Option<String>,
    body: String,
}

fn address(number: usize) -> String {
    format!("person.{number}@enron.com")
}

/// Few words are common and most are rare, as in any language.
fn word(dice: &mut Dice) -> String {
    let rank = 1 << dice.below(10);
    format!("{}{}", dice.pick(&["gas", "pow", "mee", "tra"]), dice.below(rank))
}

fn words(dice: &mut Dice, most: usize) -> String {
    let words = (0..=dice.below(most)).map(|_| word(dice));
    words.collect::<Vec<_>>().join(dice.pick(&[" ", " ", "\n", ", ", " - "]))
}

/// Emails in the order of inbox and date, as the database stores them.
fn corpus(dice: &mut Dice) -> Vec<Mail> {
    let mut mails = (0..1_500)
        .map(|number| Mail {
            message_id: format!("<{number}.{}@mail>", dice.below(1_000)),
            // Some inboxes are made larger than others.
            inbox: address(dice.below(12).min(dice.0 as usize % 12)),
            subject: (!dice.once_in(20)).then(|| words(dice, 6)),
            sender: address(dice.below(12)).replace("person", dice.pick(&["person", "Person"])),
            // One address receives most of the mail.
            recipients: (0..dice.below(5))
                .map(|_| address(if dice.once_in(2) { 14 } else { dice.below(15) }))
                .collect(),
            date: (!dice.once_in(30)).then(|| {
                let (month, day, hour) = (1 + dice.below(3), 1 + dice.below(28), dice.below(24));
                format!("2001-{month:02}-{day:02}T{hour:02}:00:00Z")
            }),
            body: words(dice, 120),
        })
        .collect::<Vec<_>>();
    mails.sort_by_key(|it| (it.inbox.clone(), it.date.clone().unwrap_or_default(), it.message_id.clone()));
    mails
}

fn document_database<'a>(mails: impl Iterator<Item = &'a Mail>) -> Connection {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(DOCUMENT_SCHEMA).unwrap();
    for it in mails {
        let recipients = json!(it.recipients).to_string();
        let sql = "INSERT INTO emails (message_id, inbox, subject, sender, recipients, date, body)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let row = params![it.message_id, it.inbox, it.subject, it.sender, recipients, it.date, it.body];
        database.execute(sql, row).unwrap();
    }
    database
}

/// Our database with this mail. `inboxes_of` tells which inboxes hold a message.
fn database(mails: &[Mail], inboxes_of: impl Fn(&Mail) -> BTreeSet<String>) -> Connection {
    let database = migrated(&migrations("benchmarks"));
    for (number, it) in mails.iter().enumerate() {
        let recipients = json!(it.recipients).to_string();
        let sql = "INSERT INTO emails (id, message_id, inbox, subject, sender, recipients, date, body)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let row = params![number as i64, it.message_id, it.inbox, it.subject, it.sender, recipients, it.date, it.body];
        database.execute(sql, row).unwrap();
    }
    let mut entries = Vec::new();
    for (number, it) in mails.iter().enumerate() {
        let place = |inbox| (inbox, it.date.clone().unwrap_or_default(), it.message_id.clone(), number);
        entries.extend(inboxes_of(it).into_iter().map(place));
    }
    entries.sort();
    for (place, (inbox, date, _, email)) in entries.into_iter().enumerate() {
        database.execute("INSERT INTO inboxes (inbox) VALUES (?1) ON CONFLICT DO NOTHING", [&inbox]).unwrap();
        let sql = "INSERT INTO entries (id, email_id, date) SELECT lo + ?1, ?2, ?3 FROM inboxes WHERE inbox = ?4";
        database.execute(sql, params![place as i64, email as i64, date, inbox]).unwrap();
    }
    database.execute_batch("INSERT INTO emails_fts (emails_fts, rank) VALUES ('integrity-check', 1)").unwrap();
    database
}

fn owner(mail: &Mail) -> BTreeSet<String> {
    [mail.inbox.clone()].into()
}

fn query(dice: &mut Dice) -> String {
    let mut terms = (0..1 + dice.below(3))
        .map(|_| match dice.below(6) {
            0 => format!("{}*", &word(dice)[..4]),
            1 => format!("\"{} {}\"", word(dice), word(dice)),
            2 => format!("{} OR {}", word(dice), word(dice)),
            _ => word(dice),
        })
        .collect::<Vec<_>>();
    if dice.once_in(4) {
        terms.push(format!("-{}", word(dice)));
    }
    terms.join(" ")
}

fn search(arguments: Value) -> MailSearch {
    MailSearch::read(&arguments).unwrap()
}

fn rows(database: &Connection, statement: Statement) -> Vec<Value> {
    statement.rows_of(database).unwrap()
}

/// The rows of the document's query, in the form of our response.
fn document_rows(database: &Connection, search: &MailSearch, limit: u32) -> Vec<Value> {
    let statement = sql(DOCUMENT_QUERY).bind(search.query.fts5().unwrap()).bind(search.inbox.as_str()).bind(limit);
    let answered = |row: Value| {
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        let snippet = format!("Subject: {} | Body: {}", text("subject_snippet"), text("body_snippet"));
        json!({
            "score": row["score"], "message_id": row["message_id"], "subject": row["subject"], "sender": row["sender"],
            "date": row["date"], "snippet": snippet,
        })
    };
    rows(database, statement).into_iter().map(answered).collect()
}

fn document_count(database: &Connection, search: &MailSearch) -> Value {
    let counted = sql("SELECT count(*) AS count FROM emails_fts INNER JOIN emails e ON emails_fts.rowid = e.rowid
        WHERE emails_fts MATCH ?1 AND e.inbox = ?2");
    let counted = counted.bind(search.query.fts5().unwrap()).bind(search.inbox.as_str());
    rows(database, counted)[0]["count"].clone()
}

fn number(database: &Connection, select: &str) -> i64 {
    database.query_row(select, [], |it| it.get(0)).unwrap()
}

fn column<'a>(rows: &'a [Value], name: &str) -> Vec<&'a Value> {
    rows.iter().map(|it| &it[name]).collect()
}

#[test]
fn a_search_is_the_documents_query() {
    let mut dice = Dice(3);
    let mails = corpus(&mut dice);
    let ours = database(&mails, owner);
    let theirs = document_database(mails.iter());
    let (mut found, mut full) = (0, 0);
    for _ in 0..600 {
        let text = query(&mut dice);
        let limit = dice.pick(&[1, 10, 50]);
        let search = search(json!({"query": text, "inbox_id": address(dice.below(13)), "limit": limit}));
        let expected = document_rows(&theirs, &search, limit);
        assert_eq!(
            rows(&ours, page(&search).with_column("rank AS score", "e.message_id")),
            expected,
            "{text:?} in {}",
            search.inbox
        );
        assert_eq!(
            rows(&ours, count(&search))[0]["count"],
            document_count(&theirs, &search),
            "{text:?} in {}",
            search.inbox
        );
        found += usize::from(!expected.is_empty());
        full += usize::from(expected.len() as u32 == limit);
    }
    assert!(found > 300 && full > 100, "the queries are of no use: {found} found something, {full} a whole page");
}

/// Emails with the same score are ordered by their keys. The keys differ from the document's if the document's database
/// received its mail in another order.
#[test]
fn mail_that_came_in_another_order_differs_in_ties_alone() {
    let mut dice = Dice(4);
    let mails = corpus(&mut dice);
    let ours = database(&mails, owner);
    let mut arrived = mails.iter().collect::<Vec<_>>();
    for at in (1..arrived.len()).rev() {
        arrived.swap(at, dice.below(at + 1));
    }
    let theirs = document_database(arrived.into_iter());
    for _ in 0..150 {
        let mut search = search(json!({"query": query(&mut dice), "inbox_id": address(dice.below(12)), "limit": 10}));
        let scores = |rows: &[Value]| column(rows, "score").into_iter().cloned().collect::<Vec<_>>();
        let scored = |search: &MailSearch| rows(&ours, page(search).with_column("rank AS score", "e.message_id"));
        assert_eq!(scores(&scored(&search)), scores(&document_rows(&theirs, &search, 10)));
        search.limit = 10_000;
        let by_id = |mut rows: Vec<Value>| {
            rows.sort_by_key(|it| it["message_id"].to_string());
            rows
        };
        assert_eq!(by_id(scored(&search)), by_id(document_rows(&theirs, &search, 10_000)));
    }
}

#[test]
fn filters_leave_out_what_they_say_and_dates_order() {
    let mut dice = Dice(5);
    let mails = corpus(&mut dice);
    let ours = database(&mails, owner);
    let mut found = 0;
    for _ in 0..300 {
        let mut arguments = json!({"query": query(&mut dice), "inbox_id": address(dice.below(12))});
        let day = |dice: &mut Dice| format!("2001-{:02}-{:02}", 1 + dice.below(3), 1 + dice.below(28));
        if dice.once_in(2) {
            arguments["from"] = address(dice.below(12)).to_uppercase().into();
        }
        if dice.once_in(3) {
            arguments["to"] = address(dice.below(15)).into();
        }
        if dice.once_in(2) {
            arguments["sent_after"] = day(&mut dice).into();
        }
        if dice.once_in(2) {
            arguments["sent_before"] = day(&mut dice).into();
        }
        let mut search = search(arguments.clone());
        search.limit = 10_000;
        let mut unfiltered = search.clone();
        (unfiltered.from, unfiltered.to, unfiltered.sent_after, unfiltered.sent_before) = (None, None, None, None);

        let passes = |row: &Value| {
            let mail = mails.iter().find(|it| row["message_id"] == it.message_id.as_str()).unwrap();
            let date = |holds: &dyn Fn(&str) -> bool| mail.date.as_deref().is_some_and(holds);
            search.from.as_ref().is_none_or(|it| mail.sender.eq_ignore_ascii_case(it))
                && search.to.as_ref().is_none_or(|it| mail.recipients.contains(it))
                && search.sent_after.as_ref().is_none_or(|day| date(&|it| &it[..10] >= day.as_str()))
                && search.sent_before.as_ref().is_none_or(|day| date(&|it| &it[..10] < day.as_str()))
        };
        let mut expected = rows(&ours, page(&unfiltered));
        expected.retain(passes);
        assert_eq!(rows(&ours, page(&search)), expected, "{arguments}");
        assert_eq!(rows(&ours, count(&search))[0]["count"], expected.len(), "{arguments}");
        found += expected.len();

        search.order = MailOrder::Date;
        let by_date = rows(&ours, page(&search));
        let newest_first = column(&by_date, "date").is_sorted_by(|a, b| a.as_str() >= b.as_str());
        assert!(newest_first, "{arguments}");
        let ids =
            |rows: &[Value]| column(rows, "message_id").into_iter().map(Value::to_string).collect::<BTreeSet<_>>();
        assert_eq!((ids(&by_date), by_date.len()), (ids(&expected), expected.len()), "{arguments}");
    }
    assert!(found > 500, "the filters are of no use: they let {found} through");
}

/// Compares each search with a plain search, which uses no table of people, no bounds for people and no shortcut for
/// people with little mail. The plain search checks the sender and recipients of each email that has the words.
#[test]
fn people_are_found_as_in_the_emails_themselves() {
    let asked = "emails_fts MATCH ?1
        AND (?5 IS NULL OR EXISTS (SELECT 1 FROM entries x JOIN emails y ON y.id = x.email_id
          WHERE x.id = emails_fts.rowid AND lower(y.sender) = ?5))
        AND (?6 IS NULL OR EXISTS (SELECT 1 FROM entries x JOIN emails y ON y.id = x.email_id, json_each(y.recipients) j
          WHERE x.id = emails_fts.rowid AND lower(j.value) = ?6))";
    let inbox = "WITH bounds (lo, hi) AS (SELECT
        iif(?3 IS NULL, lo, (SELECT min(n.id) FROM entries n WHERE n.inbox_id = i.id AND n.date >= ?3)),
        iif(?4 IS NULL, hi, (SELECT max(n.id) FROM entries n WHERE n.inbox_id = i.id AND n.date < ?4))
        FROM inboxes i WHERE i.inbox = ?2)";
    let plainly = |text: &str| {
        let parts = [("{found}", asked), ("{bounds}", inbox)].into_iter().chain(PARTS);
        parts.fold(text.to_owned(), |text, (name, part)| text.replace(name, part))
    };
    let [by_rank, by_date] = ["rank", "emails_fts.rowid DESC"].map(|it| plainly(&super::PAGE.replace("{order}", it)));
    let counted = plainly(super::COUNT);

    let mut dice = Dice(9);
    let mails = corpus(&mut dice);
    let ours = database(&mails, owner);
    let (mut few, mut many) = (0, 0);
    for _ in 0..600 {
        let mut arguments = json!({"query": query(&mut dice), "inbox_id": address(dice.below(13).min(dice.below(13)).min(dice.below(4) * 4)), "limit": dice.pick(&[1, 10, 50])});
        let day = |dice: &mut Dice| format!("2001-{:02}-{:02}", 1 + dice.below(3), 1 + dice.below(28));
        for (name, once_in) in [("from", 2), ("to", 2)] {
            if dice.once_in(once_in) {
                // One of the addresses occurs in no email.
                arguments[name] = address(if dice.once_in(2) { 14 } else { dice.below(16) }).into();
            }
        }
        for name in ["sent_after", "sent_before"] {
            if dice.once_in(3) {
                arguments[name] = day(&mut dice).into();
            }
        }
        if dice.once_in(2) {
            arguments["order"] = "date".into();
        }
        let search = search(arguments.clone());
        let plain = |text: &str, last: u32| {
            let since = search.sent_after.as_deref().or(search.sent_before.as_deref().map(|_| "0"));
            let texts = [since, search.sent_before.as_deref(), search.from.as_deref(), search.to.as_deref()];
            let words = sql(text).bind(search.query.fts5().unwrap()).bind(search.inbox.as_str());
            rows(&ours, texts.into_iter().fold(words, Statement::bind).bind(last))
        };
        let expected = plain(if search.order == MailOrder::Date { &by_date } else { &by_rank }, search.limit);
        assert_eq!(rows(&ours, page(&search)), expected, "{arguments}");
        assert_eq!(rows(&ours, count(&search)), plain(&counted, super::MAX_COUNT), "{arguments}");
        if super::may_be_few(&search) && !expected.is_empty() {
            let of = |role: u32, who: &Option<String>| {
                let sql = "SELECT count(*) FROM people p JOIN addresses a ON a.id = p.address_id JOIN inboxes i
                    ON p.entry_id BETWEEN i.lo AND i.hi WHERE i.inbox = ?1 AND p.role = ?2 AND a.address = ?3";
                ours.query_row(sql, params![search.inbox, role, who], |it| it.get::<_, u32>(0)).unwrap()
            };
            let entries = [of(0, &search.from), of(1, &search.to)];
            *(if entries.iter().any(|it| (1..=100).contains(it)) { &mut few } else { &mut many }) += 1;
        }
    }
    assert!(few > 40 && many > 10, "the people are of no use: {few} times there were few emails, {many} times many");
}

/// Compares each search with an unfiltered search, whose emails are then filtered by the people whom the part stands for.
#[test]
fn people_are_found_by_parts_of_their_addresses() {
    let mut dice = Dice(12);
    let mails = corpus(&mut dice);
    let ours = database(&mails, owner);
    let (mut of_one, mut of_several) = (0, 0);
    for _ in 0..300 {
        let inbox = address(dice.below(4));
        let mut arguments = json!({"query": query(&mut dice), "inbox_id": inbox, "match": "all"});
        for name in ["from", "to"] {
            if dice.once_in(2) {
                let number = dice.below(16);
                let part = [format!("Person {number}"), format!("{number}@enron"), "pers".to_owned(), address(number)];
                arguments[name] = dice.pick(&part.each_ref()).as_str().into();
            }
        }
        if dice.once_in(2) {
            arguments["order"] = "date".into();
        }
        if dice.once_in(3) {
            arguments["sent_before"] = "2001-02-14".into();
        }
        let mut search = search(arguments.clone());
        search.limit = 10_000;
        let named = |role| {
            let rows = rows(&ours, people(&search, role));
            rows.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        // The corpus has few addresses, so that all of them are looked at.
        let [senders, recipients] = [named(Role::Sender), named(Role::Recipient)];
        let here = |holds: &dyn Fn(&Mail) -> bool| mails.iter().any(|it| it.inbox == inbox && holds(it));
        for (role, text, people) in [("from", &search.from, &senders), ("to", &search.to, &recipients)] {
            let Some(text) = text else { continue };
            let sent = |who: &str| here(&|it| it.sender.eq_ignore_ascii_case(who));
            let received = |who: &str| here(&|it| it.recipients.iter().any(|each| each == who));
            let is_here = |who: &str| if role == "from" { sent(who) } else { received(who) };
            assert!(people.iter().all(|it| is_here(it)), "{arguments}: {people:?}");
            let number = text.chars().filter(char::is_ascii_digit).collect::<String>();
            let expected = (0..16).map(address).filter(|it| is_here(it));
            // A number of one digit is a whole word, and a number of two digits could only begin a longer one.
            let expected = expected.filter(|it| number.is_empty() || *it == format!("person.{number}@enron.com"));
            let expected = expected.collect::<BTreeSet<_>>();
            assert_eq!(people.len(), expected.len().min(10), "{arguments}: {people:?}");
            assert!(people.iter().all(|it| expected.contains(it)), "{arguments}: {people:?}");
        }
        let mut unfiltered = search.clone();
        (unfiltered.from, unfiltered.to) = (None, None);
        let mut expected = rows(&ours, page(&unfiltered));
        expected.retain(|row| {
            let mail = mails.iter().find(|it| row["message_id"] == it.message_id.as_str()).unwrap();
            let sender = mail.sender.to_ascii_lowercase();
            (search.from.is_none() || senders.contains(&sender))
                && (search.to.is_none() || mail.recipients.iter().any(|it| recipients.contains(it)))
        });
        assert_eq!(rows(&ours, page(&search)), expected, "{arguments}");
        assert_eq!(rows(&ours, count(&search))[0]["count"], expected.len(), "{arguments}");
        let most = senders.len().max(recipients.len());
        of_one += usize::from(search.names_parts() && most == 1 && !expected.is_empty());
        of_several += usize::from(search.names_parts() && most > 1 && !expected.is_empty());
    }
    assert!(of_one > 10 && of_several > 10, "the parts are of no use: {of_one} of one person, {of_several} of several");
}

#[test]
fn people_and_inboxes_that_are_near_are_listed() {
    let mut mails = corpus(&mut Dice(13));
    mails.truncate(200);
    mails[0].sender = "Tim.Belden@enron.com".into();
    let inbox = mails[0].inbox.clone();
    let ours = database(&mails, owner);
    let near = |from: &str| {
        let search = search(json!({"query": "gas0", "inbox_id": inbox, "from": from, "match": "auto"}));
        let rows = rows(&ours, people_near(&search, Role::Sender));
        assert_eq!(rows.len(), 1, "{from}: {rows:?}");
        (rows[0]["name"].clone(), rows[0]["count"].clone())
    };
    assert_eq!(near("tim.beldon@enron.com"), ("tim.belden@enron.com".into(), 0.into()));
    assert_eq!(near("Beldin, T"), ("tim.belden@enron.com".into(), 0.into()));
    assert_eq!(near("TIM.belden@enron.com"), ("tim.belden@enron.com".into(), 1.into()));

    // More addresses have the word than are looked at.
    let crowd = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
        INSERT INTO addresses (address) SELECT 'crowd.' || i || '@enron.com' FROM n";
    ours.execute_batch(crowd).unwrap();
    let crowd = search(json!({"query": "gas0", "inbox_id": inbox, "from": "crowd", "match": "auto"}));
    assert_eq!(rows(&ours, people(&crowd, Role::Sender)), [json!({"name": "", "count": 2})]);

    let inboxes = |inbox: &str| rows(&ours, inboxes_near(&search(json!({"inbox_id": inbox, "match": "auto"}))));
    assert_eq!(column(&inboxes(&inbox), "name"), [&json!(inbox)]);
    let all = number(&ours, "SELECT count(*) FROM inboxes");
    assert_eq!(inboxes("nobody@enron.com").len() as i64, all);
}

/// A database that had its mail before addresses were indexed by their words.
#[test]
fn addresses_of_earlier_mail_are_found_by_their_words() {
    let files = migrations("benchmarks");
    let at = files.iter().position(|it| it.ends_with("0002_index_address_words.sql")).unwrap();
    let database = migrated(&files[..at]);
    database.execute_batch("INSERT INTO addresses (address) VALUES ('tim.belden@enron.com')").unwrap();
    database.execute_batch(&std::fs::read_to_string(&files[at]).unwrap()).unwrap();
    database.execute_batch("INSERT INTO addresses (address) VALUES ('kay.mann@enron.com')").unwrap();
    for word in ["belden", "mann"] {
        let found = format!("SELECT count(*) FROM address_words WHERE address_words MATCH '{word}'");
        assert_eq!(number(&database, &found), 1, "{word}");
    }
}

/// With several inboxes for one email, the ranking differs from the document's: a score depends on how common a word is
/// among the entries, and an email has one entry for each of its inboxes.
#[test]
fn under_the_participant_rule_an_inbox_holds_what_names_it() {
    let mut dice = Dice(6);
    let mails = corpus(&mut dice);
    let participants = |mail: &Mail| {
        let all = mail.recipients.iter().cloned().chain([mail.sender.to_lowercase()]);
        // Only some addresses get an inbox. Two of these own no mailbox.
        all.filter(|it| (6..15).any(|number| *it == address(number))).collect::<BTreeSet<_>>()
    };
    let ours = database(&mails, participants);
    let theirs = document_database(mails.iter());
    for _ in 0..300 {
        let mut search = search(json!({"query": query(&mut dice), "inbox_id": address(6 + dice.below(9))}));
        search.limit = 10_000;
        let named = sql("SELECT e.message_id FROM emails_fts JOIN emails e ON e.rowid = emails_fts.rowid
            WHERE emails_fts MATCH ?1 AND (lower(e.sender) = ?2
              OR EXISTS (SELECT 1 FROM json_each(e.recipients) WHERE value = ?2))");
        let named = rows(&theirs, named.bind(search.query.fts5().unwrap()).bind(search.inbox.as_str()));
        let found = rows(&ours, page(&search).with_column("rank AS score", "e.message_id"));
        assert!(column(&found, "score").is_sorted_by(|a, b| a.as_f64() <= b.as_f64()));
        let ids =
            |rows: &[Value]| column(rows, "message_id").into_iter().map(Value::to_string).collect::<BTreeSet<_>>();
        assert_eq!((ids(&found), found.len()), (ids(&named), named.len()), "{search:?}");
    }
}

#[test]
fn nothing_is_found_for_nothing() {
    let ours = database(&corpus(&mut Dice(7)), owner);
    for (text, inbox) in [("", "person.0@enron.com"), ("-gas0 !!", "person.0@enron.com"), ("gas0", "nobody@enron.com")]
    {
        let search = search(json!({"query": text, "inbox_id": inbox}));
        assert_eq!(rows(&ours, page(&search)), Vec::<Value>::new());
        assert_eq!(rows(&ours, count(&search))[0]["count"], 0);
    }
}

#[test]
fn the_index_follows_the_mail() {
    let ours = database(&corpus(&mut Dice(8)), owner);
    let found = |text: &str| {
        let mut search = search(json!({"query": text, "inbox_id": address(0), "limit": 50}));
        search.limit = 10_000;
        rows(&ours, page(&search)).len()
    };
    let checked =
        || ours.execute_batch("INSERT INTO emails_fts (emails_fts, rank) VALUES ('integrity-check', 1)").unwrap();
    let all = found("gas* OR pow* OR mee* OR tra*");
    let counted = || {
        ours.query_row("SELECT emails FROM inboxes WHERE inbox = ?1", [address(0)], |it| {
            it.get::<_, isize>(0).map(isize::unsigned_abs)
        })
    };
    assert_eq!(counted().unwrap(), all);
    assert!(all > 100);

    let changed =
        ours.execute("UPDATE emails SET body = 'quite another', subject = NULL WHERE inbox = ?1", [address(0)]);
    assert_eq!((changed.unwrap(), found("\"quite another\""), found("gas*")), (all, all, 0));
    checked();
    let some = "DELETE FROM emails WHERE id IN (SELECT id FROM emails WHERE inbox = ?1 LIMIT 10)";
    assert_eq!(ours.execute(some, [address(0)]).unwrap(), 10);
    assert_eq!((found("another"), counted().unwrap()), (all - 10, all - 10));
    checked();
    let strays = "SELECT count(*) FROM people WHERE entry_id NOT IN (SELECT id FROM entries)";
    assert_eq!(number(&ours, strays), 0);

    ours.execute(
        "UPDATE emails SET sender = 'New@enron.com', recipients = '[\"Old@enron.com\"]' WHERE inbox = ?1",
        [address(0)],
    )
    .unwrap();
    let both =
        search(json!({"query": "another", "inbox_id": address(0), "from": "NEW@enron.com", "to": "old@ENRON.com"}));
    assert_eq!(rows(&ours, count(&both))[0]["count"], all - 10);
    // The expected contents of the table come from the views. Bulk loads fill the table from the views too.
    let named = "SELECT count(*) FROM (SELECT DISTINCT a.id, p.role, p.entry_id FROM entry_people p JOIN addresses a USING (address))";
    let differ =
        "SELECT count(*) FROM (SELECT a.id, p.role, p.entry_id FROM entry_people p JOIN addresses a USING (address)
        EXCEPT SELECT * FROM people)";
    assert_eq!((number(&ours, "SELECT count(*) FROM people"), number(&ours, differ)), (number(&ours, named), 0));

    ours.execute_batch(
        "DELETE FROM addresses WHERE address = 'person.3@enron.com' AND id NOT IN (SELECT address_id FROM people)",
    )
    .unwrap();
    ours.execute_batch("INSERT INTO address_words (address_words, rank) VALUES ('integrity-check', 1)").unwrap();
    let newcomer = "SELECT count(*) FROM address_words WHERE address_words MATCH '\"new\" AND \"enron\"'";
    assert_eq!(number(&ours, newcomer), 1);

    for refused in [
        "UPDATE addresses SET address = 'x'",
        "UPDATE emails SET date = '2002-01-01T00:00:00Z'",
        "UPDATE entries SET date = ''",
        "UPDATE emails SET id = id + 1",
        "UPDATE emails SET message_id = message_id || 'x'",
    ] {
        assert!(ours.execute_batch(refused).is_err(), "{refused}");
    }
}

#[test]
fn what_would_make_the_index_wrong_is_refused() {
    let mails = corpus(&mut Dice(10));
    let ours = database(&mails, owner);
    let checked = "INSERT INTO emails_fts (emails_fts, rank) VALUES ('integrity-check', 1)";
    let refused = |sql: &str, why: &str| {
        let said = ours.execute_batch(sql).unwrap_err().to_string();
        assert!(said.contains(why), "{sql}: {said}");
        ours.execute_batch(checked).unwrap();
    };
    ours.execute_batch(
        "INSERT INTO inboxes (id, inbox) VALUES (500, 'new@enron.com');
         INSERT INTO emails (id, message_id, inbox, date, body) VALUES
           (5001, '<m>', 'new@enron.com', '2001-01-02T00:00:00Z', 'one'),
           (5002, '<k>', 'new@enron.com', '2001-01-02T00:00:00Z', 'two'),
           (5003, '<z>', 'new@enron.com', '2001-01-03T00:00:00Z', 'three'),
           (5004, '<a>', 'new@enron.com', NULL, 'four');
         INSERT INTO entries (id, email_id, date) VALUES ((500 << 20) + 10, 5001, '2001-01-02T00:00:00Z');",
    )
    .unwrap();
    let entry = |at: u32, email: u32, date: &str| {
        format!("INSERT INTO entries (id, email_id, date) VALUES ((500 << 20) + {at}, {email}, '{date}')")
    };
    let (same, later) = ("2001-01-02T00:00:00Z", "2001-01-03T00:00:00Z");
    let order = "ids of entries rise with dates and Message-IDs";
    refused(&entry(9, 5003, later), order);
    refused(&entry(11, 5002, same), order);
    refused(&entry(11, 5001, same), order);
    refused(&entry(11, 5004, ""), order);
    refused(&entry(11, 5003, same), "an entry has the date of its email");
    refused(&entry(11, 5004, later), "an entry has the date of its email");
    refused(&entry(11, 5999, later), "an entry has the date of its email");
    refused(&entry(1 << 20, 5003, later), "in the block of an inbox");
    refused(&format!("INSERT INTO entries (email_id, date) VALUES (5003, '{later}')"), "in the block of an inbox");
    refused(&entry(10, 5003, later), "an entry has this id");
    refused(&entry(10, 5003, later).replace("INSERT", "INSERT OR REPLACE"), "an entry has this id");
    for taken in [entry(9, 5002, same), entry(11, 5003, later), entry(8, 5004, "")] {
        ours.execute_batch(&taken).unwrap();
    }

    let email = |or: &str, id: &str, message_id: &str, then: &str| {
        format!("INSERT {or} INTO emails (id, message_id, inbox, body) VALUES ({id}, '{message_id}', 'x', 'x') {then}")
    };
    refused(&email("", "5001", "<new>", ""), "an email has this id");
    refused(&email("OR REPLACE", "5001", "<m>", ""), "an email has this id");
    refused(&email("OR REPLACE", "6000", "<m>", ""), "FOREIGN KEY constraint failed");
    let before = number(&ours, "SELECT count(*) FROM emails");
    ours.execute_batch(&email("", "6000", "<m>", "ON CONFLICT (message_id) DO NOTHING")).unwrap();
    ours.execute_batch(&email("", "NULL", "<m>", "ON CONFLICT (message_id) DO UPDATE SET body = excluded.body"))
        .unwrap();
    ours.execute_batch(checked).unwrap();
    assert_eq!(number(&ours, "SELECT count(*) FROM emails"), before);
    assert_eq!(number(&ours, "SELECT count(*) FROM emails_fts WHERE emails_fts MATCH 'one'"), 0);
}
