// A call of the agent: its arguments, its state, its result by its renderer, and the decision that it waits for.

import { useSignal } from "@preact/signals";
import { may } from "../../api/caller.ts";
import { link } from "../../location.ts";
import { WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { TextField } from "../../parts/field.tsx";
import { Badge, type Tone } from "../../parts/marks.tsx";
import { CallResult } from "../../parts/renderers/index.tsx";
import { Duration, JsonText, Text } from "../../parts/values.tsx";
import type { CallPart, CallRecord } from "./assembly.ts";
import { type Conversation, decisionRequest } from "./conversation.ts";

const STATES: Record<CallPart["state"], [string, Tone]> = {
  "input-streaming": ["being asked for", "accent"],
  "input-available": ["running", "accent"],
  "output-available": ["done", "good"],
  "output-error": ["failed", "bad"],
  "output-denied": ["denied", "bad"],
  "approval-requested": ["waits for approval", "warn"],
  "approval-responded": ["decided", "accent"],
};

export function CallCard({ call, record, conversation, busy }: { call: CallPart; record: CallRecord | undefined; conversation: Conversation; busy: boolean }) {
  const [word, tone] = STATES[call.state];
  const asksForDecision = call.state === "approval-requested" && call.approval !== undefined;
  return (
    <section class="call-card" aria-label={`Call of ${call.toolName}`}>
      <header class="spread">
        <span class="row">
          <a href={link(["tools", call.toolName])}>
            <code>{call.toolName}</code>
          </a>
          <Badge tone={tone}>{word}</Badge>
        </span>
        {record === undefined ? null : (
          <span class="row small soft">
            <span>{record.data.status === "pending_approval" ? "waiting" : record.data.status === "running" ? "running" : <Duration ms={record.data.duration_ms} />}</span>
            <a href={link(["calls", record.data.call_id])}>record</a>
          </span>
        )}
      </header>
      <details open={asksForDecision}>
        <summary>Arguments</summary>
        {call.input === undefined ? <Text text={call.inputText ?? ""} label="Arguments so far" /> : <JsonText value={call.input} label={`Arguments of ${call.toolName}`} />}
      </details>
      {call.errorText === undefined ? null : <p class="notice bad small">{call.errorText}</p>}
      {call.state === "output-available" ? (
        <details open={record?.data.render_plan !== null && record !== undefined}>
          <summary>Result</summary>
          <CallResult
            call={{ call_id: record?.data.call_id ?? "", tool_name: call.toolName, result: call.output ?? null, render_plan: record?.data.render_plan ?? null, session_id: conversation.session }}
          />
        </details>
      ) : null}
      {asksForDecision && call.approval !== undefined ? <Decision approvalId={call.approval.id} conversation={conversation} busy={busy} /> : null}
    </section>
  );
}

function Decision({ approvalId, conversation, busy }: { approvalId: string; conversation: Conversation; busy: boolean }) {
  const reason = useSignal("");
  if (!may("admin")) {
    return (
      <p class="soft small">
        An admin decides: <code>{approvalId}</code>. The chat goes on by itself.
      </p>
    );
  }
  const decide = (decision: "approve" | "deny") => () => conversation.decide(approvalId, decision, reason.value.trim());
  return (
    <div class="stack">
      <TextField label="Reason" value={reason.value} onChange={(it) => (reason.value = it)} hint="The record keeps it; the model is told the reason of a denial." />
      <div class="row">
        <WorkButton kind="primary" disabled={busy} work={decide("approve")}>
          Approve and run
        </WorkButton>
        <WorkButton kind="danger" disabled={busy} work={decide("deny")}>
          Deny
        </WorkButton>
        <CopyCurl of={decisionRequest(approvalId, "approve", reason.value.trim())} action="Approve" />
        <CopyCurl of={decisionRequest(approvalId, "deny", reason.value.trim())} action="Deny" />
      </div>
    </div>
  );
}
