// Runs the Worker in workerd for the tests and the benchmark: `node scripts/lib/serve.mjs OPTIONS`
//
//   --state DIR         the folder of D1, KV and Durable Objects, in the layout of wrangler's
//                       `--persist-to DIR`, so that `scripts/migrate-local DIR` prepares it
//   --var NAME=VALUE    overrides one of wrangler.toml's vars, or sets a secret; repeatable
//   --without BINDING   leaves out a D1 database of wrangler.toml; repeatable
//   --worker FILE.js    serves this plain JavaScript Worker instead of dist/, with the same bindings
//                       except the Durable Objects
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
//   {"id":5,"object":"LIMITER","name":"…","bodies":[…]}   → {"id":5,"answers":[…]}, all posted at once
//   {"id":4,"restart":true}                                → {"id":4,"url":…}, the same URL as before
//   a command that fails                                   → {"id":…,"error":"message"}
//
// "db" defaults to DB. A restart kills workerd, as a crash would, and starts workerd with the same
// state. The end of stdin stops everything, so that a killed caller leaves no process behind.
// SIGTERM and SIGINT stop everything too. The Worker's log goes to stderr.

import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

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
      worker: { type: "string" },
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

function miniflareOptions({ state, vars, without, worker, port }) {
  const config = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
  const { workerOptions } = unstable_getMiniflareWorkerOptions(config, undefined, {
    overrides: { enableContainers: false },
  });
  const { modulesRules: _, ...options } = workerOptions;
  options.name = config.name;
  // wrangler merges .dev.vars into the bindings, but a test must not depend on a developer's file.
  options.bindings = { ...config.vars, ...vars };
  for (const binding of without) delete options.d1Databases[binding];
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

async function execute(miniflare, options, command) {
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
    return { outcome };
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
  throw new Error("a command has sql, batch, scheduled, object or restart");
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
