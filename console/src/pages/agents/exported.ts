// A tool of a toolbox, whatever the format in which it came. Pure.

import { parseExactly } from "../../api/json.ts";

export interface ExportedTool {
  name: string;
  description: string;
  /** The schema of its arguments, or null if the format has none. */
  schema: unknown;
  /** What the format says besides. */
  notes: string[];
}

type Fields = Record<string, unknown>;

/** Reads a tool by the fields that its format gives it (docs/formats.md). */
export function exportedTool(tool: unknown): ExportedTool {
  const outer = asFields(tool);
  // OpenAI's chat format has the tool inside `function`.
  const fields = "function" in outer ? asFields(outer["function"]) : outer;
  const schema = fields["parameters_schema"] ?? fields["input_schema"] ?? fields["inputSchema"] ?? fields["args_schema"] ?? fields["parameters"] ?? null;
  return { name: text(fields["id"]) || text(fields["name"]), description: text(fields["description"]), schema: parsed(schema), notes: notesOf(fields) };
}

function notesOf(fields: Fields): string[] {
  const notes: string[] = [];
  if (fields["strict"] === true) notes.push("strict");
  const hints = asFields(fields["annotations"]);
  if (hints["readOnlyHint"] === true) notes.push("reads only");
  if (hints["destructiveHint"] === true) notes.push("may destroy");
  if ("config" in fields && fields["config"] !== null) notes.push("configured");
  if (fields["needs_approval"] === true) notes.push("approval");
  return notes;
}

function parsed(schema: unknown): unknown {
  if (typeof schema !== "string") return schema;
  try {
    return parseExactly(schema);
  } catch {
    return null;
  }
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
