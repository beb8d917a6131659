// The decoder of assistant-ui, which reads the stream without AI SDK's code, and insists on `[DONE]`.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { AssistantMessageAccumulator, AssistantStream, UIMessageStreamDecoder } from "assistant-stream";

import { openHouse } from "./house.mjs";
import { call, failure, reasoning, text } from "./model.mjs";

const house = await openHouse("chat-assistant-ui");
const { model } = house;
after(() => house.close());

/** The message that the decoder makes of a turn, and the data beside it. */
async function turn(session, body) {
  const headers = { ...house.headersOf(), "content-type": "application/json" };
  const content = JSON.stringify({ agentId: house.agent, ...body });
  const response = await fetch(house.chatUrl(session), { method: "POST", headers, body: content });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("x-vercel-ai-ui-message-stream"), "v1");
  const data = [];
  const decoder = new UIMessageStreamDecoder({ onData: (part) => data.push(part) });
  let message;
  for await (const grown of AssistantStream.fromResponse(response, decoder).pipeThrough(
    new AssistantMessageAccumulator(),
  )) {
    message = grown;
  }
  return { message, data };
}

const textOf = (message) =>
  message.parts
    .filter(({ type }) => type === "text")
    .map((part) => part.text)
    .join("");
const callsOf = (message) => message.parts.filter(({ type }) => type === "tool-call");

test("text and reasoning", async () => {
  const { tag } = model.script([reasoning("Let me think."), text("Hello from the model.")]);
  const { message } = await turn(house.newSession("text"), { message: `Hello ${tag}` });
  assert.deepEqual([message.status.type, textOf(message)], ["complete", "Hello from the model."]);
  assert.equal(message.parts.find(({ type }) => type === "reasoning").text, "Let me think.");
});

test("calls, one of which fails", async () => {
  const asked = [call("weather", { city: "Oslo" }), call("breaks", {}, 1)];
  const { tag } = model.script(asked, text("Mixed news."));
  const { message, data } = await turn(house.newSession("tool"), { message: `Try both ${tag}` });
  const [warm, broken] = callsOf(message);
  assert.deepEqual(
    [JSON.parse(warm.argsText), warm.result, warm.isError ?? false],
    [{ city: "Oslo" }, { city: "Oslo", celsius: 21.5 }, false],
  );
  assert.equal(broken.isError, true);
  assert.equal(textOf(message), "Mixed news.");
  assert.deepEqual(
    data.map(({ name }) => name),
    ["call", "call"],
  );
});

test("an approval", async () => {
  const session = house.newSession("approval");
  const { tag } = model.script(call("wipe", { disk: 2 }), text("Wiped."));
  const { message, data } = await turn(session, { message: `Wipe ${tag}` });
  assert.equal(callsOf(message)[0].toolName, "wipe");
  const { approval_id } = data.find(({ name }) => name === "call").data;
  const { result } = await house.api("POST", `/api/approvals/${approval_id}/approve`);
  assert.equal(result, "wiped 2");
});

test("an error of the model", async () => {
  const answer = [text("I was"), failure("Overloaded, sorry")];
  const { tag } = model.script(answer, answer, answer);
  const { message } = await turn(house.newSession("error"), { message: `Say it ${tag}` });
  assert.deepEqual([message.status.type, message.status.reason], ["incomplete", "error"]);
  assert.match(JSON.stringify(message.status.error), /Overloaded, sorry/);
});
