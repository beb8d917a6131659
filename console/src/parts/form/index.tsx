// A form from a JSON schema, for tools' arguments, configurations and whatever else a schema describes. Its value is JSON.
// Where a form cannot say what a schema asks for, that field alone is a JSON editor; every field can be one.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Problem } from "../../api/request.ts";
import { Form } from "./context.ts";
import { type Draft, rootDraft, valueOf } from "./draft.ts";
import { Field } from "./field.tsx";
import { openBook } from "./plan.ts";
import { placed, placeOf, valueAt } from "./pointer.ts";
import { isRecord, type JsonObject, same } from "./schema.ts";

export type { JsonObject } from "./schema.ts";
export { schemaOf } from "./plan.ts";
export { masked, withoutSecrets } from "./secrets.ts";

interface SchemaFormProps {
  /** A JSON schema of an object: as an object, or as a text. */
  schema: unknown;
  value: JsonObject;
  /** `faults` are what is not finished, such as half a number. The value does not have it. */
  onChange: (value: JsonObject, faults: Problem[]) => void;
  /** What the API has found wrong with the value. */
  violations?: readonly Problem[];
  /** Shows the faults at their fields too, as after an attempt to send. */
  showFaults?: boolean;
  /** What the whole value is called. */
  label?: string;
}

const NONE: readonly Problem[] = [];

export function SchemaForm({ schema, value, onChange, violations = NONE, showFaults = false, label = "Arguments" }: SchemaFormProps) {
  const written = typeof schema === "string" ? schema : JSON.stringify(schema);
  const book = useMemo(() => openBook(written), [written]);
  const [, redraw] = useState(0);
  const present = useRef<{ book: typeof book; draft: Draft; value: JsonObject; faults: Problem[] }>(undefined);
  // Another schema, or a value that does not come from here, begins anew.
  if (present.current === undefined || present.current.book !== book || !same(present.current.value, value)) {
    present.current = { book, ...read(rootDraft(book, value)) };
  }
  const { draft, faults } = present.current;
  // What the form adds by itself, such as fields with one possible value, belongs to the value from the beginning.
  useEffect(() => {
    if (present.current !== undefined && !same(present.current.value, value)) onChange(present.current.value, present.current.faults);
  });
  const change = (update: (draft: Draft) => Draft) => {
    if (present.current === undefined) return;
    const next = read(update(present.current.draft));
    present.current = { book, ...next };
    redraw((it) => it + 1);
    onChange(next.value, next.faults);
  };
  // A violation is out of date once its value has changed.
  const judged = useRef({ violations, value: present.current.value });
  if (judged.current.violations !== violations) judged.current = { violations, value: present.current.value };
  const before = judged.current.value;
  const current = violations.filter((it) => {
    const place = placeOf(it);
    return place === "" || same(valueAt(before, place), valueAt(present.current?.value, place));
  });
  const { at, rest } = placed([...current, ...(showFaults ? faults : [])], draft);
  return (
    <Form.Provider value={{ book, violations: at }}>
      <div class="schema-form">
        {rest.length === 0 ? null : (
          <ul class="notice bad form-rest" role="alert">
            {rest.map((it) => (
              <li key={it.path + it.message}>
                {it.path === "" ? null : <code>{it.path}</code>} {it.message}
              </li>
            ))}
          </ul>
        )}
        <Field name={label} at="" schema={book.root} draft={draft} change={change} required={false} secret={false} />
      </div>
    </Form.Provider>
  );
}

function read(draft: Draft): { draft: Draft; value: JsonObject; faults: Problem[] } {
  const faults: Problem[] = [];
  const value = valueOf(draft, faults);
  if (value !== undefined && !isRecord(value)) faults.push({ path: "", message: "The arguments must be an object, such as {}." });
  return { draft, value: isRecord(value) ? (value as JsonObject) : {}, faults };
}
