// MCP: the speed of a call over MCP, against a call over the API and against FastMCP; and how lists grow.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { startChild } from "./child.mjs";
import { load, sideBySide } from "./load.mjs";
import { LEGACY, MODERN, hasSucceeded, mcp } from "./mcp-request.mjs";
import * as seed from "./seed.mjs";
import { start } from "./server.mjs";
import { inTurns } from "./wrk.mjs";

const WORKSPACE = "bench_calls";
const CALL = { name: "read_file", arguments: { path: "/d0/f1" } };
// A call over MCP is a call over the API with another envelope.
const LIMIT = 0.9;

const { values: options } = parseArgs({
  options: { state: { type: "string" }, seconds: { type: "string" }, python: { type: "string" }, out: { type: "string" } },
});
const seconds = Number(options.seconds);

const FASTMCP = fileURLToPath(new URL("fastmcp_server.py", import.meta.url));

/** Reads all pages of a list, one after the other, again and again. */
async function lists(worker, count) {
  const workspace = `bench_${count}`;
  await seed.tools(worker, workspace, count);
  const url = `${worker.url}/w/${workspace}/mcp`;
  const cursors = [undefined];
  for (;;) {
    const { body, headers } = mcp(url, LEGACY, "tools/list", cursors.at(-1) && { cursor: cursors.at(-1) });
    const { result } = await (await fetch(url, { method: "POST", headers, body })).json();
    if (!result.nextCursor) break;
    cursors.push(result.nextCursor);
  }
  let next = 0;
  const side = mcp(url, LEGACY, "tools/list", () => {
    const cursor = cursors[next++ % cursors.length];
    return cursor ? { cursor } : {};
  });
  await load(side, 1);
  const { rate, times } = await load(side, seconds);
  const sorted = times.toSorted((a, b) => a - b);
  return { pages: cursors.length, requests: rate, lists: rate / cursors.length, p50: sorted[Math.floor(sorted.length / 2)] };
}

const worker = await start(["--state", options.state, "--var", "AUTH=open", "--var", "SECRET_KEY=bench"]);
const other = await startChild(options.python, [FASTMCP], { path: "/mcp" });
try {
  await seed.files(worker, WORKSPACE, "default", { count: 10 });
  const execute = {
    url: `${worker.url}/api/execute`,
    headers: { "x-workspace-id": WORKSPACE, "content-type": "application/json" },
    body: JSON.stringify({ tool_name: CALL.name, arguments: CALL.arguments }),
  };
  const endpoint = `${worker.url}/w/${WORKSPACE}/mcp`;
  const calls = {};
  for (const revision of [LEGACY, MODERN]) {
    const ours = mcp(endpoint, revision, "tools/call", CALL);
    calls[`tools/call, ${revision}, to POST /api/execute`] = await sideBySide(ours, execute, seconds, 8);
  }
  const legacy = mcp(endpoint, LEGACY, "tools/call", CALL);
  // wrk, because FastMCP is faster than a load generator in JavaScript.
  const sides = await inTurns({ ours: [legacy], other: [mcp(`${other.url}/mcp`, LEGACY, "tools/call", CALL)] }, seconds, 5, hasSucceeded);
  calls["tools/call to FastMCP"] = { ...sides, ratio: sides.ours.rate / sides.other.rate };
  const listed = {};
  for (const count of [10, 100, 1_000]) listed[count] = await lists(worker, count);
  print(calls, listed);
  const bundle = JSON.parse(readFileSync(new URL("../dist/size.json", import.meta.url), "utf8"));
  writeFileSync(options.out, `${JSON.stringify({ bundle, calls, lists: listed, limit: LIMIT }, null, 2)}\n`);
  const slow = Object.entries(calls).filter(([name, it]) => name.includes("/api/execute") && it.ratio < LIMIT);
  for (const [name, it] of slow) console.log(`FAILED: ${name}: the ratio is ${it.ratio.toFixed(2)}; the bar is ${LIMIT}`);
  if (slow.length > 0) process.exitCode = 1;
} finally {
  await Promise.all([worker.stop(), other.stop()]);
}

function print(calls, listed) {
  console.log("read_file over MCP, through the whole pipeline (calls/s; ratio above 1: ours is faster)");
  for (const [name, it] of Object.entries(calls)) {
    const rates = `${it.ours.rate.toFixed(0).padStart(6)} to ${it.other.rate.toFixed(0).padEnd(6)}`;
    console.log(`${name.padEnd(46)} ratio ${it.ratio.toFixed(2).padStart(6)}  ${rates}  p50 ${it.ours.p50.toFixed(1)} / ${it.other.p50.toFixed(1)} ms`);
  }
  console.log("\ntools/list");
  for (const [count, it] of Object.entries(listed)) {
    console.log(`${`${count} tools and the built-ins`.padEnd(32)} ${it.pages} page(s)  ${it.requests.toFixed(0).padStart(6)} requests/s  ${it.lists.toFixed(0).padStart(6)} whole lists/s  p50 ${it.p50.toFixed(1)} ms`);
  }
}
