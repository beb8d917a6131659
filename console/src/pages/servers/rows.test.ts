import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine, mcpRow, moduleRow } from "./rows.ts";

const COMMON = { enabled: true, status: "ok", tools: 2, held_back: 1, discovered_at: null, last_error: null };

test("a module's address is its URL, and a process' address its command line", () => {
  assert.equal(moduleRow({ ...COMMON, name: "dice", kind: "manifest", url: "http://a" }).address, "http://a");
  const row = mcpRow({ ...COMMON, id: "time", transport: "stdio", url: null, command: "uvx", args: ["mcp-server-time"], toolset_id: null });
  assert.equal(row.address, "uvx mcp-server-time");
  assert.equal(row.heldBack, 1);
});

test("arguments that a shell would split have quotes", () => {
  assert.equal(commandLine("python3", ["-c", "print('a b')"]), `python3 -c 'print('\\''a b'\\'')'`);
});
