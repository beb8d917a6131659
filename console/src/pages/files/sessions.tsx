// The sessions of the workspace.

import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { usePages } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import { sessionsRequest } from "../../api/sessions.ts";
import type { Session } from "../../api/types.ts";
import { go, link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { Bytes, Time } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";
import { NewFile } from "./new_file.tsx";

const listRequest = (cursor?: string) => sessionsRequest(100, cursor);

export function Sessions() {
  const sessions = usePages("sessions", listRequest, (it) => it.sessions, 10_000);
  const [isMaking, setMaking] = useState(false);
  const [leaving, setLeaving] = useState<Session | null>(null);
  const make = (
    <Button kind="primary" onClick={() => setMaking(true)}>
      New session
    </Button>
  );
  return (
    <Page
      title="Files"
      about="A session is a named set of files. Every state that its files ever had can be read, compared and brought back. The newest session comes first."
      actions={
        <>
          <CopyCurl of={listRequest()} />
          {may("user") ? make : null}
        </>
      }
    >
      <ShowPages
        of={sessions}
        empty={
          <Empty title="There are no sessions yet">
            <p>A session begins with its first file, or with the first call of a tool that names it.</p>
            {may("user") ? make : <p>Your token may not write files.</p>}
          </Empty>
        }
      >
        {(items) => (
          <div class="scroll" tabIndex={0} role="region" aria-label="Sessions">
            <table>
              <thead>
                <tr>
                  <th>Session</th>
                  <th class="number">Files</th>
                  <th class="number">Size</th>
                  <th>Changed</th>
                  <th>Made</th>
                  <th>
                    <span class="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((it) => (
                  <tr key={it.id}>
                    <th scope="row">
                      <a href={link(["files", it.id])}>{it.id}</a>
                    </th>
                    <td class="number">{it.files.toLocaleString("en")}</td>
                    <td class="number">
                      <Bytes count={it.bytes} />
                    </td>
                    <td>
                      <Time at={it.updated_at} />
                    </td>
                    <td>
                      <Time at={it.created_at} />
                    </td>
                    <td>
                      <span class="row">
                        {it.active_message_id == null ? null : <a href={link(["playground", it.id])}>Chat</a>}
                        <Button kind="danger" narrow label={`Delete ${it.id}`} onClick={() => setLeaving(it)}>
                          Delete
                        </Button>
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </ShowPages>
      {isMaking ? (
        <NewFile
          taken={(name) => sessions.items.some((it) => it.id === name)}
          close={() => setMaking(false)}
          done={(session, path) => go(["files", session], { path })}
        />
      ) : null}
      {leaving === null ? null : <DeleteSession session={leaving} close={() => setLeaving(null)} done={sessions.reload} />}
    </Page>
  );
}

/** Asks before a session is deleted. */
export function DeleteSession({ session, close, done }: { session: Session; close: () => void; done: () => void }) {
  const asked = request("delete", "/api/sessions/{session_id}", { path: { session_id: session.id } });
  return (
    <Confirm
      title={`Delete ${session.id}?`}
      action="Delete the session"
      danger
      of={asked}
      close={close}
      work={async () => {
        await send(asked);
        tell(`${session.id} was deleted`);
        done();
      }}
    >
      <p>
        {count(session.files, "file")} and every earlier state of them are deleted. Sessions that branched off keep their own files. This cannot be undone.
      </p>
    </Confirm>
  );
}
