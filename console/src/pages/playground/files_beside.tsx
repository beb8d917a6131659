// The files of the session beside the chat. They are read again whenever a call may have changed them.

import { useEffect } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { ApiError, request } from "../../api/request.ts";
import { link } from "../../location.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { Bytes } from "../../parts/values.tsx";

export function FilesBeside({ session, turn }: { session: string; turn: number }) {
  // A session has files from its first message on.
  const asked = turn === 0 ? null : request("get", "/api/sessions/{session_id}/files", { path: { session_id: session }, query: { limit: 200 } });
  const files = useLoad(asked);
  useEffect(() => {
    if (turn > 1) files.reload();
  }, [turn]);
  return (
    <section class="panel beside" aria-label="Files of the session">
      <h2>Files</h2>
      {files.error === undefined ? null : isMissing(files.error) ? <p class="soft">No files yet.</p> : <Failure error={files.error} retry={files.reload} />}
      {files.loading ? <Loading /> : null}
      {turn === 0 ? <p class="soft">No files yet.</p> : null}
      {files.data === undefined ? null : files.data.entries.length === 0 ? (
        <p class="soft">No files yet.</p>
      ) : (
        <ul class="plain">
          {files.data.entries.map((it) => (
            <li key={it.path} class="spread">
              <a href={link(["files", session], { path: it.path })}>
                {it.name}
                {it.type === "directory" ? "/" : ""}
              </a>
              {it.size === null || it.size === undefined ? null : (
                <span class="soft small">
                  <Bytes count={it.size} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      <p class="small">
        <a href={link(["files", session])}>All files, with their history</a>
      </p>
    </section>
  );
}

/** A session exists from its first message on. */
const isMissing = (error: ApiError) => error.status === 404;
