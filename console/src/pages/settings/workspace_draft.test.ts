import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, patchOf } from "./workspace_draft.ts";

const BEFORE = draftOf({ default_guest_modules: ["dice"], model_url: "https://a/v1", model_name: null, model_streaming: "never", context_tokens: 8000 });

test("an untouched form changes nothing", () => {
  assert.deepEqual(patchOf(BEFORE, BEFORE), {});
});

test("only what was changed is sent", () => {
  assert.deepEqual(patchOf(BEFORE, { ...BEFORE, guestModules: "dice, clock" }), { default_guest_modules: ["dice", "clock"] });
  assert.deepEqual(patchOf(BEFORE, { ...BEFORE, modelKey: "k" }), { model_key: "k" });
});

test("empty fields clear settings", () => {
  assert.deepEqual(patchOf(BEFORE, { ...BEFORE, modelUrl: " ", streaming: "", contextTokens: "" }), { model_url: "", model_streaming: "", context_tokens: 0 });
  assert.deepEqual(patchOf(BEFORE, { ...BEFORE, removesKey: true }), { model_key: "" });
});
