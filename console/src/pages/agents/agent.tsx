// One agent: its head, and the view that the URL names.

import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Agent } from "../../api/types.ts";
import { go, link, query } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopyCurl, Id } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Badge, RiskBadge } from "../../parts/marks.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { Show } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { Attachments } from "./attachments.tsx";
import { ConnectAgent } from "./connect.tsx";
import { managesAgents } from "./rights.ts";
import { AgentSettings } from "./settings.tsx";
import { AgentTokens } from "./tokens.tsx";
import { Toolbox } from "./toolbox.tsx";

const TABS = [
  { id: "toolbox", text: "Toolbox" },
  { id: "attachments", text: "Attachments" },
  { id: "settings", text: "Settings" },
  { id: "tokens", text: "Tokens" },
  { id: "connect", text: "Connect" },
];

export function AgentPage({ id }: { id: string }) {
  const [isDeleting, setDeleting] = useState(false);
  const asked = request("get", "/api/agents/{agent_id}", { path: { agent_id: id } });
  const agent = useLoad(asked, 15_000);
  const present = agent.data as Agent | undefined;
  return (
    <Page
      title={present?.name ?? id}
      above={[{ text: "Agents", href: link(["agents"]) }]}
      marks={
        present === undefined ? null : (
          <>
            <span class="soft small">risk up to</span> <RiskBadge risk={present.max_risk} />
            <Badge tone="accent">{present.permission_level}</Badge>
            {present.default_tools_in_use ? <Badge>default tools</Badge> : null}
          </>
        )
      }
      actions={
        <>
          <CopyCurl of={asked} />
          {present !== undefined && managesAgents() ? (
            <Button kind="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          ) : null}
          {present !== undefined && may("user") ? (
            <ButtonLink kind="primary" href={link(["playground"], { agent: id })}>
              Chat
            </ButtonLink>
          ) : null}
        </>
      }
    >
      <Show of={agent}>{(it) => <Views agent={it as Agent} reload={agent.reload} />}</Show>
      {isDeleting && present !== undefined ? <DeleteAgent agent={present} close={() => setDeleting(false)} /> : null}
    </Page>
  );
}

function Views({ agent, reload }: { agent: Agent; reload: () => void }) {
  const asked = query.value.get("tab");
  const current = TABS.find((it) => it.id === asked)?.id ?? "toolbox";
  return (
    <>
      <Id id={agent.id} />
      <Tabs current={current} tabs={TABS.map((it) => ({ ...it, href: link(["agents", agent.id], { tab: it.id === "toolbox" ? undefined : it.id }) }))} />
      {current === "toolbox" ? <Toolbox agent={agent} /> : null}
      {current === "attachments" ? <Attachments agent={agent} changed={reload} /> : null}
      {current === "settings" ? <AgentSettings agent={agent} changed={reload} /> : null}
      {current === "tokens" ? <AgentTokens agent={agent} /> : null}
      {current === "connect" ? <ConnectAgent agent={agent} /> : null}
    </>
  );
}

function DeleteAgent({ agent, close }: { agent: Agent; close: () => void }) {
  const asked = request("delete", "/api/agents/{agent_id}", { path: { agent_id: agent.id } });
  return (
    <Confirm
      title={`Delete ${agent.name}`}
      action="Delete the agent"
      danger
      of={asked}
      close={close}
      work={async () => {
        await send(asked);
        tell(`${agent.name} is deleted`);
        go(["agents"]);
      }}
    >
      <p>Its attachments and its tokens go with it, and calls of it that wait for an approval can no longer run. The record of its calls stays.</p>
    </Confirm>
  );
}
