//! Conversations on native SQLite: branches, files that move with them, and what pages of long conversations cost.

use super::turn::{BegunTurn, EndedTurn, TurnBeginning, TurnEnding};
use super::*;
use crate::callers::Level;
use crate::db::native::{migrated, migrations};
use crate::db::{DbFailure, Rows, Statement};
use crate::ids::{TokenId, WorkspaceId};
use crate::playground::start::{MessagePlace, TurnStart};
use crate::quota;
use rusqlite::Connection;
use serde_json::json;

/// A database with one workspace, the agent `agent_1`, and a token that is bound to the agent `agent_2`.
struct House {
    database: Connection,
    workspace: WorkspaceId,
    session: SessionId,
    agent: AgentId,
    now: Timestamp,
    quota_bytes: u64,
}

fn message_id(id: &str) -> MessageId {
    MessageId::parse(id).unwrap()
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text { text: text.to_owned() }]
}

fn say(id: &str, place: MessagePlace) -> TurnStart {
    TurnStart::Message { id: Some(message_id(id)), parts: text(id), place }
}

impl House {
    fn new() -> Self {
        let database = migrated(&migrations("db"));
        for agent in ["agent_1", "agent_2"] {
            let insert = "INSERT INTO agents (workspace_id, id, name, capabilities, max_risk, allowed_modules,
                permission_level, default_tools, created_at) VALUES ('ws', ?1, 'A', '[]', 'low', '[]', 'user', 1, '')";
            database.execute(insert, [agent]).unwrap();
        }
        let insert = "INSERT INTO tokens (workspace_id, id, name, level, agent_id, sha256, created_at, created_by)
            VALUES ('ws', 'tok_2', 't', ?1, 'agent_2', printf('%064d', 1), '', 't')";
        database.execute(insert, [Level::User.as_str()]).unwrap();
        Self {
            database,
            workspace: WorkspaceId::parse("ws").unwrap(),
            session: SessionId::parse("s").unwrap(),
            agent: AgentId::parse("agent_1").unwrap(),
            now: Timestamp::parse("2026-11-18T00:00:00.000Z").unwrap(),
            quota_bytes: 1 << 40,
        }
    }

    /// Runs statements as one transaction.
    fn batch(&self, statements: &[Statement]) -> std::result::Result<Vec<Rows>, DbFailure> {
        let transaction = self.database.unchecked_transaction().unwrap();
        let rows = statements
            .iter()
            .map(|it| it.answer_of(&transaction).map_err(|cause| DbFailure::Refused(cause.to_string())))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        transaction.commit().unwrap();
        Ok(rows)
    }

    fn beginning<'a>(&'a self, start: &'a TurnStart) -> TurnBeginning<'a> {
        TurnBeginning {
            workspace: &self.workspace,
            session: &self.session,
            token: None,
            agent: &self.agent,
            start,
            now: self.now,
            quota_bytes: self.quota_bytes,
        }
    }

    fn try_begin(&self, start: &TurnStart) -> Result<BegunTurn> {
        let beginning = self.beginning(start);
        let rows = self.batch(&beginning.statements().unwrap()).map_err(Error::from)?;
        beginning.read(&rows)
    }

    #[track_caller]
    fn begin(&self, start: &TurnStart) -> BegunTurn {
        self.try_begin(start).unwrap()
    }

    #[track_caller]
    fn refused(&self, start: &TurnStart) -> String {
        let before = self.everything();
        let refusal = self.try_begin(start).unwrap_err().to_string();
        assert_eq!(self.everything(), before, "a refused turn writes nothing");
        refusal
    }

    fn answer(id: &str, begun: &BegunTurn, parts: Vec<Part>) -> Message {
        let question = begun.path.last().unwrap();
        Message {
            id: message_id(id),
            parent_id: Some(question.id.clone()),
            role: Role::Assistant,
            parts,
            agent_id: question.agent_id.clone(),
            manifest_id: None,
            finish_reason: Some(FinishReason::Stop),
            usage: Some(Usage { input_tokens: 1, output_tokens: 2, total_tokens: 3 }),
            metadata: Some(json!({"a": 1})),
            created_at: question.created_at,
        }
    }

    fn try_end(&self, generation: u32, message: &Message) -> std::result::Result<EndedTurn, DbFailure> {
        let ending = TurnEnding {
            workspace: &self.workspace,
            session: &self.session,
            generation,
            message,
            now: self.now,
            quota_bytes: self.quota_bytes,
        };
        let rows = self.batch(&ending.statements().unwrap())?;
        Ok(ending.read(&rows).unwrap())
    }

    /// A whole turn: a question in its place, files if they are named, and the answer.
    #[track_caller]
    fn turn(&self, start: &TurnStart, manifest: Option<&str>, answer: &str) {
        let begun = self.begin(start);
        if let Some(manifest) = manifest {
            self.write_files(manifest);
        }
        let ended = self.try_end(begun.generation, &Self::answer(answer, &begun, text(answer))).unwrap();
        assert!(matches!(ended, EndedTurn::Stored { .. }), "{ended:?}");
    }

    /// Makes a file manifest that is the session's present.
    fn write_files(&self, manifest: &str) {
        self.database
            .execute(
                "INSERT INTO manifests (workspace_id, id, session_id, generation, tree_id, line, seq, source, created_at,
                   files, bytes)
                 SELECT 'ws', ?1, 's', generation, ?1, '', 1, 'edit', '', 1, 1 FROM sessions WHERE id = 's'",
                [manifest],
            )
            .unwrap();
        self.database.execute("UPDATE sessions SET active_manifest_id = ?1, head_id = ?1", [manifest]).unwrap();
    }

    /// The active message and the present files.
    fn present(&self) -> (Option<String>, Option<String>) {
        let find = "SELECT active_message_id, active_manifest_id FROM sessions WHERE id = 's'";
        self.database.query_row(find, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }

    fn assert_present(&self, message: &str, manifest: Option<&str>) {
        assert_eq!(self.present(), (Some(message.to_owned()), manifest.map(str::to_owned)));
    }

    fn check_out(&self, message: &str) -> u32 {
        self.check_out_message(message, false)
    }

    fn check_out_message(&self, message: &str, to_end: bool) -> u32 {
        let message = CheckedOutMessage { id: message_id(message), to_end };
        let statement = store::check_out(&self.workspace, &self.session, &message, self.now);
        self.batch(&[statement]).unwrap()[0].changes()
    }

    fn listing(&self, leaf: Option<&str>, first: u32, limit: u32) -> Statement {
        let leaf = leaf.map(message_id);
        store::list(&self.workspace, &self.session, leaf.as_ref(), first, limit)
    }

    fn listed(&self, leaf: Option<&str>) -> Vec<(String, Vec<String>)> {
        let rows = self.batch(&[self.listing(leaf, 0, 201)]).unwrap();
        let (messages, is_cut) = store::read_listed(&rows[0]).unwrap();
        assert!(!is_cut);
        messages.into_iter().map(|it| (it.message.id.to_string(), it.siblings)).collect()
    }

    fn path(&self, leaf: Option<&str>) -> Vec<String> {
        self.listed(leaf).into_iter().map(|it| it.0).collect()
    }

    fn number(&self, query: &str) -> i64 {
        self.database.query_row(query, [], |row| row.get(0)).unwrap()
    }

    fn counted(&self) -> i64 {
        self.number("SELECT coalesce(sum(calls_bytes), 0) FROM workspace_usage")
    }

    fn everything(&self) -> String {
        let mut all = Vec::new();
        for table in ["sessions", "messages", "message_chunks", "workspace_usage"] {
            all.push(crate::db::sql(format!("SELECT * FROM {table}")).rows_of(&self.database).unwrap());
        }
        json!(all).to_string()
    }
}

