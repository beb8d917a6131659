import assert from "node:assert/strict";
import { test } from "node:test";
import { expiryOf, isOver } from "./expiry.ts";

const NOW = Date.parse("2026-11-18T12:00:00Z");

test("a token ends after a time, at a time, or never", () => {
  assert.equal(expiryOf("never", "", NOW), null);
  assert.equal(expiryOf("hour", "", NOW), "2026-11-18T13:00:00.000Z");
  assert.equal(expiryOf("month", "", NOW), "2026-12-18T12:00:00.000Z");
  assert.equal(expiryOf("at", "2026-11-18T12:30:00Z", NOW), "2026-11-18T12:30:00.000Z");
  assert.equal(expiryOf("at", "", NOW), undefined);
});

test("a token is over from its end on", () => {
  assert.equal(isOver(null, NOW), false);
  assert.equal(isOver("2026-11-18T12:00:00Z", NOW), true);
  assert.equal(isOver("2026-11-18T12:00:01Z", NOW), false);
});
