// The record of a call, which is read again until the call has ended.

import { useCallback, useEffect, useState } from "preact/hooks";
import { returns } from "../../api/caller.ts";
import { isLost, type Loaded } from "../../api/load.ts";
import { ApiError, request, send } from "../../api/request.ts";
import type { Call } from "../../api/types.ts";

/** How long a request waits for the end of a call. */
const WAIT_SECONDS = 20;
/** How long the console waits before it asks a Pegboard again that did not answer. */
const PAUSE_MS = 3_000;

export const hasEnded = ({ status }: { status: string }) => status !== "running" && status !== "pending_approval";

/** Whether the same question may be answered later: nothing arrived, the server failed, or it was asked too often. */
const mayPass = (error: ApiError): boolean => isLost(error) || error.status === 429 || error.status >= 500;

interface State {
  data?: Call;
  error?: ApiError;
}

/** Reads a call, and waits for its end while the page is looked at. Null reads nothing. */
export function useRecord(callId: string | null): Loaded<Call> {
  const [state, setState] = useState<State>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (callId === null) return;
    const abort = new AbortController();
    void follow(callId, abort.signal, setState);
    return () => abort.abort();
  }, [callId, turn, returns.value]);
  const reload = useCallback(() => setTurn((it) => it + 1), []);
  return { data: state.data, error: state.error, loading: callId !== null && state.data === undefined && state.error === undefined, reload };
}

async function follow(callId: string, signal: AbortSignal, setState: (update: (before: State) => State) => void): Promise<void> {
  let wait = 0;
  while (!signal.aborted) {
    try {
      const call = await send(request("get", "/api/tool-calls/{call_id}", { path: { call_id: callId }, query: { wait } }), signal);
      setState(() => ({ data: call }));
      if (hasEnded(call)) return;
      wait = WAIT_SECONDS;
      await untilLookedAt(signal);
    } catch (cause) {
      if (signal.aborted) return;
      const error = cause instanceof ApiError ? cause : new ApiError(0, "CONSOLE", String(cause), null, null);
      setState((before) => ({ ...before, error }));
      if (!mayPass(error)) return;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      await untilLookedAt(signal);
    }
  }
}

function untilLookedAt(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (!document.hidden) return done();
    document.addEventListener("visibilitychange", () => done(), { once: true, signal });
    signal.addEventListener("abort", () => done(), { once: true });
  });
}
