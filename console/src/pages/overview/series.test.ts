import assert from "node:assert/strict";
import { test } from "node:test";
import { bucketOf, momentWords, seriesOf, sinceOf, totalsOf } from "./series.ts";

const NOW = Date.parse("2026-11-18T12:30:45Z");

test("the first bucket begins so that the present one is the last", () => {
  assert.equal(new Date(sinceOf("minute", NOW)).toISOString(), "2026-11-18T11:31:00.000Z");
  assert.equal(new Date(sinceOf("hour", NOW)).toISOString(), "2026-11-16T13:00:00.000Z");
  assert.equal(new Date(sinceOf("day", NOW)).toISOString(), "2026-09-20T00:00:00.000Z");
});

test("buckets without calls are filled in", () => {
  const series = seriesOf([{ at: "2026-11-18T12:29:00Z", success: 3, error: 1, denied: 2, p50: 5, p95: 80 }], "minute", NOW);
  assert.equal(series.at.length, 60);
  assert.equal(series.at.at(-1), Date.parse("2026-11-18T12:30:00Z") / 1000);
  assert.deepEqual(series.success.slice(-3), [0, 3, 0]);
  assert.deepEqual(series.errorRate.slice(-3), [null, 0.25, null]);
  assert.deepEqual(series.p95.slice(-3), [null, 80, null]);
});

test("buckets that are not shown do not count", () => {
  const series = seriesOf([{ at: "2026-11-18T10:00:00Z", success: 3, error: 1, denied: 2, p50: 5, p95: 80 }], "minute", NOW);
  assert.equal(totalsOf(series).calls, 0);
});

test("denied calls did not run, and are no part of the error rate", () => {
  const bucket = { success: 0, error: 0, denied: 4, p50: null, p95: null };
  const denied = totalsOf(seriesOf([{ at: "2026-11-18T12:30:00Z", ...bucket }], "minute", NOW));
  assert.deepEqual(denied, { calls: 4, success: 0, error: 0, denied: 4, errorRate: null, worstP95: null });
  const mixed = [
    { at: "2026-11-18T12:29:00Z", ...bucket, success: 3, p95: 10 },
    { at: "2026-11-18T12:30:00Z", ...bucket, error: 1, p95: 70 },
  ];
  const totals = totalsOf(seriesOf(mixed, "minute", NOW));
  assert.equal(totals.errorRate, 0.25);
  assert.equal(totals.worstP95, 70);
});

test("a bucket of another name is a minute", () => {
  assert.equal(bucketOf("day"), "day");
  assert.equal(bucketOf("year"), "minute");
  assert.equal(bucketOf(null), "minute");
  assert.equal(momentWords("day", Date.parse("2026-11-18T00:00:00Z") / 1000), "18 Nov");
});
