// What a person has written so far, and the value that it stands for. A draft can hold what is no value yet: half a number, or
// JSON that does not parse. Pure.

import { ExactNumber, isInexact, parseExactly } from "../../api/json.ts";
import type { Problem } from "../../api/request.ts";
import type { Json } from "../../api/types.ts";
import { fits } from "./fit.ts";
import { type Book, type Plan, planOf } from "./plan.ts";
import { join } from "./pointer.ts";
import { isNumber, isRecord, type JsonObject, same, type Schema } from "./schema.ts";

export type Draft =
  /** Left out: the value is not sent. */
  | { is: "absent" }
  | { is: "text"; text: string }
  | { is: "number"; text: string }
  /** One of the known values. */
  | { is: "option"; value: Json }
  | { is: "object"; fields: ReadonlyMap<string, Draft>; rows: Row[] }
  | { is: "array"; items: Item[] }
  /** `others` are the drafts of the branches that were chosen before. */
  | { is: "choice"; branch: number; of: Draft; others: ReadonlyMap<number, Draft> }
  /** `before` is the draft of the form that was written as this text. */
  | { is: "json"; text: string; before?: { text: string; draft: Draft } };

/** An element of a list. Its id tells it from the others when they move. */
export interface Item {
  id: number;
  draft: Draft;
}

/** A field whose name the person gives. */
export interface Row extends Item {
  name: string;
}

export const ABSENT: Draft = { is: "absent" };

let lastId = 0;
export const newId = (): number => ++lastId;

/** Required parts begin unfolded, down to this depth: a schema that requires itself would never end. */
const MAX_DEPTH = 6;
const MAX_FIRST_ITEMS = 10;

interface Beginning {
  required: boolean;
  depth?: number;
  /** Fields with one possible value are given, because they tell the branches of a choice apart. */
  constants?: boolean;
}

/** The draft of a field that nobody has touched. */
export function initial(book: Book, schema: Schema, { required, depth = 0, constants = false }: Beginning): Draft {
  const plan = planOf(book, schema);
  const only = plan.kind === "options" && plan.options.length === 1 ? plan.options[0] : undefined;
  if (only !== undefined && (required || (constants && only.value !== null))) return { is: "option", value: only.value };
  if (!required || depth >= MAX_DEPTH) return ABSENT;
  if (plan.kind === "choice") {
    const branch = plan.branches.findIndex((it) => isSimple(planOf(book, it.schema)));
    return branch < 0 ? ABSENT : { is: "choice", branch, of: ABSENT, others: new Map() };
  }
  return plan.kind === "object" || plan.kind === "array" ? begun(book, schema, depth) : ABSENT;
}

/** A required choice begins with its first simple branch. Between objects the person chooses. */
const isSimple = (plan: Plan): boolean => plan.kind === "text" || plan.kind === "number";

/** The draft of a field that the person has just included. */
export function begun(book: Book, schema: Schema, depth = 0, constants = false): Draft {
  const plan = planOf(book, schema);
  // Who includes a field wants another value than the null that it has by default.
  if (plan.default !== undefined && plan.default !== null) return draftOf(book, schema, plan.default, { required: true, depth });
  switch (plan.kind) {
    case "text":
      return { is: "text", text: "" };
    case "number":
      return { is: "number", text: "" };
    case "object":
      return {
        is: "object",
        fields: new Map(plan.properties.map((it) => [it.name, initial(book, it.schema, { required: it.required, depth: depth + 1, constants })])),
        rows: [],
      };
    case "array": {
      const wanted = Math.max(plan.prefix.length, plan.items === null ? 0 : Math.min(plan.min, MAX_FIRST_ITEMS));
      const schemas = Array.from({ length: wanted }, (_, index) => plan.prefix[index] ?? plan.items ?? true);
      return { is: "array", items: schemas.map((it) => newItem(book, it, depth + 1)) };
    }
    case "json":
      return { is: "json", text: "" };
    case "options":
    case "choice":
      return initial(book, schema, { required: true, depth });
  }
}

export function newItem(book: Book, schema: Schema, depth = 0): Item {
  return { id: newId(), draft: depth >= MAX_DEPTH ? ABSENT : begun(book, schema, depth) };
}

