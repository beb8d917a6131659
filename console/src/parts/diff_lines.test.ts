import assert from "node:assert/strict";
import { test } from "node:test";

import { kindsOf } from "./diff_lines.ts";

test("changed lines are told from the head, whatever they begin with", () => {
  const lines = ["--- a/query.sql", "+++ b/query.sql", "@@ -1,3 +1,3 @@", " select 1", "--- the old comment", "+++ the new comment", "@@ -9 +9 @@", "-x", "+y", "\\ No newline at end of file"];
  assert.deepEqual(kindsOf(lines), ["place", "place", "place", "", "removed", "added", "place", "removed", "added", ""]);
});

test("without a head every sign is a change", () => {
  assert.deepEqual(kindsOf(["@@ -1 +1 @@", "--- a", "+++ b"]), ["place", "removed", "added"]);
  assert.deepEqual(kindsOf(["--- a", "+b"]), ["removed", "added"]);
});
