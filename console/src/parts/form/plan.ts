// From a schema to the field that asks for its value. Only the field itself is planned: the fields inside are planned when
// they appear, so that schemas which refer to themselves have an end. Pure.

import { parseExactly } from "../../api/json.ts";
import type { Json } from "../../api/types.ts";
import { flatten, isRecord, isSchema, type Keywords, list, propertiesOf, same, type Schema, Unsayable } from "./schema.ts";
import { isSecret } from "./secrets.ts";

export interface Option {
  value: Json;
  words: string;
}

export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
}

export interface Branch {
  words: string;
  schema: Schema;
}

/** What can be said of every field. */
interface About {
  title: string | undefined;
  description: string | undefined;
  /** Limits and examples, as words. */
  limits: string[];
  default: Json | undefined;
  secret: boolean;
  deprecated: boolean;
}

export type Shape =
  | { kind: "text"; format: string | undefined; lines: boolean }
  | { kind: "number"; integer: boolean }
  /** One of some known values: enum, const, true and false, null. */
  | { kind: "options"; options: Option[] }
  /** `rest` describes fields of other names; null if the form offers none. `closed`: the schema refuses them. */
  | { kind: "object"; properties: Property[]; rest: Schema | null; closed: boolean }
  | { kind: "array"; prefix: Schema[]; items: Schema | null; min: number; max: number }
  | { kind: "choice"; branches: Branch[] }
  | { kind: "json"; why: string };

export type Plan = About & Shape;

/** A schema, and the plans of its parts that were made so far. */
export interface Book {
  root: Schema;
  plans: Map<Schema, Plan>;
  /** The schemas whose plans are being made. */
  open: Set<Schema>;
}

/** Whether a value has to be given. The API fills a default in. */
export const mustBeGiven = (plan: Plan, required: boolean): boolean => required && plan.default === undefined;

/** Opens the schema of an arguments object. */
export function openBook(schema: unknown): Book {
  return { root: schemaOf(schema), plans: new Map(), open: new Set() };
}

/** The API gives schemas as objects or as JSON texts. */
export function schemaOf(given: unknown): Schema {
  if (isSchema(given)) return given;
  try {
    const parsed: unknown = typeof given === "string" ? parseExactly(given) : true;
    return isSchema(parsed) ? parsed : true;
  } catch {
    return true;
  }
}

/** Choices within choices, down to this depth. Each schema that a choice leads to is a new one, so a cycle has no other end. */
const MAX_DEPTH = 20;

class TooDeep extends Unsayable {
  constructor() {
    super("The schema has choices within choices without end.");
  }
}

export function planOf(book: Book, schema: Schema): Plan {
  const known = book.plans.get(schema);
  if (known !== undefined) return known;
  if (book.open.has(schema)) return { ...about({}), kind: "json", why: "The schema refers to itself and to nothing else." };
  if (book.open.size >= MAX_DEPTH) throw new TooDeep();
  book.open.add(schema);
  try {
    const plan = makePlan(book, schema);
    book.plans.set(schema, plan);
    return plan;
  } finally {
    book.open.delete(schema);
  }
}

function makePlan(book: Book, schema: Schema): Plan {
  try {
    const keywords = withoutFalseChoice(book.root, flatten(book.root, schema));
    // Arguments are always an object.
    const full = schema === book.root && keywords["type"] === undefined ? { ...keywords, type: "object" } : keywords;
    const shape = shapeOf(book, full);
    return { ...about(full), ...(shape.kind === "options" ? { limits: [] } : {}), ...shape };
  } catch (cause) {
    if (!(cause instanceof Unsayable)) throw cause;
    // The field as a whole is too deep: to plan its other branches as deep again could take for ever.
    if (cause instanceof TooDeep && book.open.size > 1) throw cause;
    // What cannot be decided may be a secret, but the person has to see what they write.
    return { ...about(isRecord(schema) ? schema : {}), kind: "json", why: cause.message };
  }
}

