import assert from "node:assert/strict";
import { test } from "node:test";

import { askedHeight, languageIn, readPlan, readShortened, remarks } from "./plan.ts";

test("a plan is read, and anything else is none", () => {
  assert.deepEqual(readPlan({ renderer: "code", config: { file: "/a" } }), { renderer: "code", config: { file: "/a" }, error: null, isShortened: false });
  assert.deepEqual(readPlan({ renderer: "code", config: null, truncated: true, size: 9_000, url: "/x" }), { renderer: "code", config: {}, error: null, isShortened: true });
  assert.deepEqual(readPlan({ renderer: "html", config: {}, error: { code: "TIMEOUT", message: "late" } })?.error, { code: "TIMEOUT", message: "late" });
  for (const none of [null, undefined, "code", [], {}, { renderer: 3 }]) assert.equal(readPlan(none), null);
});

test("remarks name what is missing, cut and refused", () => {
  assert.deepEqual(remarks({ missing: ["$args.a", "$return.b"], cut: ["$return"], refused: "has a password" }), [
    "The call has no value for $args.a, $return.b.",
    "The value of $return was cut, because it is long. The raw result has it whole.",
    "The address is not shown: has a password",
  ]);
  assert.deepEqual(remarks({ file: "/a" }), []);
});

test("the language is the named one, or that of the path, or that of the text", () => {
  assert.equal(languageIn({ language: "python" }, "/a.json", ""), "python");
  assert.equal(languageIn({ language: "rust" }, "/a.json", ""), "text");
  assert.equal(languageIn({ language: "auto" }, "/a.py", ""), "python");
  assert.equal(languageIn({}, "/notes/A.MD", ""), "markdown");
  assert.equal(languageIn({}, "/Makefile", "{}"), "text");
  assert.equal(languageIn({}, null, ' {"a": 1}'), "json");
  assert.equal(languageIn({}, null, "{a}"), "text");
  assert.equal(languageIn({}, null, `[${"1,".repeat(60_000)}1]`), "text");
});

test("the description of a shortened value is read", () => {
  assert.deepEqual(readShortened({ truncated: true, sha256: "00", size: 9, prefix: "[1", url: "/x" }), { size: 9, prefix: "[1", notKept: null });
  assert.equal(readShortened({ truncated: true, sha256: "00", size: 9, prefix: "", not_kept: "quota" }).notKept, "quota");
  // Lists name no hash.
  assert.deepEqual(readShortened({ truncated: true, size: 9_000, prefix: "{", url: "/x" }), { size: 9_000, prefix: "{", notKept: null });
});

test("a page may ask for a height within bounds, and for nothing else", () => {
  assert.equal(askedHeight({ height: 400.2 }), 401);
  assert.equal(askedHeight({ height: 1e9 }), 1_200);
  assert.equal(askedHeight({ height: -5 }), 80);
  for (const none of [400, "400", null, [], { height: "400" }, { height: NaN }, { height: Infinity }, { url: "x" }]) assert.equal(askedHeight(none), null);
});
