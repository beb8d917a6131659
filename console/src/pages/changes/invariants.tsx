// The rules that always hold, and whether they do.

import { useMemo } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import { link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Show } from "../../parts/states.tsx";

const asked = request("get", "/api/registry/invariants");

export function Invariants() {
  const checked = useLoad(asked);
  // Another answer is another object, even if it says the same.
  const at = useMemo(() => new Date().toLocaleTimeString(), [checked.data]);
  return (
    <>
      <p class="soft">No request can break these rules. A check reads the whole registry, and tells if something else did.</p>
      <div class="row">
        <Button kind="primary" onClick={checked.reload}>
          Check now
        </Button>
        <CopyCurl of={asked} />
        {checked.data === undefined ? null : (
          <span class="soft small" role="status">
            Checked at {at}
          </span>
        )}
      </div>
      <Show of={checked}>
        {({ ok, invariants }) => (
          <>
            <p class={`notice ${ok ? "good" : "bad"}`}>
              {ok ? "All rules hold." : "Some rules are broken."}
            </p>
            <div class="scroll" tabIndex={0} role="region" aria-label="Rules">
              <table>
                <thead>
                  <tr>
                    <th>Rule</th>
                    <th>Holds</th>
                    <th>What breaks it</th>
                  </tr>
                </thead>
                <tbody>
                  {invariants.map((it) => (
                    <tr key={it.name}>
                      <th scope="row">{it.name.replaceAll("_", " ")}</th>
                      <td>
                        <Badge tone={it.ok ? "good" : "bad"}>{it.ok ? "holds" : "broken"}</Badge>
                      </td>
                      <td>
                        {it.violations.length === 0 ? (
                          <span class="soft">nothing</span>
                        ) : (
                          <ul>
                            {it.violations.map((breach) => (
                              <li key={`${breach.tool_id}@${breach.version}`}>
                                <a href={link(["tools", breach.tool_id], { version: breach.version })}>
                                  {breach.tool_id}@{breach.version}
                                </a>
                                : {breach.message}
                              </li>
                            ))}
                          </ul>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </Show>
    </>
  );
}
