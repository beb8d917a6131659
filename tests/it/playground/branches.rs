//! Branches of a conversation: another answer, an edited message, a new message under an older one, and checkout. The
//! files go along.

use super::{Chat, id_of, said, text_of};
use crate::harness::{Gate, ModelReply, open};
use serde_json::{Value, json};

/// A turn that writes `text` into the file `/f` and then says `text`.
#[track_caller]
fn write(chat: &Chat, fields: Value, text: &str) -> Value {
    chat.model.reply(ModelReply::calls(&[("write_file", json!({"path": "/f", "content": text}))]));
    chat.model.reply(ModelReply::says(text));
    assert_eq!(said(&chat.send(fields)), text);
    chat.last_message()
}

fn texts(chat: &Chat) -> Vec<String> {
    chat.messages().iter().map(text_of).collect()
}

#[test]
fn another_answer_starts_from_the_files_before_it() {
    let chat = Chat::new();
    let first = write(&chat, json!({"message": "Go"}), "one");
    // The second answer reads what is there before it writes.
    chat.model.reply(ModelReply::calls(&[("read_file", json!({"path": "/f"}))]));
    let second = write(&chat, json!({"trigger": "regenerate-message"}), "two");
    assert_eq!((&first["parent_id"], texts(&chat)), (&second["parent_id"], vec!["Go".to_owned(), "two".to_owned()]));
    let siblings = json!([first["id"], second["id"]]);
    assert_eq!(second["siblings"], siblings);
    let read = second["parts"].as_array().unwrap().iter().find(|it| it["toolName"] == "read_file").unwrap();
    assert_eq!(read["state"], "output-error", "the file of the first answer is not there");
    // The model is not told of the first answer.
    assert!(!json!(chat.model.last_messages()).to_string().contains("one"));

    let third = write(&chat, json!({"trigger": "regenerate-message", "messageId": first["id"]}), "three");
    assert_eq!(third["siblings"], json!([first["id"], second["id"], third["id"]]));
    assert_eq!(chat.file("f").as_deref(), Some("three"));
}

