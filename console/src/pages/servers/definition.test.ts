import assert from "node:assert/strict";
import { test } from "node:test";
import { definitionOf } from "./definition.ts";

test("a definition has what the server says, and schemas as objects", () => {
  const tool = {
    id: "dice.roll",
    version: "1.0.0",
    active: true,
    registered_by: "x",
    description: "Roll dice",
    parameters_schema: '{"type":"object"}',
    returns_schema: null,
    examples: [],
    risk_level: "low",
  };
  assert.deepEqual(definitionOf(tool), { description: "Roll dice", parameters_schema: { type: "object" }, risk_level: "low" });
});

test("a tool that is not there has no definition", () => {
  assert.equal(definitionOf(null), null);
  assert.equal(definitionOf(undefined), null);
});
