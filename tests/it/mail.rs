//! `email_search`, `email_get` and `/api/benchmarks/inboxes`: their results, and their cost.

mod corpus;
mod relaxed;

use crate::harness::{Client, Dice, Server, Tool, unique};
use corpus::{ADA, DATABASE, GUEST, LARGE, LARGE_COUNT, RANDOM, document_server, server, word};
use serde_json::{Value, json};
use std::process::Command;

fn client() -> Client {
    server().client(&unique("mail"))
}

/// Searches one inbox, with additional arguments.
fn search(client: &Client, query: &str, inbox: &str, more: Value) -> Value {
    let mut arguments = json!({"query": query, "inbox_id": inbox});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.execute("email_search", arguments).success()
}

fn ids(found: &Value) -> Vec<&str> {
    found["emails"].as_array().unwrap().iter().map(|it| it["message_id"].as_str().unwrap()).collect()
}

#[test]
fn a_search_answers_a_page_with_snippets_and_a_total() {
    let found = search(&client(), "meeting schedule", ADA, json!({}));
    let expected = json!({
        "emails": [{
            "message_id": "<1@mail>",
            "subject": "Weekly meeting schedule",
            "sender": "Jane@mail.example",
            "date": "2001-05-15T10:30:00Z",
            "snippet": "Subject: Weekly <mark>meeting</mark> <mark>schedule</mark> | Body: Hi Ada,\n\nPlease review the <mark>meeting</mark> times.",
        }],
        "total": 1,
    });
    assert_eq!(found.to_string(), expected.to_string());
    let undated = search(&client(), "\"no date\"", ADA, json!({}));
    let expected = json!({"emails": [{"message_id": "<4@mail>", "subject": null, "sender": "bob@mail.example", "date": null,
        "snippet": "Subject:  | Body: meeting of <mark>no date</mark>"}], "total": 1});
    assert_eq!(undated, expected);
}

/// The query of the specification's first document, on its own tables with the same mail. `src/mail/store/proof.rs`
/// compares the scores on the host.
#[test]
fn a_search_finds_what_the_documents_query_finds_in_its_order() {
    let server = document_server();
    let client = server.client("mail");
    let document = "SELECT e.message_id, e.subject, e.sender, e.date,
          snippet(document_fts, 0, '<mark>', '</mark>', '...', 32) as subject_snippet,
          snippet(document_fts, 1, '<mark>', '</mark>', '...', 64) as body_snippet
        FROM document_fts INNER JOIN document_emails e ON document_fts.rowid = e.rowid
        WHERE document_fts MATCH ?1 AND e.inbox = ?2 ORDER BY rank LIMIT 10";
    let mut dice = Dice(5);
    let mut found = 0;
    for _ in 0..400 {
        let inbox = *dice.pick(&RANDOM);
        let [one, two, three] = [word(&mut dice), word(&mut dice), word(&mut dice)];
        // The query as people type it, and in FTS5's syntax.
        let (query, theirs) = match dice.below(6) {
            0 => (format!("\"{one} {two}\""), format!("\"{one} {two}\"")),
            1 => (format!("{}*", &one[..3]), format!("{} *", &one[..3])),
            2 => (format!("{one} OR {two}"), format!("{one} OR {two}")),
            3 => (format!("{one} -{two}"), format!("{one} NOT {two}")),
            4 => (format!("{one} {two} {three}"), format!("{one} {two} {three}")),
            _ => (one.clone(), one),
        };
        let expected = server.sql_on(DATABASE, document, &[json!(theirs), json!(inbox)]);
        let expected = expected.iter().map(|it| {
            let text = |name: &str| it[name].as_str().unwrap();
            json!({
                "message_id": it["message_id"], "subject": it["subject"], "sender": it["sender"], "date": it["date"],
                "snippet": format!("Subject: {} | Body: {}", text("subject_snippet"), text("body_snippet")),
            })
        });
        let expected = expected.collect::<Vec<_>>();
        // A search that finds something is never relaxed.
        let more = if expected.is_empty() { json!({"match": "all"}) } else { json!({}) };
        let answered = search(&client, &query, inbox, more);
        assert_eq!(answered["emails"], json!(expected), "{query} in {inbox}");
        assert!(expected.is_empty() || answered.get("note").is_none(), "{query} in {inbox}: {answered}");
        found += expected.len();
    }
    assert!(found > 800, "the queries are of no use: they found {found} emails");
}

