// The requests about one server. Modules and MCP servers have the same ones at different paths.

import { type ApiRequest, request, send } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";

export type Kind = "modules" | "mcp";
export type Details = Schemas["ModuleDetails"] | Schemas["McpServerDetails"];
export type Refreshed = Schemas["Refreshed"];
type HeldBackPage = Schemas["HeldBackPage"];
/** A definition that waits. Its `hash` names what is offered. */
export type Held = HeldBackPage["held_back"][number];

interface Requests {
  get: ApiRequest<Details>;
  remove: ApiRequest<null>;
  refresh: ApiRequest<Refreshed | { modules: Refreshed[] }>;
  heldBack: (cursor: string | undefined) => ApiRequest<HeldBackPage>;
  /** Accepts these definitions, or everything that is held back; in both cases only if none of those that were read has changed. */
  accept: (read: readonly Held[], isEverything: boolean) => ApiRequest<Schemas["AcceptOut"]>;
  change: (patch: Schemas["ModulePatch"] & Schemas["McpServerPatch"]) => ApiRequest<Details>;
}

export function requestsOf(kind: Kind, id: string): Requests {
  const page = (cursor: string | undefined) => ({ limit: 50, ...(cursor === undefined ? {} : { cursor }) });
  const chosen = (read: readonly Held[], isEverything: boolean) => ({
    ...(isEverything ? {} : { tools: read.map((it) => it.tool_id) }),
    hashes: Object.fromEntries(read.map((it) => [it.tool_id, it.hash])),
  });
  if (kind === "modules") {
    const path = { module: id };
    return {
      get: request("get", "/api/modules/{module}", { path }),
      remove: request("delete", "/api/modules/{module}", { path }),
      refresh: request("post", "/api/refresh-tools", { body: { modules: [id] } }),
      heldBack: (cursor) => request("get", "/api/modules/{module}/held-back", { path, query: page(cursor) }),
      accept: (read, isEverything) => request("post", "/api/modules/{module}/accept", { path, body: chosen(read, isEverything) }),
      change: (body) => request("patch", "/api/modules/{module}", { path, body }),
    };
  }
  const path = { server_id: id };
  return {
    get: request("get", "/api/mcp-servers/{server_id}", { path }),
    remove: request("delete", "/api/mcp-servers/{server_id}", { path }),
    refresh: request("post", "/api/mcp-servers/{server_id}/refresh", { path }),
    heldBack: (cursor) => request("get", "/api/mcp-servers/{server_id}/held-back", { path, query: page(cursor) }),
    accept: (read, isEverything) => request("post", "/api/mcp-servers/{server_id}/accept", { path, body: chosen(read, isEverything) }),
    change: (body) => request("patch", "/api/mcp-servers/{server_id}", { path, body }),
  };
}

/** Asks servers for their tools. The response has one outcome, or a list of them. */
export async function refresh(asked: Requests["refresh"]): Promise<Refreshed[]> {
  const outcome = await send(asked);
  return "modules" in outcome ? outcome.modules : [outcome];
}