/// An answer goes on after an approval.
fn going_on(message: &str) -> TurnStart {
    TurnStart::Approvals { message: message_id(message), answers: Vec::new() }
}

#[test]
fn a_conversation_grows_turn_by_turn() {
    let house = House::new();
    let begun = house.begin(&say("q1", MessagePlace::AfterActive));
    assert_eq!((begun.path.len(), begun.older_messages, begun.generation), (1, 0, 0));
    let question = &begun.path[0];
    assert_eq!((question.role, &question.parent_id, &question.parts), (Role::User, &None, &text("q1")));
    assert_eq!(question.agent_id.as_ref(), Some(&house.agent));
    let agent = house.database.query_row("SELECT agent_id FROM sessions", [], |row| row.get::<_, String>(0));
    assert_eq!(agent.unwrap(), "agent_1");
    let answer = House::answer("a1", &begun, text("hello"));
    assert_eq!(house.try_end(0, &answer).unwrap(), EndedTurn::Stored { manifest_id: None });
    house.turn(&say("q2", MessagePlace::AfterActive), Some("man_2"), "a2");
    let begun = house.begin(&say("q3", MessagePlace::AfterActive));
    let ids = begun.path.iter().map(|it| it.id.as_str()).collect::<Vec<_>>();
    assert_eq!(ids, ["q1", "a1", "q2", "a2", "q3"]);
    assert_eq!(begun.path[1], answer);
    assert_eq!(begun.path[3].manifest_id, FileManifestId::parse("man_2"));
    house.assert_present("q3", Some("man_2"));
    assert_eq!(house.number("SELECT count(DISTINCT line) FROM messages"), 1);
}

