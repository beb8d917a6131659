// A JSON Schema as a table that people can read. The JSON itself is below it.

import { useMemo } from "preact/hooks";
import { Badge } from "./marks.tsx";
import { type SchemaRow, schemaRows } from "./schema_rows.ts";
import { JsonText } from "./values.tsx";

/** `label` names the schema for screen readers: “Arguments of read_file”. `none` is said if the schema has nothing to tell. */
export function SchemaTable({ schema, label, none }: { schema: unknown; label: string; none: string }) {
  const { rows, cut } = useMemo(() => schemaRows(schema), [schema]);
  return (
    <div class="stack">
      {rows.length === 0 ? (
        <p class="soft">{none}</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={label}>
          <table class="schema">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Type</th>
                <th scope="col">Meaning</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((it) => (
                <Row key={it.id} of={it} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {cut ? <p class="soft">The table shows the first {rows.length} rows. The JSON has all of them.</p> : null}
      <details class="fold">
        <summary>The schema as JSON</summary>
        <JsonText value={schema} label={`${label}, as JSON`} name="schema.json" />
      </details>
    </div>
  );
}

function Row({ of: row }: { of: SchemaRow }) {
  return (
    <tr>
      <th scope="row">
        <div class="row" style={{ paddingInlineStart: `${row.depth * 1.25}rem` }}>
          {row.isProperty ? <code>{row.name}</code> : <em>{row.name}</em>}
          {row.required ? <Badge tone="accent">required</Badge> : null}
          {row.secret ? <Badge tone="warn">secret</Badge> : null}
        </div>
      </th>
      <td>{row.type}</td>
      <td>
        {row.description === "" ? null : <p>{row.description}</p>}
        {row.facts.length === 0 ? null : <p class="soft small">{row.facts.join(" · ")}</p>}
      </td>
    </tr>
  );
}
