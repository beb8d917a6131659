// A part of a tool's definition as a text that can be compared line by line. Pure.

import { ExactNumber, parseExactly } from "../api/json.ts";

/**
 * A value as lines. The fields of objects are sorted, so that their order is no difference. Texts of several lines, such as
 * code, keep their lines. A schema that is a JSON string is read as JSON.
 */
export function definitionText(value: unknown, isSchema: boolean): string {
  if (value === null || value === undefined) return "";
  const read = isSchema && typeof value === "string" ? parsed(value) : value;
  if (typeof read === "string") return `${read}\n`;
  return `${lines(read, "")}\n`;
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return text;
  }
}

function lines(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    return value.length === 0 ? "[]" : `[\n${value.map((it) => inner + lines(it, inner)).join(",\n")}\n${indent}]`;
  }
  if (typeof value === "object" && value !== null && !(value instanceof ExactNumber)) {
    const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    if (fields.length === 0) return "{}";
    return `{\n${fields.map(([name, it]) => `${inner}${JSON.stringify(name)}: ${lines(it, inner)}`).join(",\n")}\n${indent}}`;
  }
  if (typeof value === "string" && value.includes("\n")) {
    return `"\n${value
      .split("\n")
      .map((it) => `${inner}${it}`)
      .join("\n")}\n${indent}"`;
  }
  return JSON.stringify(value) ?? "null";
}

/** Whether both sides fit on a line of a table. */
export function isShort(...values: unknown[]): boolean {
  return values.every((it) => {
    const text = typeof it === "string" ? it : (JSON.stringify(it) ?? "");
    return text.length <= 120 && !text.includes("\n") && (typeof it !== "object" || it === null || (Array.isArray(it) && it.every((part) => typeof part !== "object")));
  });
}

/** A short value in words. */
export function shortText(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(String).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
