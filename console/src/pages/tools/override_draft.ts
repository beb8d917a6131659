// The override of a tool as the fields of a form, and back. Pure.

import { parseExactly } from "../../api/json.ts";
import type { Schemas } from "../../api/types.ts";

type Override = Schemas["OverrideOut"];

/** "" means that the override says nothing about it. */
export interface OverrideDraft {
  name: string;
  description: string;
  approval: "" | "true" | "false";
  enabled: "" | "true" | "false";
  renderer: string;
  config: string;
}

export function overrideDraft(override: Override | null): OverrideDraft {
  const word = (value: boolean | null | undefined) => (value === null || value === undefined ? "" : value ? "true" : "false");
  return {
    name: override?.name_override ?? "",
    description: override?.description_override ?? "",
    approval: word(override?.requires_approval),
    enabled: word(override?.enabled),
    renderer: override?.renderer ?? "",
    config: override?.renderer_config ? JSON.stringify(override.renderer_config, null, 2) : "",
  };
}

/** The body of the PUT, or what is wrong with the configuration. */
export function overrideBody(draft: OverrideDraft): { body: Record<string, unknown> } | { problem: string } {
  const body: Record<string, unknown> = {};
  if (draft.name.trim() !== "") body["name_override"] = draft.name.trim();
  if (draft.description.trim() !== "") body["description_override"] = draft.description.trim();
  if (draft.approval !== "") body["requires_approval"] = draft.approval === "true";
  if (draft.enabled !== "") body["enabled"] = draft.enabled === "true";
  if (draft.renderer !== "") {
    body["renderer"] = draft.renderer;
    try {
      body["renderer_config"] = parseExactly(draft.config === "" ? "{}" : draft.config) as unknown;
    } catch (cause) {
      return { problem: `This is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}` };
    }
  }
  return { body };
}
