// One file: how it is asked for, read and kept in a view.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { returns } from "../../api/caller.ts";
import { apiError, isLost, useReturn } from "../../api/load.ts";
import { ApiError, type ApiRequest, request, respond, send, upload, whole } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { textOf } from "../../parts/file_text.ts";
import { directoryRequest } from "./directories.ts";

type WrittenFile = Schemas["WrittenOut"];

/** Where a file is: a session, a path from the root, and a state; the present if none is named. */
export interface Place {
  session: string;
  path: string;
  manifest?: string | undefined;
}

export interface FileRead {
  kind: "file";
  bytes: ArrayBuffer;
  /** The contents, if the API calls them a text. */
  text: string | null;
  sha256: string;
  manifestId: string | null;
}

/** A path is a file or a directory. */
export type Found = FileRead | { kind: "directory" };

const FILE = "/api/sessions/{session_id}/files/{path}";

export function fileRequest({ session, path, manifest }: Place) {
  return request("get", FILE, { path: { session_id: session, path: path.slice(1) }, query: manifest === undefined ? {} : { manifest_id: manifest } });
}

export function writeRequest({ session, path }: Place, contents: string | Blob): ApiRequest<WrittenFile> {
  const type = typeof contents === "string" ? "text/plain; charset=utf-8" : "application/octet-stream";
  return upload("put", FILE, { path: { session_id: session, path: path.slice(1) } }, contents, type);
}

export function deleteRequest({ session, path }: Place) {
  return request("delete", FILE, { path: { session_id: session, path: path.slice(1) } });
}

export async function readFile(place: Place, signal?: AbortSignal): Promise<Found> {
  const asked = fileRequest(place);
  const response = await respond(asked, signal);
  const type = response.headers.get("Content-Type") ?? "";
  // A file is never sent as JSON, whatever is in it.
  if (type.includes("json")) {
    await response.body?.cancel();
    return { kind: "directory" };
  }
  const bytes = await whole(asked, response.arrayBuffer());
  const text = type.startsWith("text/") ? textOf(bytes) : null;
  return { kind: "file", bytes, text, sha256: (response.headers.get("ETag") ?? "").replace(/^W\/|"/g, ""), manifestId: response.headers.get("X-Manifest-Id") };
}

/** A file, or null if there is none. */
export async function readFileIfAny(place: Place): Promise<FileRead | null> {
  try {
    const found = await readFile(place);
    return found.kind === "file" ? found : null;
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return null;
    throw cause;
  }
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
