import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tool } from "../../api/types.ts";
import { groupTools } from "./groups.ts";

const tool = (id: string, source: Tool["source"], more: Partial<Tool> = {}) => ({ id, source, module: null, toolset_id: null, server_id: null, ...more }) as Tool;

test("each module, toolset and server is a group, in a fixed order", () => {
  const groups = groupTools([
    tool("read_file", "builtin"),
    tool("b.one", "module", { module: "b" }),
    tool("mine", "registered"),
    tool("a.one", "module", { module: "a" }),
    tool("time:now", "mcp", { server_id: "time", toolset_id: "clock" }),
    tool("notes:add", "toolset", { toolset_id: "notes" }),
    tool("b.two", "module", { module: "b" }),
  ]);
  assert.deepEqual(
    groups.map((it) => [it.title, it.tools.map(({ id }) => id).join(" ")]),
    [
      ["Built-in", "read_file"],
      ["Registered", "mine"],
      ["Module a", "a.one"],
      ["Module b", "b.one b.two"],
      ["Toolset notes", "notes:add"],
      ["MCP server time", "time:now"],
    ],
  );
  assert.equal(groups.at(-1)?.toolset, "clock");
  assert.equal(groups[4]?.toolset, null);
});

test("without tools there are no groups", () => {
  assert.deepEqual(groupTools([]), []);
});
