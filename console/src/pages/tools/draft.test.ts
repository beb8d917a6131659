import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tool } from "../../api/types.ts";
import { nextPatch, nextVersion, readDraft, STARTS } from "./draft.ts";

test("the next version keeps what can be registered, and nothing else", () => {
  const tool = { id: "a", version: "1.2.3", name: "A", created_at: "now", rate_limit: null, active: true, handler: { type: "http" }, side_effects: [] } as unknown as Tool;
  assert.deepEqual(nextVersion(tool, "1.3.9"), { id: "a", version: "1.3.10", name: "A", handler: { type: "http" }, side_effects: [] });
  assert.equal(nextPatch("0.0.9"), "0.0.10");
});

test("a text must be a JSON object", () => {
  assert.deepEqual(readDraft('{"id": "a"}'), { body: { id: "a" } });
  for (const text of ["[1]", "null", '"x"']) assert.match((readDraft(text) as { problem: string }).problem, /JSON object/);
  const big = readDraft('{"default": 9007199254740993}') as { body: { default: unknown } };
  assert.equal(String(big.body.default), "9007199254740993", "a definition is sent as it is written");
  assert.match((readDraft('{"id": ') as { problem: string }).problem, /not valid JSON/);
});

test("every start has the required fields", () => {
  for (const { body } of STARTS) for (const field of ["id", "version", "name", "description", "parameters_schema", "handler"]) assert.ok(field in body);
});
