import assert from "node:assert/strict";
import { test } from "node:test";

import { rootDraft } from "./draft.ts";
import { openBook } from "./plan.ts";
import { fieldsOf, join, placed, steps, valueAt } from "./pointer.ts";

const BOOK = openBook({
  type: "object",
  properties: {
    name: { type: "string" },
    list: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
    any: {},
    choice: { anyOf: [{ type: "object", properties: { a: { type: "string" } } }, { type: "string" }] },
    "a/b": { type: "string" },
  },
});
const DRAFT = rootDraft(BOOK, { list: [{ n: 1 }], any: { deep: [1] }, choice: { a: "x" } });

test("names with slashes and tildes are escaped", () => {
  assert.equal(join("/a", "b/c~d"), "/a/b~1c~0d");
  assert.deepEqual(steps("/a/b~1c~0d"), ["a", "b/c~d"]);
  assert.deepEqual(steps(""), []);
  assert.equal(valueAt({ "a/b": [10, 20] }, "/a~1b/1"), 20);
  assert.equal(valueAt({ a: 1 }, "/toString"), undefined);
});

test("every place on the screen is known", () => {
  assert.deepEqual([...fieldsOf(DRAFT).keys()], ["", "/name", "/list", "/list/0", "/list/0/n", "/any", "/choice", "/choice/a", "/a~1b"]);
});

test("violations are at their fields, inside of editors, or at the top", () => {
  const { at, rest } = placed(
    [
      { path: "", message: '"name" is a required property' },
      { path: "/list/0/n", message: "too small" },
      { path: "/any/deep/0", message: "wrong" },
      { path: "/any", message: "wrong too" },
      { path: "/choice/a", message: "too long" },
      { path: "/list/0", message: '"gone" is a required property' },
      { path: "", message: '"unknown" is a required property' },
      { path: "/a~1b", message: "odd" },
      { path: "/nowhere", message: "lost" },
      { path: "/list/7/n", message: "lost too" },
    ],
    DRAFT,
  );
  assert.deepEqual(Object.fromEntries(at), {
    "/name": ["This is required."],
    "/list/0/n": ["too small"],
    "/any": ["/deep/0: wrong", "wrong too"],
    "/choice/a": ["too long"],
    "/list/0": ['"gone" is a required property'],
    "/a~1b": ["odd"],
  });
  assert.deepEqual(rest.map((it) => it.message), ['"unknown" is a required property', "lost", "lost too"]);
});
