import assert from "node:assert/strict";
import { test } from "node:test";

import type { Problem } from "../../api/request.ts";
import type { Json } from "../../api/types.ts";
import { ABSENT, begun, type Draft, draftOf, initial, parseJson, rootDraft, toBranch, toForm, toJson, valueOf } from "./draft.ts";
import { openBook, planOf } from "./plan.ts";
import type { JsonObject, Schema } from "./schema.ts";

const TREE = { type: "object", properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } }, required: ["name"] };

function read(draft: Draft): [Json | undefined, Problem[]] {
  const faults: Problem[] = [];
  return [valueOf(draft, faults), faults];
}

/** The value comes back as it was. */
function comesBack(schema: Schema, value: JsonObject, kind?: Draft["is"]) {
  const book = openBook(schema);
  const draft = rootDraft(book, value);
  assert.deepEqual(read(draft), [value, []]);
  if (kind !== undefined) assert.equal(draft.is, kind);
  return draft;
}

test("values survive the form", () => {
  comesBack(TREE, { name: "a", children: [{ name: "b", children: [] }, { name: "", children: [{ name: "c" }] }] }, "object");
  comesBack({ type: "object", properties: { a: { type: "integer" } } }, { a: -3 }, "object");
  comesBack({ type: "object", properties: { a: { type: "number" } } }, { a: 1e21 });
  comesBack({ type: "object", properties: { a: { type: ["string", "null"] } } }, { a: null });
  comesBack({ type: "object", properties: { a: { enum: [{ b: 1 }, [2]] } } }, { a: { b: 1 } });
  comesBack({ type: "object", additionalProperties: { type: "integer" } }, { x: 1, "a/b": 2 });
  comesBack({ type: "object", properties: { a: { prefixItems: [{ type: "string" }, { type: "integer" }] } } }, { a: ["x", 1] });
  comesBack({ type: "object", properties: { a: {} } }, { a: [1, { b: null }] });
  comesBack(true, JSON.parse('{"__proto__": 1, "constructor": "x"}') as JsonObject);
});

test("what a form cannot show is JSON for that field alone", () => {
  const draft = comesBack({ type: "object", properties: { a: { type: "integer" }, b: { type: "string" }, c: { enum: ["x"] } } }, { a: "five", b: "text", c: "y" }, "object");
  assert.ok(draft.is === "object");
  assert.deepEqual(["a", "b", "c"].map((it) => draft.fields.get(it)?.is), ["json", "text", "json"]);
  comesBack(true, { "": 1 }, "json");
});

test("fields that the schema does not name are rows", () => {
  const draft = comesBack({ type: "object", properties: { a: { type: "integer" } } }, { a: 1, b: { c: 2 } }, "object");
  assert.deepEqual(draft.is === "object" && draft.rows.map((it) => it.name), ["b"]);
});

test("nothing is sent for fields that nobody has touched", () => {
  const schema = {
    type: "object",
    properties: {
      text: { type: "string" },
      number: { type: "integer", default: 5 },
      flag: { type: "boolean" },
      object: { type: "object", properties: { a: { type: "string" } } },
      list: { type: "array" },
      needed: { type: "object", properties: { kind: { const: "x" }, a: { type: "string" } }, required: ["kind"] },
      all: { type: "array", items: { type: "string" } },
    },
    required: ["text", "needed", "all"],
  };
  assert.deepEqual(read(rootDraft(openBook(schema), {})), [{ needed: { kind: "x" }, all: [] }, []]);
});

test("schemas that require themselves have an end", () => {
  const schema = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
  assert.ok(JSON.stringify(valueOf(rootDraft(openBook(schema), {}))).length < 200);
  const list = { type: "object", properties: { all: { type: "array", minItems: 2, items: { $ref: "#" } } }, required: ["all"] };
  assert.ok(rootDraft(openBook(list), {}).is === "object");
});

test("what is included begins with its default", () => {
  const book = openBook(true);
  assert.deepEqual(valueOf(begun(book, { type: "array", default: [1, 2] })), [1, 2]);
  assert.deepEqual(valueOf(begun(book, { type: "object", properties: { a: { type: "integer" } }, default: { a: 4 } })), { a: 4 });
  assert.deepEqual(valueOf(begun(book, { type: "array", items: { type: "string" }, minItems: 2 })), ["", ""]);
  assert.equal(begun(book, { anyOf: [{ type: "array" }, { type: "null" }], default: null }).is, "absent");
});

test("numbers are numbers, and nothing else is", () => {
  const value = (text: string) => read({ is: "number", text });
  assert.deepEqual(value("-1.5e3"), [-1500, []]);
  assert.deepEqual(value(" 7 "), [7, []]);
  assert.deepEqual(value(""), [undefined, []]);
  for (const text of ["1,5", "1.", "0x1", "five", "-", "01", "1e999", "12345678901234567890"]) {
    const [number, faults] = value(text);
    assert.equal(number, undefined, text);
    assert.equal(faults.length, 1, text);
  }
});

