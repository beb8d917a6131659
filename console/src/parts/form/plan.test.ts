import assert from "node:assert/strict";
import { test } from "node:test";

import { mustBeGiven, openBook, type Plan, planOf } from "./plan.ts";
import type { Schema } from "./schema.ts";

/** The plan of a property of a schema. */
function plan(schema: Schema, more: object = {}): Plan {
  const book = openBook({ type: "object", properties: { it: schema }, ...more });
  const root = planOf(book, book.root);
  assert.equal(root.kind, "object");
  const it = root.kind === "object" ? root.properties[0] : undefined;
  assert.ok(it);
  return planOf(book, it.schema);
}

const kindOf = (schema: Schema, more?: object) => plan(schema, more).kind;
const words = (it: Plan) => (it.kind === "choice" ? it.branches.map((branch) => branch.words) : it.kind === "options" ? it.options.map((option) => option.words) : []);
const names = (it: Plan) => (it.kind === "object" ? it.properties.map(({ name, required }) => (required ? `${name}!` : name)) : []);

test("types become controls", () => {
  assert.equal(kindOf({ type: "string" }), "text");
  assert.equal(kindOf({ type: "integer" }), "number");
  assert.equal(kindOf({ type: "number" }), "number");
  assert.equal(kindOf({ type: ["integer", "number"] }), "number");
  assert.deepEqual(words(plan({ type: "boolean" })), ["true", "false"]);
  assert.equal(kindOf({ type: "array", items: { type: "string" } }), "array");
  assert.equal(kindOf({ enum: ["a", 1, null] }), "options");
});

test("a type is guessed from other keywords", () => {
  assert.equal(kindOf({ properties: { a: true } }), "object");
  assert.equal(kindOf({ items: { type: "string" } }), "array");
  assert.equal(kindOf({ minLength: 1 }), "text");
  assert.equal(kindOf({ maximum: 1 }), "number");
});

test("what a form cannot say is JSON, with the reason", () => {
  for (const schema of [true, {}, { description: "anything" }, { not: { type: "string" } }, { $ref: "https://example.com/other" }, { $ref: "#/$defs/none" }, { $dynamicRef: "#x" }, { type: "date" }] as Schema[]) {
    const it = plan(schema);
    assert.equal(it.kind, "json", JSON.stringify(schema));
    assert.ok(it.kind === "json" && it.why.endsWith("."));
  }
  assert.equal(kindOf({ $ref: "#/$defs/a" }, { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }), "json");
  assert.equal(kindOf({ allOf: [{ type: "string" }, { type: "integer" }] }), "json");
});

test("texts with several lines", () => {
  const lines = (schema: Schema) => {
    const it = plan(schema);
    return it.kind === "text" && it.lines;
  };
  assert.ok(lines({ type: "string", maxLength: 5_000 }));
  assert.ok(lines({ type: "string", contentMediaType: "text/markdown" }));
  assert.ok(lines({ type: "string", examples: ["a\nb"] }));
  assert.ok(!lines({ type: "string", maxLength: 100 }));
});

test("options are told apart", () => {
  assert.deepEqual(words(plan({ enum: ["a", "b"] })), ["a", "b"]);
  assert.deepEqual(words(plan({ enum: ["1", 1, true, null, ""] })), ['"1"', "1", "true", "null", '""']);
  assert.deepEqual(words(plan({ enum: ["a", null] })), ["a", "null"]);
  assert.deepEqual(words(plan({ enum: ["null", null] })), ['"null"', "null"]);
  assert.deepEqual(words(plan({ oneOf: [{ const: 1, title: "low" }, { const: 2, title: "high" }] })), ["low", "high"]);
  assert.deepEqual(words(plan({ anyOf: [{ enum: ["a", "b"] }, { type: "null" }] })), ["a", "b", "null"]);
});

test("several types are a choice", () => {
  assert.deepEqual(words(plan({ type: ["string", "null"] })), ["text", "null"]);
  assert.deepEqual(words(plan({ type: ["object", "string"], properties: { a: true } })), ["object with a", "text"]);
});

test("branches have titles, marks, names, descriptions or shapes", () => {
  const it = plan(
    {
      anyOf: [
        { title: "By title", type: "string" },
        { type: "object", properties: { kind: { const: "circle" } } },
        { $ref: "#/$defs/Square" },
        { type: "integer", description: "How many" },
        { type: "array" },
        { type: "array" },
      ],
    },
    { $defs: { Square: { type: "object", properties: { side: true } } } },
  );
  assert.deepEqual(words(it), ["By title", "kind: circle", "Square", "How many", "list", "list (2)"]);
});

test("a choice within a choice is one choice", () => {
  assert.deepEqual(words(plan({ anyOf: [{ anyOf: [{ type: "string" }, { type: "integer" }] }, { type: "null" }] })), ["text", "whole number", "null"]);
});

test("a choice with one branch is none", () => {
  const it = plan({ description: "outer", anyOf: [{ type: "string", format: "password" }] });
  assert.deepEqual([it.kind, it.description, it.secret], ["text", "outer", true]);
});

