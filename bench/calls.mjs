// Calls through the whole pipeline: against a bare JavaScript Worker, and with growing numbers of files, file manifests,
// tools and records.

import { sideBySide } from "./load.mjs";
import * as seed from "./seed.mjs";

const WORKSPACE = "bench_calls";
const READ = { tool_name: "read_file", arguments: { path: "/d0/f1" } };

const execute = (server, workspace, call) => ({
  url: `${server.url}/api/execute`,
  headers: { "x-workspace-id": workspace, "content-type": "application/json" },
  body: typeof call === "function" ? () => JSON.stringify(call()) : JSON.stringify(call),
});

/** `read_file` against a Worker that makes the same D1 calls and nothing else. */
export async function speed(worker, baseline, seconds) {
  for (const server of [worker, baseline]) await seed.files(server, WORKSPACE, "small", { count: 10 });
  const call = { ...READ, session_id: "small" };
  return { "POST /api/execute read_file": await sideBySide(execute(worker, WORKSPACE, call), execute(baseline, WORKSPACE, call), seconds, 8) };
}

/** The sessions for measuring `write_file`. Each is compared with a session of 10 files. */
const SESSIONS = {
  "in 10,000 files": { count: 10_000 },
  "in 10,000 files of one directory": { count: 10_000, path: "'/d0/f' || i" },
  "after 10,000 file manifests": { count: 10, manifests: 10_000 },
};

// Each write has new contents, so that each write also stores a blob.
let written = 0;
const write = (session) => ({ tool_name: "write_file", arguments: { path: "/d0/written", content: `text ${written++}` }, session_id: session });

/** `write_file` in large sessions against a small one. */
export async function writes(worker, seconds) {
  const measured = {};
  let number = 0;
  for (const [name, files] of Object.entries(SESSIONS)) {
    const [large, small] = [`large_${number}`, `small_${number++}`];
    await seed.files(worker, WORKSPACE, large, files);
    await seed.files(worker, WORKSPACE, small, { count: 10 });
    const side = (session) => execute(worker, WORKSPACE, () => write(session));
    measured[`write_file ${name}`] = await sideBySide(side(large), side(small), seconds, 8);
  }
  return measured;
}

/** The cost of one write in each of these sessions. */
export async function writeCosts(call) {
  const costs = {};
  const measure = async (name, session) => {
    // The first write creates the file; the second write is like all later writes.
    await call("POST", "/api/execute", write(session), WORKSPACE);
    costs[`write_file ${name}`] = (await call("POST", "/api/execute", write(session), WORKSPACE)).cost;
  };
  await measure("in 10 files", "small_0");
  for (const [number, name] of Object.keys(SESSIONS).entries()) await measure(name, `large_${number}`);
  return costs;
}

/** A call in a registry of 10,000 tools and 1,000,000 recorded calls, against a call in an empty registry. */
export async function growth(full, empty, seconds) {
  await seed.tools(full, WORKSPACE, 10_000);
  await seed.calls(full, WORKSPACE, 1_000_000);
  for (const server of [full, empty]) await seed.files(server, WORKSPACE, "small", { count: 10 });
  const call = { ...READ, session_id: "small" };
  return { "read_file, 10,000 tools and 1,000,000 calls": await sideBySide(execute(full, WORKSPACE, call), execute(empty, WORKSPACE, call), seconds, 8) };
}
