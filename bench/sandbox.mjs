// The sandbox: a warm call over HTTP, against starting Python for the same code, in turns; calls a second; a cold start;
// memory; a call through the Worker's whole pipeline, against a call of the sandbox alone. `scripts/bench` uses `measure`
// and `print`. To run it alone, without the Worker:
//
//   node bench/sandbox.mjs --binary target/native/pegboard-sandbox [--seconds 3] [--out FILE]

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { quantile } from "./load.mjs";

const CODE = `import json, re
rows = json.dumps([{"id": each, "name": "row %d" % each} for each in range(50)])
print(len(re.sub(r"row (\\d+)", r"\\1", rows)))`;
const PRINTED = "1280\n";
const PYTHON = process.env.SANDBOX_PYTHON ?? ["/usr/local/bin/python3", "/usr/bin/python3"].find(existsSync);
const ROUNDS = 100;
const COLD_STARTS = 7;
const CONNECTIONS = [1, 2, 8];

/** All figures of a binary. The first figure must be at most `limit`. `serve` starts a Worker whose sandbox is at a URL. */
export async function measure(binary, seconds, serve) {
  const server = await start(binary);
  try {
    const agent = new Agent({ keepAlive: true });
    for (let round = 0; round < 20; round++) await run(server.url, agent);
    const [warm, started] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      warm.push(await timed(() => run(server.url, agent)));
      started.push(await timed(python));
    }
    const throughWorker = serve && (await endToEnd(await serve(server.url), server.url, agent));
    agent.destroy();
    const rates = {};
    for (const connections of CONNECTIONS) rates[connections] = await rate(server.url, connections, seconds);
    const memory = await server.memory();
    const health = await (await fetch(`${server.url}/health`)).json();
    return {
      ratio: quantile(warm, 0.5) / quantile(started, 0.5),
      limit: 0.3,
      warm_ms: { p50: quantile(warm, 0.5), p95: quantile(warm, 0.95) },
      python_ms: { p50: quantile(started, 0.5), p95: quantile(started, 0.95) },
      calls_per_second: rates,
      end_to_end: throughWorker,
      cold_start_ms: await coldStart(binary),
      memory_kib: memory,
      layers: health.layers,
      python: health.python,
    };
  } finally {
    await server.stop();
  }
}

export function print(report) {
  const ms = ({ p50, p95 }) => `${p50.toFixed(1)} ms (p95 ${p95.toFixed(1)})`;
  const memory = Object.entries(report.memory_kib).map(([who, { rss, pss }]) => `${who} ${mib(pss)} of ${mib(rss)}`);
  const rows = {
    "warm call over HTTP": ms(report.warm_ms),
    [`python3 -I -c, ${report.python}`]: ms(report.python_ms),
    "the first ÷ the second": `${report.ratio.toFixed(3)} (at most ${report.limit})`,
    ...(report.end_to_end && {
      "POST /api/execute execute_python": ms(report.end_to_end.execute_ms),
      "that ÷ the sandbox call alone": `${report.end_to_end.ratio.toFixed(2)} (the latter ${ms(report.end_to_end.run_ms)})`,
    }),
    "calls/s at 1, 2, 8 connections": CONNECTIONS.map((each) => report.calls_per_second[each].toFixed(0)).join(", "),
    "cold start to first result": `${report.cold_start_ms.toFixed(0)} ms`,
    "memory, own (PSS) of resident": memory.join(", "),
    "layers": JSON.stringify(report.layers),
  };
  console.log("\nSandbox");
  for (const [name, value] of Object.entries(rows)) console.log(`  ${name.padEnd(32)}  ${value}`);
}

const mib = (kib) => (kib === null ? "?" : `${(kib / 1024).toFixed(1)} MiB`);

