import assert from "node:assert/strict";
import { test } from "node:test";

import { localOf, utcOf } from "./times.ts";

test("a time survives the way through a field", () => {
  for (const time of ["2026-11-18T13:00:05.000Z", "2026-01-01T00:00:00.000Z", "2026-11-18T12:34:00.000Z", "2026-03-29T01:30:00.000Z"]) assert.equal(utcOf(localOf(time)), time);
});

test("what is no time is nothing", () => {
  assert.deepEqual([localOf("soon"), localOf(""), utcOf(""), utcOf("soon")], ["", "", "", ""]);
});
