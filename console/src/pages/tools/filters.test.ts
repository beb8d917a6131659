import assert from "node:assert/strict";
import { test } from "node:test";

import { filtersOf, hasRareFilter } from "./filters.ts";

test("filters are read from the URL; other parameters and empty ones are not", () => {
  assert.deepEqual(filtersOf(new URLSearchParams("q=a+b&max_risk=low&category=&tab=x&include_inactive=true")), { q: "a b", max_risk: "low", include_inactive: "true" });
  assert.deepEqual(filtersOf(new URLSearchParams("q=++")), {});
});

test("a comma alone asks for tools that need no capability", () => {
  assert.deepEqual(filtersOf(new URLSearchParams({ capabilities: "," })), { capabilities: "," });
});

test("rare filters are told apart", () => {
  assert.equal(hasRareFilter({ q: "x", source: "mcp" }), false);
  assert.equal(hasRareFilter({ credential: "KEY" }), true);
});
