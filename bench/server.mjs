// One workerd for the benchmark, started by serve.mjs.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SERVE = fileURLToPath(new URL("../scripts/lib/serve.mjs", import.meta.url));

/** Starts a server; `ask` sends it a command, `stop` ends it. */
export async function start(options) {
  const child = spawn(process.execPath, [SERVE, ...options], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the server ended; its errors are above");
    return JSON.parse(value);
  };
  const { url } = await next();
  const ask = async (command) => {
    child.stdin.write(`${JSON.stringify({ id: 1, ...command })}\n`);
    const answer = await next();
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = () => {
    child.stdin.end();
    return ended;
  };
  return { url, ask, stop };
}
