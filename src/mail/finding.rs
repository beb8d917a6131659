//! The walk of a search: the search itself and, only if it finds nothing, the relaxed search together with what a note
//! needs to know, in one more round trip.

use super::note::{self, Hints};
use super::search::{MailSearch, Role};
use super::{MailFailure, ask, store};
use crate::callers::Scope;
use crate::db::Rows;
use crate::error::Result;
use serde_json::{Value, json};

/// The emails of a page, and how many emails the search found.
struct Found {
    emails: Vec<Value>,
    total: u32,
}

/// The people that `from` and `to` stand for.
#[derive(Default)]
pub struct Named {
    pub senders: People,
    pub recipients: People,
}

/// The addresses of people, and whether there may be more of them.
#[derive(Default)]
pub struct People {
    pub addresses: Vec<String>,
    pub may_be_more: bool,
}

/// Searches an inbox. Returns the page of emails and the total, in the form in which `email_search` responds, and a note
/// if something was relaxed or is wrong.
pub async fn search(scope: &Scope, search: &MailSearch) -> std::result::Result<Value, MailFailure> {
    let (found, named) = search_as_asked(scope, search).await?;
    if found.total > 0 || !search.takes_notes() {
        return Ok(found.answer(note::on_found(search, &named)));
    }
    let (relaxed, hints) = search_relaxed(scope, search).await?;
    let note = note::on_nothing(search, &named, &hints, relaxed.as_ref().map(|it| it.total));
    Ok(relaxed.unwrap_or(found).answer(note))
}

async fn search_as_asked(scope: &Scope, search: &MailSearch) -> std::result::Result<(Found, Named), MailFailure> {
    let statements = [store::page(search), store::count(search)];
    if !search.names_parts() {
        let [page, total] = ask(scope, statements).await?;
        return Ok((Found::read(&page, &total)?, Named::default()));
    }
    let [page, total] = statements;
    let people = [Role::Sender, Role::Recipient].map(|role| store::people(search, role));
    let [senders, recipients] = people;
    let [page, total, senders, recipients] = ask(scope, [page, total, senders, recipients]).await?;
    let named = Named { senders: People::read(&senders)?, recipients: People::read(&recipients)? };
    Ok((Found::read(&page, &total)?, named))
}

async fn search_relaxed(
    scope: &Scope,
    search: &MailSearch,
) -> std::result::Result<(Option<Found>, Hints), MailFailure> {
    let inboxes = store::inboxes_near(search);
    let [senders, recipients] = [Role::Sender, Role::Recipient].map(|role| store::people_near(search, role));
    let (found, [inboxes, senders, recipients]) = match search.relaxed() {
        None => (None, ask(scope, [inboxes, senders, recipients]).await?),
        Some(relaxed) => {
            let statements = [store::page(&relaxed), store::count(&relaxed), inboxes, senders, recipients];
            let [page, total, inboxes, senders, recipients] = ask(scope, statements).await?;
            (Some(Found::read(&page, &total)?), [inboxes, senders, recipients])
        }
    };
    let hints = Hints { inboxes: names(&inboxes)?, senders: senders.figures()?, recipients: recipients.figures()? };
    Ok((found, hints))
}

fn names(figures: &Rows) -> Result<Vec<String>> {
    Ok(figures.figures()?.into_iter().map(|it| it.name).collect())
}

impl People {
    fn read(figures: &Rows) -> Result<Self> {
        let mut addresses = names(figures)?;
        let may_be_more = addresses.last().is_some_and(String::is_empty);
        addresses.retain(|it| !it.is_empty());
        Ok(Self { addresses, may_be_more })
    }
}

impl Found {
    fn read(page: &Rows, total: &Rows) -> Result<Self> {
        let total = total.figures()?.first().map_or(0, |it| it.count);
        Ok(Self { emails: page.all()?, total })
    }

    fn answer(self, note: Option<String>) -> Value {
        let mut answer = json!({"emails": self.emails, "total": self.total});
        if let Some(note) = note {
            answer["note"] = note.into();
        }
        answer
    }
}