#[test]
fn branches_begin_from_the_files_of_their_parent() {
    let house = House::new();
    house.turn(&say("q1", MessagePlace::AfterActive), Some("man_1"), "a1");
    house.turn(&say("q2", MessagePlace::AfterActive), Some("man_2"), "a2");
    house.turn(&say("q3", MessagePlace::Under(message_id("a1"))), Some("man_3"), "a3");
    house.assert_present("a3", Some("man_3"));
    assert_eq!(house.path(None), ["q1", "a1", "q3", "a3"]);
    assert_eq!(house.path(Some("a2")), ["q1", "a1", "q2", "a2"]);
    // The user writes another message instead of the second one.
    let begun = house.begin(&say("q4", MessagePlace::Instead(message_id("q2"))));
    house.assert_present("q4", Some("man_1"));
    assert_eq!(begun.path.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["q1", "a1", "q4"]);
    let siblings = &house.listed(None)[2].1;
    assert_eq!(siblings, &["q2", "q3", "q4"]);
    // Back and forward: the messages and their files move together.
    assert_eq!(house.check_out("a2"), 1);
    house.assert_present("a2", Some("man_2"));
    assert_eq!(house.check_out("q1"), 1);
    house.assert_present("q1", None);
    assert_eq!(house.check_out("nobody"), 0);
    house.assert_present("q1", None);
    // A branch that is opened at its beginning is as it was left.
    for (from, end, manifest) in
        [("q2", "a2", "man_2"), ("q3", "a3", "man_3"), ("q1", "a2", "man_2"), ("a2", "a2", "man_2")]
    {
        assert_eq!(house.check_out_message(from, true), 1);
        house.assert_present(end, Some(manifest));
    }
    assert_eq!(house.check_out_message("nobody", true), 0);
    // Instead of the first message, there are no files, as before it.
    house.check_out("a3");
    house.begin(&say("q5", MessagePlace::Instead(message_id("q1"))));
    house.assert_present("q5", None);
    assert_eq!(house.listed(None), [("q5".to_owned(), vec!["q1".to_owned(), "q5".to_owned()])]);
}

#[test]
fn files_that_were_changed_by_hand_since_the_last_answer_are_kept() {
    let house = House::new();
    house.turn(&say("q1", MessagePlace::AfterActive), Some("man_1"), "a1");
    house.write_files("man_2");
    house.begin(&say("q2", MessagePlace::Under(message_id("a1"))));
    house.assert_present("q2", Some("man_2"));
}

#[test]
fn an_answer_is_made_anew_beside_the_old_one() {
    let house = House::new();
    house.turn(&say("q1", MessagePlace::AfterActive), Some("man_1"), "a1");
    house.turn(&TurnStart::Regenerate { message: None }, Some("man_2"), "a2");
    house.assert_present("a2", Some("man_2"));
    house.turn(&say("q2", MessagePlace::AfterActive), None, "a3");
    let begun = house.begin(&TurnStart::Regenerate { message: Some(message_id("a1")) });
    assert_eq!(begun.path.last().unwrap().id.as_str(), "q1");
    house.assert_present("q1", None);
    // The turn before died without an answer: the question is answered again.
    house.turn(&TurnStart::Regenerate { message: None }, None, "a4");
    assert_eq!(house.listed(None)[1].1, ["a1", "a2", "a4"]);
    assert_eq!(house.path(Some("a3")), ["q1", "a2", "q2", "a3"]);
}

