// MCP servers of others: a call through Pegboard, against the same call made directly and through ContextForge; its D1 cost;
// and stdio servers, against speaking to them over pipes. scripts/bench prepares the database and starts the MCP host, whose
// secret is in MCP_HOST_SECRET.

import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { startChild } from "./child.mjs";
import { calling, federate, startContextForge } from "./contextforge.mjs";
import { inTurns } from "./load.mjs";
import { LEGACY, MODERN, handshake, mcp } from "./mcp-request.mjs";
import { start } from "./server.mjs";
import * as stdio from "./stdio.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WORKSPACE = "bench";
const MESSAGE = "a message of the benchmark";
const ROUNDS = 8;
const BARS = { gateway: 5, round_trips: 2 };
// Some machines give the second process a core of its own, so the faster one of both counts.
const CONTEXTFORGE_WORKERS = [1, 2];

const { values: options } = parseArgs({
  options: {
    state: { type: "string" },
    seconds: { type: "string" },
    fastmcp: { type: "string" },
    contextforge: { type: "string" },
    host: { type: "string" },
    packages: { type: "string" },
    out: { type: "string" },
  },
});
const seconds = Number(options.seconds);
const secret = process.env.MCP_HOST_SECRET;
const running = [];

try {
  const upstreams = await startUpstreams();
  const pegboard = await startPegboard();
  const report = { bundle: JSON.parse(readFileSync(join(ROOT, "dist/size.json"), "utf8")), calls: {}, cost: {} };
  for (const { id, url } of upstreams) await pegboard.register({ id, url });
  for (const { id } of upstreams) report.cost[id] = await costs(pegboard, id);
  const host = { url: options.host, secret, packages: options.packages };
  report.stdio = await stdio.measure(pegboard, host);
  const gateways = await startContextForges(upstreams);
  for (const upstream of upstreams) report.calls[upstream.id] = await calls(upstream, pegboard, gateways);
  report.ratios = ratios(report.calls);
  report.bars = BARS;
  print(report, upstreams);
  writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
  const missed = misses(report);
  for (const it of missed) console.log(`FAILED: ${it}`);
  if (missed.length > 0) process.exitCode = 1;
} finally {
  await Promise.all(running.map((it) => it.stop()));
}

/** FastMCP with its default settings, and a faster server, because a slow one hides what a gateway adds. Both gateways speak
 * to the second one in the same revision, with sessions. */
async function startUpstreams() {
  // FastMCP reports each connection that a gateway breaks off.
  const log = openSync(join(options.state, "fastmcp.log"), "w");
  const fastmcp = await begin(
    startChild(options.fastmcp, [join(ROOT, "bench/fastmcp_server.py"), "sessions"], { path: "/mcp", stdio: ["pipe", "pipe", log] }),
  );
  const script = join(ROOT, "tests/clients/federation/typescript_server.mjs");
  const typescript = await begin(startChild(process.execPath, [script], { path: "/sessions" }));
  const call = { name: "echo", arguments: { message: MESSAGE } };
  const sessions = `${typescript.url}/sessions`;
  return [
    { id: "fastmcp", name: "FastMCP", url: `${fastmcp.url}/mcp`, direct: mcp(`${fastmcp.url}/mcp`, MODERN, "tools/call", call) },
    {
      id: "typescript",
      name: "the TypeScript SDK",
      url: sessions,
      direct: { ...mcp(sessions, LEGACY, "tools/call", call), open: (agent) => handshake(sessions, agent) },
    },
  ];
}

