// The sessions of the workspace, the newest first: somebody who looks for one has mostly just made it.

import { request } from "./request.ts";

export function sessionsRequest(limit: number, cursor?: string) {
  const query = { limit, order: "newest" as const, ...(cursor === undefined ? {} : { cursor }) };
  return request("get", "/api/sessions", { query });
}
