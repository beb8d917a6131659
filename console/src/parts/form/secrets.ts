// Arguments without their secrets, for places that keep them. What may be a secret counts as one, as in the Worker. Pure.

import type { Json } from "../../api/types.ts";
import { follow, isRecord, isSchema, type JsonObject, type Keywords, type Schema } from "./schema.ts";

export const isSecret = (keywords: Keywords): boolean => keywords["writeOnly"] === true || keywords["format"] === "password";

function marksSecrets(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(marksSecrets);
  return isRecord(schema) && (isSecret(schema) || Object.values(schema).some(marksSecrets));
}

/** The arguments without the fields that are secret. A list with a secret is left out as a whole. */
export function withoutSecrets(schema: Schema, value: JsonObject): JsonObject {
  const kept = marksSecrets(schema) ? keep(schema, [schema], value) : value;
  return isRecord(kept) ? kept : {};
}

/** The same arguments with another text in place of each secret. */
export function masked(schema: Schema, value: JsonObject): JsonObject {
  return mask(value, withoutSecrets(schema, value)) as JsonObject;
}

export const MASK = "••••••";

function mask(value: Json, kept: Json | undefined): Json {
  if (kept === undefined) return MASK;
  if (Array.isArray(value)) return value.map((it, index) => mask(it, (kept as Json[])[index]));
  if (!isRecord(value)) return value;
  const own = kept as JsonObject;
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, mask(it as Json, Object.hasOwn(own, name) ? own[name] : undefined)]));
}

function keep(root: Schema, schemas: Schema[], value: Json): Json | undefined {
  const about = allAbout(root, schemas);
  if (about === undefined || about.some(isSecret)) return undefined;
  if (Array.isArray(value)) {
    const elements = value.map((it, index) => keep(root, aboutElement(about, index), it));
    return elements.includes(undefined) ? undefined : (elements as Json[]);
  }
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([name, it]): [string, Json | undefined] => {
    const described = aboutField(about, name);
    // A field that the schema does not name may be a secret under a misspelt name.
    return [name, described === undefined ? undefined : keep(root, described, it as Json)];
  });
  return Object.fromEntries(fields.filter((it): it is [string, Json] => it[1] !== undefined));
}

const MAX_SCHEMAS = 256;

/** Every schema that may describe the value. Undefined if that cannot be decided. */
function allAbout(root: Schema, schemas: Schema[]): Keywords[] | undefined {
  const found = new Set<Keywords>();
  const open = [...schemas];
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (typeof schema === "boolean" || found.has(schema)) continue;
    if (found.size >= MAX_SCHEMAS || schema["$dynamicRef"] !== undefined) return undefined;
    found.add(schema);
    if (schema["$ref"] !== undefined) {
      const target = follow(root, schema["$ref"]);
      if (target === undefined) return undefined;
      open.push(target);
    }
    for (const keyword of ["if", "then", "else", "not"]) if (isSchema(schema[keyword])) open.push(schema[keyword]);
    for (const keyword of ["allOf", "anyOf", "oneOf"]) if (Array.isArray(schema[keyword])) open.push(...schema[keyword].filter(isSchema));
    open.push(...partsOf(schema["dependentSchemas"]));
  }
  return [...found];
}

const partsOf = (value: unknown): Schema[] => (isRecord(value) ? Object.values(value).filter(isSchema) : []);

function aboutField(about: Keywords[], name: string): Schema[] | undefined {
  const schemas = about.flatMap((it) => {
    const { properties } = it;
    const own = isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
    const others = [it["additionalProperties"], it["unevaluatedProperties"]].filter(isRecord);
    return [...own, ...partsOf(it["patternProperties"]), ...others].filter(isSchema);
  });
  return schemas.length === 0 && about.some((it) => it["properties"] !== undefined) ? undefined : schemas;
}

function aboutElement(about: Keywords[], index: number): Schema[] {
  return about.flatMap((it) => {
    const own = Array.isArray(it["prefixItems"]) ? [it["prefixItems"][index]] : [];
    return [...own, it["items"], it["contains"], it["unevaluatedItems"]].filter(isSchema);
  });
}
