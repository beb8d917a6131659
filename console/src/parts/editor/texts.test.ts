import assert from "node:assert/strict";
import { test } from "node:test";

import { languageOf, lineBreakOf, replacement, withLineBreaksOf } from "./texts.ts";

test("the name of a file tells its language", () => {
  assert.deepEqual(["/a/b.py", "/DATA.JSON", "/read.me.md", "/plain", "/a.py/notes.txt", "/py"].map(languageOf), ["python", "json", "markdown", "text", "text", "python"]);
});

test("line breaks are kept whatever they are", () => {
  assert.equal(lineBreakOf("a\r\nb\r\n"), "\r\n");
  for (const text of ["", "a", "a\nb", "a\r\nb\n", "\na\r\n", "a\rb\r\n"]) assert.equal(lineBreakOf(text), "\n", JSON.stringify(text));
  assert.equal(withLineBreaksOf("a\r\nb", "a\nc\nb"), "a\r\nc\r\nb");
  assert.equal(withLineBreaksOf("a\nb", "a\nc"), "a\nc");
});

test("a replacement is as small as one replacement can be", () => {
  for (const [before, after, expected] of [
    ["abc", "abXc", { from: 2, to: 2, insert: "X" }],
    ["abc", "ac", { from: 1, to: 2, insert: "" }],
    ["aa", "aaa", { from: 2, to: 2, insert: "a" }],
    ["", "new", { from: 0, to: 0, insert: "new" }],
    ["old", "", { from: 0, to: 3, insert: "" }],
  ] as const) {
    const change = replacement(before, after);
    assert.deepEqual(change, expected);
    assert.equal(before.slice(0, change.from) + change.insert + before.slice(change.to), after);
  }
});
