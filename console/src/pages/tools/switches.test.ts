import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tool } from "../../api/types.ts";
import { compareVersions, inactiveWords, switchesOf, whyNoSwitches } from "./switches.ts";

const version = (number: string, more: Partial<Tool> = {}) => ({ version: number, source: "registered", active: false, deactivated_reason: "version_update", ...more }) as Tool;

test("versions are compared as numbers", () => {
  assert.ok(compareVersions("1.10.0", "1.9.9") > 0);
  assert.ok(compareVersions("0.9.0", "1.0.0") < 0);
  assert.equal(compareVersions("2.0.0", "2.0.0"), 0);
});

test("a lower version is rolled back to, a higher one is activated, and only an active one is deactivated", () => {
  assert.deepEqual(switchesOf(version("1.0.0"), "1.1.0"), ["rollback", "reason"]);
  assert.deepEqual(switchesOf(version("1.2.0"), "1.1.0"), ["activate", "reason"]);
  assert.deepEqual(switchesOf(version("1.0.0"), null), ["activate", "reason"]);
  assert.deepEqual(switchesOf(version("1.0.0", { active: true }), "1.0.0"), ["deactivate"]);
});

test("built-ins, and versions that are off for security, cannot be switched", () => {
  assert.deepEqual(switchesOf(version("1.0.0", { source: "builtin", active: true }), "1.0.0"), []);
  assert.deepEqual(switchesOf(version("1.0.0", { deactivated_reason: "security" }), "1.1.0"), []);
  assert.match(whyNoSwitches(version("1.0.0", { deactivated_reason: "security" })) ?? "", /security/);
  assert.equal(whyNoSwitches(version("1.0.0")), null);
});

test("why a version is not active is told in words", () => {
  assert.equal(inactiveWords("version_update"), "replaced by a newer version");
  assert.equal(inactiveWords(null), "inactive");
});
