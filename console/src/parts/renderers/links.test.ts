import assert from "node:assert/strict";
import { test } from "node:test";

import { safeLink } from "./links.ts";

test("http, https and mailto become links", () => {
  for (const good of ["http://a.example/", "https://a.example/b?c#d", "mailto:ada@example.org"]) assert.equal(safeLink(good), good);
  assert.equal(safeLink("HTTPS://A.example"), "https://a.example/");
});

test("nothing else does", () => {
  for (const bad of [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "blob:https://a.example/1",
    "vbscript:x",
    "file:///etc/passwd",
    "//a.example",
    "/api/tools",
    "notes.md",
    "#/settings",
    "",
  ]) {
    assert.equal(safeLink(bad), null, bad);
  }
});
