import assert from "node:assert/strict";
import { test } from "node:test";
import { axisWords, percent, share, stacked } from "./scale.ts";

test("the first list of a stack is the height of everything", () => {
  assert.deepEqual(stacked([[1, 2], [10, null], [100, 300]]), [[111, 302], [110, 300], [100, 300]]);
  assert.deepEqual(stacked([]), []);
});

test("an axis tells the time, and the day at midnight and for long steps", () => {
  const noon = new Date(2026, 10, 18, 12, 5).getTime() / 1000;
  const midnight = new Date(2026, 10, 18).getTime() / 1000;
  assert.equal(axisWords(noon, 600), "12:05");
  assert.equal(axisWords(midnight, 3_600), "18 Nov");
  assert.equal(axisWords(noon, 86_400), "18 Nov");
});

test("shares stay between nothing and everything", () => {
  assert.equal(share(5, 0), 0);
  assert.equal(share(5, 10), 0.5);
  assert.equal(share(50, 10), 1);
  assert.equal(percent(0), "0 %");
  assert.equal(percent(0.001), "<1 %");
  assert.equal(percent(0.256), "26 %");
});
