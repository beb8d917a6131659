// JSON schemas: references are followed, and the parts of `allOf` become one schema. Pure.

import { ExactNumber } from "../../api/json.ts";
import type { Json } from "../../api/types.ts";

export type Keywords = { readonly [keyword: string]: unknown };
export type Schema = boolean | Keywords;
export type JsonObject = { [name: string]: Json };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** A number may be one that the browser cannot hold. */
export const isNumber = (value: unknown): boolean => typeof value === "number" || value instanceof ExactNumber;

export const isSchema = (value: unknown): value is Schema => typeof value === "boolean" || isRecord(value);

/** Whether two JSON values are equal, whatever the order of the properties. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof ExactNumber) return other instanceof ExactNumber && one.source === other.source;
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((it, index) => same(it, other[index]));
  if (!isRecord(one) || !isRecord(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
}

/** A form cannot say what the schema asks for. The message is for the person. */
export class Unsayable extends Error {}

/** Where a reference leads within the document; undefined if it leads elsewhere. */
export function follow(root: Schema, reference: unknown): Schema | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  const fragment = reference.slice(1);
  if (fragment === "") return root;
  if (!fragment.startsWith("/")) return anchored(root, fragment);
  let place: unknown = root;
  for (const step of fragment.slice(1).split("/")) {
    const name = unescaped(step);
    if (Array.isArray(place)) place = place[Number(name)];
    else if (isRecord(place) && Object.hasOwn(place, name)) place = place[name];
    else return undefined;
  }
  return isSchema(place) ? place : undefined;
}

function unescaped(step: string): string {
  let text = step;
  try {
    text = decodeURIComponent(step);
  } catch {
    // A per cent sign that stands for itself.
  }
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}

