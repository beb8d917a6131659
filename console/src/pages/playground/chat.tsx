// The messages of a conversation, and the field for the next one.

import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { returns } from "../../api/caller.ts";
import { isLost, useEvery, useReturn } from "../../api/load.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import type { Conversation } from "./conversation.ts";
import { MessageView } from "./message.tsx";

/** How often a turn that waits for somebody's decision is looked at. */
const LOOK_MS = 4_000;

export function Chat({ conversation, agent }: { conversation: Conversation; agent: string | undefined }) {
  const { live, phase, error } = conversation;
  const list = useRef<HTMLOListElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const busy = phase.value !== "idle";
  const liveId = live.value?.id;
  const shown = useMemo(() => conversation.shown, [conversation, conversation.messages.value, liveId]);
  // A stream comes in many pieces, and none of them changes what was said before.
  const said = useMemo(
    () =>
      shown.map((it) => (
        <li key={it.id} class={`message ${it.role}`}>
          <MessageView message={it} conversation={conversation} agent={agent} busy={busy} />
        </li>
      )),
    [shown, conversation, agent, busy],
  );
  // A turn goes on without listeners, so the chat comes back to it.
  const comeBack = useCallback(() => void conversation.open(), [conversation]);
  useReturn(isLost(error.value), comeBack);
  const look = useCallback(() => void conversation.look(), [conversation]);
  useEvery(!busy && conversation.waits ? LOOK_MS : undefined, look);
  // What was refused because the token had ended is read with the new one.
  const firstReturn = useRef(returns.value);
  useEffect(() => {
    if (returns.value !== firstReturn.current && conversation.error.value !== null) comeBack();
  }, [returns.value]);
  useFollowing(list, end);
  return (
    <section class="chat" aria-label="Conversation" aria-busy={busy}>
      {phase.value === "loading" ? <Loading what="Reading the conversation" /> : null}
      {shown.length === 0 && live.value === null && phase.value === "idle" ? <p class="soft">Say something: the agent answers, and its calls appear here.</p> : null}
      <ol class="messages" aria-live="polite" ref={list}>
        {said}
        {live.value === null ? null : (
          <li class="message assistant">
            <MessageView live={live.value} conversation={conversation} agent={agent} busy={busy} />
          </li>
        )}
      </ol>
      {error.value === null ? null : <Failure error={error.value} />}
      <Composer conversation={conversation} agent={agent} busy={busy} />
      <div ref={end} />
    </section>
  );
}

/** Keeps the end in sight while the conversation grows, also after a text was laid out late. Only a person who is there follows. */
function useFollowing(list: { readonly current: HTMLElement | null }, end: { readonly current: HTMLElement | null }) {
  useEffect(() => {
    const messages = list.current;
    if (messages === null) return;
    let wasNear = true;
    const note = () => (wasNear = isNearEnd());
    const follow = () => {
      // Somebody who writes in a message stays with it.
      if (wasNear && !messages.contains(document.activeElement)) end.current?.scrollIntoView({ block: "end" });
    };
    const observer = new ResizeObserver(follow);
    observer.observe(messages);
    window.addEventListener("scroll", note, { passive: true });
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", note);
    };
  }, []);
}

function isNearEnd(): boolean {
  const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
  return scrollHeight - scrollTop - clientHeight < 240;
}

function Composer({ conversation, agent, busy }: { conversation: Conversation; agent: string | undefined; busy: boolean }) {
  const text = useSignal("");
  /** What was refused while something else was typed. */
  const refused = useSignal("");
  const say = async () => {
    const said = text.value.trim();
    if (said === "" || busy || agent === undefined) return;
    text.value = "";
    refused.value = "";
    // What was refused is not lost, and neither is what was typed meanwhile.
    if (await conversation.say(agent, said)) return;
    if (text.value === "") text.value = said;
    else refused.value = said;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void say();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void say();
      }}
    >
      {refused.value === "" ? null : (
        <div class="notice warn" role="alert">
          <p>This message was not sent: {refused.value}</p>
          <Button
            narrow
            onClick={() => {
              text.value = `${refused.value}\n${text.value}`;
              refused.value = "";
            }}
          >
            Put it before the message below
          </Button>
        </div>
      )}
      <label class="visually-hidden" for="composer">
        Message
      </label>
      <textarea id="composer" rows={3} placeholder="A message. Enter sends it, Shift+Enter begins a line." value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} onKeyDown={onKey} />
      <div class="row">
        <Button kind="primary" type="submit" disabled={busy || agent === undefined || text.value.trim() === ""}>
          Send
        </Button>
        {agent === undefined ? null : <CopyCurl of={conversation.chatRequest(agent, text.value)} action="Send" />}
        {conversation.phase.value === "busy" ? (
          <>
            <WorkButton work={() => conversation.stop()}>Stop</WorkButton>
            <CopyCurl of={conversation.stopRequest()} action="Stop" />
          </>
        ) : null}
      </div>
    </form>
  );
}
