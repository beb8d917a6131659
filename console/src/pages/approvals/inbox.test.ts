import assert from "node:assert/strict";
import { test } from "node:test";

import { decided, gone, merged, readStatus } from "./inbox.ts";

const at = (minute: number, status = "pending") => ({ id: `appr_${minute}`, status, created_at: `2026-11-18T12:0${minute}:00Z` });

test("new calls come in by their age, and decided ones stay in their places", () => {
  const seen = merged([at(2), at(1)], [at(3)]);
  assert.deepEqual(seen.map((it) => it.id), ["appr_1", "appr_2", "appr_3"]);
  const decided = merged(seen, [at(2, "denied")]);
  assert.deepEqual(decided.map((it) => it.status), ["pending", "denied", "pending"]);
  assert.deepEqual(merged(decided, [at(1), at(2), at(3)]).map((it) => it.status), ["pending", "denied", "pending"], "a late answer undid a decision");
});

test("a decision that is newer than the list is shown in its place, and adds nothing to the list", () => {
  const read = [at(3), at(2), at(1, "expired")];
  assert.deepEqual(decided([at(4, "denied"), at(2, "approved"), at(3)], read).map((it) => `${it.id} ${it.status}`), ["appr_3 pending", "appr_2 approved", "appr_1 expired"]);
  assert.deepEqual(decided([at(3)], [at(3, "denied")]), [at(3, "denied")], "what was seen earlier undoes no decision");
});

test("calls that wait no longer are found, but not those of the next page", () => {
  const seen = [at(1), at(2), at(3), at(4, "approved")];
  assert.deepEqual(gone(seen, [at(1), at(3)], false).map((it) => it.id), ["appr_2"]);
  assert.deepEqual(gone(seen, [at(1)], true), []);
  assert.deepEqual(gone(seen, [at(2)], true).map((it) => it.id), ["appr_1"]);
  assert.deepEqual(gone(seen, [], false).map((it) => it.id), ["appr_1", "appr_2", "appr_3"]);
});

test("an unknown status shows what waits", () => {
  assert.equal(readStatus("denied"), "denied");
  assert.equal(readStatus("all"), "all");
  assert.equal(readStatus("x"), "pending");
  assert.equal(readStatus(null), "pending");
});
