// How two versions of a tool differ. The two are in the URL.

import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { query, setQuery } from "../../location.ts";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { SelectField } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { Show } from "../../parts/states.tsx";
import { StepBadge, VersionDifferences } from "../../parts/version_diff.tsx";

export function CompareVersions({ tool, versions }: { tool: string; versions: Tool[] }) {
  const from = query.value.get("from") ?? "";
  const to = query.value.get("to") ?? "";
  const isChosen = from !== "" && to !== "" && from !== to;
  const asked = isChosen ? request("get", "/api/tools/{tool_id}/compare", { path: { tool_id: tool }, query: { from, to } }) : null;
  const comparison = useLoad(asked);
  return (
    <Panel title="Compare two versions" actions={asked === null ? null : <CopyCurl of={asked} />}>
      <div class="filters">
        <SelectField label="From" value={from} options={choices(versions, from)} onChange={(it) => setQuery({ from: it })} />
        <SelectField label="To" value={to} options={choices(versions, to)} onChange={(it) => setQuery({ to: it })} />
      </div>
      {asked === null ? (
        <p class="soft">{from !== "" && from === to ? "A version does not differ from itself." : "Choose two versions."}</p>
      ) : (
        <Show of={comparison}>
          {(it) => (
            <>
              {it.needed_step === null || it.needed_step === undefined ? null : (
                <p class="row">
                  From {it.from} to {it.to}: <StepBadge step={it.needed_step} />
                </p>
              )}
              <VersionDifferences reasons={it.reasons} differences={it.differences} />
            </>
          )}
        </Show>
      )}
    </Panel>
  );
}

/** A version of a link may be on a later page of the list. */
function choices(versions: Tool[], chosen: string): [string, string][] {
  const listed = versions.map((it): [string, string] => [it.version, it.active ? `${it.version} (active)` : it.version]);
  const isListed = chosen === "" || versions.some((it) => it.version === chosen);
  return [["", "Choose a version"], ...(isListed ? [] : [[chosen, chosen] as [string, string]]), ...listed];
}
