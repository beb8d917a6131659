//! The arguments of `email_search`, parsed and checked.

use super::person;
use crate::search_text::{ForeignSyntax, FullTextQuery, SearchTextTooLong};
use crate::time::Timestamp;
use serde_json::Value;

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 50;

/// The fewest letters that a prefix may have. A tenth of the words in a corpus begin with the same letter.
const SHORTEST_PREFIX: usize = 3;

/// The order of the emails: the best match first, or the newest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MailOrder {
    Rank,
    Date,
}

/// How many words of a query an email must have: all words or, if that finds nothing, any of them; all; or any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WordMatch {
    Auto,
    All,
    Any,
}

/// Who is meant: the sender or a recipient of an email.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    Sender,
    Recipient,
}

/// A search in one inbox. All addresses are in lower case.
#[derive(Clone, Debug)]
pub struct MailSearch {
    pub query: FullTextQuery,
    /// The query with less required, for a search that may be repeated if it finds nothing.
    relaxed: Option<FullTextQuery>,
    /// Whether the caller takes notes, and people by parts of their addresses. A tool whose schema does not have `match`
    /// (version 1.0.0 of `email_search`, or a tool of a workspace) takes neither: its search is the first document's.
    takes_notes: bool,
    /// The part of the query that another search box would not take as text.
    pub foreign: Option<ForeignSyntax>,
    pub inbox: String,
    pub limit: u32,
    pub order: MailOrder,
    /// The addresses of a sender and a recipient, or parts of them.
    pub from: Option<String>,
    pub to: Option<String>,
    /// The first day of the period, and the first day after the period.
    pub sent_after: Option<String>,
    pub sent_before: Option<String>,
}

/// An argument that cannot be used, with the reason.
#[derive(Debug, PartialEq)]
pub struct BadSearchArgument {
    pub parameter: &'static str,
    pub reason: String,
}

impl MailSearch {
    /// Parses the arguments of a call. A tool with another schema may use this handler too, so every argument is
    /// checked again here. A null argument counts as absent.
    pub fn read(arguments: &Value) -> Result<Self, BadSearchArgument> {
        let text = |parameter: &'static str| match arguments.get(parameter) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(BadSearchArgument { parameter, reason: "must be a text".into() }),
        };
        let address = |parameter| Ok(text(parameter)?.map(|it| it.trim().to_ascii_lowercase()));
        let day = |parameter| match text(parameter)? {
            Some(day) if !is_day(day) => {
                Err(BadSearchArgument { parameter, reason: format!("{day:?} is not a date of the form YYYY-MM-DD") })
            }
            day => Ok(day.map(str::to_owned)),
        };
        let matching = match text("match")? {
            None => None,
            Some("auto") => Some(WordMatch::Auto),
            Some("all") => Some(WordMatch::All),
            Some("any") => Some(WordMatch::Any),
            Some(_) => return Err(BadSearchArgument { parameter: "match", reason: "must be auto, all or any".into() }),
        };
        let asked = text("query")?.unwrap_or_default();
        let (query, relaxed) = queries(asked, matching.unwrap_or(WordMatch::All))?;
        let order = match text("order")? {
            None | Some("rank") => MailOrder::Rank,
            Some("date") => MailOrder::Date,
            Some(_) => return Err(BadSearchArgument { parameter: "order", reason: "must be rank or date".into() }),
        };
        Ok(Self {
            query,
            relaxed,
            takes_notes: matching.is_some(),
            foreign: matching.and_then(|_| ForeignSyntax::of(asked)),
            inbox: address("inbox_id")?.unwrap_or_default(),
            limit: limit(arguments.get("limit"))?,
            order,
            from: address("from")?,
            to: address("to")?,
            sent_after: day("sent_after")?,
            sent_before: day("sent_before")?,
        })
    }

    pub fn takes_notes(&self) -> bool {
        self.takes_notes
    }

    /// The search to make if this one finds nothing. The best match is first, because one word alone tells little.
    pub fn relaxed(&self) -> Option<Self> {
        let query = self.relaxed.clone()?;
        Some(Self { query, relaxed: None, order: MailOrder::Rank, ..self.clone() })
    }

    /// The sender or recipient that the caller named.
    pub fn named(&self, role: Role) -> Option<&str> {
        match role {
            Role::Sender => self.from.as_deref(),
            Role::Recipient => self.to.as_deref(),
        }
    }

    pub fn names_people(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Whether a person is named by a part of an address.
    pub fn names_parts(&self) -> bool {
        self.takes_notes && [&self.from, &self.to].into_iter().flatten().any(|it| !person::is_address(it))
    }
}

/// The query of a search, and the query to try if it finds nothing.
fn queries(text: &str, matching: WordMatch) -> Result<(FullTextQuery, Option<FullTextQuery>), BadSearchArgument> {
    let refused = |reason: SearchTextTooLong| BadSearchArgument { parameter: "query", reason: reason.to_string() };
    let all = FullTextQuery::parse(text, SHORTEST_PREFIX).map_err(refused)?;
    if matching == WordMatch::All {
        return Ok((all, None));
    }
    let relaxed = FullTextQuery::parse_relaxed(text, SHORTEST_PREFIX).map_err(refused)?;
    if matching == WordMatch::Any {
        return Ok((relaxed.unwrap_or(all), None));
    }
    // A single word without other forms is the same search again.
    let relaxed = relaxed.filter(|it| *it != all);
    Ok((all, relaxed))
}

