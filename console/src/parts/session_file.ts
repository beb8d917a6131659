// A file of a session: how it is asked for, read and saved.

import { ApiError, type ApiRequest, request, respond, send, upload, whole } from "../api/request.ts";
import type { Schemas } from "../api/types.ts";
import { textOf } from "./file_text.ts";
import { type Outcome, save } from "./saving.ts";

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

export const FILE = "/api/sessions/{session_id}/files/{path}";

export function fileRequest({ session, path, manifest }: Place) {
  return request("get", FILE, { path: { session_id: session, path: path.slice(1) }, query: manifest === undefined ? {} : { manifest_id: manifest } });
}

export function writeRequest({ session, path }: Place, contents: string | Blob): ApiRequest<WrittenFile> {
  const type = typeof contents === "string" ? "text/plain; charset=utf-8" : "application/octet-stream";
  return upload("put", FILE, { path: { session_id: session, path: path.slice(1) } }, contents, type);
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

/** Saves a text, unless the file is not what the person began with: `base` is its SHA-256, or null if there was no file. */
export function saveText(place: Place, text: string, base: string | null): Promise<Outcome> {
  return save(base, {
    read: (manifest) => readFileIfAny({ ...place, manifest }),
    write: async () => {
      const { sha256, manifest_id, parent_manifest_id } = await send(writeRequest(place, text));
      return { sha256, manifestId: manifest_id, parentId: parent_manifest_id ?? null };
    },
  });
}
