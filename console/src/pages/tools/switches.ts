// What can be done with a version of a tool. Pure.

import type { Tool } from "../../api/types.ts";

/** `reason` changes why an inactive version is inactive. */
export type Switch = "rollback" | "activate" | "deactivate" | "reason";

/** Below zero if `a` is the lower version. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [a, b].map((it) => it.split(".").map(Number));
  for (let index = 0; index < 3; index++) {
    const difference = (one?.[index] ?? 0) - (other?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The switches of a version, in the order of their buttons. `active` is the version that is active now, if there is one. */
export function switchesOf(version: Tool, active: string | null): Switch[] {
  if (version.source === "builtin") return [];
  if (version.active) return ["deactivate"];
  // What was deactivated for security stays so.
  if (version.deactivated_reason === "security") return [];
  return [active !== null && compareVersions(version.version, active) < 0 ? "rollback" : "activate", "reason"];
}

const REASONS: Record<NonNullable<Tool["deactivated_reason"]>, string> = {
  version_update: "replaced by a newer version",
  deprecated: "deprecated",
  operator_request: "deactivated on request",
  security: "deactivated for security",
};

/** Why a version is not active, in words. */
export function inactiveWords(reason: Tool["deactivated_reason"]): string {
  return reason === null || reason === undefined ? "inactive" : (REASONS[reason] ?? reason);
}

/** Why a version has no switches, or null. */
export function whyNoSwitches(version: Tool): string | null {
  if (version.source === "builtin") return "The newest version of a built-in is always active.";
  if (!version.active && version.deactivated_reason === "security") return "Deactivated for security, for good.";
  return null;
}
