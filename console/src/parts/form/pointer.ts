// JSON pointers: the places of values, and which field a violation belongs to. Pure.

import type { Problem } from "../../api/request.ts";
import type { Draft } from "./draft.ts";
import { isRecord } from "./schema.ts";

export const join = (at: string, name: string | number): string => `${at}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;

export function steps(pointer: string): string[] {
  return pointer === "" ? [] : pointer.slice(1).split("/").map((it) => it.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function valueAt(value: unknown, pointer: string): unknown {
  let place = value;
  for (const step of steps(pointer)) {
    if (Array.isArray(place)) place = place[Number(step)];
    else if (isRecord(place) && Object.hasOwn(place, step)) place = place[step];
    else return undefined;
  }
  return place;
}

/** The places that have a field on the screen, and whether the field is a JSON editor. */
export function fieldsOf(draft: Draft, at = "", fields = new Map<string, boolean>()): Map<string, boolean> {
  if (!fields.has(at)) fields.set(at, draft.is === "json");
  if (draft.is === "choice") {
    if (draft.of.is === "json") fields.set(at, true);
    fieldsOf(draft.of, at, fields);
  } else if (draft.is === "object") {
    for (const [name, field] of draft.fields) fieldsOf(field, join(at, name), fields);
    for (const row of draft.rows) fieldsOf(row.draft, join(at, row.name), fields);
  } else if (draft.is === "array") {
    draft.items.forEach((item, index) => fieldsOf(item.draft, join(at, index), fields));
  }
  return fields;
}

/** `"path" is a required property` is said of the object; it belongs to the field that is missing. */
const REQUIRED = /^("(?:[^"\\]|\\.)*") is a required property$/;

/** The place that a violation is about. */
export function placeOf({ path, message }: Problem): string {
  const name = REQUIRED.exec(message)?.[1];
  if (name === undefined) return path;
  try {
    return join(path, JSON.parse(name) as string);
  } catch {
    return path;
  }
}

export interface Placed {
  /** The messages of each field. */
  at: ReadonlyMap<string, string[]>;
  /** What has no field. */
  rest: Problem[];
}

const NOTHING_WRONG: Placed = { at: new Map(), rest: [] };

/** Puts each violation at its field. What lies inside a JSON editor is told there, with its place. */
export function placed(violations: readonly Problem[], draft: Draft): Placed {
  if (violations.length === 0) return NOTHING_WRONG;
  const fields = fieldsOf(draft);
  const at = new Map<string, string[]>();
  const rest: Problem[] = [];
  const add = (pointer: string, message: string) => at.set(pointer, [...(at.get(pointer) ?? []), message]);
  for (const violation of violations) {
    const wanted = [placeOf(violation), violation.path].find((it) => it !== "" && fields.has(it));
    if (wanted !== undefined) {
      add(wanted, wanted === violation.path ? violation.message : "This is required.");
      continue;
    }
    const editor = ancestors(violation.path).find((it) => it !== "" && fields.get(it) === true);
    if (editor === undefined) rest.push(violation);
    else add(editor, `${violation.path.slice(editor.length)}: ${violation.message}`);
  }
  return { at, rest };
}

/** The places around a place, the nearest first. */
function ancestors(pointer: string): string[] {
  const all: string[] = [];
  for (let end = pointer.lastIndexOf("/"); end >= 0; end = pointer.lastIndexOf("/", end - 1)) {
    all.push(pointer.slice(0, end));
    if (end === 0) break;
  }
  return all;
}
