// Faults, warnings and changes of a bundle.

import { Badge, type Tone } from "../../parts/marks.tsx";
import { type ChangeRow, type Note, placeOf } from "./preview.ts";

/** Faults or warnings, each with its file and line. Nothing is shown if there are none. */
export function Notes({ title, notes }: { title: string; notes: Note[] }) {
  if (notes.length === 0) return null;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col">Place</th>
            <th scope="col">Field</th>
          </tr>
        </thead>
        <tbody>
          {notes.map((it, index) => (
            <tr key={index}>
              <td class="long">{it.message}</td>
              <td class="place">
                <code>{placeOf(it)}</code>
              </td>
              <td>{it.path === null || it.path === "" ? "–" : <code>{it.path}</code>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const TONES: Record<ChangeRow["change"], Tone> = { added: "good", changed: "warn", removed: "bad" };
/** So many names of one row are shown. */
const SHOWN = 40;

export function ChangeTable({ rows }: { rows: ChangeRow[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Changes of the import">
      <table>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Change</th>
            <th scope="col">Names</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((it) => (
            <tr key={it.what + it.change}>
              <th scope="row">{it.what}</th>
              <td>
                <Badge tone={TONES[it.change]}>
                  {it.names.length} {it.change}
                </Badge>
              </td>
              <td class="long">
                <ul class="names">
                  {it.names.slice(0, SHOWN).map((name) => (
                    <li key={name}>
                      <code>{name}</code>
                    </li>
                  ))}
                  {it.names.length > SHOWN ? <li class="soft">and {it.names.length - SHOWN} more</li> : null}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
