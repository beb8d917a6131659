// What is said about one state of the files.

import type { Schemas } from "../../api/types.ts";
import { link } from "../../location.ts";
import { sourceWords } from "./paths.ts";

export type FileState = Schemas["ManifestOut"];

/** What made a state: a client, or a tool with a link to its call. */
export function Source({ of: { source, source_ref, session_id } }: { of: FileState }) {
  return (
    <>
      {sourceWords(source)}
      {source_ref == null ? null : (
        <>
          {" "}
          {source_ref.startsWith("call_") ? (
            <a href={link(["calls", source_ref])}>{source_ref}</a>
          ) : source_ref.startsWith("msg_") ? (
            <a href={link(["playground", session_id])}>{source_ref}</a>
          ) : (
            <code>{source_ref}</code>
          )}
        </>
      )}
    </>
  );
}

/** A state in one line, for a list to choose from. */
export function stateWords({ created_at, source, active }: FileState): string {
  return `${new Date(created_at).toLocaleString()} · ${sourceWords(source)}${active ? " · the present" : ""}`;
}
