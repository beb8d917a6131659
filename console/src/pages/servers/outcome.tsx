// What a discovery has found.

import { StatusBadge } from "../../parts/marks.tsx";
import type { Refreshed } from "./requests.ts";

export function RefreshOutcome({ of }: { of: Refreshed[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="What the discovery found">
      <table aria-live="polite">
        <thead>
          <tr>
            <th scope="col">Asked</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">Added</th>
            <th scope="col" class="number">Changed</th>
            <th scope="col" class="number">Removed</th>
            <th scope="col" class="number">Held back</th>
            <th scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          {of.map((it) => (
            <tr key={it.name}>
              <th scope="row">{it.name}</th>
              <td>
                <StatusBadge status={it.status} />
              </td>
              <td class="number">{it.added}</td>
              <td class="number">{it.changed}</td>
              <td class="number">{it.removed}</td>
              <td class="number">{it.held_back}</td>
              <td class="long">{it.error ?? "none"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