/// The message of the user that a client shows last is answered again.
fn again(id: &str, words: &str) -> TurnStart {
    TurnStart::Again { id: Some(message_id(id)), parts: text(words) }
}

/// The ids of the messages that a turn answers.
fn ids(begun: &BegunTurn) -> Vec<&str> {
    begun.path.iter().map(|it| it.id.as_str()).collect()
}

#[test]
fn a_message_that_came_here_is_answered_again() {
    let house = House::new();
    house.turn(&say("q1", MessagePlace::AfterActive), Some("man_1"), "a1");
    house.turn(&say("q2", MessagePlace::AfterActive), Some("man_2"), "a2");
    // The client shows the question of the last answer.
    let begun = house.begin(&again("q2", "q2"));
    assert_eq!((ids(&begun), house.number("SELECT count(*) FROM messages")), (vec!["q1", "a1", "q2"], 4));
    house.assert_present("q2", Some("man_1"));
    // It was stored, and its turn died.
    house.begin(&say("q3", MessagePlace::Under(message_id("a2"))));
    assert_eq!(ids(&house.begin(&again("q3", "q3"))).len(), 5);
    // Somebody else has led the conversation elsewhere meanwhile.
    house.turn(&again("q1", "q1"), Some("man_3"), "a3");
    assert_eq!(house.path(None), ["q1", "a3"]);
    house.begin(&again("q2", "q2"));
    house.assert_present("q2", Some("man_1"));
    // A client whose id of the message was not taken.
    let unnamed = TurnStart::Again { id: None, parts: text("q2") };
    assert_eq!(ids(&house.begin(&unnamed)), ["q1", "a1", "q2"]);
    assert_eq!(house.number("SELECT count(*) FROM messages"), 6);
}

#[test]
fn a_message_that_never_came_here_is_stored_when_it_is_to_be_answered_again() {
    let house = House::new();
    // The very first message was refused, so there is no session.
    let begun = house.begin(&again("q1", "hello"));
    assert_eq!((ids(&begun), &begun.path[0].parts), (vec!["q1"], &text("hello")));
    house.try_end(0, &House::answer("a1", &begun, text("hi"))).unwrap();
    house.write_files("man_1");
    let begun = house.begin(&again("q2", "and?"));
    assert_eq!((ids(&begun), &begun.path[2].parts), (vec!["q1", "a1", "q2"], &text("and?")));
    house.assert_present("q2", Some("man_1"));
    // Of the same words, with an id of its own.
    house.try_end(0, &House::answer("a2", &begun, text("so"))).unwrap();
    assert_eq!(ids(&house.begin(&again("q3", "and?"))), ["q1", "a1", "q2", "a2", "q3"]);
    let unnamed = TurnStart::Again { id: None, parts: text("well?") };
    assert_eq!(house.begin(&unnamed).path.len(), 6);
    assert_eq!(house.counted(), house.number("SELECT sum(bytes) FROM messages"));
    // A large one.
    let long = "ä\u{1f600}".repeat(500_000);
    let begun = house.begin(&again("q5", &long));
    assert_eq!(begun.path.last().unwrap().parts, text(&long));
    assert_eq!(ids(&house.begin(&again("q5", &long))), ids(&begun));
    assert_eq!(house.number("SELECT count(*) FROM message_chunks"), 3);
}

#[test]
fn an_edited_message_is_answered_again_under_the_id_that_it_has_here() {
    let house = House::new();
    house.turn(&say("q1", MessagePlace::AfterActive), Some("man_1"), "a1");
    house.turn(&say("q2", MessagePlace::AfterActive), Some("man_2"), "a2");
    let edited = |words: &str| TurnStart::Message {
        id: None,
        parts: text(words),
        place: MessagePlace::Instead(message_id("q2")),
    };
    let begun = house.begin(&edited("other"));
    house.try_end(0, &House::answer("a3", &begun, text("a3"))).unwrap();
    // The client keeps the old id for the new words.
    let before = house.number("SELECT count(*) FROM messages");
    assert_eq!(ids(&house.begin(&again("q2", "other"))), ids(&begun));
    // Words that were not changed are those of the newer message too.
    let same = house.begin(&edited("q2"));
    house.try_end(0, &House::answer("a4", &same, text("a4"))).unwrap();
    assert_eq!(ids(&house.begin(&again("q2", "q2"))), ids(&same));
    assert_eq!(house.number("SELECT count(*) FROM messages"), before + 2);
    // The edited message was refused: it comes beside the old one.
    let begun = house.begin(&again("q2", "third"));
    assert_eq!((ids(&begun).len(), &begun.path[2].parts), (3, &text("third")));
    assert_eq!(begun.path[1].id.as_str(), "a1");
    house.assert_present(begun.path[2].id.as_str(), Some("man_1"));
    assert_eq!(house.refused(&again("a1", "x")), "The message a1 is not the user's");
}

