// Modules: a call of a module's tool against the same POST by a bare Worker, the discovery of 50 modules, the toolbox with
// 1,000 module tools, and the import of a large OpenAPI document. scripts/bench prepares the database.

import { spawn } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { quantile, sideBySide } from "./load.mjs";
import { cpuSeconds } from "./processes.mjs";
import { start } from "./server.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MODULES = 50;
const AT_ONCE = 5;
const DELAY_MS = 400;
const VARS = ["--var", "AUTH=open", "--var", "PRIVATE_URLS=allow", "--var", "SECRET_KEY=bench", "--var", "COST_HEADER=on"];

const { values: options } = parseArgs({
  options: { state: { type: "string" }, seconds: { type: "string" }, out: { type: "string" }, document: { type: "string" } },
});
const seconds = Number(options.seconds);
const running = [];

try {
  const modules = await moduleServer();
  const worker = await begin("worker");
  const call = caller(worker);
  const report = {};
  for (let number = 0; number < MODULES; number++) {
    await call("POST", "/api/modules", { name: `m${number}`, url: `${modules.url}/m${number}`, enabled: false });
  }
  report.discovery = await discovery(call, modules);
  report.toolbox = await toolbox(call);
  if (options.document !== undefined) report.import = await importing(worker);
  await worker.stop();
  report.call = await calls();
  print(report);
  writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
} finally {
  await Promise.all(running.map((it) => it.stop()));
}

/** The first discovery of 50 modules with 20 tools each, and one that finds nothing new. */
async function discovery(call, modules) {
  for (let number = 0; number < MODULES; number++) {
    // Enabled without a discovery, so that one refresh sees all of them for the first time.
    await sql(call.server, `UPDATE upstreams SET enabled = 1, leased_until = NULL WHERE name = 'm${number}'`);
  }
  const measure = async () => {
    await fetch(`${modules.url}/delay?ms=${DELAY_MS}`, { method: "POST" });
    const begun = performance.now();
    const { body, cost } = await call("POST", "/api/refresh-tools", {});
    const ms = performance.now() - begun;
    const slowest = (await (await fetch(`${modules.url}/slowest`)).json()).ms;
    const added = body.modules.reduce((sum, it) => sum + it.added, 0);
    return { added, ms, slowest, ratio: ms / ((MODULES / AT_ONCE) * slowest), cost };
  };
  const first = await measure();
  const again = await measure();
  await fetch(`${modules.url}/delay?ms=0`, { method: "POST" });
  return { first, again };
}

/** The toolbox of an agent with 50 modules (1,000 tools) and of one with half a module's tools (10). */
async function toolbox(call) {
  const all = Array.from({ length: MODULES }, (_, number) => `m${number}`);
  const large = (await call("POST", "/api/agents", { name: "large", default_tools: false, allowed_modules: all })).body.id;
  await sql(call.server, `UPDATE tool_versions SET active = 0, deactivated_at = '2026-01-01T00:00:00.000Z', deactivated_reason = 'operator_request'
    WHERE key IN (SELECT current_version_key FROM tools WHERE id GLOB 'm0.tool_1[0-9]')`);
  const small = (await call("POST", "/api/agents", { name: "small", default_tools: false, allowed_modules: ["m0"] })).body.id;
  const time = async (agent) => {
    const times = [];
    let answer;
    for (let round = 0; round < 12; round++) {
      const begun = performance.now();
      answer = await call("GET", `/api/agents/${agent}/toolbox`);
      times.push(performance.now() - begun);
    }
    const tools = answer.body.tools.length;
    return { tools, ms: quantile(times, 0.5), perTool: quantile(times, 0.5) / tools, cost: answer.cost };
  };
  const [many, few] = [await time(large), await time(small)];
  return { many, few, ratio: many.perTool / few.perTool };
}

