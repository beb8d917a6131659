import assert from "node:assert/strict";
import { test } from "node:test";

import { type Branch, rowsOf, stepOf } from "./tree_rows.ts";

const node = (id: string, isBranch = false) => ({ id, name: id.slice(id.lastIndexOf("/") + 1), isBranch });
const branches = new Map<string, Branch>([
  ["/", { nodes: [node("/data", true), node("/src", true), node("/notes.txt")], hasMore: false }],
  ["/data", { nodes: [node("/data/a.csv"), node("/data/b.csv")], hasMore: true }],
]);
const seen = (...open: string[]) => rowsOf("/", branches, new Set(open));

test("rows are what is open, with their levels", () => {
  assert.deepEqual(
    seen("/data", "/src").map((it) => [it.id, it.level, it.size]),
    [
      ["/data", 1, 3],
      ["/data/a.csv", 2, -1],
      ["/data/b.csv", 2, -1],
      ["more /data", 2, -1],
      ["/src", 1, 3],
      ["waiting /src", 2, -1],
      ["/notes.txt", 1, 3],
    ],
  );
});

test("keys move, open, close and choose", () => {
  const closed = seen();
  const open = seen("/data");
  for (const [rows, at, key, step] of [
    [closed, "/data", "ArrowDown", { move: "/src" }],
    [closed, "/data", "ArrowUp", null],
    [closed, "/data", "ArrowRight", { open: "/data" }],
    [open, "/data", "ArrowRight", { move: "/data/a.csv" }],
    [open, "/data", "ArrowLeft", { close: "/data" }],
    [open, "/data/b.csv", "ArrowLeft", { move: "/data" }],
    [open, "/data/b.csv", "ArrowRight", null],
    [open, "/data/b.csv", "Home", { move: "/data" }],
    [open, "/data", "End", { move: "/notes.txt" }],
    [open, "more /data", "Enter", { choose: "more /data" }],
    [open, "/data", "n", { move: "/notes.txt" }],
    [open, "/notes.txt", "D", { move: "/data" }],
    [open, "/notes.txt", "Tab", null],
    [open, "gone", "ArrowDown", null],
  ] as const) {
    assert.deepEqual(stepOf(rows, at, key), step, `${at} ${key}`);
  }
});