/** A choice with one branch is no choice. */
function withoutFalseChoice(root: Schema, keywords: Keywords, depth = 0): Keywords {
  if (depth > MAX_DEPTH) throw new TooDeep();
  for (const keyword of ["oneOf", "anyOf"] as const) {
    const { [keyword]: given, ...base } = keywords;
    const branches = Array.isArray(given) ? given.filter((it) => isSchema(it) && it !== false) : [];
    if (branches.length === 1) return withoutFalseChoice(root, flatten(root, { ...base, allOf: branches }), depth + 1);
  }
  return keywords;
}

function shapeOf(book: Book, keywords: Keywords): Shape {
  if (keywords["const"] !== undefined) return { kind: "options", options: optionsOf([keywords["const"] as Json], keywords["title"]) };
  if (Array.isArray(keywords["enum"])) return { kind: "options", options: optionsOf(keywords["enum"] as Json[]) };
  for (const keyword of ["oneOf", "anyOf"] as const) {
    const given = keywords[keyword];
    if (!Array.isArray(given)) continue;
    const { [keyword]: _, ...base } = keywords;
    const branches = given.filter((it): it is Schema => isSchema(it) && it !== false);
    if (branches.length === 0 || (branches.every(saysOnlyRules) && typesOf(base).length > 0)) return shapeOf(book, base);
    return choice(book, branches.map((it) => [it, under(base, it)]));
  }
  const types = typesOf(keywords);
  if (types.length > 1) return choice(book, types.map((type) => [{ type }, { ...bare(keywords), type }]));
  return shapeOfType(keywords, types[0]);
}

/** Keywords that only make a value valid or not, and say nothing about its fields. */
const RULES = new Set(["required", "not", "minProperties", "maxProperties", "dependentRequired", "title", "description", "$comment"]);
const saysOnlyRules = (schema: Schema): boolean => schema === true || (isRecord(schema) && Object.keys(schema).every((it) => RULES.has(it)));

const WORDS = ["title", "description", "default", "examples", "deprecated", "$defs", "definitions", "$schema", "$id", "$anchor", "$comment"];

/** The keywords without the words that are for the whole field. */
function bare(keywords: Keywords): Keywords {
  return Object.fromEntries(Object.entries(keywords).filter(([keyword]) => !WORDS.includes(keyword)));
}

/** A branch with what stands beside the choice. */
function under(base: Keywords, branch: Schema): Schema {
  const shared = bare(base);
  return Object.keys(shared).length === 0 ? branch : { allOf: [shared, branch] };
}

/** A choice between schemas, each given as it is written and as it applies. */
function choice(book: Book, given: [Schema, Schema][]): Shape {
  const planned = given.map(([written, schema]) => ({ written, schema, plan: planOf(book, schema) }));
  if (planned.every(({ plan }) => plan.kind === "options")) {
    const options = planned.flatMap(({ plan }) => (plan.kind === "options" ? plan.options : []));
    return { kind: "options", options: options.filter((it, index) => options.findIndex((other) => same(it.value, other.value)) === index) };
  }
  const branches = planned.flatMap(({ written, schema, plan }): Branch[] =>
    // A choice within a choice, without a name of its own, is one choice.
    plan.kind === "choice" && plan.title === undefined ? plan.branches : [{ words: branchWords(written, plan), schema }],
  );
  return { kind: "choice", branches: distinct(branches) };
}

function distinct(branches: Branch[]): Branch[] {
  const seen = new Map<string, number>();
  return branches.map((it) => {
    const count = (seen.get(it.words) ?? 0) + 1;
    seen.set(it.words, count);
    return count === 1 ? it : { ...it, words: `${it.words} (${count})` };
  });
}

const TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"];

