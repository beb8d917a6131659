// The chat class of the npm package `ai`, unmodified, as `useChat` has it: with a transport, and a state of copies.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** How long a test waits for what must come. */
const PATIENCE_MS = 20_000;

export async function until(holds, what) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await holds();
    if (value) return value;
    assert.ok(Date.now() < end, `waited in vain: ${what}`);
    await sleep(10);
  }
}

/** The state of `useChat` without React. It keeps every version of the last message. */
class PlainState {
  #messages;
  status = "ready";
  error = undefined;
  /** The messages as they grew. */
  seen = [];

  constructor(messages) {
    this.#messages = messages;
  }
  get messages() {
    return this.#messages;
  }
  set messages(messages) {
    this.#messages = [...messages];
  }
  pushMessage = (message) => {
    this.#keep([...this.#messages, message]);
  };
  popMessage = () => {
    this.#messages = this.#messages.slice(0, -1);
  };
  replaceMessage = (index, message) => {
    this.#keep(this.#messages.with(index, this.snapshot(message)));
  };
  snapshot = (message) => structuredClone(message);

  #keep(messages) {
    this.#messages = messages;
    this.seen.push(structuredClone(messages.at(-1)));
  }
}

/** A connection that the test can cut. The error is that of browsers, by which the package knows a lost connection. */
export function cuttable() {
  const cut = new AbortController();
  async function fetchThrough(url, options) {
    const signal = AbortSignal.any([cut.signal, ...(options.signal ? [options.signal] : [])]);
    const response = await fetch(url, { ...options, signal });
    const reader = response.body?.getReader();
    const body = new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(cut.signal.aborted ? new TypeError("network error") : error);
        }
      },
    });
    return new Response(reader && body, { status: response.status, headers: response.headers });
  }
  return { fetch: fetchThrough, cut: () => cut.abort() };
}

/**
 * A chat. `options` may have `token`, `messages` (the initial ones), `fetch`, and fields of transport and body.
 * `answersApprovals` makes the chat post again once all approvals of its last message are answered.
 */
export function openChat(ai, house, session, options = {}) {
  const { token = null, messages = [], body = {}, transport = {}, answersApprovals = false, workspace } = options;
  const state = new PlainState(messages);
  class PlainChat extends ai.AbstractChat {
    /** What the package reports at the end of each request. */
    finishes = [];
    states = state;
  }
  const chat = new PlainChat({
    id: `${session}-client`,
    state,
    transport: new ai.DefaultChatTransport({
      api: house.chatUrl(session),
      headers: house.headersOf(token, workspace),
      body: { agentId: house.agent, ...body },
      fetch: options.fetch,
      ...transport,
    }),
    sendAutomaticallyWhen: answersApprovals ? ai.lastAssistantMessageIsCompleteWithApprovalResponses : undefined,
    onFinish: (finish) => chat.finishes.push(finish),
  });
  return chat;
}

const without = (value, absent) =>
  Object.fromEntries(Object.entries(value).filter(([key, it]) => it !== undefined && !absent.includes(key)));

/** What a part says, without what only a client keeps while the part grows. */
export function essence(part) {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text };
    case "dynamic-tool":
      // Version 5 knows no approvals, so the tests look at them where they matter.
      return without(part, ["title", "rawInput", "preliminary", "providerExecuted", "toolMetadata", "approval"]);
    default:
      return part;
  }
}

/** The parts of a message. `data-approval` only asks the client, and is not stored. */
export const partsOf = (message) => message.parts.filter(({ type }) => type !== "data-approval").map(essence);

export const textOf = (message) =>
  message.parts
    .filter(({ type }) => type === "text")
    .map((part) => part.text)
    .join("");

/** The call of a tool in a message. */
export const callOf = (message, tool) =>
  message?.parts.find(({ type, toolName }) => type === "dynamic-tool" && toolName === tool);

/** The client has what the server has stored. Returns the stored messages. */
export async function assertStored(house, session, chat) {
  const stored = await house.messages(session);
  assert.deepEqual(
    chat.messages.map(({ role, ...message }) => ({ role, parts: partsOf(message) })),
    stored.map(({ role, ...message }) => ({ role, parts: partsOf(message) })),
  );
  const answers = (messages) =>
    messages.filter(({ role }) => role === "assistant").map(({ id, metadata }) => ({ id, metadata }));
  assert.deepEqual(answers(chat.messages), answers(stored));
  return stored;
}

/** The stored messages as the initial messages of a client, checked by the package itself. */
export async function initialMessages(ai, house, session) {
  const messages = (await house.messages(session)).map(({ id, role, parts, metadata }) => ({
    id,
    role,
    parts,
    metadata: metadata ?? undefined,
  }));
  await ai.validateUIMessages({ messages });
  return messages;
}
