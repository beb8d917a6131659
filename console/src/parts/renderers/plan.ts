// Render plans, as a call's record has them (docs/rendering.md), and what the console needs to know about values. Pure.

import { COLOURED_CHARACTERS, type Language, languageOf } from "../editor/texts.ts";

/** A plan. Its configuration was filled in by Pegboard, but its values come from a tool, so each is looked at before use. */
export interface Plan {
  renderer: string;
  config: Record<string, unknown>;
  /** Why the call failed. */
  error: { code: string; message: string } | null;
  /** A list has left the configuration out; the record of the call has it. */
  isShortened: boolean;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export function readPlan(value: unknown): Plan | null {
  if (!isRecord(value) || typeof value["renderer"] !== "string") return null;
  const error = value["error"];
  return {
    renderer: value["renderer"],
    config: isRecord(value["config"]) ? value["config"] : {},
    error: isRecord(error) ? { code: String(error["code"]), message: String(error["message"]) } : null,
    isShortened: value["truncated"] === true,
  };
}

/** What Pegboard says about its own work on a plan: values that lead nowhere, or were too long. */
export function remarks(config: Record<string, unknown>): string[] {
  const names = (field: string) => (Array.isArray(config[field]) ? config[field].map(String).join(", ") : "");
  const found: string[] = [];
  if (names("missing") !== "") found.push(`The call has no value for ${names("missing")}.`);
  if (names("cut") !== "") found.push(`The value of ${names("cut")} was cut, because it is long. The raw result has it whole.`);
  if (typeof config["refused"] === "string") found.push(`The address is not shown: ${config["refused"]}`);
  return found;
}

const NAMED: Record<string, Language> = { json: "json", python: "python", py: "python", markdown: "markdown", md: "markdown" };

/** The language of a text: the one that the plan names, or else the one that the path or the text itself tells. */
export function languageIn(config: Record<string, unknown>, path: string | null, text: string): Language {
  const named = config["language"];
  if (typeof named === "string" && named !== "auto") return NAMED[named.toLowerCase()] ?? "text";
  if (path !== null) return languageOf(path);
  return isJson(text) ? "json" : "text";
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || text.length > COLOURED_CHARACTERS) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The description of a value that a record or a list does not hold whole. */
export interface Shortened {
  size: number;
  prefix: string;
  /** Why nobody has the whole value. */
  notKept: "refused" | "quota" | null;
}

/** Reads what stands in the place of a value that the API calls shortened. Any other value may have these fields too. */
export function readShortened(value: unknown): Shortened {
  const described = isRecord(value) ? value : {};
  const { size, prefix, not_kept: notKept } = described;
  return {
    size: typeof size === "number" ? size : 0,
    prefix: typeof prefix === "string" ? prefix : "",
    notKept: notKept === "refused" || notKept === "quota" ? notKept : null,
  };
}

/** The height that a sandboxed page asks for: a number within bounds, or null. Whatever else the page says is ignored. */
export function askedHeight(message: unknown): number | null {
  if (!isRecord(message) || typeof message["height"] !== "number" || !Number.isFinite(message["height"])) return null;
  return Math.min(Math.max(Math.ceil(message["height"]), MIN_HEIGHT), MAX_HEIGHT);
}

const MIN_HEIGHT = 80;
const MAX_HEIGHT = 1_200;
