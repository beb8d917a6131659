// Whether a value looks like what a schema describes: enough to choose the branch that a value belongs to. The Worker decides
// what is valid. Pure.

import type { Json } from "../../api/types.ts";
import { type Book, planOf } from "./plan.ts";
import { isNumber, isRecord, type JsonObject, same, type Schema } from "./schema.ts";

/** Longer lists are judged by their beginning. */
const JUDGED = 50;

/** `strict` refuses fields that the schema does not name. */
export function fits(book: Book, schema: Schema, value: Json, strict: boolean): boolean {
  const plan = planOf(book, schema);
  switch (plan.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return isNumber(value) && (!plan.integer || Number.isInteger(Number(value)));
    case "options":
      return plan.options.some((it) => same(it.value, value));
    case "object": {
      if (!isRecord(value)) return false;
      const own = value as JsonObject;
      const schemas = new Map(plan.properties.map((it) => [it.name, it.schema]));
      const isComplete = plan.properties.every((it) => !it.required || Object.hasOwn(own, it.name));
      return (
        isComplete &&
        Object.entries(own).every(([name, field]) => {
          const described = schemas.get(name) ?? plan.rest;
          return described === null ? !(plan.closed || strict) : fits(book, described, field, strict);
        })
      );
    }
    case "array":
      if (!Array.isArray(value) || value.length < plan.min || value.length > plan.max) return false;
      return value.slice(0, JUDGED).every((it, index) => {
        const described = plan.prefix[index] ?? plan.items;
        return described === null ? false : fits(book, described, it, strict);
      });
    case "choice":
      return plan.branches.some((it) => fits(book, it.schema, value, strict));
    case "json":
      return schema !== false;
  }
}
