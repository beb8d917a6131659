import assert from "node:assert/strict";
import { test } from "node:test";

import { bytes, count, duration, elapsed } from "./words.ts";

test("moments are told by their distance", () => {
  const now = Date.parse("2026-11-18T12:00:00Z");
  for (const [at, text] of [
    [now, "now"],
    [now - 30_000, "30 s ago"],
    [now - 90_000, "1 min ago"],
    [now + 7_200_000, "in 2 h"],
    [now - 3 * 86_400_000, "3 d ago"],
  ] as const) {
    assert.equal(elapsed(at, now), text);
  }
});

test("sizes, durations and numbers of things", () => {
  assert.deepEqual([999, 1_000, 12_345, 2_500_000].map(bytes), ["999 B", "1.0 KB", "12 KB", "2.5 MB"]);
  assert.deepEqual([3, 1_500, 61_000].map(duration), ["3 ms", "1.5 s", "1 min 1 s"]);
  assert.deepEqual([count(1, "tool"), count(10_000, "tool")], ["1 tool", "10,000 tools"]);
});
