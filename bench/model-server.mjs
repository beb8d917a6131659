// A scripted model in a process of its own, with the API of OpenAI-compatible servers. It prints its URL as JSON.
//
//   POST /v1/chat/completions   streams what the last message of the user asks for: a JSON object with the fields of SCRIPT
//   GET /last                   the body of the last request, so that the benchmark can send the same one itself
//   POST /tool                  a tool of the handler type `http`
//
// Each piece of text begins with the time at which it was sent, so that a client on the same machine knows how long the piece
// took. The clock is the machine's monotonic one, which all processes share.

import { createServer } from "node:http";

const SCRIPT = {
  /** Milliseconds before the first piece. */
  first_ms: 0,
  /** Pieces of text in the answer. */
  chunks: 8,
  /** Milliseconds between two pieces; 0: all at once. */
  every_ms: 0,
  /** Bytes of a piece. */
  bytes: 32,
  /** How many calls each step before the answer asks for. */
  steps: [],
  tool: "read_file",
  arguments: {},
};

/** Node sends what one turn of its loop has written when the turn ends. */
const CHUNKS_A_TURN = 20;

let last = "{}";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const event = (value) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta, finish_reason = null) => event({ id: "bench", model: "bench", choices: [{ index: 0, delta, finish_reason }] });
const ends = (reason) =>
  chunk({}, reason) + event({ id: "bench", model: "bench", choices: [], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } }) + "data: [DONE]\n\n";

/** The script of a request, and how many calls the model has had the results of. */
function read(body) {
  const { messages } = JSON.parse(body);
  const asked = messages.findLastIndex((it) => it.role === "user");
  const made = messages.slice(asked).filter((it) => it.role === "tool").length;
  return { ...SCRIPT, ...JSON.parse(messages[asked].content), made };
}

/** The calls of the step that comes after `made` calls. */
function calls({ steps, made, tool, arguments: given }) {
  let before = 0;
  for (const count of steps) {
    if (before === made) {
      const text = JSON.stringify(given);
      return Array.from({ length: count }, (_, index) => ({ index, id: `call_${made + index}`, type: "function", function: { name: tool, arguments: text } }));
    }
    before += count;
  }
  return [];
}

async function complete(response, body) {
  const script = read(body);
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  // The pace does not depend on how long the sending takes.
  const begun = performance.now() + script.first_ms;
  if (script.first_ms > 0) await pause(script.first_ms);
  const asked = calls(script);
  if (asked.length > 0) {
    response.write(chunk({ role: "assistant", tool_calls: asked }));
    return response.end(ends("tool_calls"));
  }
  for (let number = 0; number < script.chunks; number++) {
    const wait = script.every_ms === 0 ? 0 : begun + number * script.every_ms - performance.now();
    if (wait > 0) await pause(wait);
    else if (number % CHUNKS_A_TURN === CHUNKS_A_TURN - 1) await new Promise(setImmediate);
    response.write(chunk({ content: `${process.hrtime.bigint()} `.padEnd(script.bytes, "words ") }));
  }
  response.end(ends("stop"));
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request.setEncoding("utf8")) body += piece;
  switch (request.url) {
    case "/v1/chat/completions":
      last = body;
      return complete(response, body);
    case "/last":
      return response.end(last);
    default:
      return response.writeHead(200, { "Content-Type": "application/json" }).end('{"done":true}');
  }
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })));
process.stdin.resume();
process.stdin.on("end", () => process.exit());
