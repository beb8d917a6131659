// The definition of a tool, as an admin compares it. Pure.

import { parseExactly } from "../../api/json.ts";

/** What Pegboard says about a version, and not the server. */
const OWN = new Set(["id", "active", "version", "created_at", "registered_at", "registered_by", "enabled", "needs_approval", "source", "handler_key", "warnings"]);
const SCHEMAS = ["parameters_schema", "returns_schema"];

/** The fields of a tool that are a part of its definition. Schemas are objects, so that their differences can be read. */
export function definitionOf(tool: object | null | undefined): Record<string, unknown> | null {
  if (tool === null || tool === undefined) return null;
  const fields = Object.entries(tool).filter(([name, value]) => !OWN.has(name) && value !== null && value !== undefined && !isEmptyList(value));
  return Object.fromEntries(fields.map(([name, value]) => [name, SCHEMAS.includes(name) ? parsed(value) : value]));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return parseExactly(value);
  } catch {
    return value;
  }
}