/** A call through the whole pipeline, and a call of the sandbox alone, in turns. */
async function endToEnd(worker, url, agent) {
  const [execute, alone] = [[], []];
  for (let round = 0; round < 20; round++) await throughPipeline(worker.url, agent);
  for (let round = 0; round < ROUNDS; round++) {
    execute.push(await timed(() => throughPipeline(worker.url, agent)));
    alone.push(await timed(() => run(url, agent)));
  }
  await worker.stop();
  const both = (times) => ({ p50: quantile(times, 0.5), p95: quantile(times, 0.95) });
  return { ratio: quantile(execute, 0.5) / quantile(alone, 0.5), execute_ms: both(execute), run_ms: both(alone) };
}

async function timed(action) {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}

/** Starts a server on a free port, and returns when the server listens. */
export async function start(binary, flags = []) {
  const child = spawn(binary, ["--listen", "127.0.0.1:0", "--python", PYTHON, ...flags], {
    env: {},
    stdio: ["ignore", "ignore", "pipe"],
  });
  let told = "";
  for await (const chunk of child.stderr) {
    told += chunk;
    const listening = /listening on (\S+) /.exec(told);
    if (listening) return { url: `http://${listening[1]}`, memory: () => memory(child.pid), stop: () => stop(child) };
  }
  throw new Error(`the sandbox did not start: ${told}`);
}

async function stop(child) {
  child.kill();
  if (child.exitCode === null) await once(child, "exit");
}

/** The code's result, checked. */
const run = (url, agent) => post(`${url}/run`, { code: CODE }, agent, (answer) => answer.stdout);

const throughPipeline = (url, agent) =>
  post(`${url}/api/execute`, { tool_name: "execute_python", arguments: { code: CODE } }, agent, (answer) => answer.result);

function post(url, body, agent, printed) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "x-workspace-id": "bench_python" };
    const sent = request(url, { method: "POST", headers, agent }, async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      if (response.statusCode === 200 && printed(JSON.parse(text)) === PRINTED) resolve();
      else reject(new Error(`${response.statusCode} ${text}`));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

async function python() {
  const child = spawn(PYTHON, ["-I", "-c", CODE], { env: {}, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  await once(child, "close");
  if (text !== PRINTED) throw new Error(`Python says ${text}`);
}

async function rate(url, connections, seconds) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const begun = performance.now();
  let calls = 0;
  const connection = async () => {
    while (performance.now() < begun + seconds * 1000) {
      await run(url, agent);
      calls++;
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
  return (calls * 1000) / (performance.now() - begun);
}

async function coldStart(binary) {
  const times = [];
  for (let round = 0; round < COLD_STARTS; round++) {
    const begun = performance.now();
    const server = await start(binary);
    await run(server.url, undefined);
    times.push(performance.now() - begun);
    await server.stop();
  }
  return quantile(times, 0.5);
}

/** The memory of the three lasting processes. The keeper is the supervisor's parent, and the supervisor the zygote's. */
async function memory(keeper) {
  const supervisor = await onlyChild(keeper);
  const zygote = await onlyChild(supervisor);
  return { keeper: occupied(keeper), supervisor: occupied(supervisor), zygote: occupied(zygote) };
}

/** The only child of a process. A finished call is a child too until its parent has reaped it, hence the retries. */
async function onlyChild(pid) {
  for (let tries = 0; tries < 50; tries++) {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    if (children.length === 1) return Number(children[0]);
    await setTimeout(100);
  }
  throw new Error(`process ${pid} still has more or fewer than one child`);
}

function occupied(pid) {
  const field = (text, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? NaN);
  const rss = field(readFileSync(`/proc/${pid}/status`, "utf8"), "VmRSS");
  try {
    return { rss, pss: field(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"), "Pss") };
  } catch {
    return { rss, pss: null }; // Only root may read this file.
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { binary: { type: "string" }, seconds: { type: "string", default: "3" }, out: { type: "string" } },
  });
  const report = await measure(values.binary, Number(values.seconds));
  print(report);
  if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.ratio <= report.limit ? 0 : 1;
}
