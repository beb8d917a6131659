// How long a Worker takes from nothing to its first answer: a fresh workerd process, the module compiled, a fresh isolate,
// and one request that asks D1.

import { quantile } from "./load.mjs";

const STARTS = 21;

/** Milliseconds until the first answer, for both Workers, started in turns so that a slow moment of the machine falls on
 * both. The process and D1 start in both: the difference is what the Worker itself takes. */
export async function measure(worker, baseline) {
  const times = { ours: [], other: [] };
  for (let start = 0; start < STARTS; start++) {
    times.ours.push(await once(worker));
    times.other.push(await once(baseline));
  }
  const figures = (side) => ({
    total: quantile(side.map((it) => it.total), 0.5),
    first_request: quantile(side.map((it) => it.firstRequest), 0.5),
  });
  const [ours, other] = [figures(times.ours), figures(times.other)];
  return { starts: STARTS, ours, other, difference: ours.total - other.total };
}

async function once(server) {
  const begin = performance.now();
  const { url } = await server.ask({ restart: true });
  const listening = performance.now();
  const response = await fetch(`${url}/api/tools/read_file`, { headers: { "x-workspace-id": "bench_10" } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the first request was answered ${response.status}`);
  const end = performance.now();
  return { total: end - begin, firstRequest: end - listening };
}

export function print({ starts, ours, other, difference }) {
  const ms = (number) => `${number.toFixed(0)} ms`.padStart(8);
  console.log(`Start-up: a fresh process to the first answer, median of ${starts} starts`);
  console.log(`${"".padEnd(14)}     ours  JavaScript`);
  console.log(`${"in all".padEnd(14)} ${ms(ours.total)}  ${ms(other.total).padStart(10)}   difference ${difference.toFixed(0)} ms`);
  console.log(`${"first request".padEnd(14)} ${ms(ours.first_request)}  ${ms(other.first_request).padStart(10)}\n`);
}
