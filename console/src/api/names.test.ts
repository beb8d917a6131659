import assert from "node:assert/strict";
import { test } from "node:test";

import { isToken, isWorkspaceName } from "./names.ts";

test("a workspace has letters, digits, _ and -, and no more than 64 of them", () => {
  for (const good of ["demo", "A-1_b", "x".repeat(64)]) assert.ok(isWorkspaceName(good), good);
  for (const bad of ["", "wörk", "a b", "日本", "a/b", "x".repeat(65)]) assert.ok(!isWorkspaceName(bad), bad);
});

test("whatever is a token can be sent in a header", () => {
  for (const good of ["", "peg_0aZ", "!~"]) {
    assert.ok(isToken(good), good);
    new Headers({ Authorization: `Bearer ${good}` });
  }
  for (const bad of ["peg_ä", "peg_…", "peg 1", "peg_1\n", "日本"]) assert.ok(!isToken(bad), bad);
});
