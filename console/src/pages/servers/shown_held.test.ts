import assert from "node:assert/strict";
import { test } from "node:test";

import { changedSince, shownFirst, stillChosen } from "./shown_held.ts";

const offer = (tool_id: string, hash: string) => ({ tool_id, hash });

test("an offer that changes stays as it was shown, and is no longer chosen", () => {
  const first = [offer("a", "1"), offer("b", "1")];
  const shown = shownFirst(new Map(), first);
  const chosen = new Map([
    ["a", "1"],
    ["b", "1"],
  ]);
  assert.deepEqual(stillChosen(chosen, first), first);
  const next = [offer("a", "2"), offer("b", "1"), offer("c", "1")];
  assert.deepEqual([...changedSince(shown, next)], ["a"]);
  assert.deepEqual([...shownFirst(shown, next).values()], [offer("a", "1"), offer("b", "1"), offer("c", "1")]);
  assert.deepEqual(stillChosen(chosen, next), [offer("b", "1")]);
  // An offer that comes back is the one that was chosen.
  assert.deepEqual(stillChosen(chosen, first), first);
});

test("what was accepted elsewhere is forgotten, and begins anew when it comes again", () => {
  const shown = shownFirst(new Map(), [offer("a", "1")]);
  const without = shownFirst(shown, []);
  assert.equal(without.size, 0);
  assert.deepEqual([...shownFirst(without, [offer("a", "2")]).values()], [offer("a", "2")]);
});
