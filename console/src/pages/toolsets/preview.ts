// What the API says about a bundle, in the form that the import shows. Pure.

/** One fault or warning of a bundle, and its place. */
export interface Note {
  file: string | null;
  line: number | null;
  path: string | null;
  message: string;
}

/** `toolset.yaml:12`, or what the note is about if it has no file. */
export function placeOf({ file, line }: Note): string {
  if (file === null) return "the ZIP";
  return line === null ? file : `${file}:${line}`;
}

/** What an import may do besides adding something new. */
export interface Options {
  replace: boolean;
  downgrade: boolean;
}

interface Refusal {
  status: number;
  message: string;
}

/**
 * The options that the API asks for when it refuses a bundle, or null if other options would not help. Its message names the
 * parameter, because a 409 may also have a reason that no option removes.
 */
export function neededOptions(present: Options, { status, message }: Refusal): Options | null {
  if (status !== 409) return null;
  if (!present.replace && message.includes("replace=true")) return { replace: true, downgrade: false };
  if (present.replace && !present.downgrade && message.includes("downgrade=true")) return { replace: true, downgrade: true };
  return null;
}

/** The faults of a refused bundle, each with its place. Empty, if the refusal is about something else. */
export function faultsOf(details: Record<string, unknown> | null): Note[] {
  const named = details?.["problems"];
  if (!Array.isArray(named)) return [];
  return named.filter((it): it is Note => typeof it === "object" && it !== null && "file" in it && "line" in it);
}

interface Named {
  added: string[];
  changed: string[];
  removed: string[];
}

export interface ChangeRow {
  what: string;
  change: "added" | "changed" | "removed";
  names: string[];
}

/** What an import changes, one row for each kind of thing and change. */
export function changeRows(changes: { tools: Named; files: Named; overrides: Named; mcp_servers: Named }): ChangeRow[] {
  const kinds: [string, Named][] = [
    ["Tools", changes.tools],
    ["Files", changes.files],
    ["Overrides", changes.overrides],
    ["MCP servers", changes.mcp_servers],
  ];
  return kinds.flatMap(([what, named]) => (["added", "changed", "removed"] as const).map((change) => ({ what, change, names: named[change] })).filter((it) => it.names.length > 0));
}

/** The word on the button that imports. */
export function importWords({ replace, downgrade }: Options, bundle: { name: string; version: string }): string {
  if (downgrade) return `Downgrade to ${bundle.name} ${bundle.version}`;
  return replace ? `Replace by ${bundle.name} ${bundle.version}` : `Import ${bundle.name} ${bundle.version}`;
}
