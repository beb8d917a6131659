// The risk of the version that a call is for. Versions never change, so each is read once.

import { signal } from "@preact/signals";
import { workspace } from "../../api/caller.ts";
import { request, send } from "../../api/request.ts";

const known = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

/** The risk, or undefined until it is known. */
export function riskOf(tool: string, version: string | null | undefined): string | undefined {
  if (version === null || version === undefined) return undefined;
  const key = `${workspace.value} ${tool} ${version}`;
  if (!asked.has(key)) {
    asked.add(key);
    send(request("get", "/api/tools/{tool_id}/versions/{version}", { path: { tool_id: tool, version } })).then(
      (it) => {
        known.value = new Map(known.value).set(key, it.risk_level);
      },
      () => asked.delete(key),
    );
  }
  return known.value.get(key);
}