#[test]
fn the_query_language() {
    let client = client();
    let check = |query: &str, expected: &[&str]| {
        let found = search(&client, query, ADA, json!({"order": "date", "match": "all"}));
        assert_eq!(ids(&found), expected, "{query}");
        assert_eq!(found["total"], expected.len(), "{query}");
    };
    check("lunch", &["<3@mail>", "<2@mail>"]);
    check("LUNCH Meeting", &["<2@mail>"]);
    check("\"lunch instead\"", &["<2@mail>"]);
    check("\"instead lunch\"", &[]);
    check("lunch -meeting", &["<3@mail>"]);
    check("sched*", &["<3@mail>", "<1@mail>"]);
    // Too short for a prefix.
    check("sc*", &[]);
    check("le*", &["<5@mail>"]);
    check("weekly OR lunch", &["<3@mail>", "<2@mail>", "<1@mail>"]);
    check("ete gaz", &["<5@mail>"]);
    check("meeting AND lunch", &[]);
    check("body:lunch", &[]);
    for nothing in ["", "  ", "!?*", "\"\"", "-lunch", "OR"] {
        check(nothing, &[]);
    }
}

#[test]
fn any_text_can_be_searched_for() {
    let client = client();
    let pieces = [
        "\"",
        "'",
        "(",
        ")",
        "{",
        "}",
        "^",
        ":",
        "*",
        "-",
        "+",
        "\\",
        "\0",
        "\n",
        "NEAR(",
        "AND",
        "NOT",
        "OR",
        "lunch",
        "a-b",
        "\u{e9}",
        "\u{301}",
        "\u{e000}",
        "\u{1f4e7}",
        "{subject} :",
        "x'",
        ";",
        "--",
        "/*",
        "%",
        "$1",
        "?1",
    ];
    let mut dice = Dice(9);
    for _ in 0..150 {
        let text =
            (0..dice.below(10)).map(|_| format!("{}{}", dice.pick(&pieces), dice.pick(&["", " "]))).collect::<String>();
        search(&client, &text, ADA, json!({}));
    }
    search(&client, &"\u{e9}".repeat(2000), ADA, json!({}));
}

#[test]
fn arguments_that_cannot_be_asked_are_refused() {
    let client = client();
    let refused = |arguments: Value, path: &str| {
        let mut all = json!({"query": "lunch", "inbox_id": ADA});
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let result = client.execute("email_search", all).failed(400, "INVALID_ARGUMENTS");
        assert_eq!(result["error"]["details"]["violations"][0]["path"], path, "{result}");
        result["error"]["message"].as_str().unwrap().to_owned()
    };
    refused(json!({"query": "x".repeat(2001)}), "/query");
    let words = (0..65).map(|it| format!("w{it}")).collect::<Vec<_>>().join(" ");
    let message = refused(json!({"query": words}), "/query");
    let expected = "has more than 64 words to search for, where each prefix* counts as 8";
    assert_eq!(message, format!("The arguments do not fit: /query: {expected}"));
    // Queries of few terms that would be expensive.
    refused(json!({"query": format!("\"{}\"", "a ".repeat(900))}), "/query");
    let prefixes = ('a'..='z').map(|it| format!("{it}ab*")).collect::<Vec<_>>();
    refused(json!({"query": prefixes.join(" OR ")}), "/query");
    for (name, value) in [
        ("limit", json!(0)),
        ("limit", json!(51)),
        ("order", json!("size")),
        ("match", json!("some")),
        ("sent_after", json!("2001-02-30")),
        ("sent_before", json!("May")),
        ("from", json!(["bob"])),
    ] {
        refused(json!({name: value}), &format!("/{name}"));
    }
}

