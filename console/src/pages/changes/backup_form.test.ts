import assert from "node:assert/strict";
import { test } from "node:test";

import { endsComplete, formOf } from "./backup_form.ts";

test("the two forms are told apart by name, and else by their beginning", () => {
  assert.equal(formOf("registry.ndjson", ""), "lines");
  assert.equal(formOf("registry.json", '{"tools":[{"id":"a"}],"versions":[]}'), "document");
  assert.equal(formOf("registry.json", '{"workspace":{"a":1},"tools":[]}'), "document");
  assert.equal(formOf("registry.json", '{\n  "workspace": {\n    "a": 1\n  }\n}'), "document");
  assert.equal(formOf("registry.txt", '{"agent":{"id":"a"}}\n{"end":{}}\n'), "lines");
  assert.equal(formOf("registry.txt", '{"workspace":{"a":1}}\n{"end":{}}\n'), "lines");
});

test("a backup that was broken off has no end", () => {
  assert.equal(endsComplete('{"agent":{}}\n{"end":{"agents":1}}\n'), true);
  assert.equal(endsComplete('{"agent":{}}\n'), false);
  assert.equal(endsComplete('{"agent":{"end":{}}}\n'), false);
});
