import assert from "node:assert/strict";
import { test } from "node:test";

import { definitionText, isShort, shortText } from "./definition_text.ts";

test("the order of fields is no difference", () => {
  assert.equal(definitionText({ b: 1, a: [1, { d: 2, c: 3 }] }, false), definitionText({ a: [1, { c: 3, d: 2 }], b: 1 }, false));
  assert.equal(definitionText({ b: [], a: {} }, false), '{\n  "a": {},\n  "b": []\n}\n');
});

test("code keeps its lines", () => {
  assert.equal(definitionText({ code: "def f():\n  return 1" }, false), '{\n  "code": "\n    def f():\n      return 1\n  "\n}\n');
  assert.equal(definitionText("one\ntwo", false), "one\ntwo\n");
});

test("a schema may be a JSON string, a broken one too", () => {
  assert.equal(definitionText('{"type":"object"}', true), '{\n  "type": "object"\n}\n');
  assert.equal(definitionText("{", true), "{\n");
  assert.equal(definitionText('{"type":"object"}', false), '{"type":"object"}\n');
  assert.equal(definitionText(null, true), "");
});

test("short values are told in a line", () => {
  assert.equal(isShort(30, 20), true);
  assert.equal(isShort(null, "text"), true);
  assert.equal(isShort(["a"], []), true);
  assert.equal(isShort({ a: 1 }, null), false);
  assert.equal(isShort([{ a: 1 }], []), false);
  assert.equal(isShort("a\nb", ""), false);
  assert.equal(isShort("x".repeat(121), ""), false);
  assert.deepEqual([null, true, [], ["a", "b"], "x", 3].map(shortText), ["none", "yes", "none", "a, b", "x", "3"]);
});
