import assert from "node:assert/strict";
import { test } from "node:test";

import { beginningOf, firstLines } from "./beginning.ts";

const VALUES = [null, true, 3.5, "", "a\n\"b\"", [], {}, [1, [2, []], { a: {} }], { a: null, b: ["x", { "c d": 1 }], "": "é\u2028" }];

test("a short value is whole, as JSON.stringify writes it", () => {
  for (const value of VALUES) assert.deepEqual(beginningOf(value, 10_000), { text: JSON.stringify(value, null, 2), isWhole: true });
});

test("a long value is cut at the limit, and is the beginning of what JSON.stringify writes", () => {
  const long = { rows: Array.from({ length: 50 }, (_, id) => ({ id, name: `row ${id}`, tags: ["a", "b"] })), text: "x".repeat(500), end: 1 };
  const whole = JSON.stringify(long, null, 2);
  for (let limit = 0; limit < whole.length; limit += 7) {
    assert.deepEqual(beginningOf(long, limit), { text: whole.slice(0, limit), isWhole: false }, `limit ${limit}`);
  }
  assert.deepEqual(beginningOf(long, whole.length), { text: whole, isWhole: true });
});

test("a long text ends at a line break, if one is near the limit", () => {
  assert.equal(firstLines("one\ntwo\n", 8), "one\ntwo\n");
  assert.equal(firstLines("one two\nthree", 10), "one two");
  assert.equal(firstLines("a\nlong line", 8), "a\nlong l");
  assert.equal(firstLines("x".repeat(100), 10), "x".repeat(10));
  assert.equal(firstLines(`\n${"x".repeat(100)}`, 10), `\n${"x".repeat(9)}`);
});

test("a text of 10 MB is not written as a whole", () => {
  const long = "x".repeat(10_000_000);
  // The time of this process alone: a busy machine makes the clock go on without it.
  const before = process.cpuUsage();
  for (let turn = 0; turn < 100; turn += 1) assert.equal(beginningOf({ a: [long, long] }, 50_000).text.length, 50_000);
  assert.ok(process.cpuUsage(before).user < 2_000_000, "it took as long as writing everything");
});
