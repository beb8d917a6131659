import assert from "node:assert/strict";
import { test } from "node:test";

import { textOf } from "./file_text.ts";

test("a text that is saved again has the same bytes, also with a byte order mark", async () => {
  for (const bytes of [[0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a], [0x61, 0xc3, 0xbc], []]) {
    const read = await new Blob([new Uint8Array(bytes)]).arrayBuffer();
    assert.deepEqual([...new Uint8Array(await new Blob([textOf(read)]).arrayBuffer())], bytes);
  }
});
