import assert from "node:assert/strict";
import { test } from "node:test";
import { changeRows, faultsOf, importWords, neededOptions, placeOf } from "./preview.ts";

const NONE = { replace: false, downgrade: false };

test("the options that the API's message names are the ones that are needed", () => {
  const exists = { status: 409, message: "The toolset notes exists, at version 1.0.0: add ?replace=true to replace it" };
  const older = { status: 409, message: "… the older version 0.9.0: add &downgrade=true to replace it all the same" };
  assert.deepEqual(neededOptions(NONE, exists), { replace: true, downgrade: false });
  assert.deepEqual(neededOptions({ replace: true, downgrade: false }, older), { replace: true, downgrade: true });
});

test("no option is tried twice, or for another refusal", () => {
  const older = { status: 409, message: "add &downgrade=true to replace it all the same" };
  assert.equal(neededOptions({ replace: true, downgrade: true }, older), null);
  assert.equal(neededOptions(NONE, { status: 409, message: "Tools of a former MCP server x are recorded under this id" }), null);
  assert.equal(neededOptions(NONE, { status: 400, message: "add ?replace=true" }), null);
});

test("faults of a bundle have a file and a line; other problems are no faults", () => {
  const fault = { file: "toolset.yaml", line: 3, path: "/id", message: "is required" };
  assert.deepEqual(faultsOf({ problems: [fault] }), [fault]);
  assert.deepEqual(faultsOf({ problems: [{ in: "query", path: "replace", message: "no" }] }), []);
  assert.deepEqual(faultsOf(null), []);
  assert.equal(placeOf(fault), "toolset.yaml:3");
  assert.equal(placeOf({ ...fault, line: null }), "toolset.yaml");
  assert.equal(placeOf({ ...fault, file: null }), "the ZIP");
});

test("only what changes has a row", () => {
  const none = { added: [], changed: [], removed: [] };
  assert.deepEqual(changeRows({ tools: { added: ["a"], changed: [], removed: ["b"] }, files: none, overrides: none, mcp_servers: none }), [
    { what: "Tools", change: "added", names: ["a"] },
    { what: "Tools", change: "removed", names: ["b"] },
  ]);
});

test("the button says what happens", () => {
  const bundle = { name: "Notes", version: "1.1.0" };
  assert.equal(importWords(NONE, bundle), "Import Notes 1.1.0");
  assert.equal(importWords({ replace: true, downgrade: false }, bundle), "Replace by Notes 1.1.0");
  assert.equal(importWords({ replace: true, downgrade: true }, bundle), "Downgrade to Notes 1.1.0");
});
