import assert from "node:assert/strict";
import { test } from "node:test";

import { byKind, differences, placeOf, readable, type Registry, subjectsOf } from "./registry.ts";

const EMPTY: Registry = { tools: [], versions: [], agents: [], attachments: [], credentials: [], modules: [], mcp_servers: [], toolsets: [], overrides: [], workspace: {} };

test("things are named as the change log names them", () => {
  const registry: Registry = {
    ...EMPTY,
    versions: [{ id: "word_count", version: "1.0.0" }],
    attachments: [{ agent_id: "ana", tool_id: "word_count" }],
    modules: [{ name: "research" }],
  };
  const names = subjectsOf(registry).map((it) => it.subject);
  assert.deepEqual(names, ["tool:word_count@1.0.0", "attachment:ana/word_count", "module:research", "workspace:settings"]);
  assert.deepEqual(byKind(subjectsOf(registry)).map(([kind, all]) => [kind, all.length]), [["Tools", 1], ["Attachments", 1], ["Modules", 1], ["Settings", 1]]);
});

test("a large registry takes no longer for each thing than a small one", () => {
  const things = Array.from({ length: 50_000 }, (_, id) => ({ kind: id % 2 === 0 ? "Agents" : "Tools", id }));
  // The time of the processor, because a busy machine makes every clock late.
  const began = process.cpuUsage();
  const kinds = byKind(things);
  const { user } = process.cpuUsage(began);
  assert.deepEqual(kinds.map(([kind, all]) => [kind, all.length, all[1]?.id]), [["Agents", 25_000, 2], ["Tools", 25_000, 3]]);
  // A copy of the list for each thing takes seconds.
  assert.ok(user < 500_000, `it took ${Math.round(user / 1_000)} ms`);
});

test("what has gone, come and changed is told; the order of fields is no change", () => {
  const then: Registry = { ...EMPTY, versions: [{ id: "a", version: "1.0.0", active: true }], agents: [{ id: "x", name: "X", level: 1 }], credentials: [{ id: "K" }] };
  const now: Registry = { ...EMPTY, versions: [{ id: "a", version: "1.0.0", active: false }, { id: "b", version: "1.0.0" }], agents: [{ level: 1, name: "X", id: "x" }] };
  assert.deepEqual(differences(then, now).map((it) => [it.change, it.subject]), [
    ["gone", "credential:K"],
    ["changed", "tool:a@1.0.0"],
    ["new", "tool:b@1.0.0"],
  ]);
  assert.deepEqual(differences(then, then), []);
});

test("schemas are compared as values", () => {
  assert.deepEqual(readable({ parameters_schema: '{"type":"object"}', returns_schema: null, name: '{"a":1}' }), { parameters_schema: { type: "object" }, returns_schema: null, name: '{"a":1}' });
  assert.equal(readable(null), null);
});

test("every subject has a page", () => {
  for (const [subject, path] of [
    ["tool:charts:plot@1.0.0", ["tools", "charts:plot"]],
    ["attachment:ana/word_count", ["agents", "ana"]],
    ["mcp_server:time", ["servers", "mcp", "time"]],
    ["workspace:settings", ["settings"]],
  ] as const) {
    assert.deepEqual(placeOf(subject)?.[0], path);
  }
  assert.deepEqual(placeOf("tool:word_count@1.0.0")?.[1], { version: "1.0.0" });
  assert.equal(placeOf("something:else"), null);
});
