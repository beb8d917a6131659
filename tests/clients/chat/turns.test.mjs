// Turns with text, reasoning and calls, and turns that fail, in the chats of AI SDK.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { callOf, partsOf, textOf, until } from "./client.mjs";
import { openHouse } from "./house.mjs";
import { CUT, call, failure, reasoning, refusal, text } from "./model.mjs";
import { eachVersion } from "./versions.mjs";

const house = await openHouse("chat-turns");
const { model, tools, api } = house;
after(() => house.close());

const STEP = { type: "step-start" };
const said = (words) => ({ type: "text", text: words });

eachVersion(house, ({ major, open, newSession, stored }) => {
  test("text comes in pieces and is stored", async () => {
    const session = newSession();
    const { tag, requests } = model.script(text("Hello from the model, in pieces."));
    const chat = open(session);
    await chat.sendMessage({ text: `Say hello ${tag}` });
    assert.equal(chat.status, "ready");
    assert.deepEqual(partsOf(chat.messages[1]), [STEP, said("Hello from the model, in pieces.")]);
    const lengths = new Set(chat.states.seen.filter(({ role }) => role === "assistant").map((it) => textOf(it).length));
    assert.ok(lengths.size > 3, `the text grew in ${lengths.size} sizes`);
    const usage = { input_tokens: 20, output_tokens: 10, total_tokens: 30 };
    assert.deepEqual(chat.messages[1].metadata, { model: "scripted", steps: 1, usage });
    const [question, answer] = await stored(session, chat);
    assert.equal(question.id, chat.messages[0].id);
    assert.equal(answer.parent_id, question.id);
    assert.deepEqual([answer.finish_reason, answer.usage, answer.agent_id], ["stop", usage, house.agent]);
    assert.equal(requests[0].authorization, "Bearer model-key");
    assert.deepEqual(requests[0].messages[0], { role: "system", content: "You are a test." });
  });

  test("a client may send its message alone", async () => {
    const session = newSession();
    const { tag } = model.script(text("Short."));
    const prepareSendMessagesRequest = ({ messages }) => ({
      body: { agentId: house.agent, message: textOf(messages.at(-1)) },
    });
    const chat = open(session, { transport: { prepareSendMessagesRequest } });
    await chat.sendMessage({ text: `Be short ${tag}` });
    assert.equal(chat.error, undefined);
    await stored(session, chat);
  });

  test("reasoning is a part of its own", async () => {
    const session = newSession();
    const { tag } = model.script([reasoning("Let me think about it."), text("Done thinking.")]);
    const chat = open(session);
    await chat.sendMessage({ text: `Think ${tag}` });
    assert.deepEqual(partsOf(chat.messages[1]), [
      STEP,
      { type: "reasoning", text: "Let me think about it." },
      said("Done thinking."),
    ]);
    await stored(session, chat);
  });

  test("a call is made and its result goes back to the model", async () => {
    const session = newSession();
    const { tag, requests } = model.script(
      [text("Looking. "), call("weather", { city: "Oslo" })],
      text("21.5 degrees."),
    );
    const chat = open(session);
    await chat.sendMessage({ text: `How warm is Oslo? ${tag}` });
    assert.equal(chat.error, undefined);
    const answer = chat.messages[1];
    assert.deepEqual(
      answer.parts.map(({ type }) => type),
      ["step-start", "text", "dynamic-tool", "data-call", "step-start", "text"],
    );
    const made = callOf(answer, "weather");
    assert.deepEqual(
      [made.state, made.input, made.output],
      ["output-available", { city: "Oslo" }, { city: "Oslo", celsius: 21.5 }],
    );
    const states = new Set(chat.states.seen.map((it) => callOf(it, "weather")?.state));
    for (const state of ["input-streaming", "input-available", "output-available"]) assert.ok(states.has(state), state);
    const { id, data } = answer.parts[3];
    assert.deepEqual([id, data.status, data.version, data.approval_id], [made.toolCallId, "success", "1.0.0", null]);
    const record = await api("GET", `/api/tool-calls/${data.call_id}`);
    assert.deepEqual([record.agent_id, record.session_id, record.message_id], [house.agent, session, answer.id]);
    const [asked, answered] = requests[1].messages.slice(-2);
    assert.equal(asked.tool_calls[0].id, answered.tool_call_id);
    assert.match(answered.content, /21\.5/);
    assert.deepEqual([answer.metadata.steps, answer.metadata.usage.total_tokens], [2, 60]);
    await stored(session, chat);
  });

  test("calls of one step run at once", async () => {
    const session = newSession();
    const keys = [`${session}-a`, `${session}-b`];
    const { tag, requests } = model.script(
      keys.map((key, index) => call("slow", { key }, index)),
      text("Both done."),
    );
    const chat = open(session);
    const sent = chat.sendMessage({ text: `Do both ${tag}` });
    await Promise.all(keys.map((key) => tools.wait(key).entered.opened));
    // The second call ends first.
    tools.wait(keys[1]).released.open();
    await until(() => chat.messages[1].parts.some(({ state }) => state === "output-available"), "the first result");
    tools.wait(keys[0]).released.open();
    await sent;
    const made = chat.messages[1].parts.filter(({ type }) => type === "dynamic-tool");
    assert.deepEqual(
      made.map(({ input, state }) => [input.key, state]),
      keys.map((key) => [key, "output-available"]),
    );
    assert.deepEqual(
      requests[1].messages.slice(-2).map(({ tool_call_id }) => tool_call_id),
      made.map(({ toolCallId }) => toolCallId),
    );
    await stored(session, chat);
  });

  test("calls that fail are told to the model and to the client", async () => {
    const session = newSession();
    const asked = [
      call("breaks", {}),
      call("weather", '{"city": ', 1),
      call("no_such_tool", {}, 2),
      call("weather", {}, 3),
    ];
    const { tag, requests } = model.script(asked, text("That went wrong."));
    const chat = open(session);
    await chat.sendMessage({ text: `Try ${tag}` });
    assert.equal(chat.error, undefined);
    const made = chat.messages[1].parts.filter(({ type }) => type === "dynamic-tool");
    assert.deepEqual(
      made.map(({ toolName, state }) => [toolName, state]),
      [
        ["breaks", "output-error"],
        ["weather", "output-error"],
        ["no_such_tool", "output-error"],
        ["weather", "output-error"],
      ],
    );
    assert.equal(made[1].input, '{"city": ');
    assert.ok(
      made.every(({ errorText }) => errorText.length > 10),
      JSON.stringify(made),
    );
    const results = requests[1].messages.filter(({ role }) => role === "tool");
    assert.deepEqual(
      results.map(({ tool_call_id }) => tool_call_id),
      made.map(({ toolCallId }) => toolCallId),
    );
    assert.ok(
      made.every(({ errorText }, index) => results[index].content.includes(errorText)),
      JSON.stringify(results),
    );
    await stored(session, chat);
  });

  for (const [name, answer, expected] of [
    ["refuses", refusal(500, "The model is on strike"), /on strike|500/],
    ["reports an error in its stream", [text("I was about to"), failure("Overloaded, sorry")], /Overloaded, sorry/],
    ["breaks off", [text("I was about to"), CUT], /./],
  ]) {
    test(`a model that ${name} ends the turn with an error`, async () => {
      const session = newSession();
      // Some faults are tried again.
      const { tag } = model.script(answer, answer, answer);
      const chat = open(session);
      await chat.sendMessage({ text: `Say it ${tag}` });
      assert.equal(chat.status, "error");
      assert.match(chat.error.message, expected);
      assert.equal(chat.finishes.at(-1).isError, true);
      const messages = await house.messages(session);
      assert.equal(messages[1].finish_reason, "error");
      assert.deepEqual(chat.messages.map(partsOf), messages.map(partsOf));
      // The conversation goes on.
      const next = model.script(text("Better now."));
      await chat.sendMessage({ text: `Again ${next.tag}` });
      assert.equal(textOf(chat.messages.at(-1)), "Better now.");
      assert.deepEqual(chat.messages.map(partsOf), (await house.messages(session)).map(partsOf));
    });
  }

  test("refusals reach the client with their reason", async () => {
    const refused = async (options) => {
      const chat = open(newSession(), options);
      await chat.sendMessage({ text: "Hello" });
      assert.equal(chat.status, "error");
      return JSON.parse(chat.error.message).error;
    };
    assert.equal((await refused({ token: "no-such-token" })).code, "UNAUTHORIZED");
    const nobody = await refused({ body: { agentId: "agent_nobody" } });
    assert.match(nobody.message, /agent_nobody/);
    const workspace = `chat-no-model-${major}`;
    const headers = { ...house.headersOf(null, workspace), "content-type": "application/json" };
    const created = await fetch(`${house.url}/api/agents`, { method: "POST", headers, body: '{"name": "Mute"}' });
    const { id: agentId } = await created.json();
    const mute = await refused({ workspace, body: { agentId } });
    assert.match(mute.message, /MODEL_URL/);
  });
});
