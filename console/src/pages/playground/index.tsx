// The playground: a chat with an agent, its calls as cards, branches, and the session's files beside it.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { caller } from "../../api/caller.ts";
import { useLoad, usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import { sessionsRequest } from "../../api/sessions.ts";
import type { Agent } from "../../api/types.ts";
import { go, link, query, setQuery } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import { Empty, Failure, Show, ShowPages } from "../../parts/states.tsx";
import { Time } from "../../parts/values.tsx";
import type { PageProps } from "../../routes.tsx";
import { wantedAgent } from "./agent_choice.ts";
import { Chat } from "./chat.tsx";
import { Conversation } from "./conversation.ts";
import { FilesBeside } from "./files_beside.tsx";

export default function Playground({ path: [session] }: PageProps) {
  return (
    <Page
      title="Playground"
      about="A chat with an agent. Its calls pass the same checks as all others, and are recorded."
      actions={<Button onClick={() => begin(query.value.get("agent") ?? undefined)}>New chat</Button>}
    >
      <ModelNotice />
      {session === undefined ? <Start /> : <Opened key={session} session={session} />}
    </Page>
  );
}

/** Begins a conversation under a name that no session has yet. */
function begin(agent: string | undefined): void {
  go(["playground", `chat-${crypto.randomUUID().slice(0, 8)}`], { agent, new: "true" });
}

function ModelNotice() {
  if (caller.value?.features.model !== false) return null;
  return (
    <div class="notice warn" role="status">
      <strong>No model is configured</strong>
      <p>
        A chat needs an OpenAI-compatible model. An admin sets <code>model_url</code> and <code>model_name</code> in{" "}
        <a href={link(["settings"], { tab: "workspace" })}>the settings of the workspace</a>, or an operator sets <code>MODEL_URL</code> and <code>MODEL_NAME</code>.
      </p>
    </div>
  );
}

const LISTED = 200;

interface WithAgentProps {
  /** The agent of the conversation's last turn. */
  last?: string | undefined;
  /** The conversation has not been read yet, so its last turn is not known. */
  isReading?: boolean;
  /** What stands beside the choice. */
  beside: (agent: string | undefined) => ComponentChildren;
  children: (agent: string | undefined) => ComponentChildren;
}

/** Asks who answers, and shows the rest with that agent; with none as long as none is chosen. */
function WithAgent({ last, isReading = false, beside, children }: WithAgentProps) {
  const agents = useLoad(request("get", "/api/agents", { query: { limit: LISTED } }));
  const listed = agents.data?.agents ?? [];
  const wanted = wantedAgent({ bound: caller.value?.agent_id ?? null, asked: query.value.get("agent"), last, listed });
  const found = listed.find((it) => it.id === wanted);
  // A workspace may have more agents than the list.
  const single = useLoad(wanted === undefined || agents.data === undefined || found !== undefined ? null : request("get", "/api/agents/{agent_id}", { path: { agent_id: wanted } }));
  const agent: Agent | undefined = found ?? single.data;
  return (
    <Show of={agents}>
      {(page) =>
        page.agents.length === 0 ? (
          <Empty title="There is no agent yet">
            <p>A chat needs an agent: who it is, and which tools it may use.</p>
            <ButtonLink kind="primary" href={link(["agents"], { view: "new" })}>
              Make an agent
            </ButtonLink>
          </Empty>
        ) : (
          <>
            <div class="filters">
              <AgentField agents={page.agents} agent={agent} hasMore={(page.next_cursor ?? null) !== null} />
              {beside(agent?.id)}
            </div>
            {agent !== undefined || isReading || single.loading ? null : <Missing wanted={wanted} error={single.error} retry={single.reload} />}
            {children(agent?.id)}
          </>
        )
      }
    </Show>
  );
}

function AgentField({ agents, agent, hasMore }: { agents: Agent[]; agent: Agent | undefined; hasMore: boolean }) {
  const isListed = agent === undefined || agents.some((it) => it.id === agent.id);
  const options = (isListed ? agents : [agent, ...agents]).map((it): [string, string] => [it.id, it.name]);
  return (
    <SelectField
      label="Agent"
      value={agent?.id ?? ""}
      onChange={(it) => setQuery({ agent: it })}
      options={agent === undefined ? [["", "Choose an agent"], ...options] : options}
      {...(hasMore ? { hint: `The first ${LISTED}; the page of any other agent leads here too.` } : {})}
    />
  );
}

function Missing({ wanted, error, retry }: { wanted: string | undefined; error: Parameters<typeof Failure>[0]["error"] | undefined; retry: () => void }) {
  if (wanted === undefined) return <p class="notice">Choose the agent that answers.</p>;
  if (error === undefined) return null;
  if (error.status !== 404) return <Failure error={error} retry={retry} />;
  return (
    <p class="notice warn" role="status">
      <span>
        There is no agent <code>{wanted}</code>. Choose the agent that answers.
      </span>
    </p>
  );
}

/** A conversation to begin, or to go on with. */
function Start() {
  const name = useSignal("");
  const open = (agent: string | undefined) => (name.value.trim() === "" ? begin(agent) : go(["playground", name.value.trim()], { agent }));
  return (
    <WithAgent
      beside={(agent) => (
        <>
          <TextField label="Session" value={name.value} onChange={(it) => (name.value = it)} placeholder="a new one" hint="The chat and its files." />
          <Button kind="primary" disabled={agent === undefined} onClick={() => open(agent)}>
            Begin
          </Button>
        </>
      )}
    >
      {() => <Sessions />}
    </WithAgent>
  );
}

const PAGE = 50;

/** Conversations to go on with, each with the agent that it had. */
function Sessions() {
  const sessions = usePages("sessions", (cursor) => sessionsRequest(PAGE, cursor), (it) => it.sessions);
  const chats = sessions.items.filter((it) => (it.active_message_id ?? null) !== null);
  const none = sessions.hasMore ? `None of the newest ${sessions.items.length} sessions has a conversation` : "No conversation yet";
  return (
    <ShowPages of={{ ...sessions, items: chats }} empty={<Empty title={none}>Begin one with a message.</Empty>}>
      {(items) => (
        <Panel title="Go on with" actions={<CopyCurl of={sessionsRequest(PAGE)} />}>
          <ul class="rows">
            {items.map((it) => (
              <li key={it.id}>
                <a href={link(["playground", it.id])}>{it.id}</a>
                <span class="soft small">
                  <Time at={it.updated_at} />
                </span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </ShowPages>
  );
}

function Opened({ session }: { session: string }) {
  const conversation = useMemo(() => new Conversation(session), [session]);
  useEffect(() => {
    // A session exists from its first message on, and asking for one that does not exist is a fault.
    if (query.value.get("new") === "true") conversation.begin();
    else void conversation.open();
    return () => conversation.leave();
  }, [conversation]);
  const phase = conversation.phase.value;
  useEffect(() => {
    if (phase === "busy") setQuery({ new: undefined });
  }, [phase]);
  const last = conversation.messages.value.findLast((it) => (it.agent_id ?? null) !== null)?.agent_id ?? undefined;
  return (
    <WithAgent
      last={last}
      isReading={phase === "loading"}
      beside={() => (
        <p>
          Session <a href={link(["files", session])}>{session}</a>
        </p>
      )}
    >
      {(agent) => (
        <div class="playground">
          <Chat conversation={conversation} agent={agent} />
          <FilesBeside session={session} turn={conversation.filesTurn.value} />
        </div>
      )}
    </WithAgent>
  );
}