fn limit(given: Option<&Value>) -> Result<u32, BadSearchArgument> {
    let limit = match given {
        None | Some(Value::Null) => Some(DEFAULT_LIMIT),
        // JSON Schema counts 5.0 as an integer.
        Some(given) => given.as_f64().filter(|it| it.fract() == 0.0).map(|it| it as u32),
    };
    limit
        .filter(|it| (1..=MAX_LIMIT).contains(it))
        .ok_or_else(|| BadSearchArgument { parameter: "limit", reason: format!("must be from 1 to {MAX_LIMIT}") })
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && Timestamp::parse(&format!("{text}T00:00:00Z")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_given_has_its_default() {
        let search =
            MailSearch::read(&json!({"query": "gas", "inbox_id": " Matt.Motley@ENRON.com ", "from": null})).unwrap();
        assert_eq!((search.inbox.as_str(), search.limit, search.order), ("matt.motley@enron.com", 10, MailOrder::Rank));
        assert_eq!((search.from, search.to, search.sent_after, search.sent_before), (None, None, None, None));
        assert_eq!(MailSearch::read(&json!({})).unwrap().query.fts5(), None);
    }

    #[test]
    fn arguments_that_make_no_sense_are_named() {
        let check = |arguments: Value, expected: &str| {
            let misfit = MailSearch::read(&arguments).unwrap_err();
            assert_eq!(format!("{}: {}", misfit.parameter, misfit.reason), expected);
        };
        check(json!({"query": "x".repeat(2001)}), "query: has more than 2000 characters");
        check(json!({"query": 5}), "query: must be a text");
        check(json!({"from": ["a"]}), "from: must be a text");
        check(json!({"order": "size"}), "order: must be rank or date");
        check(json!({"match": "some"}), "match: must be auto, all or any");
        check(json!({"match": "any", "query": "x".repeat(2001)}), "query: has more than 2000 characters");
        for limit in [json!(0), json!(51), json!(-1), json!(1.5), json!("5"), json!(1e300)] {
            check(json!({"limit": limit}), "limit: must be from 1 to 50");
        }
        for day in ["2001-02-30", "2001-5-1", "yesterday", "", "2001-05-15T10:00:00Z", "2001-05-1\u{e9}"] {
            let expected = format!("sent_after: {day:?} is not a date of the form YYYY-MM-DD");
            check(json!({"sent_after": day}), &expected);
        }
    }

    #[test]
    fn whole_numbers_and_days_are_taken() {
        let search = MailSearch::read(&json!({"limit": 50.0, "sent_after": "2000-02-29", "sent_before": "0001-01-01"}));
        assert_eq!(search.unwrap().limit, 50);
    }

    #[test]
    fn a_search_may_be_relaxed() {
        let read = |given: Value| MailSearch::read(&given).unwrap();
        let relaxed = |given: Value| read(given).relaxed().map(|it| it.query.fts5().unwrap().to_owned());
        let auto = json!({"query": "the gas -oil", "match": "auto", "order": "date", "from": "bob"});
        assert_eq!(read(auto.clone()).query.fts5(), Some(r#"(("the") AND ("gas")) NOT ("oil")"#));
        assert_eq!(relaxed(auto.clone()).as_deref(), Some(r#"(("gas")) NOT ("oil")"#));
        let again = read(auto).relaxed().unwrap();
        assert_eq!(
            (again.order, again.from.as_deref(), again.relaxed().is_none()),
            (MailOrder::Rank, Some("bob"), true)
        );
        assert_eq!(relaxed(json!({"query": "the gas", "match": "all"})), None);
        assert_eq!(relaxed(json!({"query": "gas", "match": "auto"})), None);
        assert_eq!(relaxed(json!({"query": "\"the gas\"", "match": "auto"})), None);
        let any = read(json!({"query": "the gas", "match": "any", "order": "date"}));
        assert_eq!((any.query.fts5(), any.order, any.relaxed().is_none()), (Some(r#"("gas")"#), MailOrder::Date, true));
        // No word says anything, so all words are required.
        assert_eq!(read(json!({"query": "the of", "match": "any"})).query.fts5(), Some(r#"("the") AND ("of")"#));
    }

    #[test]
    fn a_tool_without_match_searches_as_the_first_document_does() {
        let read = |given: Value| MailSearch::read(&given).unwrap();
        let plain = read(json!({"query": "the gas", "from": "bob"}));
        assert!(!plain.takes_notes() && !plain.names_parts() && plain.relaxed().is_none());
        assert!(read(json!({"match": "all", "from": "bob"})).names_parts());
        assert!(read(json!({"match": "all", "from": "bob@x.com", "to": "bob"})).names_parts());
        assert!(!read(json!({"match": "auto", "from": "bob@x.com"})).names_parts());
    }
}
