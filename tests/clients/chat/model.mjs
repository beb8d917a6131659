// A scripted model behind an OpenAI-compatible server.
//
// A test gives the answers of one conversation to `script`, and puts the returned tag into the user's message. Each
// request whose last user message has the tag gets the next answer. The server records the requests.

import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Text in pieces of a few characters, because real models cut words and JSON anywhere. */
const inPieces = (text) => text.match(/[\s\S]{1,5}/gu) ?? [];

/** Deltas of an answer. An answer is a list of deltas, and of promises and milliseconds to wait for. */
export const text = (words) => inPieces(words).map((content) => ({ content }));
export const reasoning = (words) => inPieces(words).map((piece) => ({ reasoning_content: piece }));
export const call = (name, input, index = 0) => [
  { tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: "" } }] },
  ...inPieces(typeof input === "string" ? input : JSON.stringify(input)).map((piece) => ({
    tool_calls: [{ index, function: { arguments: piece } }],
  })),
];
/** The connection breaks off. */
export const CUT = Symbol("cut");
/** An error in the middle of the stream, as gateways report it. */
export const failure = (message) => [{ error: { message } }];
/** A refusal by status, instead of a stream. */
export const refusal = (status, message) => ({ status, body: { error: { message } } });

/** A promise that a test resolves. */
export function gate() {
  const opened = Promise.withResolvers();
  return { opened: opened.promise, open: opened.resolve };
}

export const USAGE = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };

const textOf = ({ content }) =>
  Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : (content ?? "");

async function stream(response, answer, model) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (chunk) =>
    response.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", model, ...chunk })}\n\n`);
  const choice = (delta, finish_reason = null) => send({ choices: [{ index: 0, delta, finish_reason }] });
  choice({ role: "assistant", content: "" });
  for (const piece of answer.flat(Infinity)) {
    if (typeof piece === "number") await sleep(piece);
    else if (piece instanceof Promise) await piece;
    else if (piece === CUT) return response.destroy();
    else if (piece.error) send(piece);
    else choice(piece);
    // Each piece is a write of its own.
    await sleep(1);
  }
  const asked = answer.flat(Infinity).some((piece) => piece.tool_calls);
  choice({}, asked ? "tool_calls" : "stop");
  send({ choices: [], usage: USAGE });
  response.end("data: [DONE]\n\n");
}

export async function startModel() {
  const scripts = new Map();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const asked = JSON.parse(body);
    const last = asked.messages.findLast(({ role }) => role === "user");
    const tag = textOf(last).match(/#\w+/)?.[0] ?? textOf(last);
    const script = scripts.get(tag);
    const answer = script?.answers.shift();
    script?.requests.push({ ...asked, authorization: request.headers.authorization });
    if (request.url !== "/v1/chat/completions" || answer === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `no answer is scripted: ${request.url} ${tag}` } }));
    } else if (answer.status) {
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(JSON.stringify(answer.body));
    } else {
      await stream(response, answer, asked.model);
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  let count = 0;
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** Sets the answers of a conversation. Returns its tag, and the requests that come. */
    script(...answers) {
      return this.scriptFor(`#t${count++}`, ...answers);
    },
    /** The same for a whole message instead of a tag, where people look at the messages. */
    scriptFor(tag, ...answers) {
      const requests = [];
      scripts.set(tag, { answers, requests });
      return { tag, requests };
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