#[test]
fn a_message_tells_how_its_calls_stand_wherever_the_conversation_is() {
    let house = House::new();
    let begun = house.begin(&say("q1", MessagePlace::AfterActive));
    let waiting = House::answer("a1", &begun, text("may I?"));
    house.write_files("man_1");
    house.try_end(0, &waiting).unwrap();
    house.turn(&say("q2", MessagePlace::AfterActive), Some("man_2"), "a2");
    let change = |generation: u32, parts: Vec<Part>| {
        let texts = super::turn::texts_of(&parts).unwrap().with_metadata(waiting.metadata.as_ref());
        let place = (&house.session, generation);
        house.batch(&store::change_answer(&house.workspace, place, &waiting.id, &texts)).unwrap();
    };
    for parts in [text(&"x".repeat(2_000_000)), text("you may")] {
        change(0, parts.clone());
        let begun = house.begin(&going_on("a1"));
        let manifest_id = FileManifestId::parse("man_1");
        assert_eq!(begun.paused, Some(Message { parts, manifest_id, ..waiting.clone() }));
        house.assert_present("a2", Some("man_2"));
        assert_eq!(house.counted(), house.number("SELECT sum(bytes) FROM messages"));
    }
    assert_eq!(house.number("SELECT count(*) FROM message_chunks"), 0);
    let before = house.everything();
    change(1, text("another session of the same name"));
    assert_eq!(house.everything(), before);
}

#[test]
fn an_answer_goes_on_after_an_approval() {
    let house = House::new();
    let begun = house.begin(&say("q1", MessagePlace::AfterActive));
    let waiting = House::answer("a1", &begun, text("may I?"));
    house.try_end(0, &waiting).unwrap();
    let before = house.everything();
    let begun = house.begin(&going_on("a1"));
    assert_eq!(house.everything(), before, "going on writes nothing at first");
    assert_eq!(begun.paused.as_ref(), Some(&waiting));
    assert_eq!(begun.path.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["q1"]);
    house.write_files("man_1");
    let whole = Message { parts: text("I may, and here is more"), finish_reason: None, ..waiting };
    for _ in 0..2 {
        let ended = house.try_end(0, &whole).unwrap();
        assert_eq!(ended, EndedTurn::Stored { manifest_id: FileManifestId::parse("man_1") });
    }
    let begun = house.begin(&going_on("a1"));
    assert_eq!((begun.path.len(), begun.paused.map(|it| it.parts)), (1, Some(whole.parts)));
    assert_eq!(house.counted(), house.number("SELECT sum(bytes) FROM messages"));
}

#[test]
fn a_turn_that_cannot_begin_writes_nothing() {
    let house = House::new();
    let nobody = || message_id("nobody");
    for start in [
        say("q", MessagePlace::Under(nobody())),
        say("q", MessagePlace::Instead(nobody())),
        TurnStart::Regenerate { message: None },
        going_on("nobody"),
    ] {
        assert_eq!(house.refused(&start), "Session not found: s");
    }
    house.turn(&say("q1", MessagePlace::AfterActive), None, "a1");
    for start in [
        say("q", MessagePlace::Under(nobody())),
        say("q", MessagePlace::Instead(nobody())),
        TurnStart::Regenerate { message: Some(nobody()) },
        going_on("nobody"),
    ] {
        assert_eq!(house.refused(&start), "Message not found: nobody");
    }
    assert_eq!(house.refused(&say("q", MessagePlace::Instead(message_id("a1")))), "The message a1 is not the user's");
    let question = going_on("q1");
    assert!(house.refused(&question).contains("waits for no approval"));
    // A message of another session is unknown too.
    let other = House { session: SessionId::parse("other").unwrap(), ..house };
    other.begin(&say("q9", MessagePlace::AfterActive));
    assert_eq!(other.refused(&say("q", MessagePlace::Under(message_id("a1")))), "Message not found: a1");
}

