// How many definitions of modules and MCP servers wait for an admin. Only admins may ask.

import { useMemo } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link } from "../../location.ts";
import { ownerOf } from "./groups.ts";

const EVERY = 60_000;

/** The upstreams that hold something back, by `upstreamKey`. */
export function useHeldBack(): Map<string, number> {
  const allowed = may("admin");
  const modules = useLoad(allowed ? request("get", "/api/modules", { query: { limit: 200 } }) : null, EVERY);
  const servers = useLoad(allowed ? request("get", "/api/mcp-servers", { query: { limit: 200 } }) : null, EVERY);
  const counts = [
    ...(modules.data?.modules ?? []).map((it): [string, number] => [upstreamKey("module", it.name), it.held_back]),
    ...(servers.data?.mcp_servers ?? []).map((it): [string, number] => [upstreamKey("mcp", it.id), it.held_back]),
  ];
  return new Map(counts.filter(([, count]) => count > 0));
}

/** How many definitions the upstream of one tool holds back. */
export function useHeldBackOf(tool: Tool): number {
  const owner = may("admin") ? ownerOf(tool) : null;
  const module = useLoad(owner !== null && tool.source === "module" ? request("get", "/api/modules/{module}", { path: { module: owner } }) : null);
  const server = useLoad(owner !== null && tool.source === "mcp" ? request("get", "/api/mcp-servers/{server_id}", { path: { server_id: owner } }) : null);
  return module.data?.held_back ?? server.data?.held_back ?? 0;
}

/** The tools of an upstream that have a definition waiting, if it holds any back. */
export function useHeldBackTools(kind: Tool["source"], owner: string | null, count: number): ReadonlySet<string> {
  const asked = owner !== null && count > 0 ? owner : null;
  const query = { limit: 200 };
  const module = useLoad(asked !== null && kind === "module" ? request("get", "/api/modules/{module}/held-back", { path: { module: asked }, query }) : null);
  const server = useLoad(asked !== null && kind === "mcp" ? request("get", "/api/mcp-servers/{server_id}/held-back", { path: { server_id: asked }, query }) : null);
  const found = module.data?.held_back ?? server.data?.held_back;
  return useMemo(() => new Set(found?.map((it) => it.tool_id)), [found]);
}

export function upstreamKey(kind: string, owner: string | null): string {
  return `${kind} ${owner ?? ""}`;
}

/** The page of a module, toolset or MCP server. */
export function upstreamLink(kind: Tool["source"], owner: string): string {
  if (kind === "toolset") return link(["toolsets", owner]);
  return link(["servers", kind === "module" ? "modules" : "mcp", owner]);
}