function anchored(place: unknown, name: string): Schema | undefined {
  if (!Array.isArray(place) && !isRecord(place)) return undefined;
  if (isRecord(place) && place["$anchor"] === name) return place;
  for (const part of Object.values(place)) {
    const found = anchored(part, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The schema as one set of keywords, without `$ref` and `allOf`. Throws `Unsayable`. */
export function flatten(root: Schema, schema: Schema): Keywords {
  return collect(root, schema, new Set());
}

function collect(root: Schema, schema: Schema, seen: ReadonlySet<Schema>): Keywords {
  if (schema === true) return {};
  if (schema === false) throw new Unsayable("The schema allows no value here.");
  if (seen.has(schema)) throw new Unsayable("The schema refers to itself and to nothing else.");
  const path = new Set(seen).add(schema);
  const { $ref: reference, allOf, ...own } = schema;
  if (own["$dynamicRef"] !== undefined) throw new Unsayable("The schema has a dynamic reference.");
  let parts: Keywords = {};
  if (reference !== undefined) {
    const target = follow(root, reference);
    if (target === undefined) throw new Unsayable(`The schema refers to ${String(reference)}, which is not in it.`);
    parts = collect(root, target, path);
  }
  for (const part of Array.isArray(allOf) ? allOf : []) if (isSchema(part)) parts = merge(parts, collect(root, part, path));
  // The fields of the parts come first, because the schema adds its own to them.
  const { properties, ...merged } = merge(own, parts);
  const ordered = isRecord(properties) ? { ...merged, properties: inOrder(properties, [propertiesOf(parts), propertiesOf(own)]) } : merged;
  return withConditionals(root, ordered, path);
}

/** Fields that only `then`, `else` or `dependentSchemas` describe are fields too. When they are wanted, the server checks. */
function withConditionals(root: Schema, keywords: Keywords, path: ReadonlySet<Schema>): Keywords {
  const { then, else: otherwise, dependentSchemas } = keywords;
  const parts = [then, otherwise, ...(isRecord(dependentSchemas) ? Object.values(dependentSchemas) : [])].filter(isRecord);
  if (parts.length === 0) return keywords;
  let properties = propertiesOf(keywords);
  for (const part of parts) properties = { ...properties, ...without(propertiesOf(collect(root, part, path)), properties) };
  // The keywords have done their work; the note about further rules remains.
  const { then: _then, else: _else, dependentSchemas: _dependent, ...rest } = keywords;
  return Object.keys(properties).length === 0 ? { ...rest, if: true } : { ...rest, if: true, properties };
}

const without = <T,>(all: Record<string, T>, known: object): Record<string, T> => Object.fromEntries(Object.entries(all).filter(([name]) => !Object.hasOwn(known, name)));

export function propertiesOf(keywords: Keywords): Record<string, Schema> {
  const { properties } = keywords;
  return isRecord(properties) ? Object.fromEntries(Object.entries(properties).filter((it): it is [string, Schema] => isSchema(it[1]))) : {};
}

const GREATER = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const LESSER = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);

/** What both sets of keywords ask for. For words such as the title, `one` comes first. */
function merge(one: Keywords, other: Keywords): Keywords {
  const merged: Record<string, unknown> = { ...other, ...one };
  for (const [keyword, mine] of Object.entries(one)) {
    if (!Object.hasOwn(other, keyword)) continue;
    const theirs = other[keyword];
    if (!same(mine, theirs)) merged[keyword] = both(keyword, mine, theirs, merged);
  }
  return merged;
}

function both(keyword: string, mine: unknown, theirs: unknown, merged: Record<string, unknown>): unknown {
  if (GREATER.has(keyword)) return Math.max(Number(mine), Number(theirs));
  if (LESSER.has(keyword)) return Math.min(Number(mine), Number(theirs));
  switch (keyword) {
    case "properties":
      return mergedProperties(mine, theirs);
    case "required":
      return [...new Set([...(mine as unknown[]), ...(theirs as unknown[])])];
    case "type":
      return commonTypes(list(mine), list(theirs));
    case "enum":
      return (mine as unknown[]).filter((it) => (theirs as unknown[]).some((other) => same(it, other)));
    case "const":
    case "prefixItems":
      throw new Unsayable("Parts of the schema contradict each other.");
    case "writeOnly":
      return true;
    case "format":
      return theirs === "password" ? theirs : mine;
    case "items":
    case "additionalProperties":
      if (mine === false || theirs === false) return false;
      return mine === true ? theirs : theirs === true ? mine : { allOf: [mine, theirs] };
    case "anyOf":
    case "oneOf": {
      // A choice within a choice. The form asks for both in turn, and it does not matter there which keyword says so.
      const free = keyword === "anyOf" ? "oneOf" : "anyOf";
      if (merged[free] !== undefined) throw new Unsayable("The schema asks for several choices at once.");
      merged[free] = theirs;
      return mine;
    }
    default:
      return mine;
  }
}

/** The same fields, in the order in which the sources name them. */
function inOrder(properties: Record<string, unknown>, sources: object[]): Record<string, unknown> {
  const names = new Set([...sources.flatMap(Object.keys), ...Object.keys(properties)]);
  return Object.fromEntries([...names].map((it) => [it, properties[it]]));
}

function mergedProperties(mine: unknown, theirs: unknown): Record<string, unknown> {
  const [own, others] = [isRecord(mine) ? mine : {}, isRecord(theirs) ? theirs : {}];
  const entries = Object.entries({ ...own, ...others }).map(([name, schema]): [string, unknown] => {
    const mine = Object.hasOwn(own, name) ? own[name] : schema;
    return [name, same(schema, mine) ? schema : { allOf: [mine, schema] }];
  });
  return Object.fromEntries(entries);
}

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

function commonTypes(mine: unknown[], theirs: unknown[]): unknown {
  const isIn = (type: unknown, types: unknown[]) => types.includes(type) || (type === "integer" && types.includes("number"));
  const common = [...new Set([...mine.filter((it) => isIn(it, theirs)), ...theirs.filter((it) => isIn(it, mine))])];
  if (common.length === 0) throw new Unsayable("Parts of the schema contradict each other.");
  return common.length === 1 ? common[0] : common;
}
