//! The SQL of the mail. `migrations/benchmarks` says how it lies.

use super::search::{MailOrder, MailSearch};
use crate::db::{Rows, Statement, sql};
use crate::error::{Error, Result};
use serde_json::Value;

/// How far the emails that a search finds are counted.
const MAX_COUNT: u32 = 1_000;

/// The expression that matches no text.
const NOTHING: &str = "\"\"";

// Files of their own, for scripts/bench measures them too.
const PAGE: &str = include_str!("store/page.sql");
const COUNT: &str = include_str!("store/count.sql");
const PAGE_OF_FEW: &str = include_str!("store/page_of_few.sql");
const COUNT_OF_FEW: &str = include_str!("store/count_of_few.sql");
/// What they are made of where nobody is asked for, and where somebody is.
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

/// The first emails that a search finds, as they are answered.
pub fn page(search: &MailSearch) -> Statement {
    let text = match search.order {
        // FTS5 ranks what it finds in one walk, not in many.
        MailOrder::Rank => PAGE.replace("{order}", "rank"),
        MailOrder::Date if may_be_few(search) => PAGE_OF_FEW.to_owned(),
        // Keys rise with dates.
        MailOrder::Date => PAGE.replace("{order}", "emails_fts.rowid DESC"),
    };
    bound(&text, search).bind(search.limit)
}

/// How many emails a search finds, as a figure; counted to [`MAX_COUNT`].
pub fn count(search: &MailSearch) -> Statement {
    bound(if may_be_few(search) { COUNT_OF_FEW } else { COUNT }, search).bind(MAX_COUNT)
}

/// Whether it is worth a look how much mail of those who are asked for there is. Each of their entries is then a search of
/// its own, and that of a prefix begins with gathering all words that begin so.
fn may_be_few(search: &MailSearch) -> bool {
    names_people(search) && !search.query.has_prefix()
}

fn names_people(search: &MailSearch) -> bool {
    search.from.is_some() || search.to.is_some()
}

fn bound(text: &str, search: &MailSearch) -> Statement {
    let parts: &[_] = if names_people(search) { &PARTS_OF_PEOPLE } else { &PARTS };
    let text = parts.iter().fold(text.to_owned(), |text, (name, part)| text.replace(name, part));
    // Who asks for a time gets no mail of an unknown one: its date is '', before all others.
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
