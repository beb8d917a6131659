import assert from "node:assert/strict";
import { test } from "node:test";
import { mcpBody, mcpDraft, mcpPatch, moduleBody, moduleDraft, modulePatch, NEW_MCP, NEW_MODULE } from "./drafts.ts";

test("a new module sends what was typed, and no timeout if there is none", () => {
  const body = moduleBody({ ...NEW_MODULE, name: " dice ", url: " http://a ", headers: [{ name: "X-Key", value: "s", isStored: false }] });
  assert.deepEqual(body, { name: "dice", url: "http://a", kind: "manifest", slow: false, headers: { "X-Key": "s" }, auto_accept: false, include: { tags: [], paths: [], operations: [], hosts: [] } });
});

const STORED = { name: "dice", url: "http://a", kind: "openapi" as const, slow: false, timeout_seconds: 5, headers: { "X-Key": "***", "X-Old": "***" }, auto_accept: false, include: { tags: ["a"] } };

test("a patch has only what differs", () => {
  const before = moduleDraft(STORED);
  assert.deepEqual(modulePatch(before, before), {});
  assert.deepEqual(modulePatch(before, { ...before, slow: true, timeout: "9" }), { slow: true, timeout_seconds: 9 });
  assert.deepEqual(modulePatch(before, { ...before, tags: "a\n\n b " }), { include: { tags: ["a", "b"], paths: [], operations: [], hosts: [] } });
});

test("stored values are kept unless something is typed", () => {
  const before = moduleDraft(STORED);
  const [key, old] = before.headers;
  assert.ok(key !== undefined && old !== undefined);
  assert.deepEqual(modulePatch(before, { ...before, headers: [{ ...key, value: "new" }, old] }), { headers: { "X-Key": "new", "X-Old": "***" } });
  assert.deepEqual(modulePatch(before, { ...before, headers: [old] }), { headers: { "X-Old": "***" } });
});

test("a remote MCP server sends nothing about a process, and a process nothing about a URL", () => {
  assert.deepEqual(mcpBody({ ...NEW_MCP, id: "docs", url: "http://a" }), {
    id: "docs",
    transport: "streamable-http",
    requires_approval: true,
    risk_level: "medium",
    auto_accept: false,
    url: "http://a",
    headers: {},
  });
  const body = mcpBody({ ...NEW_MCP, id: "time", transport: "stdio", command: "uvx", args: "mcp-server-time\n--tz=Europe/Paris\n" });
  assert.deepEqual(body, {
    id: "time",
    transport: "stdio",
    requires_approval: true,
    risk_level: "medium",
    auto_accept: false,
    command: "uvx",
    args: ["mcp-server-time", "--tz=Europe/Paris"],
    env: {},
    allowed_hosts: [],
  });
});

test("a patch of an MCP server has only what differs", () => {
  const before = mcpDraft({
    id: "docs",
    transport: "streamable-http",
    url: "http://a",
    headers: { Authorization: "***" },
    command: null,
    args: [],
    env: {},
    cwd: null,
    allowed_hosts: [],
    requires_approval: true,
    risk_level: "medium",
    auto_accept: false,
  });
  assert.deepEqual(mcpPatch(before, { ...before, risk: "low" }), { risk_level: "low" });
  assert.deepEqual(mcpPatch(before, { ...before, headers: [] }), { headers: {} });
});
