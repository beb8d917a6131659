import assert from "node:assert/strict";
import { test } from "node:test";

import { parametersOf, readFilters } from "./filters.ts";

test("filters are read from the URL, and empty ones are none", () => {
  assert.deepEqual(readFilters(new URLSearchParams("tool_name=read_file&agent_id=&status=error&page=3")), { tool_name: "read_file", status: "error" });
  assert.deepEqual(readFilters(new URLSearchParams("")), {});
});

test("a status that there is not is no parameter", () => {
  assert.deepEqual(parametersOf({ tool_name: "a", status: "error" }), { tool_name: "a", status: "error" });
  assert.deepEqual(parametersOf({ tool_name: "a", status: "odd" }), { tool_name: "a" });
});