#[test]
fn filters_and_orders() {
    let client = client();
    let check = |query: &str, inbox: &str, more: Value, expected: &[&str]| {
        assert_eq!(ids(&search(&client, query, inbox, more.clone())), expected, "{more}");
    };
    check("lunch", "ADA@Mail.Example", json!({"from": "BOB@mail.example"}), &["<2@mail>"]);
    check("lunch OR meeting", ADA, json!({"from": "jane@MAIL.example"}), &["<1@mail>"]);
    check("lunch OR meeting", ADA, json!({"to": "Bob@mail.example"}), &["<3@mail>"]);
    check("lunch OR meeting", ADA, json!({"to": ADA, "order": "date"}), &["<2@mail>", "<1@mail>"]);
    check("lunch OR meeting", ADA, json!({"from": "bob@mail.example", "to": ADA}), &["<2@mail>"]);
    check("lunch", ADA, json!({"from": "nobody"}), &[]);
    check("lunch", ADA, json!({"to": "%"}), &[]);

    let by_date = |more: Value| {
        let mut more = more;
        more["order"] = "date".into();
        more
    };
    let all = "lunch OR meeting OR gaz";
    check(all, ADA, by_date(json!({})), &["<5@mail>", "<3@mail>", "<2@mail>", "<1@mail>", "<4@mail>"]);
    check(all, ADA, by_date(json!({"limit": 2})), &["<5@mail>", "<3@mail>"]);
    check(all, ADA, by_date(json!({"sent_after": "2001-05-17"})), &["<5@mail>", "<3@mail>"]);
    check(all, ADA, by_date(json!({"sent_before": "2001-05-17"})), &["<2@mail>", "<1@mail>"]);
    check(all, ADA, json!({"sent_after": "2001-05-16", "sent_before": "2001-05-17"}), &["<2@mail>"]);
    check(all, ADA, json!({"sent_after": "2001-07-01"}), &[]);
    check(all, ADA, json!({"sent_before": "1990-01-01"}), &[]);
    check(all, ADA, json!({"sent_after": "2001-05-17", "sent_before": "2001-05-16"}), &[]);
    check(all, "nobody@mail.example", json!({}), &[]);
    check(all, "nobody@mail.example", json!({"sent_after": "2001-05-17"}), &[]);
}

#[test]
fn a_message_may_be_in_several_inboxes_and_is_one() {
    let client = client();
    assert_eq!(ids(&search(&client, "lunch", GUEST, json!({"order": "date"}))), ["<3@mail>", "<2@mail>"]);
    assert_eq!(search(&client, "schedule", GUEST, json!({}))["total"], 1);
    assert_eq!(client.execute("email_get", json!({"message_id": "<2@mail>"})).success()["inbox"], ADA);
    let inboxes = client.get("/api/benchmarks/inboxes").ok();
    assert_eq!(
        inboxes,
        json!({"inboxes": [
            {"inbox": ADA, "emails": 5}, {"inbox": GUEST, "emails": 2}, {"inbox": LARGE, "emails": LARGE_COUNT},
        ]})
    );
}

#[test]
fn an_email_is_read_whole() {
    let client = client();
    let get = |id: &str| client.execute("email_get", json!({"message_id": id}));
    let expected = json!({
        "message_id": "<1@mail>",
        "inbox": ADA,
        "subject": "Weekly meeting schedule",
        "sender": "Jane@mail.example",
        "recipients": [ADA, "team@mail.example"],
        "date": "2001-05-15T10:30:00Z",
        "body": "Hi Ada,\n\nPlease review the meeting times.",
    });
    assert_eq!(get("<1@mail>").success().to_string(), expected.to_string());
    let bare = get("<4@mail>").success();
    assert_eq!((&bare["subject"], &bare["date"], &bare["recipients"]), (&Value::Null, &Value::Null, &json!([])));
    for id in ["<none@mail>", "", "<1@mail> "] {
        let result = get(id).failed(200, "TOOL_ERROR");
        assert_eq!(result["error"]["message"], format!("Email not found: {id}"));
    }
}

