import assert from "node:assert/strict";
import { test } from "node:test";

import { overrideBody, overrideDraft } from "./override_draft.ts";

test("what was read is sent back", () => {
  const override = {
    toolset_id: "notes",
    tool_id: "notes:add",
    by_admin: true,
    name_override: "Add",
    description_override: null,
    requires_approval: false,
    enabled: null,
    renderer: "code" as const,
    renderer_config: { file: "$args.path" } as never,
  };
  assert.deepEqual(overrideBody(overrideDraft(override)), { body: { name_override: "Add", requires_approval: false, renderer: "code", renderer_config: { file: "$args.path" } } });
});

test("an empty form says nothing", () => {
  assert.deepEqual(overrideBody(overrideDraft(null)), { body: {} });
});

test("a configuration must be JSON, if there is a renderer", () => {
  const draft = { ...overrideDraft(null), config: "{" };
  assert.deepEqual(overrideBody(draft), { body: {} });
  assert.match((overrideBody({ ...draft, renderer: "html" }) as { problem: string }).problem, /not valid JSON/);
});
