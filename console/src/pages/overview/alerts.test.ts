import assert from "node:assert/strict";
import { test } from "node:test";
import { linksOf } from "./alerts.ts";

test("failing servers lead to their pages", () => {
  const alert = { condition: "module_failing", details: { count: 1, modules: [{ name: "dice", status: "unreachable" }] } };
  assert.deepEqual(linksOf(alert), [{ text: "dice (unreachable)", path: ["servers", "modules", "dice"] }]);
});

test("definitions that are held back lead to the server that offers them", () => {
  const links = linksOf({ condition: "definitions_held_back", details: { tools: ["dice.roll", "time:get.now"] } });
  assert.deepEqual(
    links.map((it) => it.path),
    [
      ["servers", "modules", "dice"],
      ["servers", "mcp", "time"],
    ],
  );
  assert.ok(links.every((it) => it.tab === "held-back"));
});

test("versions lead to their tools, whether they are texts or objects", () => {
  assert.deepEqual(linksOf({ condition: "missing_target", details: { versions: ["a@1.0.0"] } }), [{ text: "a@1.0.0", path: ["tools", "a"] }]);
  const missing = { condition: "missing_credential", details: { versions: [{ version: "b@2.0.0", missing: ["KEY"] }] } };
  assert.deepEqual(linksOf(missing), [{ text: "b@2.0.0", path: ["tools", "b"] }]);
});

test("an alert about bytes names nothing", () => {
  assert.deepEqual(linksOf({ condition: "storage_quota", details: { used_bytes: 1, quota_bytes: 2 } }), []);
});
