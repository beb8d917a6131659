// One message: its texts, thoughts and calls, and the ways to other branches.

import { useMemo } from "preact/hooks";
import type { ApiRequest } from "../../api/request.ts";
import type { Message } from "../../api/types.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl, CurlMenu } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Markdown } from "../../parts/renderers/markdown.tsx";
import { Time } from "../../parts/values.tsx";
import type { CallRecord, LiveMessage, Part } from "./assembly.ts";
import { CallCard } from "./call_card.tsx";
import { type Conversation, partsOf } from "./conversation.ts";

interface MessageProps {
  message?: Message;
  /** The message of the turn that is under way. */
  live?: LiveMessage;
  conversation: Conversation;
  /** Undefined as long as none is chosen. */
  agent: string | undefined;
  busy: boolean;
}

export function MessageView({ message, live, conversation, agent, busy }: MessageProps) {
  const parts = live?.parts ?? (message === undefined ? [] : partsOf(message));
  const records = new Map(parts.filter((it): it is CallRecord => it.type === "data-call").map((it) => [it.id, it]));
  const isUser = message?.role === "user";
  const id = message?.id ?? "";
  const edited = conversation.edits.value.get(id);
  const goBack = conversation.checkOutRequest(id);
  return (
    <article class="stack" aria-label={isUser ? "You" : "The agent"}>
      <header class="spread small soft">
        <strong>{isUser ? "You" : "Agent"}</strong>
        {message === undefined ? <Badge tone="accent">answering</Badge> : <Time at={message.created_at} />}
      </header>
      {edited === undefined ? (
        parts.map((it, index) => (
          <PartView
            key={index}
            part={it}
            record={it.type === "dynamic-tool" ? records.get(it.toolCallId) : undefined}
            isAnswer={message !== undefined && !isUser}
            conversation={conversation}
            busy={busy}
          />
        ))
      ) : (
        <Edit text={edited} id={id} conversation={conversation} agent={agent} />
      )}
      {message === undefined ? null : <Ending message={message} />}
      {message === undefined || message.id === "" || edited !== undefined ? null : (
        <footer class="row small">
          <Branches message={message} conversation={conversation} busy={busy} />
          {isUser ? (
            <Button kind="quiet" narrow disabled={busy} onClick={() => conversation.edit(id, textOf(parts))}>
              Edit
            </Button>
          ) : (
            <WorkButton kind="quiet" narrow disabled={busy || agent === undefined} work={async () => void (agent !== undefined && (await conversation.say(agent, "", { regenerated: id })))}>
              Answer again
            </WorkButton>
          )}
          <WorkButton kind="quiet" narrow disabled={busy} title="The conversation and its files go back to this message" work={() => conversation.checkOut(goBack)}>
            Go back here
          </WorkButton>
          <CurlMenu of={requestsOf(message, conversation, agent)} />
        </footer>
      )}
    </article>
  );
}

interface PartProps {
  part: Part;
  /** The record of a call. */
  record: CallRecord | undefined;
  /** The part belongs to an answer of the agent that is complete. */
  isAnswer: boolean;
  conversation: Conversation;
  busy: boolean;
}

/** A part of a message. The pieces of a stream change one part each, and the others are not rendered again. */
function PartView(props: PartProps) {
  return useMemo(() => <PartContents {...props} />, [props.part, props.record, props.isAnswer, props.conversation, props.busy]);
}

function PartContents({ part, record, isAnswer, conversation, busy }: PartProps) {
  switch (part.type) {
    case "text": {
      const plain = <p class="said">{part.text}</p>;
      // Half an answer is half a document.
      return isAnswer ? <Markdown text={part.text} label="Answer" meanwhile={plain} /> : plain;
    }
    case "reasoning":
      return (
        <details class="soft">
          <summary>Thoughts</summary>
          <p class="said">{part.text}</p>
        </details>
      );
    case "dynamic-tool":
      return <CallCard call={part} record={record} conversation={conversation} busy={busy} />;
    case "data-call":
    case "step-start":
      return null;
  }
}

/** What the buttons below a message send. */
function requestsOf(message: Message, conversation: Conversation, agent: string | undefined): [string, ApiRequest<unknown>][] {
  const { before, after } = neighboursOf(message);
  return [
    ...(message.role === "user" || agent === undefined ? [] : [["Answer again", conversation.chatRequest(agent, "", { regenerated: message.id })] satisfies [string, ApiRequest<unknown>]]),
    ["Go back here", conversation.checkOutRequest(message.id)],
    ...(before === undefined ? [] : [["The branch before", conversation.checkOutRequest(before, true)] satisfies [string, ApiRequest<unknown>]]),
    ...(after === undefined ? [] : [["The next branch", conversation.checkOutRequest(after, true)] satisfies [string, ApiRequest<unknown>]]),
  ];
}

/** Why a turn ended, if it did not end with an answer. */
function Ending({ message }: { message: Message }) {
  const reason = message.finish_reason;
  if (message.role === "user" || reason === "stop" || reason === null || reason === undefined) return null;
  const told = (message.metadata as { ended_by?: string } | null | undefined)?.ended_by;
  if (reason === "tool-calls") return <p class="soft small">The turn waits for a decision.</p>;
  return <p class="notice warn small">{told ?? `The turn ended: ${reason}`}</p>;
}

/** The messages beside this one, at its place of the conversation. */
function neighboursOf({ id, siblings }: Message): { index: number; before: string | undefined; after: string | undefined } {
  const index = siblings.indexOf(id);
  return { index, before: siblings[index - 1], after: siblings[index + 1] };
}

function Branches({ message, conversation, busy }: { message: Message; conversation: Conversation; busy: boolean }) {
  if (message.siblings.length < 2) return null;
  const { index, before, after } = neighboursOf(message);
  const step = (to: string | undefined, label: string, sign: string) => (
    <WorkButton kind="quiet" narrow label={label} disabled={busy || to === undefined} work={async () => void (to !== undefined && (await conversation.checkOut(conversation.checkOutRequest(to, true))))}>
      {sign}
    </WorkButton>
  );
  return (
    <span class="row">
      {step(before, "The branch before", "‹")}
      <span>
        {index + 1} of {message.siblings.length}
      </span>
      {step(after, "The next branch", "›")}
    </span>
  );
}

/** A message of the user that is written anew. The new one begins a branch beside the old one. */
function Edit({ text, id, conversation, agent }: { text: string; id: string; conversation: Conversation; agent: string | undefined }) {
  const said = text.trim();
  const options = { edited: id };
  const save = async () => {
    if (said === "" || (agent !== undefined && (await conversation.say(agent, said, options)))) conversation.edit(id, null);
  };
  return (
    <div class="stack">
      <textarea aria-label="The message, written anew" rows={3} value={text} onInput={(event) => conversation.edit(id, event.currentTarget.value)} />
      <div class="row">
        <WorkButton kind="primary" narrow disabled={agent === undefined} work={save}>
          Send as a branch
        </WorkButton>
        <Button narrow onClick={() => conversation.edit(id, null)}>
          Cancel
        </Button>
        {agent === undefined ? null : <CopyCurl narrow of={conversation.chatRequest(agent, said, options)} action="Send as a branch" />}
      </div>
    </div>
  );
}

function textOf(parts: Part[]): string {
  return parts.map((it) => (it.type === "text" ? it.text : "")).join("");
}
