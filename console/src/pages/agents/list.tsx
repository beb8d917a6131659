// All agents of the workspace.

import { usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Agent } from "../../api/types.ts";
import { link } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge, RiskBadge } from "../../parts/marks.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { Time } from "../../parts/values.tsx";
import { managesAgents, whyNot } from "./rights.ts";

export function AgentList() {
  const ask = (cursor: string | undefined) => request("get", "/api/agents", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } });
  const agents = usePages("agents", ask, (it) => it.agents as Agent[], 30_000);
  const create = (
    <ButtonLink kind="primary" href={link(["agents"], { view: "new" })}>
      Create an agent
    </ButtonLink>
  );
  return (
    <Page
      title="Agents"
      about="Who calls tools: each agent has a toolbox, and limits of its own."
      actions={
        <>
          <CopyCurl of={ask(undefined)} />
          {managesAgents() ? create : null}
        </>
      }
    >
      {managesAgents() ? null : <p class="soft">{whyNot()}</p>}
      <ShowPages
        of={agents}
        empty={
          <Empty title="There is no agent yet">
            <p>An agent that you create has the default tools until you attach others. Models and MCP clients call tools in its name.</p>
            {managesAgents() ? create : null}
          </Empty>
        }
      >
        {(items) => (
          <div class="scroll" tabIndex={0} role="region" aria-label="Agents">
            <table>
              <thead>
                <tr>
                  <th scope="col">Agent</th>
                  <th scope="col">Risk up to</th>
                  <th scope="col">Level</th>
                  <th scope="col">Tools</th>
                  <th scope="col">Capabilities</th>
                  <th scope="col">Modules</th>
                  <th scope="col">Created</th>
                </tr>
              </thead>
              <tbody>
                {items.map((it) => (
                  <tr key={it.id}>
                    <th scope="row">
                      <a href={link(["agents", it.id])}>{it.name}</a>
                    </th>
                    <td>
                      <RiskBadge risk={it.max_risk} />
                    </td>
                    <td>{it.permission_level}</td>
                    <td>{it.default_tools_in_use ? <Badge>default tools</Badge> : "attached ones"}</td>
                    <td>{it.capabilities.join(", ") || "none"}</td>
                    <td>{it.allowed_modules.join(", ") || "the workspace’s"}</td>
                    <td>
                      <Time at={it.created_at} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </ShowPages>
    </Page>
  );
}
