import assert from "node:assert/strict";
import { test } from "node:test";

import { type Held, save, type Store } from "./saving.ts";

/** A file whose states are `m1`, `m2`, …; others may write between the look and the write. */
function storeOf(states: (string | null)[], meanwhile: (string | null)[] = []): Store & { states: (string | null)[] } {
  const held = (index: number): Held | null => {
    const text = states[index] ?? null;
    return text === null ? null : { sha256: text, manifestId: `m${index + 1}` };
  };
  return {
    states,
    read: async (manifestId) => held(manifestId === undefined ? states.length - 1 : Number(manifestId.slice(1)) - 1),
    write: async () => {
      states.push(...meanwhile, "mine");
      return { sha256: "mine", manifestId: `m${states.length}`, parentId: states.length === 1 ? null : `m${states.length - 1}` };
    },
  };
}

test("a file that is as it was is written", async () => {
  const store = storeOf(["old"]);
  assert.deepEqual(await save("old", store), { kind: "saved", file: { sha256: "mine", manifestId: "m2", parentId: "m1" }, replaced: null });
});

test("a file that has changed or gone is not written", async () => {
  for (const [base, states] of [
    ["old", ["old", "theirs"]],
    ["old", ["old", null]],
    [null, ["theirs"]],
  ] as const) {
    const store = storeOf([...states]);
    assert.equal((await save(base, store)).kind, "conflict");
    assert.deepEqual(store.states, states);
  }
});

test("a new file is written into an empty session", async () => {
  const outcome = await save(null, storeOf([]));
  assert.ok(outcome.kind === "saved" && outcome.replaced === null);
});

test("what somebody wrote in the same moment is named", async () => {
  const outcome = await save("old", storeOf(["old"], ["theirs"]));
  assert.ok(outcome.kind === "saved" && outcome.replaced === "m2");
});

test("a write of another file in the same moment is no conflict", async () => {
  const outcome = await save("old", storeOf(["old"], ["old"]));
  assert.ok(outcome.kind === "saved" && outcome.replaced === null);
});
