// Python on files: a warm call against starting Python for the same work, in turns; 1,000 files against 10; the parts of a
// call; the same through the Worker, with its rows in D1 and its bytes on the way to the sandbox; memory.
//
// scripts/bench files prepares the database, the sandbox and its packages.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { quantile } from "./load.mjs";
import { start as startSandbox } from "./sandbox.mjs";
import { start as startWorker } from "./server.mjs";

const PYTHON = process.env.SANDBOX_PYTHON ?? ["/usr/local/bin/python3", "/usr/bin/python3"].find(existsSync);
const FEW = 10;
const MANY = 1_000;
const FILE_BYTES = 1_024;
const SESSION = "bench";
const HEADERS = { "content-type": "application/json", "x-workspace-id": "bench_files" };
const LIMITS = { start: 0.15, many: 2 };

// Changes one file, whatever the number of files is.
const CODE = `
from pathlib import Path
from pydantic import BaseModel, Field

class Change(BaseModel):
    path: str = Field(description="The file to change")
    text: str

def run(change: Change, workspace: Path) -> dict:
    file = workspace / change.path
    old = file.read_text()
    file.write_text(change.text + old[len(change.text):])
    return {"bytes": len(old)}
`;

const { values: options } = parseArgs({
  options: {
    binary: { type: "string" },
    packages: { type: "string" },
    state: { type: "string" },
    rounds: { type: "string", default: "100" },
    out: { type: "string" },
  },
});
const rounds = Number(options.rounds);
const agent = new Agent({ keepAlive: true });

const sandbox = await startSandbox(options.binary, ["--packages", options.packages]);
let report;
try {
  report = { limits: LIMITS, alone: await alone(), worker: await throughWorker() };
  const { files } = await (await fetch(`${sandbox.url}/health`)).json();
  report.zygote_kib = occupied(files.zygote.pid);
  report.layers = files.layers;
} finally {
  agent.destroy();
  await sandbox.stop();
}
print(report);
writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.alone.start.ratio <= LIMITS.start && report.alone.many.ratio <= LIMITS.many ? 0 : 1;

/** The sandbox without the Worker. */
async function alone() {
  const [few, many] = [FEW, MANY].map((count) => texts(count));
  for (const files of [few, many]) await sendContents(files);
  for (let round = 0; round < 20; round++) await runOn(few, round);
  const folders = { few: folderOf(few), many: folderOf(many) };
  const times = { few: [], many: [], start: [], startMany: [] };
  const parts = { few: [], many: [] };
  for (let round = 0; round < rounds; round++) {
    times.few.push(await timed(async () => parts.few.push((await runOn(few, round)).timing)));
    times.start.push(await timed(() => startPython(folders.few, FEW, round)));
    times.many.push(await timed(async () => parts.many.push((await runOn(many, round)).timing)));
    times.startMany.push(await timed(() => startPython(folders.many, MANY, round)));
  }
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true });
  return {
    start: { ratio: ratio(times.few, times.start), warm_ms: both(times.few), python_ms: both(times.start) },
    start_many: { ratio: ratio(times.many, times.startMany), warm_ms: both(times.many), python_ms: both(times.startMany) },
    many: { ratio: ratio(times.many, times.few), many_ms: both(times.many), few_ms: both(times.few) },
    parts: { few: middle(parts.few), many: middle(parts.many) },
  };
}

