// An agent as the fields of a form, and back. Pure.

import type { Agent, Schemas } from "../../api/types.ts";

/** Every field is a text, as the person has typed it. */
export interface AgentDraft {
  name: string;
  capabilities: string;
  max_risk: string;
  permission_level: string;
  allowed_modules: string;
  default_tools: boolean;
  find_tools: boolean;
  system_prompt: string;
  model: string;
  max_steps: string;
  temperature: string;
}

/** The fields of an agent, or of a new one. */
export function agentDraft(agent: Agent | null): AgentDraft {
  return {
    name: agent?.name ?? "",
    capabilities: (agent?.capabilities ?? []).join(", "),
    max_risk: agent?.max_risk ?? "medium",
    permission_level: agent?.permission_level ?? "user",
    allowed_modules: (agent?.allowed_modules ?? []).join(", "),
    default_tools: agent?.default_tools ?? true,
    find_tools: agent?.find_tools ?? false,
    system_prompt: agent?.system_prompt ?? "",
    model: agent?.model ?? "",
    max_steps: numberText(agent?.max_steps),
    temperature: numberText(agent?.temperature),
  };
}

function numberText(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

/** The words of a list with commas. */
export function words(text: string): string[] {
  return text
    .split(",")
    .map((it) => it.trim())
    .filter((it) => it !== "");
}

/** Faults that the API could not even be asked about, by field. */
export function draftProblems(draft: AgentDraft): Partial<Record<keyof AgentDraft, string>> {
  const problems: Partial<Record<keyof AgentDraft, string>> = {};
  if (draft.name.trim() === "") problems.name = "An agent needs a name";
  for (const field of ["max_steps", "temperature"] as const) {
    if (draft[field].trim() !== "" && !Number.isFinite(Number(draft[field]))) problems[field] = "This is no number";
  }
  return problems;
}

/** The body that creates the agent. What was left empty is left out. */
export function agentBody(draft: AgentDraft): Schemas["AgentIn"] {
  return {
    name: draft.name.trim(),
    capabilities: words(draft.capabilities),
    max_risk: draft.max_risk as Agent["max_risk"],
    permission_level: draft.permission_level as Agent["permission_level"],
    allowed_modules: words(draft.allowed_modules),
    default_tools: draft.default_tools,
    find_tools: draft.find_tools,
    ...(draft.system_prompt === "" ? {} : { system_prompt: draft.system_prompt }),
    ...(draft.model.trim() === "" ? {} : { model: draft.model.trim() }),
    ...(draft.max_steps.trim() === "" ? {} : { max_steps: Number(draft.max_steps) }),
    ...(draft.temperature.trim() === "" ? {} : { temperature: Number(draft.temperature) }),
  };
}

/** The body that changes the agent: only what differs, so that a change of somebody else in another field stays. */
export function agentPatch(draft: AgentDraft, agent: Agent): Schemas["AgentPatch"] {
  const before = agentDraft(agent);
  const body = agentBody(draft) as Record<string, unknown>;
  // In a PATCH these values clear a field, because null means that nothing is said.
  const cleared: Record<string, unknown> = { system_prompt: "", model: "", max_steps: 0, temperature: -1 };
  const patch: Record<string, unknown> = {};
  for (const field of Object.keys(before) as (keyof AgentDraft)[]) {
    if (draft[field] === before[field]) continue;
    patch[field] = field in body ? body[field] : cleared[field];
  }
  return patch;
}
