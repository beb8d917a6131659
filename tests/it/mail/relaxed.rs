//! `match`, people by parts of their addresses, and the notes of `email_search`.

use super::corpus::{ADA, GUEST, LARGE, TIMS};
use super::{client, ids, search};
use serde_json::{Value, json};

const RELAXED: &str = "No email has all the words of the query, so these emails have at least one of them";
const NOTHING: &str = "No email has any of the words of the query, in any form: try other words, or fewer filters.";

/// The note of an answer; empty if there is none.
fn note(found: &Value) -> &str {
    found.get("note").map_or("", |it| it.as_str().unwrap())
}

#[test]
fn words_that_no_email_has_together_are_searched_for_one_by_one() {
    let client = client();
    let check = |query: &str, expected: &[&str]| {
        let found = search(&client, query, ADA, json!({}));
        assert_eq!((ids(&found).as_slice(), &found["total"]), (expected, &json!(expected.len())), "{query}: {found}");
        assert!(note(&found).starts_with(RELAXED), "{query}: {found}");
        assert_eq!(found.as_object().unwrap().keys().collect::<Vec<_>>(), ["emails", "total", "note"]);
    };
    // The rarer word counts more.
    check("what is on the weekly zebra", &["<1@mail>"]);
    check("Where was the gaz for any zebra?", &["<5@mail>"]);
    // Plural and tense.
    check("schedules of the week", &["<3@mail>", "<1@mail>"]);
    check("reviewed zebras", &["<1@mail>"]);
    // Phrases, exclusions and prefixes stay.
    check("\"no meeting\" lunch zebra", &["<2@mail>"]);
    check("lunch zebra -today", &["<3@mail>"]);
    check("zebra instea*", &["<2@mail>"]);
    let page = search(&client, "common zebra", LARGE, json!({"limit": 3}));
    assert_eq!((ids(&page).len(), &page["total"]), (3, &json!(1000)), "{page}");

    // Phrases alone, and common words alone, cannot be relaxed.
    for query in ["\"instead lunch\"", "what is this for"] {
        assert_eq!(search(&client, query, ADA, json!({})), json!({"emails": [], "total": 0}), "{query}");
    }
    let nothing = search(&client, "zebra giraffe", ADA, json!({}));
    assert_eq!(nothing, json!({"emails": [], "total": 0, "note": NOTHING}));
}

#[test]
fn filters_hold_in_a_relaxed_search_and_the_best_match_is_first() {
    let client = client();
    let found = |more: Value| search(&client, "lunch schedule zebra", ADA, more);
    assert_eq!(ids(&found(json!({"from": "bob@mail.example"}))), ["<2@mail>"]);
    assert_eq!(ids(&found(json!({"to": "bob"}))), ["<3@mail>"]);
    assert_eq!(ids(&found(json!({"sent_before": "2001-05-16"}))), ["<1@mail>"]);
    // Two of the words are in the third email, and the newest first would not tell.
    let ranked = found(json!({}));
    assert_eq!((ids(&ranked)[0], ids(&ranked).len()), ("<3@mail>", 3));
    assert_eq!(found(json!({"order": "date"})), ranked);
}

#[test]
fn all_and_any_are_as_asked() {
    let client = client();
    let asked = |query: &str, matching: &str| search(&client, query, ADA, json!({"match": matching, "order": "date"}));
    assert_eq!(asked("lunch zebra", "all"), json!({"emails": [], "total": 0}));
    let any = asked("the lunch schedule zebra", "any");
    assert_eq!((ids(&any), note(&any)), (vec!["<3@mail>", "<2@mail>", "<1@mail>"], ""));
    // Where all words match, nothing is relaxed.
    let both = asked("lunch meeting", "auto");
    assert_eq!((ids(&both), &both, note(&both)), (vec!["<2@mail>"], &asked("lunch meeting", "all"), ""));
}

#[test]
fn the_syntax_of_other_search_boxes_is_told() {
    let client = client();
    let asked = |query: &str| note(&search(&client, query, ADA, json!({}))).to_owned();
    assert!(asked("subject:zebra").starts_with("A field with a colon, such as from:name, is only text in query"));
    assert!(asked("meeting NOT lunch").starts_with("NOT is only a word in query: write -word"));
    let email = |id: &str| client.execute("email_get", json!({"message_id": id})).success();
    assert_eq!(email("1@mail"), email("<1@mail>"));
}

