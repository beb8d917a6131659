// Data of the API in a view: loading, here, or refused; read again by hand, after a change, or at intervals while the page is
// looked at.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { returns, stage } from "./caller.ts";
import { online } from "./reach.ts";
import { ApiError, type ApiRequest, send } from "./request.ts";

export interface Loaded<T> {
  data: T | undefined;
  error: ApiError | undefined;
  /** No answer has come yet. */
  loading: boolean;
  /** Reads the data again, and keeps the old data meanwhile. */
  reload: () => void;
}

/** Whatever went wrong, as an error that a view can show. */
export function apiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  return new ApiError(0, "CONSOLE", cause instanceof Error ? cause.message : String(cause), null, null);
}

/**
 * Sends the request when the view appears, and again whenever the request is another one. `null` sends nothing. `every` is
 * the interval in milliseconds at which the data are read again; nothing is read while the page is hidden, or while the last
 * answer is still on its way.
 */
export function useLoad<T>(asked: ApiRequest<T> | null, every?: number): Loaded<T> {
  const read = asked === null ? null : (signal: AbortSignal) => send(asked, signal);
  return useRead(asked === null ? "" : `${asked.method} ${asked.url} ${String(asked.body ?? "")}`, read, every);
}

/** Like `useLoad`, for data that are not what `send` returns. `key` says which data they are. */
export function useRead<T>(key: string, read: ((signal: AbortSignal) => Promise<T>) | null, every?: number): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: ApiError }>({ key: "" });
  const [turn, setTurn] = useState(0);
  const current = useRef(read);
  current.current = read;
  const isUnderWay = useRef(false);
  useEffect(() => {
    if (current.current === null) return;
    const abort = new AbortController();
    isUnderWay.current = true;
    current.current(abort.signal).then(
      (data) => {
        isUnderWay.current = false;
        setState({ key, data });
      },
      (cause: unknown) => {
        if (abort.signal.aborted) return;
        isUnderWay.current = false;
        // Data that were read before stay on the screen beside the error.
        setState((before) => ({ key, error: apiError(cause), ...(before.key === key && before.data !== undefined ? { data: before.data } : {}) }));
      },
    );
    return () => {
      isUnderWay.current = false;
      abort.abort();
    };
  }, [key, turn, returns.value]);
  const reload = useCallback(() => setTurn((it) => it + 1), []);
  // A slow answer is waited for: a tick that asked anew would throw it away.
  const poll = useCallback(() => {
    if (!isUnderWay.current) reload();
  }, []);
  const isOfKey = state.key === key;
  useEvery(read === null || (isOfKey && isFinal(state.error)) ? undefined : every, poll);
  useReturn(isOfKey && isLost(state.error), reload);
  const data = isOfKey ? state.data : undefined;
  const error = isOfKey ? state.error : undefined;
  return { data, error, loading: read !== null && data === undefined && error === undefined, reload };
}

/** Whether the request, or its response, got lost on the way. */
export const isLost = (error: ApiError | null | undefined): boolean => error?.code === "OFFLINE";

/** Whether the same request would be refused again: by level, or because the thing is gone. Nobody asks again by a clock. */
const isFinal = (error: ApiError | undefined): boolean => error !== undefined && [401, 403, 404].includes(error.status);

/** Runs `work` as soon as Pegboard answers again, if something is `waiting` for that. */
export function useReturn(waiting: boolean, work: () => void): void {
  useEffect(() => (waiting ? online.subscribe((it) => void (it && work())) : undefined), [waiting, work]);
}

/** Runs `work` at intervals while the page is looked at, and at once when it is looked at again. */
export function useEvery(interval: number | undefined, work: () => void): void {
  const isHere = stage.value === "here";
  useEffect(() => {
    if (interval === undefined || !isHere) return;
    let timer: ReturnType<typeof setInterval> | undefined;
    const stop = () => clearInterval(timer);
    const start = () => {
      stop();
      if (!document.hidden) timer = setInterval(work, interval);
    };
    const onChange = () => {
      if (!document.hidden) work();
      start();
    };
    start();
    document.addEventListener("visibilitychange", onChange);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", onChange);
    };
  }, [interval, work, isHere]);
}

export interface Pages<T> {
  items: T[];
  error: ApiError | undefined;
  /** No answer has come yet. */
  loading: boolean;
  /** A further page is on its way. */
  busy: boolean;
  /** Whether there are items after these. */
  hasMore: boolean;
  /** The list was live, and is not read again as long as it shows further pages. */
  standsStill: boolean;
  loadMore: () => void;
  /** Begins anew with the first page. */
  reload: () => void;
}

/**
 * A list that is read page by page. `page` makes the request for a cursor, and `items` finds the items of a response. `key`
 * says which list it is: another key begins anew. `every` reads the first page again at intervals, as long as no further page
 * is shown.
 */
export function usePages<T, R extends { next_cursor?: string | null }>(
  key: string,
  page: (cursor: string | undefined) => ApiRequest<R>,
  items: (response: R) => T[],
  every?: number,
): Pages<T> {
  const [state, setState] = useState<{ key: string; items: T[]; next: string | null; error?: ApiError; pages: number }>({ key: "", items: [], next: null, pages: 0 });
  const [turn, setTurn] = useState(0);
  const [busy, setBusy] = useState(false);
  const latest = useRef({ page, items, key });
  latest.current = { page, items, key };
  const isOfKey = state.key === key;
  // One request at a time: a first page that arrived after a further one was asked for would take the further one away.
  const underWay = useRef<AbortController | null>(null);
  const drop = useCallback(() => {
    underWay.current?.abort();
    underWay.current = null;
  }, []);
  const fetchPage = useCallback((cursor: string | undefined, before: T[], pages: number) => {
    const { page, items, key } = latest.current;
    drop();
    const abort = new AbortController();
    underWay.current = abort;
    // The first page is also read by the clock, and whoever wants more need not wait for it.
    setBusy(cursor !== undefined);
    const end = (change: () => void) => {
      if (underWay.current !== abort) return;
      underWay.current = null;
      setBusy(false);
      change();
    };
    send(page(cursor), abort.signal).then(
      (response) => end(() => setState({ key, items: [...before, ...items(response)], next: response.next_cursor ?? null, pages: pages + 1 })),
      (cause: unknown) => end(() => setState((it) => ({ ...it, ...(it.key === key ? {} : { items: [], next: null, pages: 0 }), key, error: apiError(cause) }))),
    );
  }, []);
  useEffect(() => {
    fetchPage(undefined, [], 0);
    return drop;
  }, [key, turn, returns.value]);
  const reload = useCallback(() => setTurn((it) => it + 1), []);
  const poll = useCallback(() => {
    if (underWay.current === null) reload();
  }, []);
  const showsFurther = state.pages > 1;
  useEvery(showsFurther || (isOfKey && isFinal(state.error)) ? undefined : every, poll);
  const loadMore = () => fetchPage(state.next ?? undefined, state.items, state.pages);
  // Behind the first page nothing is read at intervals, so what got lost there was a further page.
  const again = useRef(reload);
  again.current = showsFurther ? loadMore : reload;
  const askAgain = useCallback(() => again.current(), []);
  useReturn(isOfKey && isLost(state.error), askAgain);
  return {
    items: isOfKey ? state.items : [],
    error: isOfKey ? state.error : undefined,
    loading: !isOfKey,
    busy,
    hasMore: isOfKey && state.next !== null,
    standsStill: isOfKey && showsFurther && every !== undefined,
    loadMore,
    reload,
  };
}
