// The two forms of a backup: one document, or JSON Lines. Pure.

const RECORDS = ["credential", "agent", "tool", "version", "attachment", "workspace", "module", "mcp_server", "toolset", "override", "content", "end"];

/** The form of a backup, by its name and else by how it begins. */
export function formOf(name: string, beginning: string): "document" | "lines" {
  if (/\.(ndjson|jsonl)$/i.test(name)) return "lines";
  try {
    // A document may be on one line too; only a line of a backup has exactly one field, with such a name.
    const fields = Object.keys(JSON.parse(beginning.trimStart().split("\n")[0] ?? "") as object);
    return fields.length === 1 && RECORDS.includes(fields[0] ?? "") ? "lines" : "document";
  } catch {
    return "document";
  }
}

/** Whether JSON Lines end with the line that counts the others. A backup that was broken off has none. */
export function endsComplete(ending: string): boolean {
  return /(^|\n)\{"end":.*\}\s*$/.test(ending);
}