#[test]
fn an_agent_that_does_not_exist_makes_no_session() {
    let mut house = House::new();
    house.agent = AgentId::parse("agent_9").unwrap();
    assert_eq!(house.refused(&say("q", MessagePlace::AfterActive)), "Agent not found: agent_9");
    house.agent = AgentId::parse("agent_1").unwrap();
    house.turn(&say("q1", MessagePlace::AfterActive), None, "a1");
    house.agent = AgentId::parse("agent_9").unwrap();
    let regenerated = || TurnStart::Regenerate { message: None };
    for start in [say("q", MessagePlace::AfterActive), regenerated(), again("q1", "q1"), again("q2", "q2")] {
        assert_eq!(house.refused(&start), "Agent not found: agent_9");
    }
}

#[test]
fn an_id_that_is_taken_is_replaced() {
    let house = House::new();
    house.turn(&say("q1", MessagePlace::AfterActive), None, "a1");
    let begun = house.begin(&say("q1", MessagePlace::AfterActive));
    let id = begun.path.last().unwrap().id.as_str();
    assert!(id.starts_with("msg_") && id.len() == 36, "{id}");
    assert_eq!(house.present().0.as_deref(), Some(id));
    let start = TurnStart::Message { id: None, parts: text("x"), place: MessagePlace::AfterActive };
    assert!(house.begin(&start).path.last().unwrap().id.as_str().starts_with("msg_"));
    let other = House { session: SessionId::parse("other").unwrap(), ..house };
    assert_eq!(other.begin(&say("q1", MessagePlace::AfterActive)).path[0].id.as_str(), "q1", "ids are a session's own");
}

#[test]
fn a_session_that_is_hidden_from_the_token_is_left_alone() {
    let house = House::new();
    house.turn(&say("q1", MessagePlace::AfterActive), None, "a1");
    let token = TokenId::parse("tok_2").unwrap();
    let before = house.everything();
    let regenerated = || TurnStart::Regenerate { message: None };
    for start in [say("q2", MessagePlace::AfterActive), regenerated(), again("q2", "q2"), going_on("a1")] {
        let beginning = TurnBeginning { token: Some(&token), ..house.beginning(&start) };
        let failure = house.batch(&beginning.statements().unwrap()).err().unwrap();
        assert!(matches!(&failure, DbFailure::Refused(it) if it.contains("the session of another agent")));
    }
    assert_eq!(house.everything(), before);
    let (session, agent) = (SessionId::parse("mine").unwrap(), AgentId::parse("agent_2").unwrap());
    let mine = House { session, agent, ..house };
    let start = say("q1", MessagePlace::AfterActive);
    let beginning = TurnBeginning { token: Some(&token), ..mine.beginning(&start) };
    let rows = mine.batch(&beginning.statements().unwrap()).unwrap();
    assert_eq!(beginning.read(&rows).unwrap().path.len(), 1);
}

#[test]
fn an_answer_to_a_session_that_is_gone_is_not_stored() {
    let house = House::new();
    let begun = house.begin(&say("q1", MessagePlace::AfterActive));
    let answer = House::answer("a1", &begun, text("late"));
    house.database.execute("UPDATE sessions SET deleted = 1", []).unwrap();
    assert_eq!(house.try_end(begun.generation, &answer).unwrap(), EndedTurn::SessionGone);
    // The session is made anew, with a message of the same id.
    let again = house.begin(&say("q1", MessagePlace::AfterActive));
    assert_eq!((again.generation, again.path.len()), (1, 1));
    assert_eq!(house.try_end(begun.generation, &answer).unwrap(), EndedTurn::SessionGone);
    house.assert_present("q1", None);
    assert!(matches!(house.try_end(again.generation, &answer).unwrap(), EndedTurn::Stored { .. }));
}