/** Calls of a registered tool, on sessions of few and of many files, through the whole pipeline. */
async function throughWorker() {
  const proxy = await countingProxy(sandbox.url);
  const vars = ["AUTH=open", "SECRET_KEY=bench", "COST_HEADER=on", `SANDBOX_URL=${proxy.url}`];
  const worker = await startWorker(["--state", options.state, ...vars.flatMap((each) => ["--var", each])]);
  try {
    await call(worker.url, "POST", "/api/tools", tool());
    for (const count of [FEW, MANY]) {
      const files = texts(count);
      for (let at = 0; at < files.length; at += 8) {
        await Promise.all(files.slice(at, at + 8).map(({ path, text }) =>
          call(worker.url, "PUT", `/api/sessions/${SESSION}_${count}/files${path}`, text)));
      }
    }
    const measured = {};
    const times = { [FEW]: [], [MANY]: [] };
    const execute = (count, round) =>
      call(worker.url, "POST", "/api/execute", {
        tool_name: "change_one",
        session_id: `${SESSION}_${count}`,
        arguments: { change: { path: `f${round % count}.txt`, text: `round ${round} ` } },
      });
    for (const count of [FEW, MANY]) {
      proxy.reset();
      await execute(count, 0);
      measured[count] = { first: proxy.seen() };
    }
    for (let round = 1; round <= rounds; round++) {
      for (const count of [FEW, MANY]) {
        proxy.reset();
        let answer;
        times[count].push(await timed(async () => (answer = await execute(count, round))));
        if (!answer.body.success) throw new Error(JSON.stringify(answer.body));
        Object.assign(measured[count], { steady: proxy.seen(), cost: answer.cost });
      }
    }
    for (const count of [FEW, MANY]) measured[count].ms = both(times[count]);
    return { few: measured[FEW], many: measured[MANY], ratio: ratio(times[MANY], times[FEW]) };
  } finally {
    await worker.stop();
    await proxy.stop();
  }
}

function tool() {
  const change = { type: "object", properties: { path: { type: "string" }, text: { type: "string" } }, required: ["path", "text"] };
  return {
    id: "change_one",
    version: "1.0.0",
    name: "Change one file",
    description: "Changes the beginning of one file.",
    parameters_schema: { type: "object", properties: { change }, required: ["change"] },
    handler: { type: "python", code: CODE, function: "run", files: true, requirements: ["pydantic"] },
  };
}

function texts(count) {
  return Array.from({ length: count }, (_, number) => {
    const text = `file ${number} of ${count} `.repeat(FILE_BYTES).slice(0, FILE_BYTES);
    return { path: `/f${number}.txt`, text, sha256: createHash("sha256").update(text).digest("hex") };
  });
}

async function sendContents(files) {
  for (let at = 0; at < files.length; at += 500) {
    const pieces = files.slice(at, at + 500).map(({ text, sha256 }) => ({ sha256, encoding: "utf8", number: 0, count: 1, data: text }));
    await post(`${sandbox.url}/files/contents`, { share: "bench", pieces });
  }
}

async function runOn(files, round) {
  const answer = await post(`${sandbox.url}/files/run`, {
    share: "bench",
    files: files.map(({ path, sha256, text }) => [path, sha256, text.length]),
    code: CODE,
    function: "run",
    arguments: { change: { path: `f${round % files.length}.txt`, text: `round ${round} ` } },
  });
  if (!answer.ok || answer.files.changed.length !== 1) throw new Error(JSON.stringify(answer));
  return answer;
}

/** A directory with the files, for a Python of its own. Making it is no part of that Python's time. */
function folderOf(files) {
  const folder = mkdtempSync(join(tmpdir(), "pegboard-bench-"));
  for (const { path, text } of files) writeFileSync(join(folder, path), text);
  return folder;
}

/** The same work by a Python of its own, which finds the files in a directory. */
async function startPython(folder, count, round) {
  const path = `f${round % count}.txt`;
  const code = `import sys\nsys.path.append(${JSON.stringify(options.packages)})\n${CODE}
print(run(Change.model_validate({"path": ${JSON.stringify(path)}, "text": "round ${round} "}), Path(${JSON.stringify(folder)})))`;
  const child = spawn(PYTHON, ["-I", "-B", "-c", code], { env: {}, stdio: ["ignore", "pipe", "inherit"] });
  let told = "";
  child.stdout.on("data", (chunk) => (told += chunk));
  await once(child, "close");
  if (told !== `{'bytes': ${FILE_BYTES}}\n`) throw new Error(`Python says ${told}`);
}

async function timed(action) {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}

function both(times) {
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95) };
}

function ratio(times, others) {
  return quantile(times, 0.5) / quantile(others, 0.5);
}

