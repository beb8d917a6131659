// Servers of stdio through Pegboard and its MCP host, against a program that speaks to the same servers over pipes: from no
// process to the first result, and one call after the other.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { quantile, send } from "./load.mjs";
import { LEGACY, MODERN, handshake, mcp } from "./mcp-request.mjs";

const COLD_STARTS = 7;
const ROUNDS = 20;
const CALLS_A_ROUND = 10;

/** What Pegboard registers, the same program for a direct start, the newest revision that it speaks, and a call with a text of
 * its result. */
const SERVERS = {
  everything: {
    registered: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
    program: (packages) => [process.execPath, join(packages, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")],
    revision: LEGACY,
    call: { name: "echo", arguments: { message: "a message of the benchmark" } },
    expected: "a message of the benchmark",
  },
  time: {
    registered: { command: "uvx", args: ["mcp-server-time"] },
    program: (packages) => [join(packages, "venv/bin/mcp-server-time")],
    revision: MODERN,
    call: { name: "convert_time", arguments: { source_timezone: "Europe/Paris", time: "12:00", target_timezone: "Asia/Tokyo" } },
    expected: "Asia/Tokyo",
  },
};

/** The figures of each server. `host` has its URL, its secret and the folder of its packages. */
export async function measure(pegboard, host) {
  const report = {};
  for (const [id, server] of Object.entries(SERVERS)) {
    await pegboard.register({ id, ...server.registered });
    const federated = pegboard.execute(`${id}:${server.call.name}`, server.call.arguments, server.expected);
    const atHost = { url: `${host.url}/servers/${pegboard.workspace}:${id}`, headers: { authorization: `Bearer ${host.secret}` } };
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const direct = () => Pipes.start(server, host.packages);
      report[id] = { cold: await cold(federated, atHost, agent, direct), warm: await warm(federated, atHost, agent, direct, server) };
    } finally {
      agent.destroy();
    }
  }
  return report;
}

/** The host forgets the server, so that the next call brings the configuration, starts the process and opens the session. */
async function cold(federated, atHost, agent, direct) {
  const times = { ours: [], other: [] };
  for (let start = 0; start < COLD_STARTS; start++) {
    const { status } = await send({ ...atHost, method: "DELETE" }, agent);
    if (status !== 204) throw new Error(`the host answered ${status} to the deletion of a server`);
    times.ours.push(await timed(() => checked(federated, agent)));
    const begun = performance.now();
    const pipes = await direct();
    try {
      await pipes.call();
      times.other.push(performance.now() - begun);
    } finally {
      await pipes.stop();
    }
  }
  return compared(times);
}

/** One call after the other, by three ways in turns. */
async function warm(federated, atHost, agent, direct, server) {
  const state = JSON.parse((await send({ ...atHost, expected: "config" }, agent)).text);
  const more = { ...atHost.headers, "mcp-host-config": state.config };
  const url = `${atHost.url}/mcp`;
  const session = server.revision === LEGACY ? await handshake(url, agent, more) : {};
  const hosted = { ...mcp(url, server.revision, "tools/call", server.call, more), ...session, expected: server.expected };
  const pipes = await direct();
  const ways = { ours: () => checked(federated, agent), host: () => checked(hosted, agent), other: () => pipes.call() };
  const times = { ours: [], host: [], other: [] };
  try {
    for (const way of Object.values(ways)) for (let call = 0; call < 100; call++) await way();
    for (let round = 0; round < ROUNDS; round++) {
      const order = round % 2 ? Object.keys(ways).reverse() : Object.keys(ways);
      for (const name of order) {
        for (let call = 0; call < CALLS_A_ROUND; call++) times[name].push(await timed(ways[name]));
      }
    }
  } finally {
    await pipes.stop();
  }
  return compared(times);
}

function compared(times) {
  const figures = Object.entries(times).map(([name, all]) => [name, { p50: quantile(all, 0.5), p95: quantile(all, 0.95) }]);
  const { ours, other, ...rest } = Object.fromEntries(figures);
  return { ours, other, ...rest, ratio: ours.p50 / other.p50 };
}

async function timed(action) {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}

async function checked(request, agent) {
  const { status, text } = await send(request, agent);
  if (status !== 200 || !text.includes(request.expected)) throw new Error(`${request.url} answered ${status}: ${text}`);
}

/** A server that this process started, ready for calls. */
class Pipes {
  static async start(server, packages) {
    const [command, ...args] = server.program(packages);
    const child = spawn(command, args, { env: { PATH: process.env.PATH }, stdio: ["pipe", "pipe", "ignore"] });
    const pipes = new Pipes(server, child);
    if (server.revision === LEGACY) {
      await pipes.ask("initialize", { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: "bench", version: "1" } });
      pipes.tell({ jsonrpc: "2.0", method: "notifications/initialized" });
    }
    return pipes;
  }

  constructor(server, child) {
    // Over pipes a request is the same message as over HTTP.
    const { params } = JSON.parse(mcp("", server.revision, "tools/call", server.call).body);
    Object.assign(this, { server, child, params, last: 0 });
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  tell(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The answer's line. Other messages of the server are skipped. */
  async ask(method, params) {
    const id = ++this.last;
    this.tell({ jsonrpc: "2.0", id, method, params });
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done) throw new Error("the stdio server ended");
      const message = JSON.parse(value);
      if (message.id === id && message.method === undefined) return value;
    }
  }

  async call() {
    const line = await this.ask("tools/call", this.params);
    if (!line.includes(this.server.expected)) throw new Error(`the stdio server answered ${line}`);
  }

  async stop() {
    this.child.stdin.end();
    this.child.kill("SIGKILL");
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
  }
}

export function print(report) {
  console.log(`\nStdio servers, through Pegboard and its MCP host against pipes, one call at a time (p50)`);
  console.log(`${"".padEnd(40)} ratio  Pegboard  host alone   pipes`);
  const ms = (it, width) => (it === undefined ? "" : `${it.p50.toFixed(1)} ms`).padStart(width);
  for (const [id, { cold, warm }] of Object.entries(report)) {
    for (const [name, it] of [["no process to first result", cold], ["warm call", warm]]) {
      console.log(`${`${id}: ${name}`.padEnd(39)} ${it.ratio.toFixed(2).padStart(6)} ${ms(it.ours, 9)}  ${ms(it.host, 10)} ${ms(it.other, 9)}`);
    }
  }
}