#[test]
fn a_large_message_is_stored_in_pieces() {
    let house = House::new();
    // The pieces end within characters of two and four bytes, if they are cut without care.
    let long = "ä\u{1f600}".repeat(500_000);
    let start = TurnStart::Message { id: None, parts: text(&long), place: MessagePlace::AfterActive };
    let begun = house.begin(&start);
    assert_eq!(begun.path[0].parts, text(&long));
    assert_eq!(house.number("SELECT count(*) FROM message_chunks"), 3);
    let answer = House::answer("a1", &begun, text(&long));
    house.try_end(0, &answer).unwrap();
    house.try_end(0, &answer).unwrap();
    assert_eq!(house.number("SELECT count(*) FROM message_chunks"), 6);
    let read = house.begin(&going_on("a1"));
    assert_eq!((read.path.len(), read.older_messages), (1, 0));
    assert_eq!(read.paused, Some(answer.clone()));
    let rows = house.batch(&[house.listing(None, 0, 51)]).unwrap();
    let (listed, _) = store::read_listed(&rows[0]).unwrap();
    assert_eq!(listed.iter().map(|it| it.siblings.len()).collect::<Vec<_>>(), [1, 1]);
    // A shorter answer leaves no piece of the old one.
    house.try_end(0, &Message { parts: text("short"), ..answer }).unwrap();
    assert_eq!(house.number("SELECT count(*) FROM message_chunks"), 3);
    assert_eq!(house.counted(), house.number("SELECT sum(bytes) FROM messages"));
    let huge = TurnStart::Message { id: None, parts: text(&"x".repeat(8_000_001)), place: MessagePlace::AfterActive };
    assert!(house.beginning(&huge).statements().is_err());
}

#[test]
fn a_turn_reads_the_newest_messages_within_their_bytes() {
    let house = House::new();
    let large = "x".repeat(1_500_000);
    let mut sizes = Vec::new();
    for _ in 0..5 {
        let start = TurnStart::Message { id: None, parts: text(&large), place: MessagePlace::AfterActive };
        let begun = house.begin(&start);
        sizes.push((begun.path.len(), begun.older_messages));
    }
    assert_eq!(sizes, [(1, 0), (2, 0), (3, 0), (3, 1), (3, 2)]);
    let rows = house.batch(&[house.listing(None, 0, 51)]).unwrap();
    let (listed, is_cut) = store::read_listed(&rows[0]).unwrap();
    assert_eq!((listed.len(), is_cut), (3, true));
}

#[test]
fn an_answer_that_goes_on_is_read_with_its_question_however_large_it_is() {
    let house = House::new();
    house.turn(&say("q1", MessagePlace::AfterActive), None, "a1");
    let begun = house.begin(&say("q2", MessagePlace::AfterActive));
    let large = House::answer("a2", &begun, text(&"x".repeat(5_000_000)));
    house.try_end(0, &large).unwrap();
    let begun = house.begin(&going_on("a2"));
    assert_eq!(begun.path.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["q1", "a1", "q2"]);
    assert_eq!((begun.paused, begun.older_messages), (Some(large), 0));
}

#[test]
fn a_long_path_tells_how_many_messages_are_before_it() {
    let house = House::new();
    add_long_conversation(&house, 300);
    let begun = house.begin(&say("new", MessagePlace::AfterActive));
    assert_eq!((begun.path.len(), begun.older_messages), (200, 101));
    assert_eq!(begun.path[0].role, Role::Assistant, "the conversation for the model leaves it out");
}

#[test]
fn an_answer_that_is_stored_again_needs_room_for_what_is_new_alone() {
    let mut house = House::new();
    let begun = house.begin(&say("q1", MessagePlace::AfterActive));
    let answer = House::answer("a1", &begun, text(&"x".repeat(10_000)));
    house.try_end(0, &answer).unwrap();
    house.quota_bytes = u64::try_from(house.counted()).unwrap() + 100;
    // The same again, as after a fault of D1, or a little more, as after an approval.
    house.try_end(0, &answer).unwrap();
    house.try_end(0, &Message { parts: text(&"x".repeat(10_100)), ..answer.clone() }).unwrap();
    let failure = house.try_end(0, &Message { parts: text(&"x".repeat(10_101)), ..answer.clone() }).err().unwrap();
    assert!(quota::is_used_up(&failure));
    // A shorter one finds room even if the quota was lowered.
    house.quota_bytes = 1_000;
    house.try_end(0, &Message { parts: text("x"), ..answer }).unwrap();
    assert_eq!(house.counted(), house.number("SELECT sum(bytes) FROM messages"));
}

