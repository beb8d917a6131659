// The text from which a tool is registered. Pure.

import { parseExactly } from "../../api/json.ts";
import type { Json, Tool } from "../../api/types.ts";

export interface Start {
  id: string;
  title: string;
  body: { [key: string]: Json };
}

const TEXT_SCHEMA = { type: "object", properties: { text: { type: "string", description: "The text" } }, required: ["text"] };

/** Tools to begin with, one for each kind of handler. The first is the one of docs/versions.md. */
export const STARTS: Start[] = [
  {
    id: "http",
    title: "A server of mine",
    body: {
      id: "word_count",
      version: "1.0.0",
      name: "Count words",
      description: "Counts the words of a text.",
      parameters_schema: TEXT_SCHEMA,
      handler: { type: "http", url: "http://127.0.0.1:9000" },
      category: "text",
      risk_level: "safe",
    },
  },
  {
    id: "rest",
    title: "A REST API",
    body: {
      id: "get_user",
      version: "1.0.0",
      name: "Get a user",
      description: "Finds a user by the number.",
      parameters_schema: { type: "object", properties: { id: { type: "integer" }, fields: { type: "string" } }, required: ["id"] },
      handler: { type: "rest", method: "GET", url: "https://api.example.com/v1/users/{id}", query: ["fields"] },
      category: "users",
      risk_level: "safe",
    },
  },
  {
    id: "python",
    title: "Python",
    body: {
      id: "line_count",
      version: "1.0.0",
      name: "Count lines",
      description: "Counts the lines of a text.",
      parameters_schema: TEXT_SCHEMA,
      handler: { type: "python", function: "count", code: "def count(text):\n    return len(text.splitlines())\n" },
      category: "text",
      risk_level: "safe",
    },
  },
  {
    id: "builtin",
    title: "Another form of a built-in",
    body: {
      id: "read_report",
      version: "1.0.0",
      name: "Read a report",
      description: "Reads a file of the folder /reports.",
      parameters_schema: { type: "object", properties: { path: { type: "string", pattern: "^/reports/" } }, required: ["path"] },
      handler: { type: "builtin", key: "read_file" },
      category: "reports",
      risk_level: "safe",
      rate_limit: 60,
    },
  },
];

/** The fields of a registration, in the order in which people read them. */
const FIELDS = [
  "id",
  "version",
  "name",
  "description",
  "parameters_schema",
  "returns_schema",
  "handler",
  "category",
  "risk_level",
  "requires_approval",
  "required_permission",
  "required_capabilities",
  "rate_limit",
  "timeout_seconds",
  "execution_mode",
  "resource_class",
  "rollback_strategy",
  "credentials_required",
  "side_effects",
  "examples",
] as const;

/** A tool as the beginning of its next version. `tool` was read with `schemas=object`. */
export function nextVersion(tool: Tool, highest: string): { [key: string]: Json } {
  const body: { [key: string]: Json } = {};
  for (const name of FIELDS) {
    const value = (tool as unknown as { [key: string]: Json | undefined })[name];
    if (value !== null && value !== undefined) body[name] = value;
  }
  body["version"] = nextPatch(highest);
  return body;
}

/** 1.2.3 becomes 1.2.4. */
export function nextPatch(version: string): string {
  const [major = "1", minor = "0", patch = "0"] = version.split(".");
  return `${major}.${minor}.${Number(patch) + 1}`;
}

/** Reads the text of the editor. The message says where the JSON breaks off. */
export function readDraft(text: string): { body: { [key: string]: Json } } | { problem: string } {
  let value: Json;
  try {
    value = parseExactly(text) as Json;
  } catch (cause) {
    return { problem: `This is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { problem: "A tool is a JSON object: it begins with {" };
  return { body: value };
}