/** Every request to Pegboard carries a token, as every request to ContextForge does. */
async function startPegboard() {
  const settings = {
    ROOT_TOKEN: "root", SECRET_KEY: "bench", PRIVATE_URLS: "allow", COST_HEADER: "on", MCP_HOST_URL: options.host, MCP_HOST_SECRET: secret,
  };
  const vars = Object.entries(settings).flatMap(([name, value]) => ["--var", `${name}=${value}`]);
  const server = await begin(start(["--state", options.state, ...vars]));
  const headersOf = (token) => ({ "x-workspace-id": WORKSPACE, authorization: `Bearer ${token}`, "content-type": "application/json" });
  const call = async (token, path, body) => {
    const response = await fetch(server.url + path, { method: "POST", headers: headersOf(token), body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`POST ${path} was answered ${response.status}: ${text}`);
    return JSON.parse(text);
  };
  const { token: owner } = await call("root", "/api/tokens", { name: "owner", level: "owner" });
  const { token } = await call("root", "/api/tokens", { name: "bench", level: "user" });
  const register = async (fields) => {
    const given = await call(owner, "/api/mcp-servers", { requires_approval: false, risk_level: "low", ...fields });
    if (given.status !== "ok") throw new Error(`the server ${fields.id} is ${given.status}: ${given.last_error}`);
  };
  const execute = (tool, args, expected) => ({
    url: `${server.url}/api/execute`, headers: headersOf(token), body: JSON.stringify({ tool_name: tool, arguments: args }), expected,
  });
  const endpoint = `${server.url}/w/${WORKSPACE}/mcp`;
  const bearer = { authorization: `Bearer ${token}` };
  const overMcp = (name, args, expected) => ({ ...mcp(endpoint, MODERN, "tools/call", { name, arguments: args }, bearer), expected });
  return { workspace: WORKSPACE, register, execute, overMcp };
}

async function startContextForges(upstreams) {
  const gateways = [];
  for (const workers of CONTEXTFORGE_WORKERS) {
    const folder = join(options.state, `contextforge-${workers}`);
    const gateway = await begin(startContextForge(options.contextforge, folder, workers));
    for (const { id, url } of upstreams) await federate(gateway, id, url);
    gateways.push({ name: `ContextForge, ${workers} worker${workers > 1 ? "s" : ""}`, gateway });
  }
  return gateways;
}

async function begin(starting) {
  const server = await starting;
  running.push(server);
  return server;
}

/** Calls a second of one server's `echo`, by every way to it. */
async function calls({ id, direct }, pegboard, gateways) {
  const args = { message: MESSAGE };
  const sides = {
    "directly": { ...direct, expected: MESSAGE },
    "Pegboard, POST /api/execute": pegboard.execute(`${id}:echo`, args, MESSAGE),
    "Pegboard, MCP": pegboard.overMcp(`${id}:echo`, args, MESSAGE),
  };
  for (const { name, gateway } of gateways) sides[name] = calling(gateway, { name: `${id}-echo`, arguments: args }, MESSAGE);
  const figures = await inTurns(Object.values(sides), seconds, ROUNDS);
  return Object.fromEntries(Object.keys(sides).map((name, number) => [name, figures[number]]));
}

/** The D1 cost of a later call, as the Worker itself counts it. */
async function costs(pegboard, id) {
  const args = { message: MESSAGE };
  const measured = {};
  for (const [name, side] of [["POST /api/execute", pegboard.execute(`${id}:echo`, args)], ["MCP", pegboard.overMcp(`${id}:echo`, args)]]) {
    for (let round = 0; round < 2; round++) {
      const response = await fetch(side.url, { method: "POST", headers: side.headers, body: side.body });
      const text = await response.text();
      if (!response.ok || !text.includes(MESSAGE)) throw new Error(`${name}: ${response.status} ${text}`);
      const figures = response.headers.get("x-d1-cost").split(", ").map((it) => it.split("="));
      measured[name] = Object.fromEntries(figures.map(([figure, number]) => [figure, Number(number)]));
    }
  }
  return measured;
}

/** Pegboard's calls a second through each door, to those of the direct call and of the faster ContextForge. */
function ratios(measured) {
  const all = {};
  for (const [id, sides] of Object.entries(measured)) {
    const best = (prefix) => Math.max(...Object.entries(sides).filter(([name]) => name.startsWith(prefix)).map(([, it]) => it.rate));
    all[id] = {};
    for (const [name, { rate }] of Object.entries(sides)) {
      if (!name.startsWith("Pegboard")) continue;
      all[id][name] = { direct: rate / sides.directly.rate, gateway: rate / best("ContextForge") };
    }
  }
  return all;
}

function misses({ ratios: measured, cost }) {
  const missed = [];
  for (const [id, sides] of Object.entries(measured)) {
    for (const [name, { gateway }] of Object.entries(sides)) {
      if (gateway < BARS.gateway) missed.push(`${id}: ${name} is ${gateway.toFixed(2)} times ContextForge; the bar is ${BARS.gateway}`);
    }
  }
  for (const [id, doors] of Object.entries(cost)) {
    for (const [name, { round_trips }] of Object.entries(doors)) {
      if (round_trips > BARS.round_trips) missed.push(`${id}: ${name} takes ${round_trips} D1 round trips; the bar is ${BARS.round_trips}`);
    }
  }
  return missed;
}

function print(report, upstreams) {
  for (const { id, name } of upstreams) {
    console.log(`\nA call of echo on ${name}, by 8 connections (ratio above 1: the way in that line is faster)`);
    console.log(`${"".padEnd(32)} calls/s  p50 ms  p99 ms   ÷ directly  ÷ ContextForge (at least ${BARS.gateway})`);
    for (const [way, it] of Object.entries(report.calls[id])) {
      const of = report.ratios[id][way];
      const compared = of === undefined ? "" : `${of.direct.toFixed(2).padStart(10)}  ${of.gateway.toFixed(2).padStart(14)}`;
      console.log(`${way.padEnd(32)} ${it.rate.toFixed(0).padStart(7)} ${it.p50.toFixed(1).padStart(7)} ${it.p99.toFixed(1).padStart(7)}   ${compared}`);
    }
  }
  console.log(`\nD1 cost of a federated call, with a token    round trips (at most ${BARS.round_trips})  rows read  rows written`);
  for (const { id, name } of upstreams) {
    for (const [door, it] of Object.entries(report.cost[id])) {
      console.log(`${`${name}, ${door}`.padEnd(44)} ${String(it.round_trips).padStart(11)} ${String(it.rows_read).padStart(23)} ${String(it.rows_written).padStart(13)}`);
    }
  }
  stdio.print(report.stdio);
}