#[test]
fn a_full_workspace_takes_no_message() {
    let mut house = House::new();
    let begun = house.begin(&say("q1", MessagePlace::AfterActive));
    let answer = House::answer("a1", &begun, text("hello"));
    house.quota_bytes = 1_000;
    let before = house.everything();
    let failure = house.try_end(0, &answer).err().unwrap();
    assert!(quota::is_used_up(&failure));
    let start = say("q2", MessagePlace::AfterActive);
    let failure = house.batch(&house.beginning(&start).statements().unwrap()).err().unwrap();
    assert!(quota::is_used_up(&failure));
    assert_eq!(house.everything(), before);
    house.quota_bytes = 1 << 40;
    house.try_end(0, &answer).unwrap();
    assert_eq!(house.counted(), house.number("SELECT sum(bytes) FROM messages"));
    house.database.execute("DELETE FROM messages", []).unwrap();
    assert_eq!(house.counted(), 0);
}

/// Adds a conversation of so many messages to the session, as one line.
fn add_long_conversation(house: &House, messages: u32) {
    house.turn(&say("first", MessagePlace::AfterActive), None, "second");
    let fill = format!(
        "WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < {messages} - 1)
         INSERT INTO messages (workspace_id, session_id, generation, id, parent_id, depth, line, line_start, role,
           created_at, bytes, chunks, parts)
         SELECT 'ws', 's', 0, 'm' || n, iif(n = 2, 'second', 'm' || (n - 1)), n, 1, 0,
           iif(n % 2 = 0, 'user', 'assistant'), '2026-11-18T00:00:00.000Z', 602, 1, '[]' FROM n;
         UPDATE sessions SET active_message_id = 'm' || ({messages} - 1); ANALYZE"
    );
    house.database.execute_batch(&fill).unwrap();
}

#[test]
fn a_long_conversation_costs_what_a_page_costs() {
    let steps = |messages: u32| {
        let house = House::new();
        add_long_conversation(&house, messages);
        let first = house.listing(None, 0, 51);
        assert_eq!(first.rows_of(&house.database).unwrap().len(), 51);
        let last = house.listing(None, messages - 10, 51);
        assert_eq!(last.rows_of(&house.database).unwrap().len(), 10);
        let turn = store::newest_of_path(&house.workspace, &house.session, None);
        assert_eq!(turn.rows_of(&house.database).unwrap().len(), 200);
        let start = say("new", MessagePlace::AfterActive);
        let statements = house.beginning(&start).statements().unwrap();
        let begin = statements.iter().map(|it| it.steps_of(&house.database)).sum::<i32>();
        [first.steps_of(&house.database), last.steps_of(&house.database), turn.steps_of(&house.database), begin]
    };
    let (short, long) = (steps(300), steps(10_000));
    for (short, long) in short.into_iter().zip(long) {
        assert!(long < short + short / 10, "{short} and {long} steps");
    }
}

#[test]
fn a_branch_of_a_long_conversation_is_read_across_its_lines() {
    let house = House::new();
    add_long_conversation(&house, 1_000);
    house.turn(&say("q1", MessagePlace::Under(message_id("m99"))), None, "a1");
    house.turn(&say("q2", MessagePlace::AfterActive), None, "a2");
    house.turn(&say("q3", MessagePlace::Under(message_id("a1"))), None, "a3");
    let path = house.path(None);
    assert_eq!((path.len(), path[1].as_str(), path[99].as_str()), (104, "second", "m99"));
    assert_eq!(path[100..], ["q1", "a1", "q3", "a3"]);
    let rows = house.batch(&[house.listing(None, 98, 3)]).unwrap();
    let (page, _) = store::read_listed(&rows[0]).unwrap();
    assert_eq!(page.iter().map(|it| it.message.id.as_str()).collect::<Vec<_>>(), ["m98", "m99", "q1"]);
    assert_eq!(page[2].siblings, ["m100", "q1"]);
}

#[test]
fn a_cursor_is_a_depth_on_a_path() {
    let position = Position { depth: 49, leaf: message_id("msg_1") };
    let read = Position::parse(&position.to_string()).unwrap();
    assert_eq!((read.depth, read.leaf.as_str()), (49, "msg_1"));
    for broken in ["", "49", "x msg_1", "-1 msg_1", "49 ä"] {
        assert!(Position::parse(broken).is_none(), "{broken}");
    }
}
