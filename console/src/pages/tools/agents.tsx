// Which agents may use a tool now. The API has no such list, so the toolbox of each agent on the page is searched.

import { caller, may } from "../../api/caller.ts";
import { useLoad, usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Agent, Tool } from "../../api/types.ts";
import { link } from "../../location.ts";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge, RiskBadge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";

/** Each agent on a page costs one request. */
const PAGE = 10;

export function ToolAgents({ tool }: { tool: Tool }) {
  const ask = (cursor: string | undefined) => request("get", "/api/agents", { query: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) } });
  const agents = usePages("agents", ask, (it) => it.agents as Agent[]);
  return (
    <Panel title="Agents that may use it" actions={<CopyCurl of={ask(undefined)} />}>
      <p class="soft">
        The toolbox of each agent below is asked for {tool.id}: the agents come {PAGE} at a time, the oldest first. Tools above your own level are in no toolbox that you see.
      </p>
      <ShowPages
        of={agents}
        empty={
          <Empty title="There is no agent yet">
            <a href={link(["agents"])}>Create one at Agents</a>
          </Empty>
        }
      >
        {(items) => (
          <div class="scroll" tabIndex={0} role="region" aria-label="Agents">
            <table>
              <thead>
                <tr>
                  <th scope="col">Agent</th>
                  <th scope="col">May use it now</th>
                  <th scope="col">Risk up to</th>
                  <th scope="col">Level</th>
                </tr>
              </thead>
              <tbody>
                {items.map((it) => (
                  <AgentRow key={it.id} agent={it} tool={tool} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </ShowPages>
    </Panel>
  );
}

function AgentRow({ agent, tool }: { agent: Agent; tool: Tool }) {
  // The id as a phrase is the best match for itself.
  const found = useLoad(request("get", "/api/agents/{agent_id}/toolbox", { path: { agent_id: agent.id }, query: { q: `"${tool.id}"`, limit: 20 } }));
  const has = found.data?.tools.some((it) => (it as Tool).id === tool.id);
  const manages = may("user") && caller.value?.agent_id === null;
  return (
    <tr>
      <th scope="row">
        <a href={link(["agents", agent.id])}>{agent.name}</a>
      </th>
      <td>
        {found.error !== undefined ? (
          <span class="soft">{found.error.message}</span>
        ) : has === undefined ? (
          "…"
        ) : has ? (
          <Badge tone="good">yes</Badge>
        ) : (
          <span class="row">
            <Badge>no</Badge>
            {manages ? (
              <a class="small" href={link(["agents", agent.id], { tab: "attachments", attach: tool.id })}>
                Attach it, or see why not
              </a>
            ) : null}
          </span>
        )}
      </td>
      <td>
        <RiskBadge risk={agent.max_risk} />
      </td>
      <td>{agent.permission_level}</td>
    </tr>
  );
}
