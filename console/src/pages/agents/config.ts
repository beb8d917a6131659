// The configuration of an attached tool as the parts of a form, and back. Pure.
// `default_<parameter>` fills a parameter that a call omits, `max_result_bytes` cuts results, and all other keys are the tool's.

import { parseExactly } from "../../api/json.ts";
import type { Json } from "../../api/types.ts";
import { isSecret } from "../../parts/form/secrets.ts";

type JsonObject = { [key: string]: Json };
type Schema = Record<string, unknown>;

export interface ConfigParts {
  /** Defaults of parameters, by their names. */
  defaults: JsonObject;
  /** As the person has typed it. */
  maxResultBytes: string;
  /** The other keys, as JSON. */
  other: string;
}

const PREFIX = "default_";

/** A schema whose value are the defaults of a tool's parameters: nothing is required, and secrets cannot have a default. */
export function defaultsSchema(parameters: unknown): Schema {
  const root = asObject(parameters);
  const properties = asObject(root["properties"]);
  const shared = Object.fromEntries(["$defs", "definitions"].filter((it) => it in root).map((it) => [it, root[it]]));
  if (Object.keys(properties).length === 0) return { type: "object", ...shared };
  const open = Object.entries(properties).filter(([, it]) => !isSecret(asObject(it)));
  // A default of the schema is what the tool does by itself; a form would fill it in, and so fix it for this agent.
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(open.map(([name, it]) => [name, withoutDefault(it)])), ...shared };
}

function withoutDefault(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  const { default: _, ...rest } = schema as Schema;
  return rest;
}

export function splitConfig(config: JsonObject | null | undefined, schema: Schema): ConfigParts {
  const properties = "properties" in schema ? asObject(schema["properties"]) : null;
  const defaults: JsonObject = {};
  const other: JsonObject = {};
  let maxResultBytes = "";
  for (const [key, value] of Object.entries(config ?? {})) {
    const parameter = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : "";
    if (key === "max_result_bytes" && typeof value === "number") maxResultBytes = String(value);
    else if (parameter !== "" && (properties === null || parameter in properties)) defaults[parameter] = value;
    else other[key] = value;
  }
  return { defaults, maxResultBytes, other: Object.keys(other).length === 0 ? "" : JSON.stringify(other, null, 2) };
}

/** The configuration, and what is wrong with the parts, by part. */
export function joinConfig(parts: ConfigParts): { config: JsonObject; problems: { maxResultBytes?: string; other?: string } } {
  const config: JsonObject = {};
  const problems: { maxResultBytes?: string; other?: string } = {};
  for (const [name, value] of Object.entries(parts.defaults)) config[PREFIX + name] = value;
  const bytes = parts.maxResultBytes.trim();
  if (bytes !== "") {
    if (/^\d+$/.test(bytes)) config["max_result_bytes"] = Number(bytes);
    else problems.maxResultBytes = "This is no whole number";
  }
  if (parts.other.trim() !== "") {
    try {
      const other = parseExactly(parts.other) as Json;
      if (typeof other === "object" && other !== null && !Array.isArray(other)) Object.assign(config, other);
      else problems.other = "This must be a JSON object, such as {}";
    } catch (cause) {
      problems.other = `This is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`;
    }
  }
  return { config, problems };
}

/** The API names places in the configuration; the form has the parameters at its top. */
export function placesInForm<P extends { path: string }>(problems: readonly P[]): P[] {
  return problems.map((it) => ({ ...it, path: it.path.replace(/^\/config\/default_/, "/").replace(/^\/config$/, "") }));
}

/** Whether the form shows all of them at its fields. */
export function areAtFields(problems: readonly { path: string }[]): boolean {
  return problems.length > 0 && problems.every((it) => it.path.startsWith("/config/"));
}

function asObject(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}
