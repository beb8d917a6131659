// The latest calls of a tool.

import { may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { StatusBadge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, Show } from "../../parts/states.tsx";
import { Duration, Time } from "../../parts/values.tsx";

const LATEST = 20;

export function ToolCalls({ tool }: { tool: Tool }) {
  const asked = may("user") ? request("get", "/api/tool-calls", { query: { tool_name: tool.id, limit: LATEST } }) : null;
  const calls = useLoad(asked, 5_000);
  if (asked === null) return <p class="notice warn">The record of calls is shown to users of the workspace, and your level is guest.</p>;
  return (
    <Panel
      title="Latest calls"
      actions={
        <>
          <CopyCurl of={asked} />
          <ButtonLink narrow href={link(["calls"], { tool_name: tool.id })}>
            All calls of this tool
          </ButtonLink>
        </>
      }
    >
      <Show of={calls}>
        {({ tool_calls: latest }) =>
          latest.length === 0 ? (
            <Empty title="The tool has not been called yet">
              <ButtonLink href={link(["run", tool.id])}>Run it</ButtonLink>
            </Empty>
          ) : (
            <div class="scroll" tabIndex={0} role="region" aria-label="Latest calls">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Call</th>
                    <th scope="col">Status</th>
                    <th scope="col">Version</th>
                    <th scope="col">Agent</th>
                    <th scope="col">Session</th>
                    <th scope="col">Time</th>
                  </tr>
                </thead>
                <tbody>
                  {latest.map((it) => (
                    <tr key={it.id}>
                      <th scope="row">
                        <a href={link(["calls", it.id])}>
                          <Time at={it.started_at} />
                        </a>
                      </th>
                      <td>
                        <StatusBadge status={it.status} /> <span class="soft small">{it.error?.code ?? ""}</span>
                      </td>
                      <td>{it.version ?? "–"}</td>
                      <td>{(it.agent_id ?? null) === null ? "none" : <a href={link(["agents", it.agent_id ?? ""])}>{it.agent_id}</a>}</td>
                      <td>{it.session_id ?? "–"}</td>
                      <td class="number">
                        <Duration ms={it.duration_ms} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Show>
    </Panel>
  );
}
