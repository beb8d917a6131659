// Any number of modules in one process of their own: the module `m7` is at /m7. Each answers after some milliseconds, which
// the query of `POST /delay?ms=` sets, and `GET /slowest` tells the longest answer since then. It prints its URL.

import { createServer } from "node:http";

const TOOLS = 20;
let delay = 0;
let slowest = 0;

const manifest = (name) => ({
  tools: Array.from({ length: TOOLS }, (_, number) => ({
    name: `${name}.tool_${number}`,
    description: `Does the thing with the number ${number}, and says how it went`,
    parameters: [
      { name: "query", type: "string", description: "What to look for", required: true },
      { name: "limit", type: "integer", description: "The most results" },
    ],
  })),
});

const server = createServer(async (request, response) => {
  const begun = performance.now();
  const url = new URL(request.url, "http://modules");
  const answer = (body) => {
    const text = JSON.stringify(body);
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }).end(text);
  };
  if (url.pathname === "/delay") {
    delay = Number(url.searchParams.get("ms"));
    slowest = 0;
    return answer({});
  }
  if (url.pathname === "/slowest") return answer({ ms: slowest });
  const [, name, what] = url.pathname.split("/");
  if (what === "execute") {
    let body = "";
    for await (const piece of request) body += piece;
    const call = JSON.parse(body);
    return answer({ tool_name: call.tool_name, success: true, result: { found: call.arguments.query }, error: null });
  }
  await new Promise((resolve) => setTimeout(resolve, delay));
  answer(manifest(name));
  slowest = Math.max(slowest, performance.now() - begun);
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume();
process.stdin.on("end", () => process.exit());
