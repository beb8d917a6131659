// The fields of an object, and the rows of a map.

import { Button } from "../button.tsx";
import type { ControlProps } from "./context.ts";
import { Sign } from "./controls.tsx";
import { ABSENT, type Draft, newItem, type Row } from "./draft.ts";
import { Field, useForm } from "./field.tsx";
import type { Plan } from "./plan.ts";
import { join } from "./pointer.ts";

type ObjectDraft = Draft & { is: "object" };

export function ObjectControl({ name, at, draft, change, secret, plan }: Omit<ControlProps, "draft"> & { draft: ObjectDraft; plan: Plan & { kind: "object" } }) {
  const { book } = useForm();
  const edit = (update: (draft: ObjectDraft) => Draft) => change((it) => (it.is === "object" ? update(it) : it));
  const editRow = (id: number, update: (row: Row) => Row) => edit((it) => ({ ...it, rows: it.rows.map((row) => (row.id === id ? update(row) : row)) }));
  const { rest } = plan;
  if (plan.properties.length === 0 && rest === null && draft.rows.length === 0) return <p class="soft">{at === "" ? "The tool takes no arguments." : "The object has no fields."}</p>;
  return (
    <div class="form-fields">
      {plan.properties.map((it) => (
        <Field
          key={it.name}
          name={it.name === "" ? "(no name)" : it.name}
          at={join(at, it.name)}
          schema={it.schema}
          draft={draft.fields.get(it.name) ?? ABSENT}
          change={(update) => edit((before) => ({ ...before, fields: new Map(before.fields).set(it.name, update(before.fields.get(it.name) ?? ABSENT)) }))}
          required={it.required}
          secret={secret}
        />
      ))}
      {draft.rows.map((row) => (
        <Field
          key={`row ${row.id}`}
          name={row.name === "" ? "the new field" : row.name}
          at={join(at, row.name)}
          schema={rest ?? true}
          draft={row.draft}
          change={(update) => editRow(row.id, (before) => ({ ...before, draft: update(before.draft) }))}
          required={false}
          always
          secret={secret}
          head={
            <input
              class="form-row-name mono"
              aria-label={`Name of a field of ${name}`}
              placeholder="name"
              value={row.name}
              autocomplete="off"
              onInput={(event) => {
                const next = event.currentTarget.value;
                editRow(row.id, (before) => ({ ...before, name: next }));
              }}
            />
          }
          tools={<Sign sign="✕" label={`Remove ${row.name === "" ? "the new field" : row.name}`} onClick={() => edit((it) => ({ ...it, rows: it.rows.filter((other) => other.id !== row.id) }))} />}
        />
      ))}
      {rest === null ? null : (
        <div>
          <Button narrow label={`Add a field to ${name}`} onClick={() => edit((it) => ({ ...it, rows: [...it.rows, { ...newItem(book, rest), name: "" }] }))}>
            Add a field
          </Button>
        </div>
      )}
    </div>
  );
}
