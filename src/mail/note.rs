//! The note of a search: one or two sentences that tell a model what was relaxed or what is wrong, and what to do.

use super::finding::{Named, People};
use super::person;
use super::search::{MailSearch, Role};
use crate::db::Figure;
use crate::nearest::nearest;
use crate::search_text::ForeignSyntax;

/// How many people a part of an address stands for at most (`store/people.sql`).
const MOST_PEOPLE: usize = 10;
const MOST_OFFERED: usize = 3;
/// The longest text of a caller that a note repeats, in characters.
const LONGEST_TEXT: usize = 80;

const RELAXED: &str = "No email has all the words of the query, so these emails have at least one of them, perhaps in \
    another form, best match first. Use fewer and rarer words, or a \"phrase in quotes\", to narrow the search; match \
    \"all\" requires every word.";
const NO_WORD_FOUND: &str =
    "No email has any of the words of the query, in any form: try other words, or fewer filters.";
const NOTHING_TO_SEARCH_FOR: &str = "The query has no word to search for, so nothing was searched: give words of the \
    subject or body in query. The filters from, to, sent_after and sent_before only narrow a search.";

const FIELD_IN_QUERY: &str = "A field with a colon, such as from:name, is only text in query: use the arguments from, \
    to, sent_after and sent_before, and give words of the subject or body without a field.";
const NOT_IN_QUERY: &str = "NOT is only a word in query: write -word to leave emails with a word out.";

/// What is known about a search that found nothing.
pub struct Hints {
    /// The inbox of the search, or all inboxes if there is no such inbox.
    pub inboxes: Vec<String>,
    /// People in the inbox who resemble the one that was named. The count is 1 for the address itself.
    pub senders: Vec<Figure>,
    pub recipients: Vec<Figure>,
}

/// The note of a search that found emails as it was asked.
pub fn on_found(search: &MailSearch, named: &Named) -> Option<String> {
    joined(vec![several(search, Role::Sender, named), several(search, Role::Recipient, named)])
}

/// Says what the query holds that is an operator elsewhere.
fn foreign(search: &MailSearch) -> Option<String> {
    let told = match search.foreign? {
        ForeignSyntax::Field => FIELD_IN_QUERY,
        ForeignSyntax::Not => NOT_IN_QUERY,
    };
    Some(told.to_owned())
}

/// The note of a search that found nothing. `relaxed` is what the relaxed search found, if there was one.
pub fn on_nothing(search: &MailSearch, named: &Named, hints: &Hints, relaxed: Option<u32>) -> Option<String> {
    if !hints.inboxes.contains(&search.inbox) {
        return Some(unknown_inbox(&search.inbox, &hints.inboxes));
    }
    if search.query.fts5().is_none() {
        return Some(NOTHING_TO_SEARCH_FOR.to_owned());
    }
    let nobody = vec![nobody(search, Role::Sender, named, hints), nobody(search, Role::Recipient, named, hints)];
    if let Some(note) = joined(nobody) {
        return Some(note);
    }
    let words = relaxed.map(|total| if total > 0 { RELAXED } else { NO_WORD_FOUND }.to_owned());
    let people = [several(search, Role::Sender, named), several(search, Role::Recipient, named)];
    joined([foreign(search), words].into_iter().chain(people).collect())
}

fn unknown_inbox(inbox: &str, inboxes: &[String]) -> String {
    let offer = match inboxes {
        [] => "No mail is loaded.".to_owned(),
        [only] => format!("The only inbox is {only}."),
        [_, ..] if inboxes.len() <= MOST_OFFERED => format!("The inboxes are {}.", listed(inboxes)),
        [_, ..] => match offered(inbox, inboxes).as_slice() {
            [] => "An inbox is named by its whole address.".to_owned(),
            [one] => format!("The nearest is {one}."),
            several => format!("The nearest are {}.", listed(several)),
        },
    };
    format!("There is no inbox {}. {offer} GET /api/benchmarks/inboxes lists all inboxes.", quoted(inbox))
}

/// Says that nobody in the inbox is meant by `from` or `to`.
fn nobody(search: &MailSearch, role: Role, named: &Named, hints: &Hints) -> Option<String> {
    let text = search.named(role)?;
    let near = match role {
        Role::Sender => &hints.senders,
        Role::Recipient => &hints.recipients,
    };
    let people = named.of(role);
    let is_known = !people.addresses.is_empty() || near.iter().any(|it| it.count == 1);
    if is_known {
        return None;
    }
    if people.may_be_more {
        return Some(format!(
            "{} {} is a part of too many addresses to tell whose mail is meant: give more of the address.",
            parameter(role),
            quoted(text)
        ));
    }
    let names = near.iter().filter(|it| it.count == 0).map(|it| it.name.clone()).collect::<Vec<_>>();
    let offer = match offered(text, &names).as_slice() {
        [] => "Give an address, or a word of one, or leave the filter out.".to_owned(),
        [one] => format!("The nearest address is {one}."),
        several => format!("The nearest addresses are {}.", listed(several)),
    };
    Some(format!("No email in this inbox is {} {}. {offer}", parameter(role), quoted(text)))
}