/** The draft that stands for a value. What the form cannot show becomes JSON, for that field alone. */
export function draftOf(book: Book, schema: Schema, value: Json | undefined, beginning: Beginning = { required: true }): Draft {
  if (value === undefined) return initial(book, schema, beginning);
  const plan = planOf(book, schema);
  const depth = (beginning.depth ?? 0) + 1;
  switch (plan.kind) {
    case "text":
      return typeof value === "string" ? { is: "text", text: value } : asJson(value);
    case "number":
      return isNumber(value) ? { is: "number", text: String(value) } : asJson(value);
    case "options":
      return plan.options.some((it) => same(it.value, value)) ? { is: "option", value } : asJson(value);
    case "object": {
      if (!isRecord(value)) return asJson(value);
      const own = value as JsonObject;
      const named = new Set(plan.properties.map((it) => it.name));
      const others = Object.keys(own).filter((it) => !named.has(it));
      // A row without a name is a row that is not finished.
      if (others.includes("")) return asJson(value);
      const fields = plan.properties.map((it): [string, Draft] => [
        it.name,
        // What a given object leaves out stays out, also if it is required: the person sees what is missing.
        Object.hasOwn(own, it.name) ? draftOf(book, it.schema, own[it.name], { required: it.required, depth }) : initial(book, it.schema, { required: false }),
      ]);
      return { is: "object", fields: new Map(fields), rows: others.map((name) => ({ id: newId(), name, draft: draftOf(book, plan.rest ?? true, own[name], { required: true, depth }) })) };
    }
    case "array":
      if (!Array.isArray(value)) return asJson(value);
      return { is: "array", items: value.map((it, index) => ({ id: newId(), draft: draftOf(book, itemSchema(plan, index), it, { required: true, depth }) })) };
    case "choice": {
      const branch = branchOf(book, plan.branches.map((it) => it.schema), value);
      const chosen = plan.branches[branch];
      return chosen === undefined ? asJson(value) : { is: "choice", branch, of: draftOf(book, chosen.schema, value, { required: true, depth }), others: new Map() };
    }
    case "json":
      return asJson(value);
  }
}

export const itemSchema = (plan: Plan & { kind: "array" }, index: number): Schema => plan.prefix[index] ?? plan.items ?? true;

/** The branch that a value belongs to: the first that fits wholly, else the first whose form can show it. */
function branchOf(book: Book, branches: Schema[], value: Json): number {
  for (const strict of [true, false]) {
    const found = branches.findIndex((it) => fits(book, it, value, strict));
    if (found >= 0) return found;
  }
  return branches.findIndex((it) => draftOf(book, it, value).is !== "json");
}

const asJson = (value: Json): Draft => ({ is: "json", text: JSON.stringify(value, null, 2) });

/** The draft of all arguments. */
export function rootDraft(book: Book, value: JsonObject): Draft {
  return Object.keys(value).length === 0 ? begun(book, book.root) : draftOf(book, book.root, value);
}

/** A number as JSON has it. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const tooLarge = (source: string) => `${source} is too large to be sent exactly.`;

/** Reads JSON, and refuses numbers that a browser cannot hold. */
export function parseJson(text: string): { value: Json } | { fault: string } {
  try {
    const refuse = (source: string) => {
      throw new RangeError(tooLarge(source));
    };
    return { value: parseExactly(text, refuse) as Json };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return { fault: cause instanceof RangeError ? message : `This is not JSON: ${message}` };
  }
}

