// What came back: of a check, or of a call.

import { may } from "../../api/caller.ts";
import type { Schemas, ToolResult } from "../../api/types.ts";
import { link } from "../../location.ts";
import { ButtonLink } from "../button.tsx";
import { StatusBadge } from "../marks.tsx";
import { Facts, Panel } from "../page.tsx";
import { CallResult } from "../renderers/index.tsx";
import { CallFailure, CallOutcome } from "../renderers/outcome.tsx";
import { hasEnded, useRecord } from "../renderers/record.ts";
import { Failure } from "../states.tsx";
import { Duration, JsonText } from "../values.tsx";
import { count } from "../words.ts";

export type Checked = Schemas["ValidationOut"];

export function CheckedPanel({ checked }: { checked: Checked }) {
  return (
    <Panel title="Check">
      {checked.valid ? (
        <p class="notice good">The arguments fit. Nothing was run.</p>
      ) : (
        <div class="notice bad">
          <strong>The arguments do not fit: {count(checked.errors.length, "violation")}</strong>
          <ul>
            {checked.errors.map((it) => (
              <li key={it.path + it.message}>
                {it.path === "" ? null : <code>{it.path}</code>} {it.message}
              </li>
            ))}
          </ul>
        </div>
      )}
      <h3>The arguments with defaults</h3>
      <JsonText value={checked.arguments} label="The arguments with defaults" name="arguments.json" />
    </Panel>
  );
}

export function OutcomePanel({ result, session }: { result: ToolResult; session: string }) {
  // A guest may not read records, and so does not see how a waiting call ends.
  const watched = useRecord(!hasEnded(result) && may("user") ? result.call_id : null);
  const record = watched.data;
  const status = record?.status ?? result.status;
  const approval = result.error?.details?.["approval_id"];
  const isChanged = (result.post_manifest_id ?? null) !== null && result.post_manifest_id !== result.pre_manifest_id;
  return (
    <Panel
      title="Result"
      actions={
        <>
          {may("user") ? (
            <ButtonLink narrow href={link(["calls", result.call_id])}>
              Open the call
            </ButtonLink>
          ) : null}
          {isChanged && may("user") ? (
            <ButtonLink narrow href={link(["files", session])}>
              Files of the session
            </ButtonLink>
          ) : null}
        </>
      }
    >
      <Facts
        of={[
          ["Status", <StatusBadge status={status} />],
          ["Took", hasEnded({ status }) ? <Duration ms={record?.duration_ms ?? result.duration_ms} /> : "not yet run"],
          ["Version", result.version ?? "–"],
          ["Call", <code>{result.call_id}</code>],
        ]}
      />
      {watched.error === undefined ? null : <Failure error={watched.error} retry={watched.reload} />}
      {record !== undefined && hasEnded(record) ? (
        <CallOutcome call={record} />
      ) : result.status === "pending_approval" ? (
        <div class="notice warn">
          <strong>The tool has not run: the call waits for an approval.</strong>
          <p>{may("admin") ? "Approve or deny it, and the outcome appears here." : may("user") ? "An admin decides. The outcome appears here." : "An admin decides."}</p>
          {may("admin") ? <ButtonLink href={typeof approval === "string" ? link(["approvals", approval]) : link(["approvals"])}>Open the approval</ButtonLink> : null}
        </div>
      ) : result.error ? (
        <CallFailure callId={result.call_id} error={result.error} />
      ) : (
        <CallResult call={{ call_id: result.call_id, tool_name: result.tool_name, result: result.result, render_plan: result.render_plan, session_id: session }} />
      )}
    </Panel>
  );
}
