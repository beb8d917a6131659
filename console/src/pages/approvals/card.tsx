// One approval: what would run, who wants it, and the decision.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { apiError } from "../../api/load.ts";
import { ApiError, request, respond, send } from "../../api/request.ts";
import type { Approval } from "../../api/types.ts";
import { link } from "../../location.ts";
import { AgentLink } from "../../parts/agent_link.tsx";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { TextField } from "../../parts/field.tsx";
import { RiskBadge, StatusBadge } from "../../parts/marks.tsx";
import { Facts } from "../../parts/page.tsx";
import { CallOutcome } from "../../parts/renderers/outcome.tsx";
import { useRecord } from "../../parts/renderers/record.ts";
import { CallValue } from "../../parts/renderers/index.tsx";
import { Failure, Loading, Show } from "../../parts/states.tsx";
import { Time } from "../../parts/values.tsx";
import { riskOf } from "./risk.ts";
import { approvalRequest } from "./use_inbox.ts";

interface CardProps {
  of: Approval;
  /** Says how the approval was decided. */
  onDecided: (approval: Approval) => void;
  isCurrent?: boolean;
  choose?: () => void;
}

export function ApprovalCard({ of, onDecided, isCurrent = false, choose }: CardProps) {
  const title = useId();
  const risk = riskOf(of.tool_name, of.version);
  const [isMine, setIsMine] = useState(false);
  const [isLate, setIsLate] = useState(false);
  return (
    <article class="panel approval" id={of.id} tabIndex={-1} aria-labelledby={title} data-current={isCurrent} onFocusCapture={choose}>
      <div class="spread">
        <span class="row">
          <h2 id={title}>
            <a href={link(["tools", of.tool_name])}>{of.tool_name}</a>
          </h2>
          {risk === undefined ? null : <RiskBadge risk={risk} />}
          <StatusBadge status={of.status} />
        </span>
        <span class="soft small">
          <a href={link(["approvals", of.id])} title="The page of this approval">
            asked <Time at={of.created_at} />
          </a>
          {of.status === "pending" ? (
            <>
              , expires <Time at={of.expires_at} />
            </>
          ) : null}
        </span>
      </div>
      <Facts of={factsOf(of)} />
      <CallValue callId={of.call_id} kind="arguments" value={of.arguments ?? {}} label={`Arguments of ${of.tool_name}`} shortened={of.shortened} />
      {isLate ? (
        <p class="notice warn" role="alert">
          Your decision came too late: {of.status === "expired" ? "the approval had expired" : `${decidedBy(of)} had ${of.status} it before`}.
        </p>
      ) : null}
      {of.status === "pending" ? (
        <Decision of={of} onDecided={onDecided} setIsMine={setIsMine} setIsLate={setIsLate} />
      ) : (
        <Decided of={of} isOpen={isMine && of.status === "approved"} />
      )}
    </article>
  );
}

const decidedBy = (of: Approval) => of.decided_by ?? "nobody";

function factsOf(of: Approval): [string, ComponentChildren][] {
  const facts: [string, ComponentChildren][] = [];
  if (of.agent_id) facts.push(["Agent", <AgentLink id={of.agent_id} />]);
  if (of.user_id) facts.push(["User", of.user_id]);
  facts.push(["Asked by", of.requested_by]);
  if (of.session_id) facts.push(["Session", <a href={link(["files", of.session_id])}>{of.session_id}</a>]);
  facts.push(["Call", <a href={link(["calls", of.call_id])}>{of.call_id}</a>]);
  return facts;
}

interface DecisionProps {
  of: Approval;
  onDecided: (approval: Approval) => void;
  setIsMine: (isMine: boolean) => void;
  setIsLate: (isLate: boolean) => void;
}

function Decision({ of, onDecided, setIsMine, setIsLate }: DecisionProps) {
  const [reason, setReason] = useState("");
  const [fault, setFault] = useState<ApiError>();
  // A decision that is taken stays taken, also if the approval cannot be read then.
  const [isTaken, setIsTaken] = useState(false);
  const [unread, setUnread] = useState<ApiError>();
  if (!may("admin")) return <p class="soft">Admins decide this call. Your token does not allow it.</p>;
  const given = { path: { approval_id: of.id }, body: reason.trim() === "" ? {} : { reason: reason.trim() } };
  const approve = request("post", "/api/approvals/{approval_id}/approve", given);
  const deny = request("post", "/api/approvals/{approval_id}/deny", given);
  const readAgain = async () => {
    setUnread(undefined);
    try {
      onDecided(await send(approvalRequest(of.id)));
    } catch (cause) {
      setUnread(apiError(cause));
    }
  };
  const decide = async (asked: typeof approve | typeof deny) => {
    setFault(undefined);
    setIsMine(true);
    try {
      // The outcome is read from the record, which holds no more than a page can show.
      const response = await respond(asked);
      void response.body?.cancel();
    } catch (cause) {
      setIsMine(false);
      if (!(cause instanceof ApiError)) throw cause;
      const present = cause.status === 409 ? await send(approvalRequest(of.id)) : of;
      if (present.status === "pending") return setFault(cause);
      setIsLate(true);
      return onDecided(present);
    }
    setIsTaken(true);
    await readAgain();
  };
  if (isTaken) {
    return (
      <>
        <p class="notice good" role="status">
          Your decision is taken.
        </p>
        {unread === undefined ? <Loading what="Reading the approval again" /> : <Failure error={unread} retry={() => void readAgain()} />}
      </>
    );
  }
  return (
    <>
      {fault === undefined ? null : <Failure error={fault} />}
      <div class="filters">
        <TextField wide label="Reason (optional)" value={reason} onChange={setReason} placeholder="The log of changes keeps it" />
        <div class="row">
          <WorkButton kind="primary" work={() => decide(approve)}>
            Approve and run
          </WorkButton>
          <WorkButton kind="danger" work={() => decide(deny)}>
            Deny
          </WorkButton>
          <CopyCurl of={approve} action="Approve" />
          <CopyCurl of={deny} action="Deny" />
        </div>
      </div>
    </>
  );
}

/** How it was decided. The result is read when the person wants it, because a list may have many. */
function Decided({ of, isOpen }: { of: Approval; isOpen: boolean }) {
  const [isWanted, setIsWanted] = useState(false);
  const isShown = isOpen || isWanted;
  return (
    <>
      <div class="row">
        <p>
          {of.status === "expired" ? (
            <>
              Nobody decided. The approval expired <Time at={of.expires_at} />.
            </>
          ) : (
            <>
              {of.status === "approved" ? "Approved" : "Denied"} by {decidedBy(of)} <Time at={of.decided_at} />
              {of.reason ? `: ${of.reason}` : "."}
            </>
          )}
        </p>
        {isShown ? null : (
          <Button narrow onClick={() => setIsWanted(true)}>
            {of.status === "approved" ? "Show the result" : "Show the call"}
          </Button>
        )}
      </div>
      {isShown ? <Outcome callId={of.call_id} /> : null}
    </>
  );
}

function Outcome({ callId }: { callId: string }) {
  const record = useRecord(callId);
  return (
    <div class="stack outcome">
      <Show of={record}>
        {(call) => (
          <>
            <div class="row">
              <StatusBadge status={call.status} />
              <a href={link(["calls", call.id])}>The whole call</a>
            </div>
            <CallOutcome call={call} />
          </>
        )}
      </Show>
    </div>
  );
}
