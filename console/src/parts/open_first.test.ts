import assert from "node:assert/strict";
import { test } from "node:test";

import { openFirst } from "./open_first.ts";

test("small differences are open, and what follows a large one is not", () => {
  const large = "+a\n".repeat(600);
  assert.deepEqual(openFirst(["+a\n", "+b\n"]), [true, true]);
  assert.deepEqual(openFirst(["+a\n", large, "+b\n"]), [true, false, false]);
  assert.deepEqual(openFirst([]), []);
});
