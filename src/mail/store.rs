//! The SQL of the mail. The migration in `migrations/benchmarks` explains the tables.

use super::search::{MailOrder, MailSearch};
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
/// search with one.
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

/// The first emails that a search finds, with the columns of the response.
pub fn page(search: &MailSearch) -> Statement {
    let text = match search.order {
        // FTS5 ranks the results of one walk only, so the search of few entries one by one cannot be used here.
        MailOrder::Rank => PAGE.replace("{order}", "rank"),
        MailOrder::Date if may_be_few(search) => PAGE_OF_FEW.to_owned(),
        // The keys are in the order of the dates.
        MailOrder::Date => PAGE.replace("{order}", "emails_fts.rowid DESC"),
    };
    bound(&text, search).bind(search.limit)
}

/// How many emails a search finds, as a figure. The count stops at [`MAX_COUNT`].
pub fn count(search: &MailSearch) -> Statement {
    bound(if may_be_few(search) { COUNT_OF_FEW } else { COUNT }, search).bind(MAX_COUNT)
}

/// Whether the statement should check that the named people have little mail. If they do, the statement searches each
/// of their entries one by one. This is not worth it for a prefix, because each of these searches would first collect
/// all words with the prefix.
fn may_be_few(search: &MailSearch) -> bool {
    names_people(search) && !search.query.has_prefix()
}

fn names_people(search: &MailSearch) -> bool {
    search.from.is_some() || search.to.is_some()
}

fn bound(text: &str, search: &MailSearch) -> Statement {
    let parts: &[_] = if names_people(search) { &PARTS_OF_PEOPLE } else { &PARTS };
    let text = parts.iter().fold(text.to_owned(), |text, (name, part)| text.replace(name, part));
    // A search with a period must not find emails without a date. Their date is '', which sorts before all others.
    let since = search.sent_after.as_deref().or(search.sent_before.as_deref().map(|_| "0"));
    sql(text)
        .bind(search.query.fts5().unwrap_or(NOTHING))
        .bind(search.inbox.as_str())
        .bind(since)
        .bind(search.sent_before.as_deref())
        .bind(search.from.as_deref())
        .bind(search.to.as_deref())
}

pub fn find(message_id: &str) -> Statement {
    sql("SELECT message_id, inbox, subject, sender, coalesce(recipients, '[]') AS recipients, date, body
        FROM emails WHERE message_id = ?1")
    .bind(message_id)
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
