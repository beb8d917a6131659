import assert from "node:assert/strict";
import { test } from "node:test";

import { EventLines } from "./event_lines.ts";

const STREAM = 'data: {"type":"start"}\n\n: keep-alive\n\ndata: {"type":"text-delta","delta":"a\\n\\nb"}\r\n\r\ndata: one\ndata: two\n\ndata: [DONE]\n\n';
const EVENTS = ['{"type":"start"}', '{"type":"text-delta","delta":"a\\n\\nb"}', "one\ntwo", "[DONE]"];

test("a stream is read alike wherever it is cut", () => {
  for (let cut = 0; cut <= STREAM.length; cut++) {
    const lines = new EventLines();
    // A line end of two characters that is cut in the middle is complete with the next piece.
    assert.deepEqual([...lines.read(STREAM.slice(0, cut)), ...lines.read(STREAM.slice(cut))], EVENTS, `cut at ${cut}`);
  }
});