test("what stands beside a choice belongs to each branch", () => {
  const book = openBook({ type: "object", properties: { a: { type: "string" } }, required: ["a"], oneOf: [{ properties: { b: { type: "string" } } }, { properties: { c: { type: "string" } }, required: ["c"] }] });
  const root = planOf(book, book.root);
  assert.equal(root.kind, "choice");
  assert.deepEqual(root.kind === "choice" && root.branches.map((it) => names(planOf(book, it.schema))), [["a!", "b"], ["a!", "c!"]]);
});

test("a choice between rules is no choice", () => {
  const it = plan({ type: "object", properties: { a: true, b: true }, anyOf: [{ required: ["a"] }, { required: ["b"] }] });
  assert.deepEqual(names(it), ["a", "b"]);
});

test("parts of allOf are merged", () => {
  const it = plan(
    { allOf: [{ $ref: "#/$defs/base" }, { properties: { b: { type: "string" }, n: { maximum: 5 } }, required: ["b"] }], description: "both" },
    { $defs: { base: { type: "object", properties: { a: { type: "string" }, n: { type: "integer", minimum: 1 } }, required: ["a"] } } },
  );
  assert.deepEqual(names(it), ["a!", "n", "b!"]);
  assert.equal(it.description, "both");
  const number = it.kind === "object" ? it.properties.find(({ name }) => name === "n") : undefined;
  assert.deepEqual(planOf(openBook(true), number?.schema ?? false).limits, ["1 to 5"]);
});

test("fields of conditions are fields", () => {
  const conditions = '{"if": {"properties": {"kind": {"const": "a"}}}, "then": {"properties": {"extra": {"type": "integer"}}, "required": ["extra"]}}';
  const it = plan({ type: "object", properties: { kind: { enum: ["a", "b"] } }, ...(JSON.parse(conditions) as object) });
  assert.deepEqual(names(it), ["kind", "extra"]);
  assert.ok(it.limits.includes("further rules apply: Check tells"));
});

test("fields without a name in the schema", () => {
  const rest = (schema: Schema) => {
    const it = plan(schema);
    return it.kind === "object" ? it.rest : undefined;
  };
  assert.equal(rest({ type: "object" }), true);
  assert.equal(rest({ type: "object", properties: { a: true } }), null);
  assert.equal(rest({ type: "object", properties: { a: true }, additionalProperties: true }), true);
  assert.equal(rest({ type: "object", additionalProperties: false }), null);
  assert.deepEqual(rest({ type: "object", additionalProperties: { type: "string" } }), { type: "string" });
  assert.deepEqual(rest({ type: "object", patternProperties: { "^a": { type: "string" } }, additionalProperties: false }), { type: "string" });
  assert.equal(rest({ type: "object", patternProperties: { "^a": { type: "string" } } }), true);
  assert.deepEqual(names(plan({ type: "object", required: ["a"], properties: { b: false } })), ["a!"]);
});

test("references lead to definitions, anchors and the root", () => {
  const more = { $defs: { "a/b": { type: "string" }, named: { $anchor: "here", type: "integer" } } };
  assert.equal(kindOf({ $ref: "#/$defs/a~1b" }, more), "text");
  assert.equal(kindOf({ $ref: "#here" }, more), "number");
  assert.equal(kindOf({ $ref: "#" }), "object");
});

test("secrets", () => {
  assert.ok(plan({ type: "string", writeOnly: true }).secret);
  assert.ok(plan({ allOf: [{ type: "string", format: "uri" }, { format: "password" }] }).secret);
});

test("arguments are an object, whatever the schema leaves out", () => {
  for (const schema of [true, {}, "{}", "no JSON", { anyOf: [{ properties: { a: true } }, { properties: { b: true } }] }]) {
    const book = openBook(schema);
    assert.notEqual(planOf(book, book.root).kind, "json");
  }
});

test("a required property with a default need not be given", () => {
  const plan = (schema: object) => planOf(openBook(schema), schema as never);
  assert.equal(mustBeGiven(plan({ type: "string" }), true), true);
  assert.equal(mustBeGiven(plan({ type: "string", default: "" }), true), false);
  assert.equal(mustBeGiven(plan({ type: "string" }), false), false);
});

test("a cycle of choices has an end, and only its own field becomes JSON", () => {
  const cycles = [
    // A choice with one branch, which leads to itself.
    { description: "loop", oneOf: [{ $ref: "#/$defs/loop" }] },
    // A choice between the schema itself, with what stands beside it, and a text.
    { type: ["object", "string"], minLength: 1, anyOf: [{ $ref: "#/$defs/loop" }, { type: "string" }] },
    { minLength: 1, anyOf: [{ $ref: "#/$defs/loop" }, { $ref: "#/$defs/other" }] },
  ];
  for (const loop of cycles) {
    const other = { maxLength: 9, anyOf: [{ $ref: "#/$defs/loop" }, { $ref: "#/$defs/other" }] };
    const schema = { type: "object", properties: { a: { $ref: "#/$defs/loop" }, b: { type: "string" } }, $defs: { loop, other } };
    const book = openBook(schema);
    const root = planOf(book, book.root);
    assert.ok(root.kind === "object");
    const kinds = root.properties.map((it) => planOf(book, it.schema).kind);
    assert.deepEqual(kinds, ["json", "text"], JSON.stringify(loop));
  }
});
