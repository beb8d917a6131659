// A file of a session, as it is now.

import { type Loaded, useRead } from "../../api/load.ts";
import { ApiError, type ApiRequest, request, respond, upload, whole } from "../../api/request.ts";
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

export async function readFile(session: string, path: string, signal?: AbortSignal): Promise<SessionFile> {
  const asked = fileRequest(session, path);
  const response = await respond(asked, signal);
  const type = response.headers.get("Content-Type") ?? "";
  if (type.includes("json")) {
    void response.body?.cancel();
    throw new ApiError(409, "CONSOLE", `${path} is a directory now.`, null, null);
  }
  const contents = await whole(asked, response.blob());
  return { text: type.startsWith("text/") ? textOf(await contents.arrayBuffer()) : null, tag: response.headers.get("ETag") ?? "", contents };
}

/** Reads a file when the view appears, and again on demand. The old contents stay meanwhile. */
export function useFile(session: string, path: string): Loaded<SessionFile> {
  return useRead(JSON.stringify([session, path]), (signal) => readFile(session, path, signal));
}
