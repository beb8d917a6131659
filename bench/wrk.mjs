// A load generator that is not the bottleneck: wrk, which is written in C.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { quantile } from "./load.mjs";

/** V8 optimises hot functions while they run. */
const WARM_UP_SECONDS = 6;

const SCRIPT = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** A text in Lua. Long brackets take every text that does not hold their end. */
const lua = (text) => `[==[\n${text}]==]`;

function tableOf({ url, headers = {}, body, method = body === undefined ? "GET" : "POST" }) {
  const { pathname, search } = new URL(url);
  const fields = Object.entries(headers).map(([name, value]) => `[ ${lua(name)} ] = ${lua(value)}`);
  return `{ method = "${method}", path = ${lua(pathname + search)}, headers = { ${fields.join(", ")} }${body === undefined ? "" : `, body = ${lua(body)}`} }`;
}

/** Sends one request, and fails unless it is answered as `isAnswer` says. The load generator looks at statuses alone, and a tool
 * fails with 200. */
export async function checkOnce({ url, headers = {}, body, method = body === undefined ? "GET" : "POST" }, isAnswer) {
  const response = await fetch(url, { method, headers, body });
  const text = await response.text();
  let answer;
  try {
    // A server may answer with an event stream.
    answer = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  } catch {
    throw new Error(`${url} is no JSON: ${text}`);
  }
  if (!response.ok || !isAnswer(answer)) throw new Error(`${url} is answered otherwise than expected: ${response.status} ${text}`);
}

/** Sends the requests in turn, as fast as the server responds. Returns requests a second, and the median and the 99th percentile
 * of their times in milliseconds. A response that is no success fails the measurement. */
export async function wrk(requests, seconds, connections = 8) {
  const folder = mkdtempSync(join(tmpdir(), "pegboard-wrk-"));
  try {
    const file = join(folder, "requests.lua");
    writeFileSync(file, `return { ${requests.map(tableOf).join(",\n")} }\n`);
    const { origin } = new URL(requests[0].url);
    const words = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", "-s", SCRIPT, origin, "--", file];
    const child = spawn(process.env.WRK ?? "wrk", words, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    for await (const piece of child.stdout) text += piece;
    const line = /^RESULT (.*)$/m.exec(text)?.[1];
    if (line === undefined) throw new Error(`wrk did not end well: ${text}`);
    const { requests: count, seconds: took, failed, p50, p99 } = JSON.parse(line);
    if (failed > 0) throw new Error(`${failed} of ${count} requests to ${requests[0].url} failed`);
    return { rate: count / took, p50, p99 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Measures all sides in turns, so that a slow moment of the machine affects every one of them. A side is a list of requests, of
 * which each is sent once before the load and must be answered as `isAnswer` says. Returns the medians of the rounds by the names
 * of the sides. */
export async function inTurns(sides, seconds, rounds, isAnswer) {
  for (const requests of Object.values(sides)) for (const request of requests) await checkOnce(request, isAnswer);
  const found = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (const requests of Object.values(sides)) await wrk(requests, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    for (const [name, requests] of Object.entries(sides)) found[name].push(await wrk(requests, seconds));
  }
  const median = (all, field) => quantile(all.map((it) => it[field]), 0.5);
  const medians = (all) => Object.fromEntries(["rate", "p50", "p99"].map((field) => [field, median(all, field)]));
  return Object.fromEntries(Object.entries(found).map(([name, all]) => [name, medians(all)]));
}
