//! The SQL of the mail. The migration in `migrations/benchmarks` explains the tables.

use super::person;
use super::search::{MailOrder, MailSearch, Role};
use crate::db::{Rows, Statement, sql};
use crate::error::{Error, Result};
use serde_json::Value;

/// The number at which counting the results of a search stops.
const MAX_COUNT: u32 = 1_000;

/// The FTS5 expression that matches no text.
const NOTHING: &str = "\"\"";

// These statements are in files of their own, because scripts/bench measures them too.
const PAGE: &str = include_str!("store/page.sql");
const COUNT: &str = include_str!("store/count.sql");
const PAGE_OF_FEW: &str = include_str!("store/page_of_few.sql");
const COUNT_OF_FEW: &str = include_str!("store/count_of_few.sql");
/// The parts of these statements: [`PARTS`] for a search without a sender or recipient, [`PARTS_OF_PEOPLE`] for a
/// search with one, and [`PARTS_OF_PARTS`] for a search with a part of an address.
const PARTS: [(&str, &str); 3] = [
    ("{bounds}", include_str!("store/bounds.sql")),
    ("{shown}", include_str!("store/shown.sql")),
    ("{found}", "emails_fts MATCH ?1"),
];
const PARTS_OF_PEOPLE: [(&str, &str); 4] = [
    ("{bounds}", include_str!("store/bounds_of_people.sql")),
    ("{few}", include_str!("store/few.sql")),
    ("{shown}", include_str!("store/shown.sql")),
    ("{found}", include_str!("store/found_of_people.sql")),
];

const PARTS_OF_PARTS: [(&str, &str); 3] = [
    ("{bounds}", include_str!("store/bounds_of_parts.sql")),
    ("{shown}", include_str!("store/shown.sql")),
    ("{found}", include_str!("store/found_of_parts.sql")),
];
const PEOPLE: &str = include_str!("store/people.sql");
const PEOPLE_NAMED: &str = include_str!("store/people_named.sql");
const INBOXES_NEAR: &str = include_str!("store/inboxes_near.sql");

/// The first emails that a search finds, with the columns of the response.
pub fn page(search: &MailSearch) -> Statement {
    let text = match search.order {
        // FTS5 ranks the results of one walk only, so the search of few entries one by one cannot be used here.
        MailOrder::Rank => PAGE.replace("{order}", "rank"),
        MailOrder::Date if may_be_few(search) => PAGE_OF_FEW.to_owned(),
        // The keys are in the order of the dates.
        MailOrder::Date => PAGE.replace("{order}", "emails_fts.rowid DESC"),
    };
    bound(&text, search, search.limit)
}

/// How many emails a search finds, as a figure. The count stops at [`MAX_COUNT`].
pub fn count(search: &MailSearch) -> Statement {
    bound(if may_be_few(search) { COUNT_OF_FEW } else { COUNT }, search, MAX_COUNT)
}

/// Whether the statement should check that the named people have little mail. If they do, the statement searches each
/// of their entries one by one. This is not worth it for a prefix, because each of these searches would first collect
/// all words with the prefix.
fn may_be_few(search: &MailSearch) -> bool {
    search.names_people() && !search.names_parts() && !search.query.has_prefix()
}

/// Statements have the parameters ?1 to ?7, of which ?7 is the limit.
fn bound(text: &str, search: &MailSearch, limit: u32) -> Statement {
    let parts: &[_] = match (search.names_people(), search.names_parts()) {
        (_, true) => &PARTS_OF_PARTS,
        (true, false) => &PARTS_OF_PEOPLE,
        (false, false) => &PARTS,
    };
    let mut text = parts.iter().fold(text.to_owned(), |text, (name, part)| text.replace(name, part));
    if search.names_parts() {
        text = text.replace("{senders}", &people_sql(Role::Sender, "?5", "?8"));
        text = text.replace("{recipients}", &people_sql(Role::Recipient, "?6", "?9"));
    }
    // A search with a period must not find emails without a date. Their date is '', which sorts before all others.
    let since = search.sent_after.as_deref().or(search.sent_before.as_deref().map(|_| "0"));
    let statement = sql(text)
        .bind(search.query.fts5().unwrap_or(NOTHING))
        .bind(search.inbox.as_str())
        .bind(since)
        .bind(search.sent_before.as_deref())
        .bind(search.from.as_deref())
        .bind(search.to.as_deref())
        .bind(limit);
    if search.names_parts() {
        return statement.bind(part_of(search, Role::Sender)).bind(part_of(search, Role::Recipient));
    }
    statement
}

/// The people whom the text in one parameter stands for, if the words of another parameter tell the text's parts.
fn people_sql(role: Role, text: &str, words: &str) -> String {
    let number = match role {
        Role::Sender => "0",
        Role::Recipient => "1",
    };
    PEOPLE.replace("{role}", number).replace("{text}", text).replace("{words}", words)
}

/// The FTS5 expression for the part of an address that a search names. A whole address has no parts.
fn part_of(search: &MailSearch, role: Role) -> String {
    let part = search.named(role).filter(|it| !person::is_address(it));
    part.and_then(person::part_expression).unwrap_or_else(|| NOTHING.to_owned())
}

/// The people whom a search names in one role and who have mail in the inbox, as figures. A last figure without a name
/// says that there may be more.
pub fn people(search: &MailSearch, role: Role) -> Statement {
    people_named(search, role, &part_of(search, role))
}

/// The people in the inbox whose addresses resemble the one that a search names, as figures. The figure is 1 for the
/// address itself, and then there is no other.
pub fn people_near(search: &MailSearch, role: Role) -> Statement {
    let words = search.named(role).and_then(person::near_expression);
    people_named(search, role, words.as_deref().unwrap_or(NOTHING))
}

fn people_named(search: &MailSearch, role: Role, words: &str) -> Statement {
    if search.named(role).is_none() {
        return sql("SELECT '' AS name, 0 AS count WHERE 0");
    }
    sql(PEOPLE_NAMED.replace("{people}", &people_sql(role, "?1", "?3")))
        .bind(search.named(role))
        .bind(search.inbox.as_str())
        .bind(words)
}

/// The inbox of a search or, if there is no such inbox, all inboxes, as figures.
pub fn inboxes_near(search: &MailSearch) -> Statement {
    sql(INBOXES_NEAR).bind(search.inbox.as_str())
}

/// Finds an email by its id, which people also give without the angle brackets around it.
pub fn find(message_id: &str) -> Statement {
    sql("SELECT message_id, inbox, subject, sender, coalesce(recipients, '[]') AS recipients, date, body
        FROM emails WHERE message_id IN (?1, ?2) ORDER BY message_id = ?1 DESC LIMIT 1")
    .bind(message_id)
    .bind((!message_id.starts_with('<')).then(|| format!("<{message_id}>")))
}

pub fn read_email(rows: &Rows) -> Result<Option<Value>> {
    let Some(mut email) = rows.first::<Value>()? else { return Ok(None) };
    let recipients = email["recipients"].as_str().unwrap_or_default();
    email["recipients"] = serde_json::from_str(recipients)
        .map_err(|cause| Error::Internal(format!("recipients are not JSON: {cause}")))?;
    Ok(Some(email))
}

/// Every inbox, as figures.
pub fn inboxes() -> Statement {
    sql("SELECT inbox AS name, emails AS count FROM inboxes ORDER BY inbox")
}

#[cfg(test)]
mod proof;
