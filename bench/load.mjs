// Sends requests as fast as the server responds, over a few kept-alive connections.

import { Agent, request } from "node:http";

const CONNECTIONS = 8;

/** V8 starts with code that it compiled quickly, of JavaScript and of WebAssembly alike, and optimises hot functions while
 * they run. An isolate lives for hours, so the rates after that are the ones that users see. */
const WARM_UP_SECONDS = 6;

/** Sends a request (url, headers, and a body to post, or a function that makes the body) again and again for some seconds.
 * Returns requests a second, and the times of all responses in milliseconds. */
export async function load(side, seconds) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const times = [];
  const end = performance.now() + seconds * 1000;
  const begin = performance.now();
  const connection = async () => {
    while (performance.now() < end) {
      const sent = performance.now();
      const status = await once(side, agent);
      if (status !== 200) throw new Error(`${side.url} answered ${status}`);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  const elapsed = (performance.now() - begin) / 1000;
  agent.destroy();
  return { rate: times.length / elapsed, times };
}

function once({ url, headers, body }, agent) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body === undefined ? "GET" : "POST", headers, agent }, (response) => {
      response.on("end", () => resolve(response.statusCode));
      response.on("error", reject);
      response.resume();
    });
    sent.on("error", reject);
    sent.end(typeof body === "function" ? body() : body);
  });
}

/** Measures two sides in turns, so that a slow moment of the machine affects both. */
export async function sideBySide(left, right, seconds, rounds = 4) {
  const sides = [left, right].map((side) => ({ ...side, rates: [], times: [] }));
  for (const side of sides) await load(side, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 ? [...sides].reverse() : sides) {
      const { rate, times } = await load(side, seconds / rounds);
      side.rates.push(rate);
      side.times.push(...times);
    }
  }
  const [a, b] = sides.map(({ rates, times }) => ({
    rate: quantile(rates, 0.5),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }));
  return { ours: a, other: b, ratio: a.rate / b.rate };
}

export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
