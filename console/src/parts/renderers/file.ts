// A file of a session, as it is now.

import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError, type ApiRequest, request, respond, upload } from "../../api/request.ts";
import { textOf } from "../file_text.ts";

export interface SessionFile {
  /** Null, if the contents are no text. */
  text: string | null;
  /** Names the contents. */
  tag: string;
  contents: Blob;
}

const named = (session: string, path: string) => ({ session_id: session, path: path.replace(/^\/+/, "") });

export const fileRequest = (session: string, path: string) => request("get", "/api/sessions/{session_id}/files/{path}", { path: named(session, path) });

/** The request that replaces the file. */
export function saveRequest(session: string, path: string, text: string): ApiRequest<{ manifest_id: string }> {
  return upload("put", "/api/sessions/{session_id}/files/{path}", { path: named(session, path) }, new Blob([text]), "text/plain; charset=utf-8");
}

export async function readFile(session: string, path: string): Promise<SessionFile> {
  const response = await respond(fileRequest(session, path));
  const type = response.headers.get("Content-Type") ?? "";
  if (type.includes("json")) {
    void response.body?.cancel();
    throw new ApiError(409, "CONSOLE", `${path} is a directory now.`, null, null);
  }
  const contents = await response.blob();
  return { text: type.startsWith("text/") ? textOf(await contents.arrayBuffer()) : null, tag: response.headers.get("ETag") ?? "", contents };
}

interface FileState {
  file: SessionFile | undefined;
  error: ApiError | undefined;
  reload: () => void;
}

/** Reads a file when the view appears, and again on demand. The old contents stay meanwhile. Null reads nothing. */
export function useFile(session: string | null, path: string | null): FileState {
  const [state, setState] = useState<{ file?: SessionFile; error?: ApiError }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (session === null || path === null) return;
    let isGone = false;
    readFile(session, path).then(
      (file) => isGone || setState({ file }),
      (cause: unknown) => isGone || setState({ error: cause instanceof ApiError ? cause : new ApiError(0, "CONSOLE", String(cause), null, null) }),
    );
    return () => {
      isGone = true;
    };
  }, [session, path, turn]);
  return { file: state.file, error: state.error, reload: useCallback(() => setTurn((it) => it + 1), []) };
}
