// A server that is a program of its own: it prints its URL as JSON, and ends with its stdin, so that a killed benchmark leaves
// no process behind.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Starts the program, and returns when its server answers at `path`. */
export async function startChild(command, args, { path = "/", tries = 300, ...options } = {}) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], ...options });
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", resolve);
  });
  const stop = () => {
    child.stdin.end();
    return ended;
  };
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (value === undefined) throw new Error(`${command} ended before it listened; its errors are above`);
  const { url } = JSON.parse(value);
  for (let attempt = 0; attempt < tries; attempt++) {
    const answer = await fetch(url + path, { method: "OPTIONS" }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer) return { url, stop };
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await stop();
  throw new Error(`${command} does not answer`);
}
