// Runs the Worker in workerd for the tests and the benchmark: `node scripts/lib/serve.mjs OPTIONS`
//
//   --state DIR         the folder of D1, KV and Durable Objects, in the layout of wrangler's
//                       `--persist-to DIR`, so that `scripts/migrate-local DIR` prepares it
//   --var NAME=VALUE    overrides one of wrangler.toml's vars, or sets a secret; repeatable
//   --without BINDING   leaves out a D1 database of wrangler.toml; repeatable
//   --bucket BINDING    binds an R2 bucket, which wrangler.toml leaves to the operator; repeatable
//   --worker FILE.js    serves this plain JavaScript Worker instead of dist/, with the same bindings
//                       except the Durable Objects
//   --assets            also serves the console, console/dist; it triples the time of every request, so benchmarks do without
//   --port PORT         a fixed port instead of a free one
//   --heap MEGABYTES    the most that the heap of JavaScript may take in each isolate; workerd crashes beyond it
//
// The Worker is dist/, the bundle that `scripts/build` makes, with the bindings of wrangler.toml.
// .dev.vars is not read, and containers are off. Requests reach workerd's own socket, without the
// proxy of `wrangler dev`.
//
// When the Worker is ready, the script prints one line of JSON, {"url": "http://127.0.0.1:PORT"}.
// Then the script reads commands on stdin, one JSON object a line, and responds to each with a line
// on stdout, in order:
//
//   {"id":1,"sql":"SELECT ?1","params":[7],"db":"DB"}      → {"id":1,"rows":[…],"meta":{…}}
//   {"id":2,"batch":[{"sql":…,"params":[…]},…],"db":"DB"}  → {"id":2,"batch":[{"rows":…,"meta":…},…]}
//   {"id":3,"scheduled":"*/5 * * * *"}                     → {"id":3,"outcome":"ok"}
//   {"id":3,"scheduled":"*/5 * * * *","objects":true}      → also an alarm of every object, whatever STORAGE says
//   {"id":6,"bucket":"ARCHIVE"}                            → {"id":6,"objects":[{"key":…,"size":…},…]}
//   {"id":6,"bucket":"ARCHIVE","key":"…"}                  → {"id":6,"text":…}, unpacked by gunzip
//   {"id":5,"object":"LIMITER","name":"…","bodies":[…]}   → {"id":5,"answers":[…]}, all posted at once
//   {"id":4,"restart":true}                                → {"id":4,"url":…}, the same URL as before
//   a command that fails                                   → {"id":…,"error":"message"}
//
// "db" defaults to DB. With --var STORAGE=objects, SQL on DB runs in the object of the workspace that is its first parameter. An
// INSERT makes the object; other SQL whose first parameter is no workspace with an object runs in all objects.
// {"directory":true} says that DB itself is meant. A scheduled event is also an alarm of every object. A restart kills workerd, as a crash would, and starts workerd with the same
// state. The end of stdin stops everything, so that a killed caller leaves no process behind.
// SIGTERM and SIGINT stop everything too. The Worker's log goes to stderr.

import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

