// The registry at a moment: its things, and what differs between two moments. Pure.

import { ExactNumber, parseExactly } from "../../api/json.ts";
import type { Query } from "../../location.ts";

/** A state of the registry, as far as it is compared here. */
export interface Registry {
  tools: readonly object[];
  versions: readonly object[];
  agents: readonly object[];
  attachments: readonly object[];
  credentials: readonly object[];
  modules: readonly object[];
  mcp_servers: readonly object[];
  toolsets: readonly object[];
  overrides: readonly object[];
  workspace: object;
}

/** A thing in the registry, under the name that the change log has for it. */
export interface Subject {
  subject: string;
  kind: string;
  state: object;
}

const text = (thing: object, ...fields: string[]): string => {
  for (const field of fields) {
    const value = (thing as Record<string, unknown>)[field];
    if (typeof value === "string") return value;
  }
  return "";
};

type List = Exclude<keyof Registry, "workspace" | "tools">;

/** The kinds of things in the order in which they are shown, and how the change log names a thing. */
const KINDS: [List, string, (thing: object) => string][] = [
  ["versions", "Tools", (it) => `tool:${text(it, "id", "tool_id")}@${text(it, "version")}`],
  ["agents", "Agents", (it) => `agent:${text(it, "id")}`],
  ["attachments", "Attachments", (it) => `attachment:${text(it, "agent_id")}/${text(it, "tool_id")}`],
  ["modules", "Modules", (it) => `module:${text(it, "name", "id")}`],
  ["mcp_servers", "MCP servers", (it) => `mcp_server:${text(it, "id", "name")}`],
  ["toolsets", "Toolsets", (it) => `toolset:${text(it, "id")}`],
  ["overrides", "Overrides", (it) => `override:${text(it, "tool_id", "id")}`],
  ["credentials", "Credentials", (it) => `credential:${text(it, "id")}`],
];

/** Everything in a state. */
export function subjectsOf(registry: Registry): Subject[] {
  const things = KINDS.flatMap(([list, kind, name]) => registry[list].map((state): Subject => ({ subject: name(state), kind, state })));
  return [...things, { subject: "workspace:settings", kind: "Settings", state: registry.workspace }];
}

/** The subjects of each kind, in the order in which they are shown. Kinds without subjects are left out. */
export function byKind<T extends { kind: string }>(subjects: readonly T[]): [string, T[]][] {
  const found = new Map<string, T[]>();
  for (const it of subjects) {
    const others = found.get(it.kind);
    if (others === undefined) found.set(it.kind, [it]);
    else others.push(it);
  }
  return [...found];
}

export interface Difference {
  subject: string;
  kind: string;
  /** `gone` was there then, and is not now; `new` has come since. */
  change: "gone" | "new" | "changed";
  before: object | null;
  after: object | null;
}

/** What differs between an earlier state and a later one. */
export function differences(earlier: Registry, later: Registry): Difference[] {
  const before = new Map(subjectsOf(earlier).map((it) => [it.subject, it]));
  const after = subjectsOf(later);
  const names = new Set(after.map((it) => it.subject));
  const gone = [...before.values()].filter((it) => !names.has(it.subject));
  const found: Difference[] = gone.map((it) => ({ subject: it.subject, kind: it.kind, change: "gone", before: it.state, after: null }));
  for (const { subject, kind, state } of after) {
    const was = before.get(subject)?.state;
    if (was === undefined) found.push({ subject, kind, change: "new", before: null, after: state });
    else if (canonical(was) !== canonical(state)) found.push({ subject, kind, change: "changed", before: was, after: state });
  }
  return found;
}

/** A JSON text that does not depend on the order of fields. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, part]) => `${JSON.stringify(name)}:${canonical(part)}`).join()}}`;
}

/** Schemas are texts in the log. Their lines can be compared once they are values. */
export function readable(state: unknown): unknown {
  if (typeof state !== "object" || state === null || Array.isArray(state)) return state;
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [name, name.endsWith("_schema") && typeof value === "string" ? parsed(value) : value]));
}

function parsed(value: string): unknown {
  try {
    return parseExactly(value);
  } catch {
    return value;
  }
}

/** The page that shows a subject, as a path and a query; null if there is none. */
export function placeOf(subject: string): [string[], Query] | null {
  const colon = subject.indexOf(":");
  const kind = subject.slice(0, colon);
  const id = subject.slice(colon + 1);
  switch (kind) {
    case "tool": {
      const at = id.lastIndexOf("@");
      return at === -1 ? [["tools", id], {}] : [["tools", id.slice(0, at)], { version: id.slice(at + 1) }];
    }
    case "override":
      return [["tools", id], {}];
    case "agent":
      return [["agents", id], {}];
    case "attachment":
      return [["agents", id.split("/")[0] ?? ""], {}];
    case "module":
      return [["servers", "modules", id], {}];
    case "mcp_server":
      return [["servers", "mcp", id], {}];
    case "toolset":
      return [["toolsets", id], {}];
    case "approval":
      return [["approvals", id], {}];
    case "credential":
    case "token":
    case "workspace":
      return [["settings"], {}];
    default:
      return null;
  }
}
