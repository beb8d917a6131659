// Sends requests as fast as the server responds, over a few kept-alive connections.

import { Agent, request } from "node:http";

const CONNECTIONS = 8;

/** V8 starts with code that it compiled quickly, of JavaScript and of WebAssembly alike, and optimises hot functions while
 * they run. An isolate lives for hours, so the rates after that are the ones that users see. */
const WARM_UP_SECONDS = 6;

/** Sends a request again and again for some seconds. Returns requests a second, and the times of all responses in
 * milliseconds. A request has `url`, `headers`, and what is optional: a `body` to post, or a function that makes it;
 * `expected`, a text that is in every right response; and `open`, which prepares a connection before the clock starts. */
export async function load(side, seconds) {
  const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const opened = await Promise.all(agents.map((agent) => side.open?.(agent)));
  const times = [];
  const end = performance.now() + seconds * 1000;
  const begin = performance.now();
  const connection = async (agent, number) => {
    const request = { ...side, headers: opened[number]?.headers ?? side.headers };
    while (performance.now() < end) {
      const sent = performance.now();
      const { status, text } = await send(request, agent);
      if (status !== 200) throw new Error(`${side.url} answered ${status}: ${text.slice(0, 500)}`);
      if (!text.includes(side.expected ?? "")) throw new Error(`${side.url} answered ${text.slice(0, 500)}`);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(agents.map(connection));
  const elapsed = (performance.now() - begin) / 1000;
  await Promise.all(opened.map((it) => it?.close()));
  for (const agent of agents) agent.destroy();
  return { rate: times.length / elapsed, times };
}

/** Sends one request over an agent's connection. The text is read only if it matters. */
export function send({ url, headers, body, method = body === undefined ? "GET" : "POST", expected }, agent) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent }, (response) => {
      let text = "";
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
      response.on("error", reject);
      if (expected === undefined && response.statusCode === 200) response.resume();
      else response.setEncoding("utf8").on("data", (piece) => (text += piece));
    });
    sent.on("error", reject);
    sent.end(typeof body === "function" ? body() : body);
  });
}

/** Measures two sides in turns, so that a slow moment of the machine affects both. */
export async function sideBySide(left, right, seconds, rounds = 4) {
  const [ours, other] = await inTurns([left, right], seconds, rounds);
  return { ours, other, ratio: ours.rate / other.rate };
}

/** The same for any number of sides: the figures of each. */
export async function inTurns(given, seconds, rounds = 4) {
  const sides = given.map((side) => ({ ...side, rates: [], times: [] }));
  for (const side of sides) await load(side, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 ? [...sides].reverse() : sides) {
      const { rate, times } = await load(side, seconds / rounds);
      side.rates.push(rate);
      side.times.push(...times);
    }
  }
  return sides.map(({ rates, times }) => ({
    rate: quantile(rates, 0.5),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }));
}

export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
