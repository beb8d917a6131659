import assert from "node:assert/strict";
import { test } from "node:test";

import { applied, emptyMessage, type StreamEvent } from "./assembly.ts";

const read = (events: StreamEvent[]) => events.reduce(applied, emptyMessage());

test("text, reasoning, a call and its record become the parts that the API stores", () => {
  const record = { call_id: "call_1", version: "1.0.0", status: "success", duration_ms: 3, render_plan: null, approval_id: null };
  const message = read([
    { type: "start", messageId: "msg_1" },
    { type: "start-step" },
    { type: "reasoning-start", id: "t0" },
    { type: "reasoning-delta", id: "t0", delta: "Hm" },
    { type: "reasoning-end", id: "t0" },
    { type: "tool-input-start", toolCallId: "a", toolName: "read_file", dynamic: true },
    { type: "tool-input-delta", toolCallId: "a", inputTextDelta: '{"path"' },
    { type: "tool-input-available", toolCallId: "a", toolName: "read_file", input: { path: "/x" }, dynamic: true },
    { type: "tool-output-available", toolCallId: "a", output: "one", dynamic: true },
    { type: "data-call", id: "a", data: { ...record, status: "running" } },
    { type: "data-call", id: "a", data: record },
    { type: "finish-step" },
    { type: "start-step" },
    { type: "text-start", id: "t1" },
    { type: "text-delta", id: "t1", delta: "It says " },
    { type: "text-delta", id: "t1", delta: "one." },
    { type: "text-end", id: "t1" },
    { type: "something-new" },
    { type: "finish", finishReason: "stop" },
  ]);
  assert.equal(message.id, "msg_1");
  assert.equal(message.finishReason, "stop");
  assert.deepEqual(message.parts, [
    { type: "step-start" },
    { type: "reasoning", text: "Hm" },
    { type: "dynamic-tool", toolCallId: "a", toolName: "read_file", state: "output-available", inputText: '{"path"', input: { path: "/x" }, output: "one" },
    { type: "data-call", id: "a", data: record },
    { type: "step-start" },
    { type: "text", text: "It says one." },
  ]);
});

test("a turn that goes on after an approval changes the call that waited", () => {
  const paused = read([
    { type: "start", messageId: "msg_1" },
    { type: "tool-input-available", toolCallId: "a", toolName: "wipe", input: {} },
    { type: "tool-approval-request", toolCallId: "a", approvalId: "appr_1" },
    { type: "finish", finishReason: "tool-calls" },
  ]);
  assert.deepEqual(paused.parts, [{ type: "dynamic-tool", toolCallId: "a", toolName: "wipe", state: "approval-requested", input: {}, approval: { id: "appr_1" } }]);
  const gone = [{ type: "start", messageId: "msg_1" }, { type: "tool-output-denied", toolCallId: "a" }].reduce(applied, paused);
  assert.equal(gone.parts.length, 1);
  assert.equal(gone.parts[0]?.type === "dynamic-tool" && gone.parts[0].state, "output-denied");
});

test("faults of the stream are told, and pieces of an unknown text are left out", () => {
  const message = read([
    { type: "text-delta", id: "nowhere", delta: "lost" },
    { type: "error", errorText: "The model's server cannot be reached" },
    { type: "finish", finishReason: "error" },
  ]);
  assert.deepEqual([message.parts, message.error, message.finishReason], [[], "The model's server cannot be reached", "error"]);
});
