import assert from "node:assert/strict";
import { test } from "node:test";

import { searchWords } from "./search_words.ts";

test("the last word of a search may be unfinished", () => {
  const typed = ["", "read fi", "read_fi", '"a phrase"', "file -read", "rea*", "a OR b", "mail."];
  assert.deepEqual(typed.map(searchWords), ["", "read fi*", "read_fi*", '"a phrase"', "file -read", "rea*", "a OR b", "mail."]);
});