#[test]
fn an_email_is_shown_as_a_document() {
    let client = client();
    let plan = |id: &str| client.execute("email_get", json!({"message_id": id})).result(200)["render_plan"].clone();
    let content = "# Weekly meeting schedule\n\n**From:** Jane@mail.example\n\n**Date:** 2001-05-15T10:30:00Z\n\n\
        Hi Ada,\n\nPlease review the meeting times.";
    assert_eq!(plan("<1@mail>"), json!({"renderer": "document", "config": {"content": content}}));
    // A message without subject and date misses nothing: both are null.
    let content = "# \n\n**From:** bob@mail.example\n\n**Date:** \n\nmeeting of no date";
    assert_eq!(plan("<4@mail>"), json!({"renderer": "document", "config": {"content": content}}));
    let unknown = plan("<none@mail>");
    let missing = ["$return.body", "$return.date", "$return.sender", "$return.subject"];
    assert_eq!(unknown["config"], json!({"content": "# \n\n**From:** \n\n**Date:** \n\n", "missing": missing}));
    assert_eq!(unknown["error"], json!({"code": "TOOL_ERROR", "message": "Email not found: <none@mail>"}));
}

/// Both databases are counted: a call takes two round trips besides its tool.
#[test]
fn a_search_costs_its_page_and_its_count() {
    let client = client();
    // The first call of a workspace writes more rows.
    search(&client, "lunch", ADA, json!({}));
    let cost = |arguments: Value| {
        let answer = client.execute("email_search", arguments);
        let found = answer.success()["total"] != 0;
        // What a note needs to know is asked for only if nothing was found.
        assert_eq!((answer.cost("round_trips"), answer.cost("rows_written")), (if found { 3 } else { 4 }, 4));
        answer.cost("rows_read")
    };
    let nothing = cost(json!({"query": "nothing-like-it", "inbox_id": LARGE}));
    for order in ["rank", "date"] {
        let one = cost(json!({"query": "common", "inbox_id": LARGE, "limit": 10, "order": order})) - nothing;
        assert!(one < 1_100, "a page of 10 and a count of 1,000 read {one} rows");
        let few =
            cost(json!({"query": "common", "inbox_id": LARGE, "sent_before": "1990-01-21", "order": order})) - nothing;
        assert!(few < 100, "20 days read {few} rows");
    }
    assert!(cost(json!({"query": "common", "inbox_id": "nobody@mail.example"})) <= nothing);
    assert_eq!(search(&client, "common", LARGE, json!({}))["total"], 1000);
    assert_eq!(search(&client, "common", LARGE, json!({"from": "p7@mail.example"}))["total"], LARGE_COUNT / 10);
    assert_eq!(search(&client, "common", LARGE, json!({"limit": 50}))["emails"].as_array().unwrap().len(), 50);
}

/// Of 3,000 emails with the words, one person wrote 300, and another person received 30.
#[test]
fn a_search_for_people_costs_what_there_is_of_theirs() {
    let client = client();
    let cost = |filter: Value| {
        let mut arguments = json!({"query": "common", "inbox_id": LARGE, "limit": 10});
        arguments.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let answer = client.execute("email_search", arguments);
        let total = answer.success()["total"].as_u64().unwrap();
        (total, answer.cost("rows_read"))
    };
    let (_, nothing) = cost(json!({"query": "nothing-like-it"}));
    let [many, few, nobody] =
        [json!({"from": "p7@mail.example"}), json!({"to": "q7@mail.example"}), json!({"to": "x@mail.example"})];
    let check = |filter: &Value, order: &str, found: u64, most: u32| {
        let mut filter = filter.clone();
        filter["order"] = order.into();
        let (total, read) = cost(filter.clone());
        let read = read - nothing;
        assert!(total == found && read < most, "{filter}: {total} emails found, {read} rows read");
    };
    // One row for each email that has the words, until the page is full; and the same for the count.
    check(&many, "rank", 300, 4_000);
    check(&many, "date", 300, 4_000);
    check(&few, "rank", 30, 3_200);
    check(&few, "date", 30, 300);
    // The addresses that are near are looked up for the note.
    check(&nobody, "rank", 0, 60);
    check(&nobody, "date", 0, 60);
}

