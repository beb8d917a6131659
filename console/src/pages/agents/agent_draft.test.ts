import assert from "node:assert/strict";
import { test } from "node:test";

import type { Agent } from "../../api/types.ts";
import { agentBody, agentDraft, agentPatch, draftProblems, words } from "./agent_draft.ts";

const agent: Agent = {
  id: "agent_1",
  name: "Clerk",
  capabilities: ["mail", "net"],
  max_risk: "low",
  allowed_modules: [],
  permission_level: "user",
  default_tools: true,
  find_tools: false,
  system_prompt: "Be brief.",
  model: null,
  max_steps: 4,
  temperature: 0,
  created_at: "2026-11-18T00:00:00.000Z",
  default_tools_in_use: true,
};

test("an unchanged form changes nothing", () => {
  assert.deepEqual(agentPatch(agentDraft(agent), agent), {});
});

test("only what differs is sent, and an emptied field is cleared", () => {
  const draft = { ...agentDraft(agent), name: " Chief ", system_prompt: "", max_steps: "", temperature: "", capabilities: "mail," };
  assert.deepEqual(agentPatch(draft, agent), { name: "Chief", capabilities: ["mail"], system_prompt: "", max_steps: 0, temperature: -1 });
});

test("a temperature of 0 is a temperature", () => {
  assert.equal(agentDraft(agent).temperature, "0");
  assert.equal(agentBody({ ...agentDraft(agent), temperature: "0" }).temperature, 0);
});

test("a new agent says only what was filled in", () => {
  assert.deepEqual(agentBody({ ...agentDraft(null), name: "New", allowed_modules: "a, b" }), {
    name: "New",
    capabilities: [],
    max_risk: "medium",
    permission_level: "user",
    allowed_modules: ["a", "b"],
    default_tools: true,
    find_tools: false,
  });
});

test("faults are named by field", () => {
  assert.deepEqual(draftProblems({ ...agentDraft(null), max_steps: "many" }), { name: "An agent needs a name", max_steps: "This is no number" });
  assert.deepEqual(words(" a ,, b"), ["a", "b"]);
});