/** The document, with some of its operations twice so that there are 1,000. */
function largeDocument() {
  const document = JSON.parse(readFileSync(options.document, "utf8"));
  const methods = ["get", "put", "post", "delete", "patch", "head"];
  const operations = () => Object.values(document.paths).reduce((sum, path) => sum + methods.filter((it) => path[it]).length, 0);
  for (const [path, item] of Object.entries(document.paths)) {
    if (operations() >= 1_000) break;
    const copy = structuredClone(item);
    for (const method of methods) if (copy[method]) copy[method].operationId = `copy/${copy[method].operationId}`;
    document.paths[`/copy${path}`] = copy;
  }
  return { text: JSON.stringify(document), operations: operations() };
}

/** The CPU time of the process while it imports the document. */
async function importing(worker) {
  const { text, operations } = largeDocument();
  const server = createServer((_, response) => response.end(text)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  running.push({ stop: () => server.close() });
  const call = caller(worker);
  const before = cpuSeconds();
  const begun = performance.now();
  const { body } = await call("POST", "/api/modules", {
    name: "large", kind: "openapi", url: `http://127.0.0.1:${server.address().port}/openapi.json`, include: { paths: ["*"] },
  });
  const seconds = (performance.now() - begun) / 1000;
  return { bytes: text.length, operations, tools: body.tools, warnings: body.warnings.length, status: body.status, error: body.last_error, seconds, cpuSeconds: cpuSeconds() - before };
}

/** Calls of a module's tool, against a Worker that makes the same D1 calls and the same POST and nothing else. */
async function calls() {
  cpSync(join(options.state, "worker"), join(options.state, "baseline"), { recursive: true });
  const worker = await begin("worker");
  const baseline = await begin("baseline", ["--worker", join(ROOT, "bench/baseline.js")]);
  const side = (server) => ({
    url: `${server.url}/api/execute`,
    headers: { "x-workspace-id": "bench", "content-type": "application/json" },
    body: JSON.stringify({ tool_name: "m3.tool_7", arguments: { query: "gas price", limit: 3 }, session_id: "bench" }),
  });
  return sideBySide(side(worker), side(baseline), seconds, 8);
}

async function moduleServer() {
  const child = spawn(process.execPath, [join(ROOT, "bench/module-server.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
  const { value: url } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const ended = new Promise((resolve) => child.once("exit", resolve));
  running.push({
    stop: () => {
      child.stdin.end();
      return ended;
    },
  });
  return { url };
}

async function begin(state, more = []) {
  const server = await start(["--state", join(options.state, state), ...VARS, ...more]);
  running.push(server);
  return server;
}

function caller(server) {
  const call = async (method, path, body) => {
    const response = await fetch(server.url + path, {
      method, headers: { "x-workspace-id": "bench" }, body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return { body: await response.json(), cost: response.headers.get("x-d1-cost") };
  };
  call.server = server;
  return call;
}

function sql(server, text) {
  return server.ask({ batch: [{ sql: text, params: [] }] });
}

function print({ discovery: { first, again }, toolbox, import: imported, call }) {
  const row = (name, ratio, note) => console.log(`${name.padEnd(52)} ${ratio.toFixed(2).padStart(6)}   ${note}`);
  console.log(`\n${"".padEnd(53)} ratio`);
  row("a module's tool / the same POST by a bare Worker", call.ratio, `${call.ours.rate.toFixed(0)} and ${call.other.rate.toFixed(0)} calls/s`);
  row(`discovery of 50 modules / 10 x the slowest answer`, first.ratio, `${first.added} tools, ${first.ms.toFixed(0)} ms, slowest ${first.slowest.toFixed(0)} ms; ${first.cost}`);
  row("the same, with nothing new", again.ratio, `${again.ms.toFixed(0)} ms; ${again.cost}`);
  row("toolbox: a tool of 1,000 / a tool of 10", toolbox.ratio, `${toolbox.many.tools} tools ${toolbox.many.ms.toFixed(1)} ms, ${toolbox.few.tools} tools ${toolbox.few.ms.toFixed(1)} ms; ${toolbox.many.cost}`);
  if (imported) console.log(`OpenAPI document of ${imported.operations} operations and ${imported.bytes} bytes: ${imported.status}, ${imported.tools} tools, ${imported.warnings} warnings, ${imported.seconds.toFixed(1)} s, CPU ${imported.cpuSeconds.toFixed(1)} s ${imported.error ?? ""}`);
}
