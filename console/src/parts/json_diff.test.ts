import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { jsonDiff, unifiedDiff } from "./json_diff.ts";

test("equal texts have no differences", () => {
  assert.equal(unifiedDiff("a\nb\n", "a\nb\n"), "");
  assert.equal(jsonDiff({ a: 1, b: [2] }, { b: [2], a: 1 }), "");
});

test("a changed line is shown with its neighbours and its place", () => {
  const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  assert.equal(unifiedDiff(before, before.replace("5", "five")), "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8");
});

test("a text that is not there has no lines", () => {
  assert.equal(unifiedDiff("", "a\n"), "@@ -0,0 +1 @@\n+a");
  assert.equal(unifiedDiff("a\n", ""), "@@ -1 +0,0 @@\n-a");
  assert.equal(jsonDiff(null, { a: 1 }), '@@ -0,0 +1,3 @@\n+{\n+  "a": 1\n+}');
});

test("a missing line break at the end is a difference", () => {
  assert.equal(unifiedDiff("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a");
});

test("JSON values are compared whatever the order of their fields, odd names included", () => {
  assert.equal(jsonDiff({ b: 1, a: { d: 1, c: 2 } }, { a: { c: 2, d: 3 }, b: 1 }), '@@ -1,7 +1,7 @@\n {\n   "a": {\n     "c": 2,\n-    "d": 1\n+    "d": 3\n   },\n   "b": 1\n }');
  assert.match(jsonDiff(JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 2}')), /-  "__proto__": 1/);
});

test("far changes are hunks of their own, near ones share a hunk", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const changed = (...at: number[]) => lines.map((it, index) => (at.includes(index) ? `${it}!` : it)).join("\n") + "\n";
  const before = lines.join("\n") + "\n";
  const hunks = (text: string) => text.split("\n").filter((it) => it.startsWith("@@")).length;
  assert.equal(hunks(unifiedDiff(before, changed(5, 25))), 2);
  assert.equal(hunks(unifiedDiff(before, changed(5, 12))), 1);
  assert.equal(hunks(unifiedDiff(before, changed(5, 13))), 2);
});

test("very different texts are told as replaced, in a moment", () => {
  const text = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join("\n") + "\n";
  // The time of this process alone: a busy machine makes the clock go on without it.
  const before = process.cpuUsage();
  const diff = unifiedDiff(text("a"), text("b"));
  assert.equal(diff.split("\n").length, 40_001);
  assert.ok(process.cpuUsage(before).user < 2_000_000);
});

test("`patch` turns the first text into the second", (t) => {
  try {
    execFileSync("patch", ["--version"]);
  } catch {
    t.skip("there is no `patch` on this machine");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "diff-"));
  try {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    for (let round = 0; round < 60; round++) {
      const text = () => Array.from({ length: random(25) }, () => "abc"[random(3)]).join("\n") + (random(2) === 0 ? "\n" : "");
      const [before, after] = [text(), text()];
      const diff = unifiedDiff(before, after);
      if (diff === "") continue;
      const file = join(folder, "file");
      writeFileSync(file, before);
      writeFileSync(`${file}.diff`, `--- file\n+++ file\n${diff}\n`);
      const result = execFileSync("patch", ["-s", "-o", "-", file, `${file}.diff`], { encoding: "utf8" });
      assert.equal(result, after, `${JSON.stringify(before)} -> ${JSON.stringify(after)}:\n${diff}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
