// The benchmark itself. scripts/bench prepares its databases and explains its purpose.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import * as calls from "./calls.mjs";
import { sideBySide } from "./load.mjs";
import * as registry from "./registry.mjs";
import * as sandbox from "./sandbox.mjs";
import * as seed from "./seed.mjs";
import { start } from "./server.mjs";
import * as startup from "./startup.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { values: options } = parseArgs({
  options: {
    state: { type: "string" },
    seconds: { type: "string" },
    sandbox: { type: "string" },
    out: { type: "string" },
    // Only what compares the bundle with a bare JavaScript Worker.
    quick: { type: "boolean", default: false },
  },
});
const seconds = Number(options.seconds);
const SMALL = "bench_10";
const LARGE = "bench_10000";

const servers = [];
try {
  const worker = await begin("worker", ["--var", "AUTH=open"]);
  const baseline = await begin("baseline", ["--worker", join(ROOT, "bench/baseline.js")]);
  for (const server of [worker, baseline]) {
    await seed.tools(server, SMALL, 10);
    await seed.tools(server, LARGE, 10_000);
  }
  const report = {
    bundle: JSON.parse(readFileSync(join(ROOT, "dist/size.json"), "utf8")),
    speed: { ...(await speed(worker, baseline)), ...(await calls.speed(worker, baseline, seconds)) },
    startup: await startup.measure(worker, baseline),
  };
  if (!options.quick) await measureTheRest(report, worker, baseline);
  print(report);
  if (report.sandbox !== undefined) {
    sandbox.print(report.sandbox);
    if (report.sandbox.ratio > report.sandbox.limit) process.exitCode = 1;
  }
  writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

async function measureTheRest(report, worker, baseline) {
  report.growth = await growth(worker);
  report.writes = await calls.writes(worker, seconds);
  // Two runtimes must not use one state. An idle runtime must not disturb the next measurement.
  await Promise.all([worker.stop(), baseline.stop()]);
  report.cost = await cost();
  const [full, empty] = [await begin("full", ["--var", "AUTH=open"]), await begin("empty", ["--var", "AUTH=open"])];
  report.calls = await calls.growth(full, empty, seconds);
  await full.stop();
  await empty.stop();
  const withSandbox = (url) => begin("empty", ["--var", "AUTH=open", "--var", `SANDBOX_URL=${url}`]);
  report.sandbox = await sandbox.measure(options.sandbox, seconds, withSandbox);
}

async function begin(state, more) {
  const server = await start(["--state", join(options.state, state), ...more]);
  servers.push(server);
  return server;
}

async function speed(worker, baseline) {
  const routes = { "GET /api/tools": "/api/tools", "GET /api/tools/:id": "/api/tools/tool-7" };
  const measured = {};
  for (const [name, path] of Object.entries(routes)) {
    for (const workspace of [SMALL, LARGE]) {
      const headers = { "x-workspace-id": workspace };
      measured[`${name}, ${workspace.slice(6)} tools`] = await sideBySide(
        { url: worker.url + path, headers },
        { url: baseline.url + path, headers },
        seconds,
      );
    }
  }
  return measured;
}

/** The Worker's speed with 10,000 tools, against its speed with 10. */
async function growth(worker) {
  const routes = {
    "list": "/api/tools?source=registered&limit=10",
    "list by category": "/api/tools?category=email&limit=10",
    "search": "/api/tools?q=whole&limit=10",
    "get": "/api/tools/tool-7",
  };
  const measured = {};
  for (const [name, path] of Object.entries(routes)) {
    const side = (workspace) => ({ url: worker.url + path, headers: { "x-workspace-id": workspace } });
    measured[name] = await sideBySide(side(LARGE), side(SMALL), seconds);
  }
  return measured;
}

/** The D1 cost of each endpoint, with a token, as the Worker itself counts it. */
async function cost() {
  const server = await begin("worker", ["--var", "ROOT_TOKEN=root", "--var", "SECRET_KEY=bench", "--var", "COST_HEADER=on"]);
  const call = async (token, method, path, body, workspace = LARGE) => {
    const headers = { "x-workspace-id": workspace, authorization: `Bearer ${token}` };
    const response = await fetch(server.url + path, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    const figures = response.headers.get("x-d1-cost").split(", ").map((it) => it.split("="));
    const text = await response.text();
    return {
      body: text.startsWith("{") ? JSON.parse(text) : null,
      cost: Object.fromEntries(figures.map(([name, number]) => [name, Number(number)])),
    };
  };
  const { token } = (await call("root", "POST", "/api/tokens", { name: "bench", level: "owner" })).body;
  const costs = {};
  const measure = async (name, path, body) => {
    const answer = await call(token, name.split(" ")[0], path, body);
    costs[name] = answer.cost;
    return answer.body;
  };
  await measure("GET /api/tools", "/api/tools");
  await measure("GET /api/tools?category", "/api/tools?category=category-42");
  await measure("GET /api/tools?capabilities", "/api/tools?capabilities=cap-3");
  await measure("GET /api/tools?q", "/api/tools?q=message");
  await measure("GET /api/tools/:id", "/api/tools/tool-7");
  await measure("GET /api/tools/:id/description", "/api/tools/tool-7/description");
  await measure("POST /api/tools/:id/validate", "/api/tools/tool-7/validate", { arguments: {} });
  await measure("GET /api/tools/:id/rate-limit", "/api/tools/tool-7/rate-limit");
  const { id } = await measure("POST /api/agents", "/api/agents", { name: "Bench" });
  await measure("GET /api/agents", "/api/agents");
  await measure("GET /api/agents/:id", `/api/agents/${id}`);
  await measure("PATCH /api/agents/:id", `/api/agents/${id}`, { name: "Bench 2" });
  await measure("POST /api/agents/:id/tools", `/api/agents/${id}/tools`, { tool_id: "tool-7", config: {} });
  await measure("GET /api/agents/:id/tools", `/api/agents/${id}/tools`);
  await measure("GET /api/agents/:id/toolbox", `/api/agents/${id}/toolbox`);
  await measure("PATCH /api/agents/:id/tools/:toolId", `/api/agents/${id}/tools/tool-7`, { config: { note: 1 } });
  await measure("DELETE /api/agents/:id/tools/:toolId", `/api/agents/${id}/tools/tool-7`);
  await measure("DELETE /api/agents/:id", `/api/agents/${id}`);
  const made = await measure("POST /api/tokens", "/api/tokens", { name: "x", level: "guest" });
  await measure("GET /api/tokens", "/api/tokens");
  await measure("DELETE /api/tokens/:id", `/api/tokens/${made.id}`);
  await measure("PUT /api/sessions/:id/files/:path", "/api/sessions/s/files/a", "hello");
  await measure("GET /api/sessions/:id/files/:path", "/api/sessions/s/files/a");
  const run = (name, tool_name, args) => measure(`POST /api/execute ${name}`, "/api/execute", { tool_name, arguments: args, session_id: "s" });
  await run("read_file", "read_file", { path: "/a" });
  await run("list_files", "list_files", { path: "/" });
  await measure("GET /api/tool-calls", "/api/tool-calls");
  await measure("GET /api/tool-calls/summary", "/api/tool-calls/summary");
  const bearer = (await call("root", "POST", "/api/tokens", { name: "bench", level: "owner" }, "bench_calls")).body.token;
  Object.assign(costs, await registry.costs(server, (method, path, body, workspace) => call("root", method, path, body, workspace)));
  Object.assign(costs, await calls.writeCosts((method, path, body, workspace) => call(bearer, method, path, body, workspace)));
  return costs;
}

function print({ bundle, speed, startup: starts, growth, writes, calls, cost }) {
  const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
  console.log(`\nBundle: ${kib(bundle.raw)}, gzipped ${kib(bundle.gzip)}\n`);
  table("Ours against a bare JavaScript Worker (requests/s; ratio above 1: ours is faster)", speed, "JavaScript");
  startup.print(starts);
  if (options.quick) return;
  table("With 10,000 tools against 10 (requests/s; ratio 1: no growth)", growth, "10 tools");
  table("Writing a file against writing it in a session of 10 (calls/s; ratio 1: no growth)", writes, "10 files");
  table("A full registry against an empty one (calls/s; ratio 1: no growth)", calls, "empty");
  console.log("D1 cost of one request, with a token, in a workspace of 10,000 tools");
  const width = Math.max(...Object.keys(cost).map((it) => it.length));
  console.log(`${"".padEnd(width)}  round trips  rows read  rows written  $ a million`);
  for (const [name, it] of Object.entries(cost)) {
    const figures = [it.round_trips, it.rows_read, it.rows_written, dollarsPerMillion(it).toFixed(2)];
    const cells = figures.map((cell, i) => String(cell).padStart([11, 9, 12, 11][i]));
    console.log(`${name.padEnd(width)}  ${cells.join("  ")}`);
  }
}

/** The D1 price of a million such requests, beyond what a plan includes. Cloudflare lists $0.001 for a million rows read and
 * $1.00 for a million rows written. */
function dollarsPerMillion({ rows_read, rows_written }) {
  return rows_read * 0.001 + rows_written;
}

function table(title, rows, other) {
  console.log(title);
  const width = Math.max(...Object.keys(rows).map((it) => it.length));
  console.log(`${"".padEnd(width)}  ratio     ours  ${other.padStart(10)}  p50 ms (both)  p99 ms (both)`);
  for (const [name, it] of Object.entries(rows)) {
    const both = (figure) => `${it.ours[figure].toFixed(1)} / ${it.other[figure].toFixed(1)}`.padStart(13);
    const rates = `${it.ours.rate.toFixed(0).padStart(7)}  ${it.other.rate.toFixed(0).padStart(10)}`;
    console.log(`${name.padEnd(width)}  ${it.ratio.toFixed(2).padStart(5)}  ${rates}  ${both("p50")}  ${both("p99")}`);
  }
  console.log();
}
