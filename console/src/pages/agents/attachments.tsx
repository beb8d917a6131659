// The tools that are attached to an agent: attach, configure, detach. What is open is in the URL.

import { useState } from "preact/hooks";
import { usePages } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Agent, Schemas } from "../../api/types.ts";
import { link, query } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { RiskBadge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { AttachTool } from "./attach.tsx";
import { ConfigureTool } from "./configure.tsx";
import { managesAgents, whyNot } from "./rights.ts";

type Attached = Schemas["AttachedOut"];

export function Attachments({ agent, changed }: { agent: Agent; changed: () => void }) {
  const ask = (cursor: string | undefined) =>
    request("get", "/api/agents/{agent_id}/tools", { path: { agent_id: agent.id }, query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } });
  const attached = usePages(agent.id, ask, (it) => it.tools);
  const [leaving, setLeaving] = useState<Attached | null>(null);
  const attach = query.value.get("attach");
  const configure = query.value.get("configure");
  const configured = attached.items.find((it) => it.id === configure);
  const here = (more: Record<string, string>) => link(["agents", agent.id], { tab: "attachments", ...more });
  const reload = () => {
    attached.reload();
    changed();
  };
  const detach = leaving === null ? null : request("delete", "/api/agents/{agent_id}/tools/{tool_id}", { path: { agent_id: agent.id, tool_id: leaving.id } });
  return (
    <>
      {attach !== null && managesAgents() ? <AttachTool key={attach} agent={agent} chosen={attach} done={reload} /> : null}
      {configured !== undefined && managesAgents() ? <ConfigureTool key={configured.id} agent={agent} tool={configured} done={reload} /> : null}
      <Panel
        title="Attached tools"
        actions={
          <>
            <CopyCurl of={ask(undefined)} />
            {managesAgents() && attach === null ? (
              <ButtonLink kind="primary" href={here({ attach: "*" })}>
                Attach a tool
              </ButtonLink>
            ) : null}
          </>
        }
      >
        {managesAgents() ? null : <p class="soft">{whyNot()}</p>}
        <ShowPages
          of={attached}
          empty={
            <Empty title="No tool is attached">
              <p>{agent.default_tools_in_use ? "The agent has the default tools until the first one is attached." : "The agent has only the tools of its modules."}</p>
            </Empty>
          }
        >
          {(items) => (
            <div class="scroll" tabIndex={0} role="region" aria-label="Attached tools">
              <table class="stacks">
                <thead>
                  <tr>
                    <th scope="col">Tool</th>
                    <th scope="col">Risk</th>
                    <th scope="col">Configuration</th>
                    {managesAgents() ? <th scope="col">Actions</th> : null}
                  </tr>
                </thead>
                <tbody>
                  {items.map((it) => (
                    <tr key={it.id}>
                      <th scope="row">
                        <a href={link(["tools", it.id])}>{it.name}</a> <code class="soft">{it.id}</code>
                      </th>
                      <td>
                        <RiskBadge risk={it.risk_level} />
                      </td>
                      <td>{hasConfig(it) ? <code>{short(it.config)}</code> : "none"}</td>
                      {managesAgents() ? (
                        <td>
                          <div class="row">
                            <a class="button narrow" href={here({ configure: it.id })} aria-label={`Configure ${it.id}`}>
                              Configure
                            </a>
                            <Button narrow kind="danger" label={`Detach ${it.id}`} onClick={() => setLeaving(it)}>
                              Detach
                            </Button>
                          </div>
                        </td>
                      ) : null}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </ShowPages>
      </Panel>
      {leaving === null || detach === null ? null : (
        <Confirm
          title={`Detach ${leaving.id}`}
          action="Detach the tool"
          danger
          of={detach}
          close={() => setLeaving(null)}
          work={async () => {
            await send(detach);
            tell(`${leaving.id} is detached from ${agent.name}`);
            reload();
          }}
        >
          <p>
            {agent.name} can no longer call {leaving.name}, and its configuration is gone.
            {attached.items.length === 1 && agent.default_tools ? " It is the last tool, so the agent gets the default tools back." : ""}
          </p>
        </Confirm>
      )}
    </>
  );
}

function hasConfig(tool: Attached): boolean {
  return (tool.config ?? null) !== null && Object.keys(tool.config ?? {}).length > 0;
}

function short(config: unknown): string {
  const text = JSON.stringify(config);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
