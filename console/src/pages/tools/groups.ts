// Tools in groups: the built-ins, the registered ones, and those of each module, toolset and MCP server. Pure.

import type { Tool } from "../../api/types.ts";

export interface ToolGroup {
  id: string;
  title: string;
  kind: Tool["source"];
  /** The module, toolset or MCP server. Null for tools that have none. */
  owner: string | null;
  /** The toolset that brought the MCP server. */
  toolset: string | null;
  tools: Tool[];
}

const ORDER: Tool["source"][] = ["builtin", "registered", "module", "toolset", "mcp"];

/** Groups in a fixed order, those of one kind by name. Within a group the tools keep their order. */
export function groupTools(tools: readonly Tool[]): ToolGroup[] {
  const groups = new Map<string, ToolGroup>();
  for (const tool of tools) {
    const owner = ownerOf(tool);
    const id = `${tool.source} ${owner ?? ""}`;
    let group = groups.get(id);
    if (group === undefined) {
      group = { id, title: titleOf(tool.source, owner), kind: tool.source, owner, toolset: tool.source === "mcp" ? (tool.toolset_id ?? null) : null, tools: [] };
      groups.set(id, group);
    }
    group.tools.push(tool);
  }
  const place = ({ kind }: ToolGroup) => ORDER.indexOf(kind);
  return [...groups.values()].toSorted((a, b) => place(a) - place(b) || ((a.owner ?? "") < (b.owner ?? "") ? -1 : 1));
}

/** The module, toolset or MCP server that a tool belongs to. */
export function ownerOf(tool: Tool): string | null {
  switch (tool.source) {
    case "module":
      return tool.module ?? null;
    case "toolset":
      return tool.toolset_id ?? null;
    case "mcp":
      return tool.server_id ?? null;
    default:
      return null;
  }
}

function titleOf(kind: Tool["source"], owner: string | null): string {
  switch (kind) {
    case "builtin":
      return "Built-in";
    case "registered":
      return "Registered";
    case "module":
      return `Module ${owner ?? ""}`;
    case "toolset":
      return `Toolset ${owner ?? ""}`;
    case "mcp":
      return `MCP server ${owner ?? ""}`;
  }
}
