// The playground: a turn's stream against the same stream read from the model's server, and through a bare Worker; the D1 cost
// of a turn; a hundred turns at once; and the memory that a long conversation takes. The model is scripted (model-server.mjs).
// scripts/bench prepares the database. `misses` says what makes the benchmark fail; docs/playground.md explains the figures.

import { Agent } from "node:http";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { startChild } from "./child.mjs";
import { finished, stream } from "./event-stream.mjs";
import { quantile } from "./load.mjs";
import { cpuSeconds, memory } from "./processes.mjs";
import { start } from "./server.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WORKSPACE = "bench";
const MEBIBYTE = 1024 * 1024;
/** V8 compiles hot functions anew while they run; see load.mjs. */
const WARM_UP_TURNS = 150;
/** Later turns are measured in some sessions, so that no conversation grows long. */
const SESSIONS = 10;
const TURNS_AT_ONCE = 100;
const CALLS = [0, 1, 3, 8];
/** The first byte has no bar: Pegboard sends `start` before it asks the model, so the byte comes early whatever the rest takes. */
const BARS = { first_text_ms: 10, round_trips: (calls, own) => 3 + (2 + own) * calls };
/** A stream at the pace of a model must end as early as the model's own. A model's server sends the other stream faster than any
 * Worker can read it, so that stream is held against the bare Worker, which reads the same pieces. */
const STREAMS = {
  "400 pieces, one every 5 ms": { script: { chunks: 400, every_ms: 5 }, against: "directly", bar: 1.05, rounds: (all) => Math.ceil(all / 8) },
  "2,000 pieces at once": { script: { chunks: 2_000 }, against: "a bare Worker", bar: 2, rounds: (all) => Math.ceil(all / 4) },
};
const INSTANT = { chunks: 8 };
/** What is measured of a stream, in milliseconds. */
const TIMES = ["firstByte", "firstText", "lastText", "end"];

const { values: options } = parseArgs({ options: { state: { type: "string" }, rounds: { type: "string" }, out: { type: "string" } } });
const rounds = Number(options.rounds);
const running = [];
let sessions = 0;

try {
  cpSync(join(options.state, "worker"), join(options.state, "bare"), { recursive: true });
  const model = await begin(startChild(process.execPath, [join(ROOT, "bench/model-server.mjs")]));
  const report = { bundle: JSON.parse(readFileSync(join(ROOT, "dist/size.json"), "utf8")) };
  const open = await startPegboard(model, { AUTH: "open" });
  report.cost = { "open mode": await costs(open) };
  await open.stop();
  const pegboard = await startPegboard(model, { ROOT_TOKEN: "root" });
  report.cost["with a token"] = await costs(pegboard);
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) await pegboard.turn(`warm_${turn % SESSIONS}`, INSTANT);
  const bare = await startBare(model);
  report.first = {
    "a model that answers at once": await first(pegboard, bare, model, INSTANT),
    "a model that thinks for 200 ms": await first(pegboard, bare, model, { ...INSTANT, first_ms: 200 }),
  };
  report.streams = {};
  for (const [name, { script, rounds: count }] of Object.entries(STREAMS)) report.streams[name] = await wholeStream(pegboard, bare, model, script, count(rounds));
  report.together = await together(pegboard, bare, model);
  await bare.stop();
  report.memory = await conversations(pegboard);
  print(report);
  writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
  const missed = misses(report);
  for (const it of missed) console.log(`FAILED: ${it}`);
  if (missed.length > 0) process.exitCode = 1;
} finally {
  await Promise.all(running.map((it) => it.stop()));
}

