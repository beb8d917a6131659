import assert from "node:assert/strict";
import { test } from "node:test";

import { wantedAgent } from "./agent_choice.ts";

const [one, two] = [{ id: "agent_1" }, { id: "agent_2" }];
const nobody = { bound: null, asked: null, last: undefined, listed: [one, two] };

test("an agent that somebody has named answers, and no other", () => {
  assert.equal(wantedAgent(nobody), undefined);
  assert.equal(wantedAgent({ ...nobody, last: "agent_2" }), "agent_2");
  assert.equal(wantedAgent({ ...nobody, last: "agent_2", asked: "agent_900" }), "agent_900");
  assert.equal(wantedAgent({ bound: "agent_1", asked: "agent_900", last: "agent_2", listed: [] }), "agent_1");
  assert.equal(wantedAgent({ ...nobody, listed: [two] }), "agent_2");
});
