// The directories of a session, as far as they were opened.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { returns } from "../../api/caller.ts";
import { apiError, isLost, useReturn } from "../../api/load.ts";
import { ApiError, type ApiRequest, request, send } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import type { Branch } from "../../parts/tree.tsx";

type Directory = Schemas["DirectoryPage"];
type Entry = Directory["entries"][number];

/** The most entries that the API sends at once. */
const PAGE = 200;

interface Listed extends Branch {
  entries: Entry[];
  next: string | null;
  pages: number;
}

export interface Directories {
  branches: ReadonlyMap<string, Listed>;
  /** The entry at a path, if its directory is loaded. */
  entryAt: (path: string) => Entry | undefined;
  error: ApiError | undefined;
  /** Loads a directory that is not loaded yet. */
  want: (path: string) => void;
  more: (path: string) => void;
  reload: () => void;
}

export function directoryRequest(session: string, path: string, manifest: string | undefined, cursor?: string): ApiRequest<Directory> {
  const query = { limit: PAGE, ...(manifest === undefined ? {} : { manifest_id: manifest }), ...(cursor === undefined ? {} : { cursor }) };
  if (path === "/") return request("get", "/api/sessions/{session_id}/files", { path: { session_id: session }, query });
  return request("get", "/api/sessions/{session_id}/files/{path}", { path: { session_id: session, path: path.slice(1) }, query }) as ApiRequest<Directory>;
}

/** Reads as many pages of a directory as were read before. */
async function list(session: string, path: string, manifest: string | undefined, pages: number, before?: Listed): Promise<Listed> {
  const entries = [...(before?.entries ?? [])];
  let next = before?.next ?? undefined;
  let read = before?.pages ?? 0;
  do {
    const page = await send(directoryRequest(session, path, manifest, next));
    entries.push(...page.entries);
    next = page.next_cursor ?? undefined;
    read += 1;
  } while (next !== undefined && read < pages);
  const nodes = entries.map((it) => ({ id: it.path, name: it.name, isBranch: it.type === "directory" }));
  return { entries, nodes, next: next ?? null, hasMore: next !== undefined, pages: read };
}

/** `version` is the state that is shown: another one reads everything that is loaded again. */
export function useDirectories(session: string, manifest: string | undefined, version: string): Directories {
  const [branches, setBranches] = useState<ReadonlyMap<string, Listed>>(new Map());
  const [error, setError] = useState<ApiError>();
  const loaded = useRef(branches);
  loaded.current = branches;
  const asked = useRef(new Set<string>());
  /** The directories whose last answer was an error. They stay asked for. */
  const failed = useRef(new Set<string>());
  /** How often each directory was read. Only the answer to the last question counts. */
  const turns = useRef(new Map<string, number>());
  const key = JSON.stringify([session, manifest]);
  const present = useRef(key);
  present.current = key;

  const put = useCallback((path: string, work: Promise<Listed>) => {
    const isFor = present.current;
    const turn = (turns.current.get(path) ?? 0) + 1;
    turns.current.set(path, turn);
    const isLate = () => present.current !== isFor || turns.current.get(path) !== turn;
    const show = (listed: Listed) => {
      failed.current.delete(path);
      if (failed.current.size === 0) setError(undefined);
      setBranches((before) => new Map(before).set(path, listed));
    };
    work.then(
      (listed) => {
        if (!isLate()) show(listed);
      },
      (cause: unknown) => {
        if (isLate()) return;
        // A directory that is gone has no files any more.
        if (cause instanceof ApiError && cause.status === 404 && path !== "/") {
          asked.current.delete(path);
          return show({ entries: [], nodes: [], next: null, hasMore: false, pages: 0 });
        }
        failed.current.add(path);
        setError(apiError(cause));
      },
    );
  }, []);
  const want = useCallback(
    (path: string) => {
      if (asked.current.has(path) && !failed.current.has(path)) return;
      asked.current.add(path);
      put(path, list(session, path, manifest, 1));
    },
    [session, manifest, put],
  );
  const reload = useCallback(() => {
    asked.current.add("/");
    for (const path of asked.current) put(path, list(session, path, manifest, loaded.current.get(path)?.pages ?? 1));
  }, [session, manifest, put]);

  useEffect(() => {
    // Another session or state begins anew; a new version of the same one keeps what is open.
    return () => {
      asked.current = new Set();
      failed.current = new Set();
      setBranches(new Map());
    };
  }, [key]);
  useEffect(reload, [reload, version, returns.value]);
  useReturn(isLost(error), reload);

  return {
    branches,
    entryAt: (path) => branches.get(path.slice(0, path.lastIndexOf("/")) || "/")?.entries.find((it) => it.path === path),
    error,
    want,
    more: (path) => {
      const before = branches.get(path);
      if (before?.next != null) put(path, list(session, path, manifest, before.pages + 1, before));
    },
    reload,
  };
}
