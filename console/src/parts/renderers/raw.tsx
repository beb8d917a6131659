// The result of a call as it is, which is shown where no renderer can show it.

import type { ApiError } from "../../api/request.ts";
import { Failure } from "../states.tsx";
import { CallValue } from "./stored.tsx";

/** What is needed of a call; records and results of calls have all of it. */
export interface ShownCall {
  call_id: string;
  tool_name: string;
  result?: unknown;
  /** Which values the record shows shortened. The response to a call shortens nothing. */
  shortened?: readonly string[];
  render_plan?: unknown;
  /** The session whose files the plan may name. */
  session_id?: string | null | undefined;
}

/** What screen readers call the result. */
export const titleOf = (call: ShownCall) => `Result of ${call.tool_name}`;

export function Raw({ call }: { call: ShownCall }) {
  if (call.result === null || call.result === undefined) return <p class="soft">The tool returned nothing.</p>;
  return <CallValue callId={call.call_id} kind="result" value={call.result} label={titleOf(call)} shortened={call.shortened} />;
}

/** What a renderer needs cannot be read, such as a file that was deleted. */
export function InsteadRaw({ call, error, retry }: { call: ShownCall; error: ApiError; retry: () => void }) {
  return (
    <div class="stack">
      <Failure error={error} retry={retry} />
      <p class="soft small">This is the raw result instead.</p>
      <Raw call={call} />
    </div>
  );
}