/// Says for whom `from` or `to` stands, if these are several people.
fn several(search: &MailSearch, role: Role, named: &Named) -> Option<String> {
    let People { addresses, may_be_more } = named.of(role);
    let is_all = !may_be_more && addresses.len() < MOST_PEOPLE;
    let text = search.named(role).filter(|_| addresses.len() > 1 || !addresses.is_empty() && !is_all)?;
    let count = if is_all { addresses.len().to_string() } else { "many".to_owned() };
    let taken = if is_all { "" } else { "only these were searched: " };
    Some(format!(
        "{} {} stands for {count} people: {taken}{}. Give a whole address to search for one of them.",
        parameter(role),
        quoted(text),
        listed(addresses)
    ))
}

impl Named {
    fn of(&self, role: Role) -> &People {
        match role {
            Role::Sender => &self.senders,
            Role::Recipient => &self.recipients,
        }
    }
}

fn parameter(role: Role) -> &'static str {
    match role {
        Role::Sender => "from",
        Role::Recipient => "to",
    }
}

/// The addresses that a text may be meant to be: those that share the most words with it, the nearest first; else the one
/// with the fewest different letters.
fn offered<'a>(text: &str, addresses: &'a [String]) -> Vec<&'a str> {
    let name = person::words(person::name_of(text)).map(str::to_lowercase).collect::<Vec<_>>();
    let shared = |address: &str| {
        let words = || person::words(person::name_of(address));
        name.iter().filter(|it| it.len() > 1 && words().any(|word| word.starts_with(it.as_str()))).count()
    };
    let most = addresses.iter().map(|it| shared(it)).max().unwrap_or(0);
    let mut offered = addresses.iter().map(String::as_str).filter(|it| shared(it) == most).collect::<Vec<_>>();
    let meant = nearest(&name.join("."), offered.iter().map(|it| person::name_of(it)));
    let first = offered.iter().position(|it| meant == Some(person::name_of(it)));
    match first {
        Some(at) => {
            let first = offered.remove(at);
            offered.insert(0, first);
            offered.truncate(if most == 0 { 1 } else { MOST_OFFERED });
        }
        None => offered.truncate(if most == 0 { 0 } else { MOST_OFFERED }),
    }
    offered
}

/// The text in quotes, cut if it is long.
fn quoted(text: &str) -> String {
    let cut = text.chars().take(LONGEST_TEXT).collect::<String>();
    format!("\"{cut}{}\"", if cut.len() < text.len() { "..." } else { "" })
}

/// `a, b and c`.
fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let names = names.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

