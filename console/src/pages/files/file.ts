// A file in a view, and what else the page does with files.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { returns } from "../../api/caller.ts";
import { apiError, isLost, useReturn } from "../../api/load.ts";
import { type ApiError, request, send } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { FILE, type Found, type Place, readFile, readFileIfAny } from "../../parts/session_file.ts";
import { directoryRequest } from "./directories.ts";

export function deleteRequest({ session, path }: Place) {
  return request("delete", FILE, { path: { session_id: session, path: path.slice(1) } });
}

/** The most pages of one directory that are looked through before the file itself is asked for. */
const LISTED_PAGES = 10;

/**
 * Whether there is something at a path of a session that exists. The directories are listed from the top down: to ask for a
 * file that is not there would be an error in the browser's console for each new file.
 */
export async function isTaken(session: string, path: string): Promise<boolean> {
  const names = path.split("/").filter((it) => it !== "");
  let directory = "/";
  for (const [index, name] of names.entries()) {
    const entry = await entryIn(session, directory, name);
    if (entry === "unknown") return (await readFileIfAny({ session, path })) !== null;
    if (entry === undefined) return false;
    // A file in the place of a directory: the API refuses the write, and says why.
    if (entry.type === "file") return index === names.length - 1;
    directory = entry.path;
  }
  return true;
}

async function entryIn(session: string, directory: string, name: string): Promise<Schemas["EntryOut"] | undefined | "unknown"> {
  let cursor: string | undefined;
  for (let page = 0; page < LISTED_PAGES; page++) {
    const listed = await send(directoryRequest(session, directory, undefined, cursor));
    const found = listed.entries.find((it) => it.name === name);
    if (found !== undefined || listed.next_cursor == null) return found;
    cursor = listed.next_cursor;
  }
  return "unknown";
}

interface ReadState {
  data: Found | undefined;
  error: ApiError | undefined;
  loading: boolean;
  reload: () => void;
}

/** A file in a view. It is read again when `version` is another one, and the old contents stay until then. */
export function useFile({ session, path, manifest }: Place, version: string): ReadState {
  const key = JSON.stringify([session, path, manifest]);
  const [state, setState] = useState<{ key: string; data?: Found; error?: ApiError }>({ key: "" });
  const [turn, setTurn] = useState(0);
  const place = useRef({ session, path, manifest });
  place.current = { session, path, manifest };
  useEffect(() => {
    const abort = new AbortController();
    readFile(place.current, abort.signal).then(
      (data) => setState((before) => ({ key, data: kept(before.key === key ? before.data : undefined, data) ?? data })),
      (cause: unknown) => {
        if (abort.signal.aborted) return;
        const error = apiError(cause);
        // Contents that were read before stay on the screen beside the error, unless the file is gone.
        setState((before) => ({ key, error, ...(before.key === key && before.data !== undefined && error.status !== 404 ? { data: before.data } : {}) }));
      },
    );
    return () => abort.abort();
  }, [key, version, turn, returns.value]);
  const reload = useCallback(() => setTurn((it) => it + 1), []);
  const { data, error } = state.key === key ? state : {};
  useReturn(isLost(error), reload);
  return { data, error, loading: data === undefined && error === undefined, reload };
}

/** The value before, if the contents are the same: then nothing is rendered anew. */
function kept(before: Found | undefined, after: Found): Found | undefined {
  return before?.kind === "file" && after.kind === "file" && before.sha256 === after.sha256 ? before : undefined;
}