#[test]
fn what_is_wrong_is_said() {
    let client = client();
    let check = |query: &str, inbox: &str, more: Value, expected: &str| {
        let found = search(&client, query, inbox, more.clone());
        assert_eq!(found, json!({"emails": [], "total": 0, "note": expected}), "{query} in {inbox} with {more}");
    };
    let inboxes = format!("The inboxes are {ADA}, {GUEST} and {LARGE}. GET /api/benchmarks/inboxes lists all inboxes.");
    check("lunch", "Ada", json!({}), &format!("There is no inbox \"ada\". {inboxes}"));
    check(
        "lunch",
        "ada@enron.com",
        json!({"match": "all"}),
        &format!("There is no inbox \"ada@enron.com\". {inboxes}"),
    );
    let nothing = "The query has no word to search for, so nothing was searched: give words of the subject or body in \
        query. The filters from, to, sent_after and sent_before only narrow a search.";
    for query in ["", "?!", "-lunch"] {
        check(query, ADA, json!({"from": "bob"}), nothing);
    }
    let nobody = |role: &str, who: &str, offer: &str| {
        let note = format!("No email in this inbox is {role} \"{who}\". {offer}");
        check("lunch zebra", ADA, json!({role: who}), &note);
    };
    nobody("from", "jan@mail.example", "The nearest address is jane@mail.example.");
    nobody("from", "bobb", "The nearest address is bob@mail.example.");
    nobody("to", "jane", "Give an address, or a word of one, or leave the filter out.");
    nobody("from", "%", "Give an address, or a word of one, or leave the filter out.");
}

#[test]
fn people_are_found_by_a_part_of_their_address() {
    let client = client();
    let found = |more: Value| search(&client, "lunch OR meeting OR gaz", ADA, more);
    for (more, expected) in [
        (json!({"from": "Bob", "sent_after": "1990-01-01"}), vec!["<2@mail>"]),
        (json!({"from": "jan", "order": "date"}), vec!["<5@mail>", "<1@mail>"]),
        (json!({"from": "Jane <jane@mail.example>", "order": "date"}), vec!["<5@mail>", "<1@mail>"]),
        (json!({"to": "team"}), vec!["<1@mail>"]),
        (json!({"to": "bob", "from": "guest"}), vec!["<3@mail>"]),
        (json!({"to": "ada", "from": "bob@mail.example"}), vec!["<2@mail>"]),
    ] {
        let found = found(more.clone());
        assert_eq!((ids(&found), note(&found)), (expected, ""), "{more}");
    }
    let tims = found(json!({"to": "Tim"}));
    let expected = format!(
        "to \"tim\" stands for 2 people: {} and {}. Give a whole address to search for one of them.",
        TIMS[0], TIMS[1]
    );
    assert_eq!((ids(&tims), note(&tims)), (vec!["<5@mail>"], expected.as_str()));
    // More addresses have these words than are looked at.
    let many = found(json!({"from": "@mail.example", "order": "date"}));
    assert!(
        note(&many).starts_with("from \"@mail.example\" stands for many people: only these were searched: "),
        "{many}"
    );
}

/// A search that finds nothing takes one round trip more. A part of an address takes none.
#[test]
fn a_relaxed_search_and_parts_of_addresses_cost_little() {
    let client = client();
    // The first call of a workspace writes more rows.
    search(&client, "lunch", ADA, json!({}));
    let cost = |query: &str, more: Value, trips: u32, most: u32| {
        let mut arguments = json!({"query": query, "inbox_id": LARGE});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = client.execute("email_search", arguments);
        let found = answer.success();
        let read = answer.cost("rows_read");
        assert_eq!((answer.cost("round_trips"), answer.cost("rows_written")), (trips, 4), "{query} with {more}");
        assert!(read < most, "{query} with {more} read {read} rows");
        found["total"].as_u64().unwrap()
    };
    assert_eq!(cost("number7 zebra", json!({}), 4, 100), 1);
    assert_eq!(cost("common zebra", json!({}), 4, 1_200), 1_000);
    assert_eq!(cost("zebra giraffe", json!({}), 4, 100), 0);
    assert_eq!(cost("common", json!({"match": "any"}), 3, 1_150), 1_000);
    assert_eq!(cost("common", json!({"from": "p7"}), 3, 8_000), 300);
    assert_eq!(cost("number7", json!({"from": "p7"}), 3, 150), 1);
    assert_eq!(cost("common", json!({"to": "q7x"}), 4, 200), 0);
}

/// Version 1.0.0 has no `match`: its schema knows no note, and its search is the first document's.
#[test]
fn the_first_version_answers_as_ever() {
    let client = client();
    let pinned = |query: &str, inbox: &str, more: Value| {
        let mut arguments = json!({"query": query, "inbox_id": inbox});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = client.execute("email_search@1.0.0", arguments);
        assert_eq!(answer.cost("round_trips"), 3);
        answer.success()
    };
    let nothing = json!({"emails": [], "total": 0});
    assert_eq!(pinned("lunch zebra", ADA, json!({})), nothing);
    assert_eq!(pinned("lunch", "ada", json!({})), nothing);
    assert_eq!(pinned("lunch", ADA, json!({"from": "bob"})), nothing);
    assert_eq!(ids(&pinned("lunch", ADA, json!({"from": "bob@mail.example"}))), ["<2@mail>"]);
}
