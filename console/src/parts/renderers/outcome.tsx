// How a call ended: its result, or why there is none.

import type { Call } from "../../api/types.ts";
import { link } from "../../location.ts";
import { ButtonLink } from "../button.tsx";
import { CallResult } from "./index.tsx";
import { WholeValue } from "./stored.tsx";

type Failure = NonNullable<Call["error"]>;

/** The outcome of a call whose record is there. */
export function CallOutcome({ call }: { call: Call }) {
  const approval = call.error?.details?.["approval_id"];
  switch (call.status) {
    case "running":
      return (
        <p class="soft" role="status">
          The call runs. This page waits for its end.
        </p>
      );
    case "pending_approval":
      return (
        <div class="notice warn" role="status">
          <p>The call waits for an approval. This page waits for its end.</p>
          {typeof approval === "string" ? <ButtonLink href={link(["approvals", approval])}>Open the approval</ButtonLink> : null}
        </div>
      );
    case "success":
      return <CallResult call={{ ...call, call_id: call.id }} />;
    default:
      return (
        <div class="stack">
          {call.error ? <CallFailure callId={call.id} error={call.error} /> : <p class="soft">The call failed without a word.</p>}
          {call.render_plan ? <CallResult call={{ ...call, call_id: call.id, render_plan: withoutError(call.render_plan) }} /> : null}
        </div>
      );
  }
}

/** The plan of a failed call repeats the error, which is shown above it already. */
const withoutError = (plan: object) => ({ ...plan, error: null });

/** The error of a call, with everything that the record says about it. */
export function CallFailure({ callId, error }: { callId: string; error: Failure }) {
  const { violations, ...rest } = (error.details ?? {}) as Record<string, unknown>;
  const listed = Array.isArray(violations) ? (violations as { path: string; message: string }[]) : [];
  return (
    <div class="notice bad" role="alert">
      <strong>{error.code}</strong>
      <p class="failure">{error.message}</p>
      {listed.length === 0 ? null : (
        <ul>
          {listed.map((it, index) => (
            <li key={index}>
              <code>{it.path === "" ? "the arguments" : it.path}</code> {it.message}
            </li>
          ))}
        </ul>
      )}
      {Object.keys(rest).length === 0 ? null : (
        <details>
          <summary>Details of the error</summary>
          <WholeValue value={rest} label="Details of the error" name={`${callId}-error`} />
        </details>
      )}
    </div>
  );
}
