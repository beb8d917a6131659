// Modules and MCP servers in one form, for tables. Pure.

interface Common {
  url?: string | null;
  enabled: boolean;
  status: string;
  tools: number;
  held_back: number;
  discovered_at?: string | null;
  last_error?: string | null;
}

export interface ServerRow {
  kind: "modules" | "mcp";
  id: string;
  /** `manifest`, `openapi`, or the transport. */
  sort: string;
  /** The URL, or the command line. */
  address: string;
  toolset: string | null;
  enabled: boolean;
  status: string;
  tools: number;
  heldBack: number;
  discoveredAt: string | null;
  error: string | null;
}

const common = (it: Common) => ({
  enabled: it.enabled,
  status: it.status,
  tools: it.tools,
  heldBack: it.held_back,
  discoveredAt: it.discovered_at ?? null,
  error: it.last_error ?? null,
});

export function moduleRow(it: Common & { name: string; kind: string; url: string }): ServerRow {
  return { kind: "modules", id: it.name, sort: it.kind, address: it.url, toolset: null, ...common(it) };
}

export function mcpRow(it: Common & { id: string; transport: string; command?: string | null; args: string[]; toolset_id?: string | null }): ServerRow {
  return { kind: "mcp", id: it.id, sort: it.transport, address: it.url ?? commandLine(it.command ?? "", it.args), toolset: it.toolset_id ?? null, ...common(it) };
}

/** The command line of a process. Arguments that a shell would split have quotes. */
export function commandLine(command: string, args: string[]): string {
  return [command, ...args].map((it) => (/^[\w@%+=:,./~-]+$/.test(it) ? it : `'${it.replaceAll("'", `'\\''`)}'`)).join(" ");
}
