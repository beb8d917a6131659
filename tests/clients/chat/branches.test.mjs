// Conversations of AI SDK's chats that branch: answers anew, edited messages, and stored messages.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { callOf, textOf } from "./client.mjs";
import { openHouse } from "./house.mjs";
import { call, reasoning, text } from "./model.mjs";
import { eachVersion } from "./versions.mjs";

const house = await openHouse("chat-branches");
const { model, tools, api } = house;
after(() => house.close());

eachVersion(house, ({ ai, open, newSession, stored, initial }) => {
  test("an answer is generated anew beside the old one", async () => {
    const session = newSession();
    const { tag, requests } = model.script(text("First answer."), text("Second answer."), text("Third answer."));
    const chat = open(session);
    await chat.sendMessage({ text: `Answer ${tag}` });
    const first = chat.messages[1].id;
    await chat.regenerate();
    assert.equal(textOf(chat.messages[1]), "Second answer.");
    const second = chat.messages[1].id;
    assert.notEqual(second, first);
    assert.deepEqual(requests[1].messages, requests[0].messages);
    await chat.regenerate({ messageId: second });
    const [question, answer] = await stored(session, chat);
    assert.equal(textOf(answer), "Third answer.");
    assert.equal(answer.parent_id, question.id);
    assert.deepEqual(new Set(answer.siblings).isSupersetOf(new Set([first, second])), true);
    // Back to the first answer, and on from there.
    await api("POST", `/api/playground/sessions/${session}/checkout`, { message_id: first });
    const back = open(session, { messages: await initial(session) });
    assert.equal(textOf(back.messages[1]), "First answer.");
    const next = model.script(text("From the first."));
    await back.sendMessage({ text: `Go on ${next.tag}` });
    assert.ok(next.requests[0].messages.some(({ content }) => content === "First answer."));
    await stored(session, back);
  });

  test("a message that was refused is answered when the client tries again", async () => {
    const session = newSession();
    const key = `${session}-key`;
    const first = model.script(call("slow", { key }), text("Done."));
    const busy = open(session);
    const sent = busy.sendMessage({ text: `Be slow ${first.tag}` });
    await tools.wait(key).entered.opened;
    const second = model.script(text("Here I am."), text("Still here."));
    const chat = open(session);
    await chat.sendMessage({ text: `Are you there? ${second.tag}` });
    assert.match(chat.error.message, /under way/);
    tools.wait(key).released.open();
    await sent;
    for (const words of ["Here I am.", "Still here."]) {
      await chat.regenerate();
      assert.equal(chat.error, undefined);
      assert.equal(textOf(chat.messages.at(-1)), words);
      const messages = await house.messages(session);
      assert.deepEqual(messages.map(textOf).slice(1), ["Done.", `Are you there? ${second.tag}`, words]);
      assert.equal(messages[2].id, chat.messages[0].id);
    }
  });

  test("a message is edited, and the conversation branches with its files", async () => {
    const session = newSession();
    const wrote = model.script(call("write_file", { path: "/note.txt", content: "one" }), text("Wrote one."));
    const chat = open(session);
    await chat.sendMessage({ text: `Write one ${wrote.tag}` });
    assert.equal(callOf(chat.messages[1], "write_file").state, "output-available");
    const before = model.script(call("write_file", { path: "/note.txt", content: "two" }), text("Wrote two."));
    await chat.sendMessage({ text: `Write two ${before.tag}` });
    const edited = chat.messages[2].id;
    const instead = model.script(call("read_file", { path: "/note.txt" }), text("It says one."));
    await chat.sendMessage({ text: `Read it ${instead.tag}`, messageId: edited });
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.messages.map(textOf).at(-1), "It says one.");
    assert.match(JSON.stringify(callOf(chat.messages[3], "read_file").output), /one/);
    assert.ok(!instead.requests[0].messages.some(({ content }) => /Write two/.test(content ?? "")));
    const messages = await stored(session, chat);
    assert.equal(messages.length, 4);
    assert.equal(messages[2].siblings.length, 2);
    // The edited message is edited once more, by the id that the client has for it.
    const again = model.script(text("Again."), text("Anew."));
    await chat.sendMessage({ text: `Once more ${again.tag}`, messageId: chat.messages[2].id });
    assert.equal(chat.error, undefined);
    const [, , third] = await stored(session, chat);
    assert.equal(third.siblings.length, 3);
    await chat.regenerate();
    assert.equal(textOf(chat.messages[3]), "Anew.");
    await stored(session, chat);
  });

  test("the first message of a conversation is edited", async () => {
    const session = newSession();
    const { tag } = model.script(text("To the first."));
    const chat = open(session);
    await chat.sendMessage({ text: `First ${tag}` });
    const { tag: other, requests } = model.script(text("To the other."));
    await chat.sendMessage({ text: `Other ${other}`, messageId: chat.messages[0].id });
    assert.equal(chat.error, undefined);
    assert.equal(requests[0].messages.filter(({ role }) => role !== "system").length, 1);
    const messages = await stored(session, chat);
    assert.deepEqual([messages.length, messages[0].parent_id, messages[0].siblings.length], [2, null, 2]);
  });

  test("a new client goes on with a stored conversation", async () => {
    const session = newSession();
    const { tag } = model.script([reasoning("Thinking."), call("weather", { city: "Oslo" })], text("21.5 degrees."));
    await open(session).sendMessage({ text: `How warm is Oslo? ${tag}` });
    const chat = open(session, { messages: await initial(session) });
    const next = model.script(text("The same."));
    await chat.sendMessage({ text: `And now? ${next.tag}` });
    assert.equal(chat.error, undefined);
    const roles = next.requests[0].messages.map(({ role }) => role);
    assert.deepEqual(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
    const messages = await stored(session, chat);
    assert.equal(messages.length, 4);
    // The package turns the messages into a model's messages, as an application does that goes on elsewhere.
    const converted = await ai.convertToModelMessages(chat.messages);
    assert.deepEqual(
      converted.map(({ role }) => role),
      ["user", "assistant", "tool", "assistant", "user", "assistant"],
    );
  });
});
