// Both storages side by side: all workspaces in one D1 database, and each workspace in a Durable Object of its own; and FastMCP,
// which stores nothing. scripts/bench prepares the databases and the bundle.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { startChild } from "./child.mjs";
import { quantile } from "./load.mjs";
import { LEGACY, hasSucceeded, mcp } from "./mcp-request.mjs";
import { start } from "./server.mjs";
import { inTurns } from "./wrk.mjs";

const FASTMCP = fileURLToPath(new URL("fastmcp_server.py", import.meta.url));
/** `read_file` over MCP: calls a second on objects ÷ FastMCP, and ÷ D1. */
const BARS = { fastmcp: 1.0, d1: 2.0 };
const WORKSPACES = [1, 10, 100];
const FILES = 10;
const COLD = 20;

const { values: options } = parseArgs({
  options: { state: { type: "string" }, seconds: { type: "string" }, rounds: { type: "string" }, python: { type: "string" }, out: { type: "string" } },
});
const [seconds, rounds] = [Number(options.seconds), Number(options.rounds)];

const pegboard = (storage) =>
  start(["--state", `${options.state}/${storage}`, ...["AUTH=open", "SECRET_KEY=bench", `STORAGE=${storage}`].flatMap((it) => ["--var", it])]);
const [d1, objects, fastmcp] = [await pegboard("d1"), await pegboard("objects"), await startChild(options.python, [FASTMCP], { path: "/mcp" })];
try {
  for (const server of [d1, objects]) await fill(server);
  const report = { rounds, seconds, one: await oneWorkspace(), many: await manyWorkspaces(), other: await otherRequests(), cold: await coldObjects() };
  print(report);
  writeFileSync(options.out, `${JSON.stringify({ ...report, bars: BARS }, null, 2)}\n`);
  const { ratios } = report.one;
  for (const name of Object.keys(BARS).filter((it) => ratios[it] < BARS[it])) {
    console.log(`FAILED: read_file on objects is ${ratios[name].toFixed(2)} of ${name}; the bar is ${BARS[name]}`);
    process.exitCode = 1;
  }
} finally {
  await Promise.all([d1, objects, fastmcp].map((it) => it.stop()));
}

/** Some files in every workspace. */
async function fill(server) {
  for (const workspace of names(Math.max(...WORKSPACES))) {
    const headers = { "x-workspace-id": workspace, "content-type": "application/json" };
    for (let number = 0; number < FILES; number++) {
      const body = JSON.stringify({ tool_name: "write_file", arguments: { path: `/d0/f${number}`, content: "hello" } });
      const response = await fetch(`${server.url}/api/execute`, { method: "POST", headers, body });
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    }
  }
}

function names(count) {
  return Array.from({ length: count }, (_, number) => `bench_${number}`);
}

function reading(url) {
  return mcp(url, LEGACY, "tools/call", { name: "read_file", arguments: { path: "/d0/f1" } });
}

function readingIn(server) {
  return (workspace) => reading(`${server.url}/w/${workspace}/mcp`);
}

/** Whether a tool has read the file. */
function hasRead(answer) {
  return hasSucceeded(answer) && JSON.stringify(answer.result.content).includes("hello");
}

async function oneWorkspace() {
  const [name] = names(1);
  const sides = { d1: [readingIn(d1)(name)], objects: [readingIn(objects)(name)], fastmcp: [reading(`${fastmcp.url}/mcp`)] };
  return ratiosOf(await inTurns(sides, seconds, rounds, hasRead));
}

function ratiosOf(sides) {
  return { sides, ratios: { fastmcp: sides.objects.rate / sides.fastmcp.rate, d1: sides.objects.rate / sides.d1.rate } };
}

/** Calls that go to one workspace after the other. */
async function manyWorkspaces() {
  const sides = {};
  for (const count of WORKSPACES) {
    sides[`d1 ${count}`] = names(count).map(readingIn(d1));
    sides[`objects ${count}`] = names(count).map(readingIn(objects));
  }
  return inTurns(sides, seconds, rounds, hasRead);
}

function hasTools({ tools }) {
  return tools?.length > 0;
}

async function otherRequests() {
  const [name] = names(1);
  const headers = { "x-workspace-id": name, "content-type": "application/json" };
  const kinds = {
    write_file: [
      ({ url }) => ({ url: `${url}/api/execute`, headers, body: JSON.stringify({ tool_name: "write_file", arguments: { path: "/d0/f2", content: "hello" } }) }),
      ({ success }) => success,
    ],
    "list of tools": [({ url }) => ({ url: `${url}/api/tools`, headers }), hasTools],
    search: [({ url }) => ({ url: `${url}/api/tools?q=read%20a%20file`, headers }), hasTools],
    "tools/list": [({ url }) => mcp(`${url}/w/${name}/mcp`, LEGACY, "tools/list"), ({ result }) => result !== undefined && hasTools(result)],
  };
  const found = {};
  for (const [kind, [of, isAnswer]] of Object.entries(kinds)) {
    const sides = await inTurns({ d1: [of(d1)], objects: [of(objects)] }, seconds, rounds, isAnswer);
    found[kind] = { ...sides, ratio: sides.objects.rate / sides.d1.rate };
  }
  return found;
}

/** The first request of a workspace, whose object has to be made and migrated, and the second. */
async function coldObjects() {
  const times = { first: [], second: [] };
  for (let number = 0; number < COLD; number++) {
    const headers = { "x-workspace-id": `cold_${Date.now()}_${number}` };
    for (const all of Object.values(times)) {
      const begun = performance.now();
      const response = await fetch(`${objects.url}/api/agents`, { headers });
      await response.text();
      all.push(performance.now() - begun);
    }
  }
  return { first: quantile(times.first, 0.5), second: quantile(times.second, 0.5) };
}

function print({ one, many, other, cold }) {
  const line = (name, { rate, p50, p99 }, more = "") => console.log(`${name.padEnd(28)} ${rate.toFixed(0).padStart(7)} ${p50.toFixed(1).padStart(7)} ${p99.toFixed(1).padStart(7)}  ${more}`);
  console.log(`\nread_file over MCP, one workspace     calls/s  p50 ms  p99 ms`);
  for (const [name, side] of Object.entries(one.sides)) line(name, side);
  console.log(`objects ÷ FastMCP ${one.ratios.fastmcp.toFixed(2)} (at least ${BARS.fastmcp}), ÷ D1 ${one.ratios.d1.toFixed(2)} (at least ${BARS.d1})`);
  console.log(`\nread_file over MCP, workspaces in turn                        ÷ one workspace`);
  for (const [name, side] of Object.entries(many)) line(name, side, (side.rate / many[`${name.split(" ")[0]} 1`].rate).toFixed(2));
  console.log(`\nother requests                                                ÷ D1`);
  for (const [kind, sides] of Object.entries(other)) {
    line(`${kind}, d1`, sides.d1);
    line(`${kind}, objects`, sides.objects, sides.ratio.toFixed(2));
  }
  console.log(`\na new object, first request ${cold.first.toFixed(0)} ms, second ${cold.second.toFixed(0)} ms`);
}
