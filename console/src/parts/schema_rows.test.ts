import assert from "node:assert/strict";
import { test } from "node:test";

import { schemaRows } from "./schema_rows.ts";

const lines = (schema: unknown) =>
  schemaRows(schema).rows.map((it) => `${"  ".repeat(it.depth)}${it.name}${it.required ? "*" : ""}: ${it.type}${it.facts.map((fact) => `; ${fact}`).join("")}`);

test("properties have types, constraints and defaults in words", () => {
  const schema = {
    type: "object",
    required: ["text", "limit"],
    properties: {
      text: { type: "string", minLength: 1, maxLength: 9, pattern: "^a" },
      limit: { type: "integer", default: 3, minimum: 1, maximum: 20 },
      kind: { enum: ["a", 2, null] },
      when: { type: ["string", "null"], format: "date-time" },
    },
  };
  assert.deepEqual(lines(schema), [
    "text*: string; pattern ^a; 1 to 9 characters",
    // A parameter with a default may be left out.
    "limit: integer; default 3; 1 to 20",
    'kind: string or number or null; one of "a", 2, null',
    "when: string or null; format date-time",
  ]);
});

test("nested objects, items and other names are indented", () => {
  const schema = {
    type: "object",
    properties: {
      place: { type: "object", properties: { city: { type: "string" } }, additionalProperties: false },
      tags: { type: "array", items: { type: "string" }, maxItems: 5 },
      rows: { type: "array", items: { type: "object", required: ["id"], properties: { id: { type: "integer" } } } },
      extras: { type: "object", additionalProperties: { type: "number", minimum: 0 } },
    },
  };
  assert.deepEqual(lines(schema), [
    "place: object; no other names",
    "  city: string",
    "tags: array of string; at most 5 items",
    "rows: array of object",
    "  each item: object",
    "    id*: integer",
    "extras: object",
    "  any other name: number; at least 0",
  ]);
});

test("forms are told as types if they are simple, and as rows if they are not", () => {
  const schema = {
    type: "object",
    properties: {
      a: { anyOf: [{ type: "string" }, { type: "null" }] },
      b: { oneOf: [{ type: "string", minLength: 2 }, { type: "object", properties: { x: { type: "boolean" } } }] },
    },
  };
  assert.deepEqual(lines(schema), ["a: string or null", "b: string or object", "  form 1: string; at least 2 characters", "  form 2: object", "    x: boolean"]);
});

test("references are followed, and recursion ends", () => {
  const schema = {
    type: "object",
    properties: { root: { $ref: "#/$defs/Node", description: "The beginning" } },
    $defs: { Node: { type: "object", properties: { value: { $ref: "#/$defs/Text" }, next: { $ref: "#/$defs/Node" } } }, Text: { type: "string" } },
  };
  assert.deepEqual(lines(schema), ["root: object", "  value: string", "  next: object; the same as Node above"]);
  assert.equal(schemaRows(schema).rows[0]?.description, "The beginning");
});

test("the parts of allOf add up", () => {
  const schema = { allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "number" } } }], type: "object" };
  assert.deepEqual(lines(schema).toSorted(), ["a*: string", "b: number"]);
});

test("secrets are marked", () => {
  const { rows } = schemaRows({ properties: { key: { type: "string", writeOnly: true }, password: { type: "string", format: "password" }, name: { type: "string" } } });
  assert.deepEqual(
    rows.map((it) => it.secret),
    [true, true, false],
  );
});

test("a value that is no object is one row, and no arguments are no rows", () => {
  assert.deepEqual(lines({ type: "array", items: { type: "integer" } }), ["the value: array of integer"]);
  assert.deepEqual(lines({ type: "object", additionalProperties: { type: "string", maxLength: 3 } }), ["the value: object", "  any other name: string; at most 3 characters"]);
  assert.deepEqual(lines({ type: "object", properties: {} }), []);
  assert.deepEqual(lines(true), []);
  assert.deepEqual(lines(null), []);
});

test("a reference that leads nowhere, and wrong keywords, break nothing", () => {
  const schema = { properties: { a: { $ref: "#/$defs/none" }, b: { $ref: "https://example.com/x" }, c: false, d: { type: 7, enum: "x", items: [] } } };
  assert.deepEqual(lines(schema), ["a: none", "b: x", "c: nothing", "d: any"]);
});

test("a huge schema is cut", () => {
  const properties = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`p${index}`, { type: "string" }]));
  const { rows, cut } = schemaRows({ properties });
  assert.equal(rows.length, 400);
  assert.equal(cut, true);
  const few = schemaRows({ properties: { a: {} } });
  assert.equal(few.cut, false);
});

test("a schema that doubles at each level is cut in a moment", () => {
  const $defs: Record<string, unknown> = { n0: { type: "string" } };
  for (let level = 1; level < 30; level++) $defs[`n${level}`] = { type: "object", properties: { a: { $ref: `#/$defs/n${level - 1}` }, b: { $ref: `#/$defs/n${level - 1}` } } };
  // The time of this process alone: a busy machine makes the clock go on without it.
  const before = process.cpuUsage();
  assert.equal(schemaRows({ $ref: "#/$defs/n29", $defs }).cut, true);
  assert.ok(process.cpuUsage(before).user < 2_000_000);
});