import { Log, LogLevel, Miniflare, convertV4MiniflareOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const HOST = "127.0.0.1";

// stdout is for responses only, but wrangler reports there that it found the .dev.vars of scripts/dev.
console.log = console.info = console.error;

class StderrLog extends Log {
  log(message) {
    process.stderr.write(`${message}\n`);
  }
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      state: { type: "string" },
      var: { type: "string", multiple: true, default: [] },
      without: { type: "string", multiple: true, default: [] },
      bucket: { type: "string", multiple: true, default: [] },
      worker: { type: "string" },
      assets: { type: "boolean", default: false },
      port: { type: "string", default: "0" },
      heap: { type: "string" },
    },
  });
  if (values.state === undefined) throw new Error("--state DIR is required");
  // Miniflare hands these flags to workerd.
  if (values.heap !== undefined) process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-old-space-size=${values.heap}`;
  const vars = values.var.map((pair) => {
    const [name, ...value] = pair.split("=");
    return [name, value.join("=")];
  });
  return { ...values, vars: Object.fromEntries(vars) };
}

/** The modules of dist/. The first module is the main one. */
function bundleModules() {
  const dist = join(ROOT, "dist");
  const wasm = readdirSync(dist).filter((name) => name.endsWith(".wasm"));
  return [
    { type: "ESModule", path: join(dist, "index.js") },
    ...wasm.map((name) => ({ type: "CompiledWasm", path: join(dist, name) })),
  ];
}

function miniflareOptions({ state, vars, without, bucket, worker, assets, port }) {
  const config = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
  const { workerOptions } = unstable_getMiniflareWorkerOptions(config, undefined, {
    overrides: { enableContainers: false },
  });
  const { modulesRules: _, ...options } = workerOptions;
  options.name = config.name;
  // wrangler merges .dev.vars into the bindings, but a test must not depend on a developer's file.
  options.bindings = { ...config.vars, ...vars };
  for (const binding of without) delete options.d1Databases[binding];
  if (bucket.length > 0) options.r2Buckets = Object.fromEntries(bucket.map((it) => [it, it.toLowerCase()]));
  if (!assets) delete options.assets;
  options.modulesRoot = worker === undefined ? join(ROOT, "dist") : dirname(resolve(worker));
  options.modules = worker === undefined ? bundleModules() : [{ type: "ESModule", path: resolve(worker) }];
  if (worker !== undefined) options.durableObjects = {};
  options.unsafeDirectSockets = [{ host: HOST, port: Number(port) }];

  return convertV4MiniflareOptions({
    workers: [options],
    // Miniflare's own proxy, for commands only. Requests go to the direct socket above.
    host: HOST,
    port: 0,
    resourcePersistencePath: join(resolve(state), "v3"),
    cf: false,
    telemetry: { enabled: false },
    log: new StderrLog(LogLevel.WARN),
    handleStructuredLogs: ({ level, message }) => process.stderr.write(`[${level}] ${message}\n`),
  });
}

const statement = (db, { sql, params = [] }) => db.prepare(sql).bind(...params);
const answer = ({ results, meta }) => ({ rows: results, meta });

async function url(miniflare) {
  const { origin } = await miniflare.unsafeGetDirectURL();
  return { url: origin };
}

/** Runs a command once more if its connection was gone: Miniflare keeps connections, and workerd closes idle ones. */
async function connected(run) {
  try {
    return await run();
  } catch (error) {
    if (error.message !== "fetch failed") throw error;
    return run();
  }
}

/** The objects of workspaces, by the files of their databases; only the one with this name, if there is one or if it is to be
 * made. */
async function workspaceObjects(miniflare, state, name, isMade = false) {
  const namespace = await miniflare.getDurableObjectNamespace("WORKSPACES");
  if (isMade) return [namespace.getByName(name)];
  const folder = join(resolve(state), "v3/do/pegboard-Workspace");
  const files = existsSync(folder) ? readdirSync(folder).filter((it) => /^[0-9a-f]{64}\.sqlite$/.test(it)) : [];
  const ids = files.map((it) => it.slice(0, 64));
  const own = typeof name === "string" && name !== "" ? (await namespace.idFromName(name)).toString() : "";
  return await Promise.all((ids.includes(own) ? [own] : ids).map(async (id) => namespace.get(await namespace.idFromString(id))));
}

/** Runs SQL in objects, as on D1. */
async function inObjects(miniflare, state, { sql, params = [] }) {
  const isMade = /^\s*INSERT\b/.test(sql) && typeof params[0] === "string";
  const objects = await workspaceObjects(miniflare, state, params[0], isMade);
  const batch = JSON.stringify([[false, sql, ...params]]);
  const answers = [];
  // An object takes no batch of another workspace, and the first parameter may be none.
  const name = isMade ? params[0] : undefined;
  for (const object of objects) answers.push(new TextDecoder().decode(await object.run(batch, name)).split("\n"));
  const figures = answers.map(([line]) => JSON.parse(line)[0]);
  const sum = (index) => figures.reduce((total, each) => total + each[index], 0);
  const meta = { changes: sum(0), rows_read: sum(1), rows_written: sum(2), size_after: sum(3) };
  return { rows: answers.flatMap(([, rows]) => JSON.parse(rows)), meta };
}

async function execute(miniflare, options, command) {
  const { state, vars } = readArguments();
  const areObjects = vars.STORAGE === "objects";
  if (areObjects && (command.db ?? "DB") === "DB" && !command.directory) {
    if (command.sql !== undefined) return inObjects(miniflare, state, command);
    if (command.batch !== undefined) {
      const batch = [];
      for (const each of command.batch) batch.push(await inObjects(miniflare, state, each));
      return { batch };
    }
  }
  if (command.sql !== undefined) {
    const db = await miniflare.getD1Database(command.db ?? "DB");
    return answer(await statement(db, command).all());
  }
  if (command.batch !== undefined) {
    const db = await miniflare.getD1Database(command.db ?? "DB");
    const results = await db.batch(command.batch.map((each) => statement(db, each)));
    return { batch: results.map(answer) };
  }
  if (command.scheduled !== undefined) {
    const worker = await miniflare.getWorker();
    const { outcome } = await worker.scheduled({ cron: command.scheduled, scheduledTime: new Date() });
    if (!areObjects && !command.objects) return { outcome };
    const ends = [];
    for (const object of await workspaceObjects(miniflare, state)) ends.push(await object.keepUp());
    return { outcome: ends.some(({ hasFailed }) => hasFailed) ? "exception" : outcome, ends };
  }
  if (command.bucket !== undefined) {
    const bucket = await miniflare.getR2Bucket(command.bucket);
    if (command.key === undefined) return { objects: (await bucket.list()).objects.map(({ key, size }) => ({ key, size })) };
    const object = await bucket.get(command.key);
    return { text: gunzipSync(Buffer.from(await object.arrayBuffer())).toString() };
  }
  if (command.object !== undefined) {
    const namespace = await miniflare.getDurableObjectNamespace(command.object);
    const stub = namespace.get(namespace.idFromName(command.name));
    const post = async (body) => (await stub.fetch("https://object/", { method: "POST", body: JSON.stringify(body) })).json();
    return { answers: await Promise.all(command.bodies.map(post)) };
  }
  if (command.restart) {
    await miniflare.setOptions(options);
    return url(miniflare);
  }
  throw new Error("a command has sql, batch, scheduled, bucket, object or restart");
}

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function main() {
  const options = miniflareOptions(readArguments());
  const miniflare = new Miniflare(options);

  let stopping;
  const stop = () => {
    stopping ??= miniflare.dispose().finally(() => process.exit());
    return stopping;
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  // A killed caller no longer reads responses.
  process.stdout.on("error", stop);
  process.stderr.on("error", stop);

  const lines = createInterface({ input: process.stdin });
  let queue = miniflare.ready
    .then(async () => print(await url(miniflare)))
    .catch((error) => {
      if (stopping) return stopping;
      process.stderr.write(`${error.stack}\n`);
      process.exitCode = 1;
      return stop();
    });
  lines.on("line", (line) => {
    queue = queue.then(async () => {
      let id = null;
      try {
        const command = JSON.parse(line);
        id = command.id ?? null;
        print({ id, ...(await connected(() => execute(miniflare, options, command))) });
      } catch (error) {
        if (!stopping) print({ id, error: error.message });
      }
    });
  });
  lines.on("close", stop);
}

await main();
