// Chats of AI SDK that lose their connection, come back, watch together, and stop.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { callOf, cuttable, partsOf, textOf, until } from "./client.mjs";
import { openHouse } from "./house.mjs";
import { call, gate, reasoning, text } from "./model.mjs";
import { eachVersion } from "./versions.mjs";

const house = await openHouse("chat-resuming");
const { model, tools, api } = house;
after(() => house.close());

const stop = (session) => api("POST", `/api/playground/sessions/${session}/stop`);
/** Waits until the answer has begun with these words. */
const begun = (chat, words) => until(() => chat.messages.length === 2 && textOf(chat.messages[1]) === words, words);

eachVersion(house, ({ hasApprovals, open, newSession, stored, initial }) => {
  test("a second message during a turn is refused", async () => {
    const session = newSession();
    const held = gate();
    const { tag } = model.script([text("One"), held.opened, text(" moment.")]);
    const chat = open(session);
    const sent = chat.sendMessage({ text: `Slowly ${tag}` });
    await begun(chat, "One");
    const other = open(session);
    await other.sendMessage({ text: "Me too" });
    assert.match(other.error.message, /under way/);
    held.open();
    await sent;
    await stored(session, chat);
  });

  test("a client whose connection was cut comes back to the turn", async () => {
    const session = newSession();
    const held = gate();
    const { tag } = model.script([reasoning("Hm. "), text("The first half,"), held.opened, text(" the second half.")]);
    const connection = cuttable();
    const chat = open(session, { fetch: connection.fetch });
    const sent = chat.sendMessage({ text: `Take your time ${tag}` });
    await begun(chat, "The first half,");
    connection.cut();
    await sent;
    assert.deepEqual([chat.status, chat.finishes.at(-1).isDisconnect], ["error", true]);
    // Version 5 appends what is replayed to what it has, so its users reload the page.
    const messages = hasApprovals ? chat.messages : await initial(session);
    const back = open(session, { messages });
    const resumed = back.resumeStream();
    await begun(back, "The first half,");
    held.open();
    await resumed;
    assert.deepEqual([back.status, back.messages[1].id], ["ready", chat.messages[1].id]);
    assert.equal(textOf(back.messages[1]), "The first half, the second half.");
    await stored(session, back);
  });

  test("the same client resumes after a lost connection", { skip: !hasApprovals }, async () => {
    const session = newSession();
    const held = gate();
    const { tag } = model.script([text("Before,"), held.opened, text(" after.")]);
    let connection = cuttable();
    const chat = open(session, { fetch: (...request) => connection.fetch(...request) });
    const sent = chat.sendMessage({ text: `Take your time ${tag}` });
    await begun(chat, "Before,");
    connection.cut();
    await sent;
    connection = cuttable();
    const resumed = chat.resumeStream();
    held.open();
    await resumed;
    assert.equal(textOf(chat.messages[1]), "Before, after.");
    await stored(session, chat);
  });

  test("a client whose connection was cut during a call comes back to it", async () => {
    const session = newSession();
    const { tag } = model.script([text("Calling. "), call("slow", { key: session })], text("Called."));
    const connection = cuttable();
    const chat = open(session, { fetch: connection.fetch });
    const sent = chat.sendMessage({ text: `Call ${tag}` });
    await tools.wait(session).entered.opened;
    await until(() => callOf(chat.messages[1], "slow")?.state === "input-available", "the call");
    connection.cut();
    await sent;
    const back = open(session, { messages: await initial(session) });
    assert.equal(back.messages.length, 1);
    const resumed = back.resumeStream();
    await until(() => callOf(back.messages[1], "slow")?.state === "input-available", "the replay");
    tools.wait(session).released.open();
    await resumed;
    assert.equal(callOf(back.messages[1], "slow").output, "slow result");
    await stored(session, back);
  });

  test("two clients watch one turn", async () => {
    const session = newSession();
    const held = gate();
    const { tag } = model.script([text("For"), held.opened, text(" both.")]);
    const chat = open(session);
    const sent = chat.sendMessage({ text: `For two ${tag}` });
    await begun(chat, "For");
    const watcher = open(session, { messages: await initial(session) });
    const watched = watcher.resumeStream();
    await until(() => watcher.messages.length === 2, "the replay");
    held.open();
    await Promise.all([sent, watched]);
    assert.deepEqual(watcher.messages.map(partsOf), chat.messages.map(partsOf));
    await stored(session, watcher);
  });

  test("a stop ends the turn and keeps what was said", async () => {
    const session = newSession();
    const { tag } = model.script([text("So far"), gate().opened]);
    const chat = open(session);
    const sent = chat.sendMessage({ text: `Talk ${tag}` });
    await begun(chat, "So far");
    await stop(session);
    await sent;
    assert.deepEqual([chat.status, chat.error], ["ready", undefined]);
    const messages = await house.messages(session);
    assert.deepEqual(messages.map(partsOf), chat.messages.map(partsOf));
    assert.match(messages[1].metadata.ended_by, /stopped/);
    const next = model.script(text("Go on then."));
    await chat.sendMessage({ text: `Go on ${next.tag}` });
    assert.equal(textOf(chat.messages[3]), "Go on then.");
  });

  test("a stop during a call waits for the call and makes no other", async () => {
    const session = newSession();
    const { tag, requests } = model.script(call("slow", { key: session }), text("Never said."));
    const chat = open(session);
    const sent = chat.sendMessage({ text: `Call ${tag}` });
    await tools.wait(session).entered.opened;
    const stopped = stop(session);
    await sent;
    assert.deepEqual([chat.status, chat.error], ["ready", undefined]);
    tools.wait(session).released.open();
    await stopped;
    const [, answer] = await house.messages(session);
    assert.deepEqual(
      [callOf(answer, "slow").state, callOf(answer, "slow").output],
      ["output-available", "slow result"],
    );
    assert.equal(requests.length, 1);
  });

  test("a client that stops listening loses nothing", async () => {
    const session = newSession();
    const held = gate();
    const { tag } = model.script([text("Heard"), held.opened, text(" and unheard.")]);
    const chat = open(session);
    const sent = chat.sendMessage({ text: `Talk ${tag}` });
    await begun(chat, "Heard");
    await chat.stop();
    await sent;
    assert.equal(chat.finishes.at(-1).isAbort, true);
    held.open();
    await until(async () => (await house.messages(session)).length === 2, "the end of the turn");
    assert.equal(textOf((await house.messages(session))[1]), "Heard and unheard.");
  });
});
