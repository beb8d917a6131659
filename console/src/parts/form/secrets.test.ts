import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject, Schema } from "./schema.ts";
import { MASK, masked, withoutSecrets } from "./secrets.ts";

const check = (schema: Schema, value: JsonObject, expected: JsonObject) => assert.deepEqual(withoutSecrets(schema, value), expected);

const KEY = { type: "string", writeOnly: true };

test("arguments without secrets stay as they are", () => {
  check({ properties: { a: { type: "string" } } }, { a: "x", other: [1] }, { a: "x", other: [1] });
});

test("secrets go, wherever the schema marks them", () => {
  check({ properties: { key: KEY, name: { type: "string" } } }, { key: "s3cret", name: "a" }, { name: "a" });
  check({ properties: { auth: { properties: { password: { format: "password" }, user: { type: "string" } } } } }, { auth: { user: "ada", password: "x" } }, { auth: { user: "ada" } });
  check({ properties: { keys: { type: "array", items: { $ref: "#/$defs/key" } } }, $defs: { key: KEY } }, { keys: ["a"] }, {});
  check({ properties: { it: { anyOf: [KEY, { type: "null" }] } } }, { it: null }, {});
  check({ additionalProperties: KEY }, { a: "x" }, {});
  check({ properties: { a: { type: "string" } }, if: { properties: { a: KEY } } }, { a: "x" }, {});
});

test("what cannot be decided is a secret", () => {
  check({ properties: { key: KEY } }, { kez: "misspelt" }, {});
  check({ properties: { key: KEY, other: { $ref: "elsewhere" } } }, { other: 1 }, {});
});

test("a schema that refers to itself has an end", () => {
  const tree = { properties: { name: { type: "string" }, key: KEY, child: { $ref: "#" } } };
  check(tree, { name: "a", key: "x", child: { name: "b", key: "y", child: {} } }, { name: "a", child: { name: "b", child: {} } });
});

test("a mask stands in the place of secrets", () => {
  const schema = { properties: { key: KEY, list: { type: "array", items: KEY }, name: { type: "string" } } };
  assert.deepEqual(masked(schema, { key: "x", list: ["y"], name: "a" }), { key: MASK, list: MASK, name: "a" });
});
