import assert from "node:assert/strict";
import { test } from "node:test";

import { exportedTool } from "./exported.ts";

const schema = { type: "object", properties: { path: { type: "string" } } };

test("a tool is read from every format", () => {
  const expected = { name: "read_file", description: "Reads.", schema };
  const read = (tool: unknown) => {
    const { notes: _, ...rest } = exportedTool(tool);
    return rest;
  };
  const common = { name: "read_file", description: "Reads." };
  assert.deepEqual(read({ id: "read_file", name: "Read File", description: "Reads.", parameters_schema: JSON.stringify(schema) }), expected);
  assert.deepEqual(read({ type: "function", function: { ...common, parameters: schema, strict: false } }), expected);
  assert.deepEqual(read({ type: "function", ...common, parameters: schema, strict: false }), expected);
  assert.deepEqual(read({ ...common, input_schema: schema }), expected);
  assert.deepEqual(read({ ...common, args_schema: schema }), expected);
  assert.deepEqual(read({ ...common, title: "Read File", inputSchema: schema, annotations: {} }), expected);
});

test("Gemini leaves parameters out if there are none", () => {
  assert.equal(exportedTool({ name: "now", description: "Tells the time." }).schema, null);
});

test("what the format says besides is told", () => {
  assert.deepEqual(exportedTool({ type: "function", function: { name: "a", strict: true } }).notes, ["strict"]);
  assert.deepEqual(exportedTool({ name: "a", annotations: { readOnlyHint: true, destructiveHint: false } }).notes, ["reads only"]);
  assert.deepEqual(exportedTool({ id: "a", config: { default_x: 1 }, needs_approval: true }).notes, ["configured", "approval"]);
  assert.deepEqual(exportedTool({ id: "a", config: null }).notes, []);
});

test("what is no tool breaks nothing", () => {
  assert.deepEqual(exportedTool(null), { name: "", description: "", schema: null, notes: [] });
});