test("JSON says where it is wrong", () => {
  assert.deepEqual(parseJson("[1, {\"a\": null}]"), { value: [1, { a: null }] });
  assert.ok("fault" in parseJson("{a: 1}"));
  assert.deepEqual(parseJson('{"id": 12345678901234567890}'), { fault: "12345678901234567890 is too large to be sent exactly." });
});

test("what is not finished is told with its place", () => {
  const book = openBook({ type: "object", properties: { list: { type: "array", items: { type: "integer" } } }, additionalProperties: { type: "integer" } });
  const draft = rootDraft(book, { list: [1], "a/b": 2 });
  assert.ok(draft.is === "object");
  const broken: Draft = {
    ...draft,
    fields: new Map([["list", { is: "array", items: [{ id: -1, draft: { is: "number", text: "x" } }, { id: -2, draft: ABSENT }] }]]),
    rows: [...draft.rows, { id: -3, name: "", draft: { is: "number", text: "3" } }, { id: -4, name: "a/b", draft: { is: "number", text: "3" } }, { id: -5, name: "list", draft: ABSENT }],
  };
  const [value, faults] = read(broken);
  assert.deepEqual(faults.map((it) => it.path), ["/list/0", "/list/1", "/", "/a~1b", "/list", "/list"]);
  assert.deepEqual(value, { list: [null, null], "a/b": 3 });
});

test("a field becomes JSON and a form again without a loss", () => {
  const schema = { type: "object", properties: { a: { type: "integer" }, b: { type: "string" } } };
  const book = openBook(schema);
  const half: Draft = { is: "object", fields: new Map([["a", { is: "number", text: "1," }], ["b", { is: "text", text: "x" }]]), rows: [] };
  const json = toJson(half);
  assert.ok(json.is === "json");
  assert.equal(toForm(book, book.root, json, true), half);
  const back = toForm(book, book.root, { ...json, text: '{"a": 2, "c": [1]}' }, true);
  assert.ok(typeof back !== "string");
  assert.deepEqual(valueOf(back), { a: 2, c: [1] });
  assert.equal(typeof toForm(book, book.root, { ...json, text: "[]" }, true), "string");
  assert.equal(typeof toForm(book, book.root, { ...json, text: "{" }, true), "string");
  assert.deepEqual(toJson({ is: "number", text: "1," }), { is: "json", text: "1,", before: { text: "1,", draft: { is: "number", text: "1," } } });
});

const SHAPES = {
  oneOf: [
    { title: "Circle", type: "object", properties: { kind: { const: "circle" }, name: { type: "string" }, radius: { type: "number" } }, required: ["kind", "radius"] },
    { title: "Square", type: "object", properties: { kind: { const: "square" }, name: { type: "string" }, side: { type: "number" } }, required: ["kind", "side"] },
    { title: "Note", type: "string" },
  ],
};

test("a value chooses its branch", () => {
  const book = openBook({ type: "object", properties: { it: SHAPES } });
  const branch = (value: Json) => {
    const draft = draftOf(book, SHAPES, value);
    return draft.is === "choice" ? draft.branch : draft.is;
  };
  assert.equal(branch({ kind: "square", side: 1 }), 1);
  assert.equal(branch({ kind: "circle", radius: 1, name: "a" }), 0);
  assert.equal(branch("text"), 2);
  assert.equal(branch({ side: 2 }), 0, "an object that fits no branch is shown by the first that can");
  assert.equal(branch([1]), "json");
});

test("another branch keeps what fits, and the old one comes back as it was", () => {
  const book = openBook({ type: "object", properties: { it: SHAPES } });
  const plan = planOf(book, SHAPES);
  assert.ok(plan.kind === "choice");
  const circle = draftOf(book, SHAPES, { kind: "circle", name: "a", radius: 2 });
  const square = toBranch(book, plan, circle, 1);
  assert.deepEqual(valueOf(square), { kind: "square", name: "a" });
  assert.deepEqual(valueOf(toBranch(book, plan, square, 0)), { kind: "circle", name: "a", radius: 2 });
  assert.equal(valueOf(toBranch(book, plan, circle, 2)), undefined);
});

test("a required choice begins with its first simple branch only", () => {
  const book = openBook(true);
  const first = (schema: Schema) => initial(book, schema, { required: true });
  assert.deepEqual(first({ anyOf: [{ type: "null" }, { type: "string" }] }), { is: "choice", branch: 1, of: ABSENT, others: new Map() });
  assert.equal(first({ anyOf: [{ type: "object", properties: { a: true } }, { type: "array" }] }).is, "absent");
});