#[test]
fn an_edited_message_is_a_branch_beside_the_old_one() {
    let chat = Chat::new();
    write(&chat, json!({"message": "One"}), "1");
    write(&chat, json!({"message": "Two"}), "2");
    let [one, _, two, _] = chat.messages().try_into().unwrap();
    let edited = |id: &Value, text: &str| {
        json!({"id": "c", "trigger": "submit-message", "messageId": id,
            "messages": [{"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}]})
    };
    chat.model.reply(ModelReply::calls(&[("read_file", json!({"path": "/f"}))]));
    chat.model.reply(ModelReply::says("It is 1."));
    chat.send(edited(&two["id"], "What is there?"));
    assert_eq!(texts(&chat), ["One", "1", "What is there?", "It is 1."]);
    let told = chat.model.last_messages().pop().unwrap();
    assert_eq!((&told["role"], &told["content"]), (&json!("tool"), &json!("1")), "the files before the edited message");
    let new = chat.messages().remove(2);
    assert_eq!(new["siblings"], json!([two["id"], new["id"]]));
    assert_ne!(new["id"], two["id"]);

    // The first message of all can be edited too.
    chat.model.reply(ModelReply::calls(&[("list_files", json!({}))]));
    chat.model.reply(ModelReply::says("Nothing."));
    chat.send(edited(&one["id"], "Begin again"));
    assert_eq!(texts(&chat), ["Begin again", "Nothing."]);
    assert_eq!(chat.model.last_messages().pop().unwrap()["content"], "Contents of /:");
    assert_eq!(chat.messages()[0]["siblings"].as_array().unwrap().len(), 2);
    assert_eq!(chat.messages()[0]["parent_id"], Value::Null);
}

#[test]
fn a_message_that_was_refused_is_answered_when_its_client_regenerates() {
    let chat = Chat::new();
    let user = |id: &str, text: &str| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]});
    let posted = |trigger: &str, messages: Value| json!({"id": "c", "trigger": trigger, "messages": messages});
    chat.model.reply(ModelReply::says("One."));
    chat.send(posted("submit-message", json!([user("m1", "First")])));
    let answer = json!({"id": chat.last_message()["id"], "role": "assistant", "parts": []});
    // Somebody else's turn is under way.
    let gate = Gate::default();
    chat.model.reply(ModelReply::stream().text("Er").wait(&gate).finish("stop"));
    let mut stream = chat.begin("Wait");
    stream.until("text-delta");
    let shown = json!([user("m1", "First"), answer, user("m2", "Second")]);
    chat.post(posted("submit-message", shown.clone())).refused(409, "CONFLICT");
    gate.open();
    stream.rest();
    for said_now in ["Two.", "Two again."] {
        // The second time, the message is there, and is answered anew.
        chat.model.reply(ModelReply::says(said_now));
        assert_eq!(said(&chat.send(posted("regenerate-message", shown.clone()))), said_now);
        assert_eq!(texts(&chat), ["First", "One.", "Wait", "Er", "Second", said_now]);
        assert_eq!(chat.model.last_messages().pop().unwrap()["content"], "Second");
        assert_eq!(id_of(&chat.messages()[4]), "m2");
    }
    assert_eq!(chat.last_message()["siblings"].as_array().unwrap().len(), 2);

    // An edited message keeps its id at the client, and has another one here.
    let edited = json!([user("m1", "First of all")]);
    let mut edit = posted("submit-message", edited.clone());
    edit["messageId"] = "m1".into();
    for fields in [edit, posted("regenerate-message", edited)] {
        chat.model.reply(ModelReply::says("Edited."));
        assert_eq!(said(&chat.send(fields)), "Edited.");
        assert_eq!(texts(&chat), ["First of all", "Edited."]);
        assert_eq!(chat.messages()[0]["siblings"].as_array().unwrap().len(), 2);
    }
    // The edit itself was refused.
    chat.model.reply(ModelReply::says("Edited once more."));
    chat.send(posted("regenerate-message", json!([user("m1", "First of everything")])));
    assert_eq!(texts(&chat), ["First of everything", "Edited once more."]);
    assert_eq!(chat.messages()[0]["siblings"].as_array().unwrap().len(), 3);
    // The very first message of a session was refused.
    let other = Chat { session: "other".into(), ..chat.as_caller(&chat.client) };
    chat.model.reply(ModelReply::says("Hello."));
    other.send(posted("regenerate-message", json!([user("m1", "Hi")])));
    assert_eq!(texts(&other), ["Hi", "Hello."]);
}

#[test]
fn a_message_under_an_older_one_begins_a_branch_with_its_files() {
    let chat = Chat::new();
    let first = write(&chat, json!({"message": "One"}), "1");
    let second = write(&chat, json!({"message": "Two"}), "2");
    let branch = write(&chat, json!({"message": "Three", "parentId": first["id"]}), "3");
    assert_eq!(texts(&chat), ["One", "1", "Three", "3"]);
    let leaf = chat.client.get(&chat.path(&format!("messages?leaf={}", id_of(&second)))).ok();
    let others = leaf["messages"].as_array().unwrap().iter().map(text_of).collect::<Vec<_>>();
    assert_eq!(others, ["One", "1", "Two", "2"]);
    // Both branches have their own files.
    chat.check_out(id_of(&second)).ok();
    assert_eq!(chat.file("f").as_deref(), Some("2"));
    chat.check_out(id_of(&branch)).ok();
    assert_eq!(chat.file("f").as_deref(), Some("3"));
    let history = chat.client.pages(&chat.path("messages"), "messages", 1);
    assert_eq!(json!(history), json!(chat.messages()), "page after page");
}

#[test]
fn checkout_moves_the_conversation_and_its_files_together() {
    let chat = Chat::new();
    let first = write(&chat, json!({"message": "One"}), "1");
    let second = write(&chat, json!({"message": "Two"}), "2");
    let session = chat.check_out(id_of(&first)).ok();
    assert_eq!((&session["active_message_id"], &session["active_manifest_id"]), (&first["id"], &first["manifest_id"]));
    assert_eq!((chat.file("f").as_deref(), texts(&chat).len()), (Some("1"), 2));
    // The user's message has the files from before the answer.
    let question = chat.messages().remove(0);
    chat.check_out(id_of(&question)).ok();
    assert_eq!((chat.file("f"), texts(&chat)), (None, vec!["One".to_owned()]));
    chat.check_out(id_of(&second)).ok();
    assert_eq!((chat.file("f").as_deref(), texts(&chat).len()), (Some("2"), 4));
    // The next message goes on from there.
    chat.check_out(id_of(&first)).ok();
    let third = write(&chat, json!({"message": "Three"}), "3");
    assert_eq!(texts(&chat), ["One", "1", "Three", "3"]);
    assert_eq!(chat.client.get("/api/sessions/s").ok()["active_message_id"], third["id"]);
}

#[test]
fn unknown_messages_are_told_and_change_nothing() {
    let chat = Chat::new();
    write(&chat, json!({"message": "One"}), "1");
    let before = chat.client.get("/api/sessions/s").ok();
    let edited = json!([{"id": "a", "role": "user", "parts": [{"type": "text", "text": "x"}]}]);
    for fields in [
        json!({"message": "x", "parentId": "nobody"}),
        json!({"trigger": "regenerate-message", "messageId": "nobody"}),
        json!({"messageId": "nobody", "messages": edited}),
    ] {
        let refused = chat.post(fields).refused(404, "NOT_FOUND");
        assert!(refused.message.contains("Message not found: nobody"), "{refused:?}");
    }
    chat.check_out("nobody").refused(404, "NOT_FOUND");
    chat.client.get(&chat.path("messages?leaf=nobody")).refused(404, "NOT_FOUND");
    let after = chat.client.get("/api/sessions/s").ok();
    assert_eq!((after, texts(&chat).len()), (before, 2));
    let empty = Chat { session: "empty".into(), ..chat.as_caller(&chat.client) };
    let refused = empty.post(json!({"trigger": "regenerate-message"}));
    assert!([404, 409].contains(&refused.status), "{}", refused.text);
}

#[test]
fn files_that_were_written_beside_the_chat_stay() {
    let chat = Chat::new();
    write(&chat, json!({"message": "One"}), "1");
    chat.client.put("/api/sessions/s/files/g", "mine").created();
    let answer = write(&chat, json!({"message": "Two"}), "2");
    assert_eq!(chat.file("g").as_deref(), Some("mine"), "a message after the last one takes the files as they are");
    chat.client.delete("/api/sessions/s/files/g").no_content();
    chat.check_out(id_of(&answer)).ok();
    assert_eq!(chat.file("g").as_deref(), Some("mine"));
}

#[test]
fn a_branch_shares_all_contents() {
    let chat = Chat::new();
    let long = "x".repeat(10_000);
    let [question, _] = {
        write(&chat, json!({"message": "Go"}), &long);
        chat.messages().try_into().unwrap()
    };
    let stored = || {
        let sql = "SELECT count(*) AS blobs, sum(size) AS bytes FROM blobs WHERE workspace_id = ?1";
        open().sql(sql, &[json!(chat.client.workspace())]).remove(0)
    };
    let before = stored();
    assert_eq!(before, json!({"blobs": 1, "bytes": 10_000}));
    chat.model.reply(ModelReply::says("A branch."));
    chat.send(json!({"message": "Another way", "parentId": chat.last_message()["id"]}));
    chat.model.reply(ModelReply::says("Another one."));
    chat.send(json!({"message": "Or so", "parentId": chat.messages()[1]["id"]}));
    assert_eq!(chat.file("f").as_deref(), Some(long.as_str()));
    assert_eq!(stored(), before, "two branches, and the contents are there once");
    // The same text in a branch that begins without files.
    write(&chat, json!({"trigger": "regenerate-message", "messageId": id_of(&question)}), &long);
    assert_eq!(stored(), before);
}