/** A Worker that asks the model, and an agent in it with the built-in tools and a tool on the model's server. */
async function startPegboard(model, settings) {
  const all = {
    SECRET_KEY: "bench", PRIVATE_URLS: "allow", COST_HEADER: "on", MODEL_URL: `${model.url}/v1`, MODEL_NAME: "bench", MODEL_CONTEXT_TOKENS: "1000000",
    ...settings,
  };
  const server = await begin(start(["--state", join(options.state, "worker"), ...Object.entries(all).flatMap(([name, value]) => ["--var", `${name}=${value}`])]));
  const workspace = `${WORKSPACE}_${settings.AUTH ?? "token"}`;
  const headers = (token) => ({ "x-workspace-id": workspace, "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) });
  const call = async (token, path, body) => {
    const response = await fetch(server.url + path, { method: body === undefined ? "GET" : "POST", headers: headers(token), body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`);
    return { body: JSON.parse(text), headers: response.headers };
  };
  const root = settings.ROOT_TOKEN;
  const owner = root && (await call(root, "/api/tokens", { name: "owner", level: "owner" })).body.token;
  const token = root && (await call(root, "/api/tokens", { name: "bench", level: "user" })).body.token;
  await call(owner, "/api/tools", {
    id: "ping", version: "1.0.0", name: "Ping", description: "Asks a server whether it is there", risk_level: "safe",
    parameters_schema: { type: "object" }, handler: { type: "http", url: `${model.url}/tool` },
  });
  const agentId = (await call(owner, "/api/agents", { name: "Bench", system_prompt: "You are measured." })).body.id;
  // The first attachment takes the default tools away.
  for (const tool of ["ping", "read_file", "write_file", "list_files"]) await call(owner, `/api/agents/${agentId}/tools`, { tool_id: tool });

  const connection = new Agent({ keepAlive: true });
  const turn = async (session, script) => {
    const url = `${server.url}/api/playground/sessions/${session}/chat`;
    const body = JSON.stringify({ agentId, message: JSON.stringify(script) });
    const answer = await stream({ url, headers: headers(token), body, protocol: "turn" }, connection);
    return { ...answer, finish: finished(answer) };
  };
  const write = (session, path, content) => call(owner, "/api/execute", { tool_name: "write_file", arguments: { path, content }, session_id: session });
  const wasmBytes = async () => Number((await call(token, "/api/tools?limit=1")).headers.get("x-wasm-bytes"));
  return { turn, write, wasmBytes, restart: () => server.ask({ restart: true }), stop: server.stop };
}

/** A Worker that makes two D1 round trips, as Pegboard does before it asks the model, and passes the model's stream on. */
async function startBare(model) {
  return begin(start(["--state", join(options.state, "bare"), "--var", `MODEL_URL=${model.url}/v1`, "--worker", join(ROOT, "bench/stream-baseline.js")]));
}

/** The same stream without Pegboard, read from the model's server and through the bare Worker. The request is the very one that
 * Pegboard made for the script. */
async function peers(pegboard, bare, model, script) {
  await pegboard.turn(newSession(), script);
  const body = await (await fetch(`${model.url}/last`)).text();
  const connection = new Agent({ keepAlive: true });
  const peer = (url) => () => stream({ url, body, protocol: "model" }, connection);
  return { directly: peer(`${model.url}/v1/chat/completions`), "a bare Worker": peer(bare.url) };
}

async function begin(starting) {
  const server = await starting;
  running.push(server);
  return server;
}

function newSession() {
  return `session_${process.pid}_${sessions++}`;
}

/** Measures the sides in turns, and returns the median of each figure of each side. `more` and `ratio` compare a side with the
 * side `directly`: each round with the same round, so that a machine that gets slower meanwhile does not count, and then the
 * median over all rounds, so that a slow round does not count either. */
async function inTurns(sides, count) {
  const measured = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  const cpu = Object.fromEntries(Object.keys(sides).map((name) => [name, 0]));
  for (const side of Object.values(sides)) await side(0);
  for (let round = 0; round < count; round++) {
    const order = Object.entries(sides);
    for (const [name, side] of round % 2 ? order.reverse() : order) {
      const before = cpuSeconds();
      measured[name].push(await side(round));
      cpu[name] += cpuSeconds() - before;
    }
  }
  const medians = (figures, of) => Object.fromEntries(figures.map((figure) => [figure, quantile(of(figure), 0.5)]));
  const directly = (round, figure) => measured.directly[round][figure];
  return Object.fromEntries(
    Object.entries(measured).map(([name, all]) => [
      name,
      {
        ...medians([...TIMES, "texts"], (figure) => all.map((it) => it[figure])),
        more: medians(TIMES, (figure) => all.map((it, round) => it[figure] - directly(round, figure))),
        ratio: medians(TIMES, (figure) => all.map((it, round) => it[figure] / directly(round, figure))),
        cpuMs: (1000 * cpu[name]) / all.length,
        delay: quantile(all.flatMap((it) => it.delays), 0.5),
        delayP95: quantile(all.flatMap((it) => it.delays), 0.95),
      },
    ]),
  );
}

/** The time to the first byte and to the first text. */
async function first(pegboard, bare, model, script) {
  const warm = Array.from({ length: SESSIONS }, newSession);
  for (const session of warm) await pegboard.turn(session, INSTANT);
  return inTurns({
    ...(await peers(pegboard, bare, model, script)),
    "a later turn": (round) => pegboard.turn(warm[round % SESSIONS], script),
    "the first turn of a session": () => pegboard.turn(newSession(), script),
  }, rounds);
}

/** The time of a whole stream. */
async function wholeStream(pegboard, bare, model, script, count) {
  const session = newSession();
  await pegboard.turn(session, INSTANT);
  const sides = await peers(pegboard, bare, model, script);
  const measured = await inTurns({ ...sides, Pegboard: () => pegboard.turn(session, script) }, count);
  for (const side of Object.values(measured)) if (side.texts !== script.chunks) throw new Error(`${side.texts} of ${script.chunks} pieces came`);
  return measured;
}

/** The D1 cost of turns: of the request, which the header tells, and of the turn itself, which the last event tells. `own` are the
 * round trips that a tool makes for its own work: `write_file` stores a file. Every call has two besides. */
async function costs(pegboard) {
  const oneStep = (calls) => (calls > 0 ? [calls] : []);
  const scripts = {
    "read_file, a step for each call": { own: 0, of: (calls) => ({ steps: Array(calls).fill(1), tool: "read_file", arguments: { path: "/notes.txt" } }) },
    "read_file, all in one step": { own: 0, of: (calls) => ({ steps: oneStep(calls), tool: "read_file", arguments: { path: "/notes.txt" } }) },
    "an HTTP tool, all in one step": { own: 0, of: (calls) => ({ steps: oneStep(calls), tool: "ping" }) },
    "write_file, all in one step": { own: 1, of: (calls) => ({ steps: oneStep(calls), tool: "write_file", arguments: { path: "/more.txt", content: "More notes" } }) },
  };
  const session = newSession();
  await pegboard.write(session, "/notes.txt", "Some notes");
  await pegboard.turn(session, INSTANT);
  const measured = {};
  for (const [name, { own, of }] of Object.entries(scripts)) {
    for (const calls of CALLS) {
      if (calls === 0 && !name.includes("for each call")) continue;
      const { events, headers, finish } = await pegboard.turn(session, { ...INSTANT, ...of(calls) });
      const results = events.filter((it) => it.type === "tool-output-available").length;
      if (results !== calls) throw new Error(`${name}: ${results} of ${calls} calls succeeded`);
      const [request, turn] = [figures(headers["x-d1-cost"]), figures(finish.messageMetadata.d1_cost)];
      const sum = Object.fromEntries(Object.keys(request).map((figure) => [figure, request[figure] + turn[figure]]));
      measured[calls === 0 ? "no call" : `${name}, ${calls}`] = { calls, own: own * calls, bar: BARS.round_trips(calls, own), ...sum, request, turn };
    }
  }
  return measured;
}

function figures(cost) {
  return Object.fromEntries(cost.split(", ").map((it) => it.split("=")).map(([figure, number]) => [figure, Number(number)]));
}

/** A hundred turns at once in as many sessions, against one alone; and the same streams without Pegboard. The model takes about a
 * second. */
async function together(pegboard, bare, model) {
  const script = { first_ms: 200, chunks: 40, every_ms: 20 };
  const sides = { ...(await peers(pegboard, bare, model, script)), Pegboard: () => pegboard.turn(newSession(), script) };
  const measured = {};
  for (const [name, side] of Object.entries(sides)) {
    const alone = [];
    for (let round = 0; round < 5; round++) alone.push((await side()).end);
    const cpu = cpuSeconds();
    const begun = performance.now();
    const all = await Promise.allSettled(Array.from({ length: TURNS_AT_ONCE }, side));
    const ms = performance.now() - begun;
    const ended = all.filter((it) => it.status === "fulfilled").map((it) => it.value);
    const one = quantile(alone, 0.5);
    measured[name] = {
      ended: ended.length,
      reasons: [...new Set(all.filter((it) => it.status === "rejected").map((it) => it.reason.message))],
      alone: one,
      ms,
      ratio: ms / one,
      cpuMs: (1000 * (cpuSeconds() - cpu)) / TURNS_AT_ONCE,
      firstByte: { p50: quantile(ended.map((it) => it.firstByte), 0.5), p95: quantile(ended.map((it) => it.firstByte), 0.95) },
    };
  }
  return measured;
}

/** The memory of the process and of the isolate's WebAssembly, which the objects of all sessions share here: with short
 * conversations, and then with long ones. WebAssembly memory never shrinks, so each case begins with a new process. */
async function conversations(pegboard) {
  const long = await Promise.all(Array.from({ length: SESSIONS }, async () => {
    const session = newSession();
    for (let turn = 0; turn < 32; turn++) await pegboard.turn(session, { chunks: 32, bytes: 1024 });
    return session;
  }));
  const look = async () => ({ wasm: await pegboard.wasmBytes(), rss: memory(), peak: memory("VmHWM") });
  const cases = {
    "one conversation, 1 turn": [1, 1],
    "one conversation, 20 turns": [1, 20],
    "ten conversations at once": [SESSIONS, 1],
  };
  const measured = {};
  for (const [name, [count, turns]] of Object.entries(cases)) {
    for (const [length, ids] of Object.entries({ short: Array.from({ length: count }, newSession), long: long.slice(0, count) })) {
      await pegboard.restart();
      for (let turn = 0; turn < 20; turn++) await pegboard.turn(`warm_${turn % SESSIONS}`, INSTANT);
      const before = await look();
      const ms = [];
      for (let turn = 0; turn < turns; turn++) {
        const all = await Promise.all(ids.map((session) => pegboard.turn(session, INSTANT)));
        ms.push(...all.map((it) => it.firstText));
        const dropped = all.find((it) => it.finish.messageMetadata.dropped_messages !== undefined);
        if (dropped) throw new Error(`the model did not get the whole conversation: ${JSON.stringify(dropped.finish)}`);
      }
      measured[name] = { ...measured[name], [length]: { before, after: await look(), firstText: quantile(ms, 0.5) } };
    }
  }
  return measured;
}

/** What makes the benchmark fail. The memory has no bar: it is that of the process, of which an object has no share of its own. */
function misses({ first, streams, cost, together }) {
  const missed = [];
  for (const [name, sides] of Object.entries(first)) {
    const more = sides["a later turn"].more.firstText;
    if (more > BARS.first_text_ms) missed.push(`${name}: the first text of a later turn comes ${more.toFixed(1)} ms later; the bar is ${BARS.first_text_ms} ms`);
  }
  for (const [name, { against, bar }] of Object.entries(STREAMS)) {
    const ratio = streams[name].Pegboard.ratio.end / streams[name][against].ratio.end;
    if (ratio > bar) missed.push(`${name}: the stream ends ${ratio.toFixed(3)} times as late as ${against}; the bar is ${bar}`);
  }
  for (const [mode, turns] of Object.entries(cost)) {
    for (const [name, it] of Object.entries(turns)) {
      if (it.round_trips > it.bar) missed.push(`${mode}: ${name}: ${it.round_trips} D1 round trips; the bar is ${it.bar}`);
    }
  }
  for (const [name, { ended, reasons }] of Object.entries(together)) {
    if (ended < TURNS_AT_ONCE) missed.push(`${name}: ${ended} of ${TURNS_AT_ONCE} turns at once ended well: ${reasons.slice(0, 3).join("; ")}`);
  }
  return missed;
}

function print({ first, streams, cost, together, memory: taken }) {
  const number = (value, digits, width) => value.toFixed(digits).padStart(width);
  console.log(`\nThe first text and the first byte, medians of ${rounds} rounds, against the model's own stream in the same round`);
  console.log(`Bar: the first text of a later turn comes at most ${BARS.first_text_ms} ms later.`);
  console.log("The first byte has no bar: Pegboard sends `start` before it asks the model, so the byte says nothing about the rest.");
  console.log(`${"".padEnd(60)} first text: ms   ratio  more ms   first byte: ms   ratio  more ms`);
  for (const [name, sides] of Object.entries(first)) {
    for (const [side, it] of Object.entries(sides)) {
      const column = (figure) => {
        const compared = side === "directly" ? "".padEnd(16) : `${number(it.ratio[figure], 2, 7)} ${number(it.more[figure], 1, 8)}`;
        return `${number(it[figure], 1, 14)} ${compared}`;
      };
      console.log(`${`${name}, ${side}`.padEnd(60)} ${column("firstText")}  ${column("firstByte")}`);
    }
  }
  console.log("\nA whole stream, against the model's own stream in the same round");
  for (const [name, { against, bar }] of Object.entries(STREAMS)) console.log(`Bar of ${name}: as a turn, the stream ends at most ${bar} times as late as ${against}.`);
  console.log(`${"".padEnd(42)} last text: ms   ratio   end: ms   ratio   more µs an event   CPU ms   delay of a piece: p50 ms   p95 ms`);
  for (const [name, sides] of Object.entries(streams)) {
    for (const [side, it] of Object.entries(sides)) {
      const ratio = (figure) => (side === "directly" ? "".padEnd(7) : number(it.ratio[figure], 3, 7));
      const more = side === "directly" ? "" : number((it.more.end / it.texts) * 1000, 1, 0);
      console.log(
        `${`${name}, ${side}`.padEnd(42)} ${number(it.lastText, 1, 13)} ${ratio("lastText")} ${number(it.end, 1, 9)} ${ratio("end")} ${more.padStart(18)} ${number(it.cpuMs, 0, 8)} ${number(it.delay, 2, 25)} ${number(it.delayP95, 2, 8)}`,
      );
    }
  }
  console.log("\nD1 cost of a turn. Bar: 3 round trips, 2 for each call, and those that the tools make for their own work.");
  console.log(`${"".padEnd(56)} round trips   bar   of the tools' work   of the request   of the turn   rows read   rows written`);
  for (const [mode, turns] of Object.entries(cost)) {
    for (const [name, it] of Object.entries(turns)) {
      console.log(
        `${`${mode}: ${name}`.padEnd(56)} ${number(it.round_trips, 0, 11)} ${number(it.bar, 0, 5)} ${number(it.own, 0, 20)} ${number(it.request.round_trips, 0, 16)} ${number(it.turn.round_trips, 0, 13)} ${number(it.rows_read, 0, 11)} ${number(it.rows_written, 0, 14)}`,
      );
    }
  }
  console.log(`\n${TURNS_AT_ONCE} turns at once           ended well   all: ms   one alone: ms   ratio   first byte: p50 ms   p95 ms   CPU ms of one`);
  for (const [name, it] of Object.entries(together)) {
    console.log(
      `${name.padEnd(28)} ${number(it.ended, 0, 8)} ${number(it.ms, 0, 9)} ${number(it.alone, 0, 15)} ${number(it.ratio, 2, 7)} ${number(it.firstByte.p50, 1, 20)} ${number(it.firstByte.p95, 1, 8)} ${number(it.cpuMs, 0, 15)}`,
    );
  }
  console.log("\nMemory of the whole workerd process in MiB, after short turns, and after turns on conversations of 1 MiB (no bar)");
  console.log(`${"".padEnd(34)} WebAssembly: before   after      RSS: before   after    peak   first text: ms`);
  for (const [name, lengths] of Object.entries(taken)) {
    for (const [length, { before, after, firstText }] of Object.entries(lengths)) {
      console.log(
        `${`${name}, ${length}`.padEnd(34)} ${number(before.wasm / MEBIBYTE, 1, 19)} ${number(after.wasm / MEBIBYTE, 1, 7)} ${number(before.rss / MEBIBYTE, 0, 16)} ${number(after.rss / MEBIBYTE, 0, 7)} ${number(after.peak / MEBIBYTE, 0, 7)} ${number(firstText, 1, 16)}`,
      );
    }
  }
}