fn joined(sentences: Vec<Option<String>>) -> Option<String> {
    let sentences = sentences.into_iter().flatten().collect::<Vec<_>>();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const INBOXES: [&str; 5] = [
        "jeff.dasovich@enron.com",
        "jeff.king@enron.com",
        "jeff.skilling@enron.com",
        "kay.mann@enron.com",
        "matt.motley@enron.com",
    ];

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    fn search(more: Value) -> MailSearch {
        let mut given = json!({"query": "gas", "inbox_id": "kay.mann@enron.com", "match": "auto"});
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        MailSearch::read(&given).unwrap()
    }

    fn hints(inboxes: &[&str], senders: &[(&str, u32)]) -> Hints {
        let figure = |(name, count): &(&str, u32)| Figure { name: (*name).to_owned(), count: *count, more: None };
        Hints { inboxes: texts(inboxes), senders: senders.iter().map(figure).collect(), recipients: Vec::new() }
    }

    #[track_caller]
    fn check_inbox(given: &str, inboxes: &[&str], expected: &str) {
        let note = on_nothing(&search(json!({"inbox_id": given})), &Named::default(), &hints(inboxes, &[]), Some(0));
        let end = "GET /api/benchmarks/inboxes lists all inboxes.";
        assert_eq!(note, Some(format!("There is no inbox \"{}\". {expected} {end}", given.to_lowercase())));
    }

    #[test]
    fn an_unknown_inbox_gets_the_nearest() {
        check_inbox("Matt Motley", &INBOXES, "The nearest is matt.motley@enron.com.");
        check_inbox("motley", &INBOXES, "The nearest is matt.motley@enron.com.");
        check_inbox("mat.motly@enron.com", &INBOXES, "The nearest is matt.motley@enron.com.");
        check_inbox("key.man@enron.com", &INBOXES, "The nearest is kay.mann@enron.com.");
        let jeffs = "jeff.skilling@enron.com, jeff.dasovich@enron.com and jeff.king@enron.com";
        check_inbox("jeff.skiling@enron.com", &INBOXES, &format!("The nearest are {jeffs}."));
        check_inbox("nobody@example.com", &INBOXES, "An inbox is named by its whole address.");
        check_inbox("nobody", &INBOXES[..2], "The inboxes are jeff.dasovich@enron.com and jeff.king@enron.com.");
        check_inbox("nobody", &INBOXES[4..], "The only inbox is matt.motley@enron.com.");
        check_inbox("nobody", &[], "No mail is loaded.");
    }

    #[test]
    fn a_relaxed_search_and_a_search_for_nothing_say_so() {
        let check = |more: Value, relaxed: Option<u32>, expected: Option<&str>| {
            let given = hints(&["kay.mann@enron.com"], &[]);
            assert_eq!(on_nothing(&search(more), &Named::default(), &given, relaxed).as_deref(), expected);
        };
        check(json!({}), Some(3), Some(RELAXED));
        check(json!({}), Some(0), Some(NO_WORD_FOUND));
        check(json!({"match": "all"}), None, None);
        check(json!({"query": "", "from": "bob"}), None, Some(NOTHING_TO_SEARCH_FOR));
        check(json!({"query": "-gas"}), None, Some(NOTHING_TO_SEARCH_FOR));
        check(json!({"query": "subject:vacation"}), None, Some(FIELD_IN_QUERY));
        check(json!({"query": "gas NOT oil"}), Some(3), Some(&format!("{NOT_IN_QUERY} {RELAXED}")));
        // A search that found emails as it was asked is answered as ever.
        assert_eq!(on_found(&search(json!({"query": "gas NOT oil"})), &Named::default()), None);
    }

    #[test]
    fn people_who_are_not_there_get_the_nearest() {
        let check = |from: &str, senders: &[(&str, u32)], expected: Option<&str>| {
            let given = hints(&["kay.mann@enron.com"], senders);
            let note = on_nothing(&search(json!({"from": from})), &Named::default(), &given, Some(0));
            assert_eq!(note.as_deref(), Some(expected.unwrap_or(NO_WORD_FOUND)), "{from}");
        };
        let tim = ("tim.belden@enron.com", 0);
        let expected =
            "No email in this inbox is from \"tim.beldon@enron.com\". The nearest address is tim.belden@enron.com.";
        check("tim.beldon@enron.com", &[tim, ("john.belt@enron.com", 0)], Some(expected));
        let expected =
            "No email in this inbox is from \"xyz\". Give an address, or a word of one, or leave the filter out.";
        check("xyz", &[], Some(expected));
        check("tim.belden@enron.com", &[("tim.belden@enron.com", 1)], None);
        let long = "x".repeat(100);
        let note =
            on_nothing(&search(json!({"from": long})), &Named::default(), &hints(&["kay.mann@enron.com"], &[]), None);
        assert!(note.unwrap().starts_with(&format!("No email in this inbox is from \"{}...\".", "x".repeat(80))));
    }

    #[test]
    fn several_people_are_named() {
        let people = |addresses: Vec<String>, may_be_more| People { addresses, may_be_more };
        let named = |count: usize| Named {
            senders: people((0..count).map(|it| format!("tim.{it}@x")).collect(), false),
            recipients: people(texts(&["ann@x"]), false),
        };
        let both = search(json!({"from": "Tim", "to": "ann"}));
        assert_eq!(on_found(&both, &named(1)), None);
        let two =
            "from \"tim\" stands for 2 people: tim.0@x and tim.1@x. Give a whole address to search for one of them.";
        assert_eq!(on_found(&both, &named(2)).as_deref(), Some(two));
        let many = on_found(&both, &named(10)).unwrap();
        assert!(many.starts_with("from \"tim\" stands for many people: only these were searched: tim.0@x, "), "{many}");
        let cut = |count: usize| Named { senders: people(texts(&["a@x", "b@x"][..count]), true), ..Named::default() };
        let only = "from \"tim\" stands for many people: only these were searched: a@x. Give";
        assert!(on_found(&both, &cut(1)).unwrap().starts_with(only));
        let from = search(json!({"from": "Tim"}));
        let none = on_nothing(&from, &cut(0), &hints(&["kay.mann@enron.com"], &[]), Some(0)).unwrap();
        assert_eq!(
            none,
            "from \"tim\" is a part of too many addresses to tell whose mail is meant: give more of the address."
        );
        let relaxed = on_nothing(&both, &named(2), &hints(&["kay.mann@enron.com"], &[]), Some(1));
        assert_eq!(relaxed, Some(format!("{RELAXED} {two}")));
    }
}
