import assert from "node:assert/strict";
import { test } from "node:test";

import { callBody } from "./call.ts";

test("a call has what was chosen, and nothing else", () => {
  const nothing = { tool: "read_file", version: undefined, agent: "", session: " ", user: "" };
  assert.deepEqual(callBody(nothing, { path: "/a" }), { tool_name: "read_file", arguments: { path: "/a" } });
  assert.deepEqual(callBody({ tool: "a", version: "1.0.0", agent: "agent_1", session: "s", user: "ada " }, {}), {
    tool_name: "a@1.0.0",
    arguments: {},
    agent_id: "agent_1",
    session_id: "s",
    user_id: "ada",
  });
});
