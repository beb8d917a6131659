// The D1 cost of registering a version, of a rollback, and of reading a past state.

import * as seed from "./seed.mjs";

const WORKSPACE = "bench_registry";

const version = (number) => ({
  id: "bench_tool",
  version: number,
  name: "Bench tool",
  description: "Registered to be measured",
  parameters_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  handler: { type: "builtin", key: "read_file" },
});

/** Versions of one tool; then the state of the registry after 10,000 changes, of few subjects and of 10,000 subjects. */
export async function costs(server, call) {
  const costs = {};
  const measure = async (name, path, body, workspace = WORKSPACE) => {
    costs[name] = (await call(name.split(" ")[0], path, body, workspace)).cost;
  };
  await measure("POST /api/tools, first version", "/api/tools", version("1.0.0"));
  await measure("POST /api/tools, later version", "/api/tools", version("1.1.0"));
  await measure("POST /api/tools/:id/rollback", "/api/tools/bench_tool/rollback", { version: "1.0.0" });
  await measure("POST /api/tools/:id/deactivate", "/api/tools/bench_tool/deactivate", { reason: "deprecated" });
  await measure("POST /api/tools/:id/activate", "/api/tools/bench_tool/activate", { version: "1.1.0" });
  await measure("GET /api/tools/:id/versions", "/api/tools/bench_tool/versions");
  for (const things of [100, 10_000]) {
    const workspace = `${WORKSPACE}_${things}`;
    await seed.changes(server, workspace, 10_000, things);
    const name = `, 10,000 changes of ${things} things`;
    await measure(`GET /api/registry/state${name}`, "/api/registry/state?seq=10000", undefined, workspace);
    await measure(`GET /api/registry/changes${name}`, "/api/registry/changes", undefined, workspace);
  }
  return costs;
}