/** The value of a draft; undefined if it is left out. What is not finished is left out too, and is among the faults. */
export function valueOf(draft: Draft, faults: Problem[] = [], at = ""): Json | undefined {
  switch (draft.is) {
    case "absent":
      return undefined;
    case "text":
      return draft.text;
    case "option":
      if (!((draft.value as unknown) instanceof ExactNumber)) return draft.value;
      faults.push({ path: at, message: tooLarge(String(draft.value)) });
      return undefined;
    case "number": {
      const written = draft.text.trim();
      if (written === "") return undefined;
      if (NUMBER.test(written) && !isInexact(written)) return Number(written);
      faults.push({ path: at, message: NUMBER.test(written) ? tooLarge(written) : `“${draft.text}” is not a number. Write it like -12 or 3.5.` });
      return undefined;
    }
    case "json": {
      if (draft.text.trim() === "") return undefined;
      const parsed = parseJson(draft.text);
      if ("value" in parsed) return parsed.value;
      faults.push({ path: at, message: parsed.fault });
      return undefined;
    }
    case "choice":
      return valueOf(draft.of, faults, at);
    case "array":
      return draft.items.map((it, index) => {
        const value = valueOf(it.draft, faults, join(at, index));
        if (value !== undefined) return value;
        const place = join(at, index);
        if (!faults.some((fault) => fault.path === place)) faults.push({ path: place, message: "The item has no value. Give one, or remove the item." });
        return null;
      });
    case "object":
      return objectOf(draft, faults, at);
  }
}

function objectOf(draft: Draft & { is: "object" }, faults: Problem[], at: string): JsonObject {
  const entries: [string, Json][] = [];
  const add = (name: string, value: Json | undefined) => {
    if (value !== undefined) entries.push([name, value]);
  };
  for (const [name, field] of draft.fields) add(name, valueOf(field, faults, join(at, name)));
  const names = new Set(draft.fields.keys());
  for (const row of draft.rows) {
    const place = join(at, row.name);
    if (row.name === "") faults.push({ path: place, message: "Give it a name, or remove it." });
    else if (names.has(row.name)) faults.push({ path: place, message: `There is another field with the name “${row.name}”.` });
    names.add(row.name);
    const before = faults.length;
    const value = valueOf(row.draft, faults, place);
    if (value === undefined && faults.length === before) faults.push({ path: place, message: "It has no value. Give one, or remove it." });
    if (row.name !== "") add(row.name, value);
  }
  // `fromEntries` takes every name as it is, `__proto__` too.
  return Object.fromEntries(entries);
}

/** The same field as JSON. */
export function toJson(draft: Draft): Draft {
  if (draft.is === "json") return draft;
  const faults: Problem[] = [];
  const value = valueOf(draft, faults);
  const text = draft.is === "number" && faults.length > 0 ? draft.text : value === undefined ? "" : JSON.stringify(value, null, 2);
  return { is: "json", text, before: { text, draft } };
}

/** The same field as a form again, or why that is not possible. */
export function toForm(book: Book, schema: Schema, draft: Draft & { is: "json" }, required: boolean): Draft | string {
  // Without a change the form comes back as it was, with what was not finished.
  if (draft.before !== undefined && draft.before.text === draft.text) return draft.before.draft;
  if (draft.text.trim() === "") return initial(book, schema, { required });
  const parsed = parseJson(draft.text);
  if ("fault" in parsed) return parsed.fault;
  const shown = draftOf(book, schema, parsed.value, { required });
  return shown.is === "json" ? "The form cannot show this value, so it stays JSON." : shown;
}

/** Another branch of a choice. A branch that was chosen before comes back as it was; a new one keeps the fields that fit it. */
export function toBranch(book: Book, plan: Plan & { kind: "choice" }, draft: Draft, branch: number): Draft {
  const chosen = plan.branches[branch];
  if (chosen === undefined) return ABSENT;
  const others = new Map(draft.is === "choice" ? draft.others : []);
  if (draft.is === "choice") others.set(draft.branch, draft.of);
  const known = others.get(branch);
  others.delete(branch);
  return { is: "choice", branch, of: known ?? carried(book, chosen.schema, draft), others };
}

function carried(book: Book, schema: Schema, from: Draft): Draft {
  const plan = planOf(book, schema);
  const fresh = begun(book, schema, 0, true);
  const given = valueOf(from);
  if (plan.kind !== "object" || fresh.is !== "object") return fresh.is === "text" || fresh.is === "number" ? ABSENT : fresh;
  if (!isRecord(given)) return fresh;
  const fields = new Map(fresh.fields);
  for (const { name, schema: field, required } of plan.properties) {
    const value = (given as JsonObject)[name];
    if (Object.hasOwn(given, name) && value !== undefined && fits(book, field, value, false)) fields.set(name, draftOf(book, field, value, { required }));
  }
  return { ...fresh, fields };
}