function middle(parts) {
  return Object.fromEntries(Object.keys(parts[0]).map((name) => [name, quantile(parts.map((part) => part[name]), 0.5)]));
}

async function post(url, body) {
  return (await send(url, "POST", JSON.stringify(body))).body;
}

async function call(url, method, path, body) {
  return send(url + path, method, typeof body === "string" ? body : JSON.stringify(body));
}

function send(url, method, body) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: HEADERS, agent }, async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      if (response.statusCode >= 300) return reject(new Error(`${method} ${url}: ${response.statusCode} ${text}`));
      resolve({ body: JSON.parse(text), cost: response.headers["x-d1-cost"] });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Stands between the Worker and the sandbox, and counts requests and bytes by path. */
async function countingProxy(target) {
  let seen = {};
  const server = createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const passed = request(target + incoming.url, { method: incoming.method, headers: incoming.headers, agent }, async (response) => {
      const answer = [];
      for await (const chunk of response) answer.push(chunk);
      const text = Buffer.concat(answer);
      const path = (seen[incoming.url] ??= { requests: 0, sent: 0, received: 0 });
      path.requests += 1;
      path.sent += body.length;
      path.received += text.length;
      outgoing.writeHead(response.statusCode, { "content-type": "application/json" }).end(text);
    });
    passed.on("error", () => outgoing.destroy());
    passed.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    reset: () => (seen = {}),
    seen: () => seen,
    stop: () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  };
}

function occupied(pid) {
  const field = (file, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1]);
  return { rss: field("status", "VmRSS"), pss: process.getuid() === 0 ? field("smaps_rollup", "Pss") : null };
}

function print({ alone, worker, zygote_kib: memory, layers }) {
  const ms = ({ p50, p95 }) => `${p50.toFixed(1)} ms (p95 ${p95.toFixed(1)})`;
  const part = (parts) => Object.entries(parts).map(([name, value]) => `${name.replace("_ms", "")} ${value.toFixed(1)}`).join(", ");
  const wire = (seen) =>
    Object.entries(seen).map(([path, { requests, sent, received }]) => `${path} ${requests} × (${sent} out, ${received} in)`).join("; ");
  const rows = {
    [`warm call on ${FEW} files of 1 KB`]: ms(alone.start.warm_ms),
    "python3 -I, pydantic, the same": ms(alone.start.python_ms),
    "the first ÷ the second": `${alone.start.ratio.toFixed(3)} (at most ${LIMITS.start})`,
    [`the same with ${MANY} files`]: `${alone.start_many.ratio.toFixed(3)} (${ms(alone.start_many.warm_ms)} ÷ ${ms(alone.start_many.python_ms)})`,
    [`1 of ${MANY} files changed ÷ 1 of ${FEW}`]: `${alone.many.ratio.toFixed(2)} (at most ${LIMITS.many})`,
    [`parts of a call, ${FEW} files, ms`]: part(alone.parts.few),
    [`parts of a call, ${MANY} files, ms`]: part(alone.parts.many),
    "POST /api/execute, 10 files": `${ms(worker.few.ms)}; ${worker.few.cost}`,
    "POST /api/execute, 1,000 files": `${ms(worker.many.ms)}; ${worker.many.cost}`,
    "the second ÷ the first": worker.ratio.toFixed(2),
    "bytes, first call, 10 files": wire(worker.few.first),
    "bytes, steady state, 10 files": wire(worker.few.steady),
    "bytes, first call, 1,000 files": wire(worker.many.first),
    "bytes, steady state, 1,000 files": wire(worker.many.steady),
    "memory of the second zygote": `${(memory.rss / 1024).toFixed(1)} MiB resident, ${memory.pss === null ? "?" : (memory.pss / 1024).toFixed(1)} MiB own (PSS)`,
    "layers": JSON.stringify(layers),
  };
  console.log("\nPython on files");
  for (const [name, value] of Object.entries(rows)) console.log(`  ${name.padEnd(34)}  ${value}`);
}
