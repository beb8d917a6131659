// The versions of a tool: what there is, how two of them differ, and which one is active.

import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { Time } from "../../parts/values.tsx";
import { CompareVersions } from "./compare.tsx";
import { SwitchDialog } from "./switch_dialog.tsx";
import { inactiveWords, type Switch, switchesOf, whyNoSwitches } from "./switches.ts";

const WORDS: Record<Switch, string> = { rollback: "Roll back to", activate: "Activate", deactivate: "Deactivate", reason: "Change the reason" };

export function ToolVersions({ tool, changed }: { tool: Tool; changed: () => void }) {
  if (!may("admin")) return <p class="notice warn">Versions are shown to admins. This is version {tool.version}.</p>;
  return <Versions tool={tool} changed={changed} />;
}

function Versions({ tool, changed }: { tool: Tool; changed: () => void }) {
  const ask = (cursor: string | undefined) =>
    request("get", "/api/tools/{tool_id}/versions", { path: { tool_id: tool.id }, query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } });
  const versions = usePages(tool.id, ask, (it) => it.versions, 15_000);
  const [open, setOpen] = useState<{ version: Tool; to: Switch } | null>(null);
  const active = versions.items.find((it) => it.active)?.version ?? null;
  return (
    <>
      <Panel title="Versions" actions={<CopyCurl of={ask(undefined)} />}>
        <ShowPages of={versions} empty={<Empty title="There is no version" />}>
          {(items) => (
            <div class="scroll" tabIndex={0} role="region" aria-label="Versions">
              <table class="stacks">
                <thead>
                  <tr>
                    <th scope="col">Version</th>
                    <th scope="col">State</th>
                    <th scope="col">Registered</th>
                    <th scope="col">Actions</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((it) => (
                    <VersionRow key={it.version} version={it} active={active} open={(to) => setOpen({ version: it, to })} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </ShowPages>
      </Panel>
      {versions.items.length > 1 ? <CompareVersions tool={tool.id} versions={versions.items} /> : null}
      {open === null ? null : (
        <SwitchDialog
          of={open.version}
          to={open.to}
          close={() => setOpen(null)}
          done={() => {
            versions.reload();
            changed();
          }}
        />
      )}
    </>
  );
}

function VersionRow({ version, active, open }: { version: Tool; active: string | null; open: (to: Switch) => void }) {
  const { id, version: number } = version;
  const why = whyNoSwitches(version);
  return (
    <tr>
      <th scope="row">
        <a href={link(["tools", id], { version: number })}>{number}</a>
      </th>
      <td>
        {version.active ? (
          <Badge tone="good">active</Badge>
        ) : (
          <>
            <Badge tone={version.deactivated_reason === "security" ? "bad" : ""}>{inactiveWords(version.deactivated_reason)}</Badge>{" "}
            <span class="soft small">
              <Time at={version.deactivated_at} />
            </span>
          </>
        )}
      </td>
      <td>
        <Time at={version.registered_at} /> by {version.registered_by}
      </td>
      <td>
        <div class="row">
          {why === null ? null : <span class="soft small">{why}</span>}
          {switchesOf(version, active).map((it) => (
            <Button key={it} narrow kind={it === "deactivate" ? "danger" : ""} label={it === "reason" ? `${WORDS[it]} of ${number}` : `${WORDS[it]} ${number}`} onClick={() => open(it)}>
              {it === "rollback" ? `${WORDS[it]} ${number}` : WORDS[it]}
            </Button>
          ))}
          {active === null || active === number ? null : (
            <a class="small" href={link(["tools", id], { tab: "versions", from: number, to: active })}>
              Compare with {active}
            </a>
          )}
        </div>
      </td>
    </tr>
  );
}
