import assert from "node:assert/strict";
import { test } from "node:test";
import { overrideWords } from "./override_words.ts";

const NOTHING = { renderer: null, renderer_config: null, name_override: null, description_override: null, requires_approval: null, enabled: null };

test("only fields that are set are told, false ones too", () => {
  assert.deepEqual(overrideWords(NOTHING), []);
  assert.deepEqual(overrideWords({ ...NOTHING, enabled: false, requires_approval: false }), ["Switched off", "Calls need no approval"]);
  assert.deepEqual(overrideWords({ ...NOTHING, renderer: "html", renderer_config: { artifact: "a.html" } }), [
    "Results are shown as html",
    'Renderer settings: {"artifact":"a.html"}',
  ]);
});
