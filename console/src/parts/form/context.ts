// What every field of one form knows.

import { createContext } from "preact";
import type { Draft } from "./draft.ts";
import type { Book } from "./plan.ts";
import type { Schema } from "./schema.ts";

export interface FormContext {
  book: Book;
  /** What is wrong, by the places of the fields. */
  violations: ReadonlyMap<string, string[]>;
}

export const Form = createContext<FormContext | null>(null);

/** Changes a draft. The new draft is made from the draft of that moment, so that no change is lost. */
export type Change = (update: (draft: Draft) => Draft) => void;

/** What a control gets. */
export interface ControlProps {
  /** The words that name the field, for labels of buttons. */
  name: string;
  /** The place of the value. */
  at: string;
  schema: Schema;
  draft: Draft;
  change: Change;
  required: boolean;
  /** An element of a list, and a field that the person has named, always have a value. */
  always: boolean;
  secret: boolean;
  /** The id that the label names. */
  id: string;
  /** No label stands beside the control, so that it needs its name itself. */
  unlabelled: boolean;
  describedBy: string | undefined;
  invalid: boolean;
}

/** The attributes that tie a control to its label and to the words below it. */
export function tied({ id, name, unlabelled, describedBy, invalid, required }: ControlProps) {
  return {
    id,
    ...(unlabelled ? { "aria-label": name } : {}),
    ...(describedBy === undefined ? {} : { "aria-describedby": describedBy }),
    ...(invalid ? { "aria-invalid": "true" as const } : {}),
    ...(required ? { "aria-required": "true" as const } : {}),
  };
}
