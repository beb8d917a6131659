// The arguments that a person has written for each tool. They survive a reload of the tab, but not its sign-out; secrets survive
// neither.

import { workspace } from "../../api/caller.ts";
import { parseExactly } from "../../api/json.ts";
import { type JsonObject, schemaOf, withoutSecrets } from "../form/index.tsx";

const key = (tool: string) => `pegboard-run ${workspace.value} ${tool}`;

export function keep(tool: string, schema: unknown, given: JsonObject): void {
  try {
    sessionStorage.setItem(key(tool), JSON.stringify(withoutSecrets(schemaOf(schema), given)));
  } catch {
    // The storage is full. The form itself still has the arguments.
  }
}

export function kept(tool: string): JsonObject {
  try {
    const value: unknown = parseExactly(sessionStorage.getItem(key(tool)) ?? "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