/// Questions in plain words, on the mail that `scripts/dev` loads.
#[test]
fn questions_find_their_emails_as_they_are_typed() {
    let server = Server::start_with_sample_mail("sample-mail", &[("AUTH", "open"), ("COST_HEADER", "on")]);
    let client = server.client("mail");
    let inboxes = client.get("/api/benchmarks/inboxes").ok();
    assert_eq!(inboxes, json!({"inboxes": [{"inbox": "matt.motley@enron.com", "emails": 296}]}));
    let questions = include_str!("../../samples/enron/questions.jsonl");
    let questions = questions.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()).collect::<Vec<_>>();
    assert_eq!(questions.len(), 6);
    for it in &questions {
        let question = it["question"].as_str().unwrap();
        let found = search(&client, question, it["inbox"].as_str().unwrap(), json!({}));
        assert!(ids(&found).contains(&it["message_ids"][0].as_str().unwrap()), "{question}: {found}");
        assert!(found["note"].as_str().unwrap().starts_with("No email has all the words"), "{question}: {found}");
    }

    let measure = |sources: &[&str]| {
        let mut command = Command::new("node");
        command.args(["bench/mail-quality.mjs", server.url()]).args(sources).output().unwrap()
    };
    let output = measure(&[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let report = serde_json::from_str::<Value>(said.lines().last().unwrap()).unwrap();
    let counts = [&report[0]["questions"], &report[1]["questions"]];
    assert_eq!((counts, report.as_array().unwrap().len()), ([&json!(6), &json!(200)], 2), "{said}");
    for source in report.as_array().unwrap() {
        let figure = |matching: &str, name: &str| source[matching][name].as_f64().unwrap();
        assert!(figure("auto", "hit@10") >= 90.0 && figure("any", "hit@10") >= 90.0, "{said}");
        assert!(figure("all", "hit@10") < 10.0, "{said}");
        // A page, and a count of at most the 296 emails.
        assert!(figure("auto", "rows_read") < 400.0, "{said}");
    }

    let none = measure(&["/dev/null"]);
    assert!(!none.status.success());
    assert!(String::from_utf8_lossy(&none.stderr).contains("/dev/null has no questions"));
}

/// The handler checks its arguments itself if the schema of another tool does not.
#[test]
fn another_tool_may_have_the_same_handler() {
    let client = client();
    Tool::new("mail-face").builtin("email_search").put(server(), &client);
    let found = client.execute("mail-face", json!({"query": "lunch", "inbox_id": ADA, "unknown": 1})).success();
    assert_eq!(found["total"], 2);
    assert_eq!(client.execute("mail-face", json!({})).success(), json!({"emails": [], "total": 0}));
    for arguments in [json!({"limit": 1000}), json!({"query": 7}), json!({"sent_after": "now"})] {
        client.execute("mail-face", arguments).failed(400, "INVALID_ARGUMENTS");
    }
}

#[test]
fn a_worker_without_mail_says_so() {
    let says = |server: &Server, message: &str, route: &str| {
        let client = server.client("mail");
        for (tool, arguments) in [
            ("email_search", json!({"query": "gas", "inbox_id": ADA})),
            ("email_search", json!({"query": "", "inbox_id": ADA})),
            ("email_get", json!({"message_id": "<1@mail>"})),
        ] {
            let result = client.execute(tool, arguments).failed(200, "TOOL_ERROR");
            assert_eq!(result["error"]["message"], message);
        }
        assert_eq!(client.get("/api/benchmarks/inboxes").refused(503, "UNAVAILABLE").message, route);
        client.get("/api/tools").ok();
    };
    let open = [("AUTH", "open")];
    let unbound = Server::start_without("unbound", &open, DATABASE);
    let message = "BENCHMARKS_DB binding not configured";
    says(&unbound, message, &format!("{message}: see wrangler.toml"));

    let unmigrated = Server::start("no-mail", &open);
    for table in
        "VIEW entry_texts, VIEW entry_people, TABLE emails_fts, TABLE people, TABLE addresses, TABLE entries, TABLE emails,
         TABLE inboxes".split(',')
    {
        unmigrated.sql_on(DATABASE, &format!("DROP {table}"), &[]);
    }
    let hint = "The benchmarks' database has no tables yet: run wrangler d1 migrations apply BENCHMARKS_DB";
    says(&unmigrated, "Database query failed", hint);
}
