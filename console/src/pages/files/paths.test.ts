import assert from "node:assert/strict";
import { test } from "node:test";

import { directoriesAbove, inside, nameOf, parentOf, pictureTypeOf } from "./paths.ts";

test("paths are taken apart and put together", () => {
  assert.deepEqual([nameOf("/a/b.txt"), nameOf("/b"), nameOf("/")], ["b.txt", "b", ""]);
  assert.deepEqual([parentOf("/a/b.txt"), parentOf("/b"), parentOf("/a/b/c")], ["/a", "/", "/a/b"]);
  assert.deepEqual(directoriesAbove("/a/b/c.txt"), ["/a", "/a/b"]);
  assert.deepEqual(directoriesAbove("/c.txt"), []);
  assert.deepEqual([inside("/", "a.txt"), inside("/a", "b/c.txt"), inside("/a", "/./b")], ["/a.txt", "/a/b/c.txt", "/a/b"]);
});

test("pictures are known by their names", () => {
  assert.deepEqual(["/a/B.PNG", "/drawing.svg", "/png", "/a.png/b.txt"].map(pictureTypeOf), ["image/png", "image/svg+xml", null, null]);
});
