// What a person types about a server, and the bodies that the API gets from it. Pure.

/** A header or a variable. Its stored value is never shown, and is kept as long as nothing is typed. */
export interface Secret {
  name: string;
  value: string;
  isStored: boolean;
}

/** Tells the API to keep the stored value. */
const KEEP = "***";

export function secretsOf(masked: Record<string, string>): Secret[] {
  return Object.keys(masked).map((name) => ({ name, value: "", isStored: true }));
}

function valuesOf(secrets: Secret[]): Record<string, string> {
  const given = secrets.filter((it) => it.name.trim() !== "");
  return Object.fromEntries(given.map((it) => [it.name.trim(), it.value === "" && it.isStored ? KEEP : it.value]));
}

/** One entry on each line. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((it) => it.trim())
    .filter((it) => it !== "");
}

/** The fields of `after` that differ from `before`. */
function changed<T extends object>(before: T, after: T): Partial<T> {
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify((before as Record<string, unknown>)[name]);
  return Object.fromEntries(Object.entries(after).filter(differs)) as Partial<T>;
}

export interface ModuleDraft {
  name: string;
  url: string;
  kind: "manifest" | "openapi";
  slow: boolean;
  timeout: string;
  headers: Secret[];
  autoAccept: boolean;
  tags: string;
  paths: string;
  operations: string;
  hosts: string;
}

export const NEW_MODULE: ModuleDraft = {
  name: "",
  url: "",
  kind: "manifest",
  slow: false,
  timeout: "",
  headers: [],
  autoAccept: false,
  tags: "",
  paths: "",
  operations: "",
  hosts: "",
};

interface Include {
  tags: string[];
  paths: string[];
  operations: string[];
  hosts: string[];
}

/** Chooses nothing, and clears an old choice. */
const NO_CHOICE: Include = { tags: [], paths: [], operations: [], hosts: [] };

interface StoredModule {
  name: string;
  url: string;
  kind: "manifest" | "openapi";
  slow: boolean;
  timeout_seconds?: number | null;
  headers: Record<string, string>;
  auto_accept: boolean;
  include?: Partial<Include> | null;
}

export function moduleDraft(it: StoredModule): ModuleDraft {
  const lines = (list: string[] | undefined) => (list ?? []).join("\n");
  return {
    name: it.name,
    url: it.url,
    kind: it.kind,
    slow: it.slow,
    timeout: it.timeout_seconds === null || it.timeout_seconds === undefined ? "" : String(it.timeout_seconds),
    headers: secretsOf(it.headers),
    autoAccept: it.auto_accept,
    tags: lines(it.include?.tags),
    paths: lines(it.include?.paths),
    operations: lines(it.include?.operations),
    hosts: lines(it.include?.hosts),
  };
}

function moduleSettings(draft: ModuleDraft) {
  const include: Include = { tags: linesOf(draft.tags), paths: linesOf(draft.paths), operations: linesOf(draft.operations), hosts: linesOf(draft.hosts) };
  return {
    url: draft.url.trim(),
    kind: draft.kind,
    slow: draft.slow,
    headers: valuesOf(draft.headers),
    auto_accept: draft.autoAccept,
    // A manifest names its tools itself.
    include: draft.kind === "openapi" ? include : NO_CHOICE,
    ...(draft.timeout.trim() === "" ? {} : { timeout_seconds: Number(draft.timeout) }),
  };
}

export function moduleBody(draft: ModuleDraft) {
  return { name: draft.name.trim(), ...moduleSettings(draft) };
}

/** Only what differs, so that nothing is overwritten that somebody else has changed meanwhile. */
export function modulePatch(before: ModuleDraft, after: ModuleDraft) {
  return changed(moduleSettings(before), moduleSettings(after));
}

export type Transport = "streamable-http" | "sse" | "stdio";
export const RISKS = ["safe", "low", "medium", "high", "critical"] as const;

export interface McpDraft {
  id: string;
  transport: Transport;
  url: string;
  headers: Secret[];
  command: string;
  args: string;
  env: Secret[];
  cwd: string;
  allowedHosts: string;
  requiresApproval: boolean;
  risk: (typeof RISKS)[number];
  autoAccept: boolean;
}

export const NEW_MCP: McpDraft = {
  id: "",
  transport: "streamable-http",
  url: "",
  headers: [],
  command: "",
  args: "",
  env: [],
  cwd: "",
  allowedHosts: "",
  requiresApproval: true,
  risk: "medium",
  autoAccept: false,
};

interface StoredMcp {
  id: string;
  transport: Transport;
  url?: string | null;
  headers: Record<string, string>;
  command?: string | null;
  args: string[];
  env: Record<string, string>;
  cwd?: string | null;
  allowed_hosts: string[];
  requires_approval: boolean;
  risk_level: McpDraft["risk"];
  auto_accept: boolean;
}

export function mcpDraft(it: StoredMcp): McpDraft {
  return {
    id: it.id,
    transport: it.transport,
    url: it.url ?? "",
    headers: secretsOf(it.headers),
    command: it.command ?? "",
    args: it.args.join("\n"),
    env: secretsOf(it.env),
    cwd: it.cwd ?? "",
    allowedHosts: it.allowed_hosts.join("\n"),
    requiresApproval: it.requires_approval,
    risk: it.risk_level,
    autoAccept: it.auto_accept,
  };
}

function mcpSettings(draft: McpDraft) {
  const remote = { url: draft.url.trim(), headers: valuesOf(draft.headers) };
  const process = {
    command: draft.command.trim(),
    // An argument may have spaces at its ends, so the lines stay as they are.
    args: draft.args.split("\n").filter((it) => it !== ""),
    env: valuesOf(draft.env),
    allowed_hosts: linesOf(draft.allowedHosts),
    ...(draft.cwd.trim() === "" ? {} : { cwd: draft.cwd.trim() }),
  };
  return {
    transport: draft.transport,
    requires_approval: draft.requiresApproval,
    risk_level: draft.risk,
    auto_accept: draft.autoAccept,
    ...(draft.transport === "stdio" ? process : remote),
  };
}

export function mcpBody(draft: McpDraft) {
  return { id: draft.id.trim(), ...mcpSettings(draft) };
}

export function mcpPatch(before: McpDraft, after: McpDraft) {
  return changed(mcpSettings(before), mcpSettings(after));
}