/** Keywords from which a type can be guessed where the schema names none. */
const HINTS: [string, string[]][] = [
  ["object", ["properties", "additionalProperties", "patternProperties", "required", "propertyNames"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]],
  ["string", ["minLength", "maxLength", "pattern", "format", "contentMediaType"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function typesOf(keywords: Keywords): string[] {
  const { type } = keywords;
  if (type !== undefined) {
    const named = list(type).filter((it): it is string => TYPES.includes(it as string));
    // Every integer is a number.
    return named.filter((it) => !(it === "integer" && named.includes("number")));
  }
  const guessed = HINTS.find(([, keys]) => keys.some((it) => keywords[it] !== undefined));
  return guessed === undefined ? [] : [guessed[0]];
}

function shapeOfType(keywords: Keywords, type: string | undefined): Shape {
  switch (type) {
    case "string":
      return { kind: "text", format: text(keywords["format"]), lines: isLong(keywords) };
    case "integer":
    case "number":
      return { kind: "number", integer: type === "integer" };
    case "boolean":
      return { kind: "options", options: optionsOf([true, false]) };
    case "null":
      return { kind: "options", options: optionsOf([null]) };
    case "object":
      return objectShape(keywords);
    case "array":
      return arrayShape(keywords);
    default:
      return { kind: "json", why: "The schema names no type, so any JSON may be given." };
  }
}

function objectShape(keywords: Keywords): Shape {
  const required = Array.isArray(keywords["required"]) ? (keywords["required"] as unknown[]) : [];
  const described = propertiesOf(keywords);
  const properties = Object.entries(described)
    .filter(([, schema]) => schema !== false)
    .map(([name, schema]): Property => ({ name, schema, required: required.includes(name) }));
  for (const name of required) if (typeof name === "string" && !Object.hasOwn(described, name)) properties.push({ name, schema: restOf(keywords, false) ?? true, required: true });
  return { kind: "object", properties, rest: restOf(keywords, properties.length > 0), closed: keywords["additionalProperties"] === false || keywords["unevaluatedProperties"] === false };
}

/** The schema of the fields that have no name in the schema. */
function restOf(keywords: Keywords, hasNamed: boolean): Schema | null {
  const others = keywords["additionalProperties"] ?? keywords["unevaluatedProperties"];
  const patterns = isRecord(keywords["patternProperties"]) ? Object.values(keywords["patternProperties"]).filter(isSchema) : [];
  const [pattern] = patterns;
  // Which pattern a name has is known once it is written; with one pattern and nothing else there is no doubt.
  if (pattern !== undefined) return patterns.length === 1 && others === false ? pattern : true;
  if (others === undefined) return hasNamed ? null : true;
  return isSchema(others) && others !== false ? others : null;
}

function arrayShape(keywords: Keywords): Shape {
  const prefix = Array.isArray(keywords["prefixItems"]) ? keywords["prefixItems"].filter(isSchema) : [];
  const given = keywords["items"];
  const items = given === undefined ? (prefix.length > 0 ? null : true) : isSchema(given) && given !== false ? given : null;
  return { kind: "array", prefix, items, min: number(keywords["minItems"]) ?? 0, max: number(keywords["maxItems"]) ?? Infinity };
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

const LONG_FORMATS = ["multiline", "textarea", "markdown", "html", "code", "json", "yaml"];

/** Whether a text probably has several lines. */
function isLong(keywords: Keywords): boolean {
  const samples = [keywords["default"], ...(Array.isArray(keywords["examples"]) ? keywords["examples"] : [])];
  return (
    LONG_FORMATS.includes(String(keywords["format"])) ||
    keywords["contentMediaType"] !== undefined ||
    (number(keywords["maxLength"]) ?? 0) > 1_000 ||
    samples.some((it) => typeof it === "string" && it.includes("\n"))
  );
}

/** Names of properties that hold long texts, where the schema does not say it. */
const LONG_NAMES = /^(code|content|contents|body|text|message|prompt|system_prompt|source|script|sql|html|markdown|description|notes?|instructions)$/i;

export const isLongName = (name: string): boolean => LONG_NAMES.test(name);

function optionsOf(values: Json[], title?: unknown): Option[] {
  // Texts are shown as they are, unless they could be taken for another value.
  const plain = values.every((it) => typeof it === "string" || it === null) && !values.includes("null");
  const words = (value: Json) => (typeof value === "string" && plain && value !== "" ? value : JSON.stringify(value));
  return values.map((value) => ({ value, words: text(title) ?? words(value) }));
}

function about(keywords: Keywords): About {
  return {
    title: text(keywords["title"]),
    description: text(keywords["description"]),
    limits: limitsOf(keywords),
    default: keywords["default"] as Json | undefined,
    secret: isSecret(keywords),
    deprecated: keywords["deprecated"] === true,
  };
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least === undefined && most === undefined) return [];
  const [from, to] = [least?.toLocaleString("en"), most?.toLocaleString("en")];
  const words = from === undefined ? `at most ${to}` : to === undefined ? `at least ${from}` : from === to ? `exactly ${from}` : `${from} to ${to}`;
  return [unit === "" ? words : `${words} ${unit}`];
}

function limitsOf(keywords: Keywords): string[] {
  const of = (keyword: string) => number(keywords[keyword]);
  const above = of("exclusiveMinimum");
  const below = of("exclusiveMaximum");
  const examples = Array.isArray(keywords["examples"]) ? keywords["examples"] : [];
  return [
    ...range(of("minimum"), of("maximum"), ""),
    ...(above === undefined ? [] : [`more than ${above.toLocaleString("en")}`]),
    ...(below === undefined ? [] : [`less than ${below.toLocaleString("en")}`]),
    ...(of("multipleOf") === undefined ? [] : [`a multiple of ${of("multipleOf")}`]),
    ...range(of("minLength"), of("maxLength"), "characters"),
    ...range(of("minItems"), of("maxItems"), "items"),
    ...(keywords["uniqueItems"] === true ? ["no item twice"] : []),
    ...(text(keywords["pattern"]) === undefined ? [] : [`pattern ${text(keywords["pattern"])}`]),
    ...(examples.length === 0 ? [] : [`for example ${examples.slice(0, 3).map(brief).join(", ")}`]),
    ...(["not", "if", "dependentRequired", "contains"].some((it) => keywords[it] !== undefined) ? ["further rules apply: Check tells"] : []),
  ];
}

/** A value as a few words. */
export function brief(value: unknown): string {
  const written = typeof value === "string" && value !== "" ? value : (JSON.stringify(value) ?? "");
  const line = written.replaceAll(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** The words of a branch: its title, what marks it, its name, its description, or what it looks like. */
function branchWords(written: Schema, plan: Plan): string {
  const reference = isRecord(written) ? text(written["$ref"]) : undefined;
  const name = reference === undefined ? undefined : reference.split("/").at(-1);
  return plan.title ?? mark(plan) ?? (name === "#" ? undefined : name) ?? (plan.description === undefined ? undefined : brief(plan.description)) ?? shapeWords(plan);
}

/** Branches are often told apart by a field with one value: `kind: circle`. */
function mark(plan: Plan): string | undefined {
  if (plan.kind !== "object") return undefined;
  for (const { name, schema } of plan.properties) {
    const value = isRecord(schema) ? (schema["const"] ?? (Array.isArray(schema["enum"]) && schema["enum"].length === 1 ? schema["enum"][0] : undefined)) : undefined;
    if (value !== undefined) return `${name}: ${brief(value)}`;
  }
  return undefined;
}

const FORMATS: Record<string, string> = { date: "date", "date-time": "date and time", time: "time", email: "email address", uri: "URL", url: "URL", uuid: "UUID", password: "secret text" };

/** What a value of the plan looks like, in a word or two. */
export function shapeWords(plan: Plan): string {
  switch (plan.kind) {
    case "text":
      return FORMATS[plan.format ?? ""] ?? "text";
    case "number":
      return plan.integer ? "whole number" : "number";
    case "options": {
      const words = plan.options.map((it) => it.words);
      if (words.join() === "true,false") return "true or false";
      return words.length <= 3 ? words.join(" or ") : `one of ${words.length}`;
    }
    case "object": {
      const names = plan.properties.slice(0, 3).map((it) => it.name);
      return names.length === 0 ? "map" : `object with ${names.join(", ")}${plan.properties.length > 3 ? ", …" : ""}`;
    }
    case "array":
      return "list";
    case "choice":
      return "one of several forms";
    case "json":
      return "JSON";
  }
}
