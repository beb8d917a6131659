// One session: its files, its past, and the differences between any two states.

import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { type Loaded, useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Session } from "../../api/types.ts";
import { go, link, query } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { Empty, Show } from "../../parts/states.tsx";
import { Bytes, Time } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";
import { Branch } from "./branch.tsx";
import { Browse } from "./browse.tsx";
import { Compare } from "./compare.tsx";
import { History } from "./history.tsx";
import { NewFile } from "./new_file.tsx";
import { Restore } from "./restore.tsx";
import { DeleteSession } from "./sessions.tsx";

/** Others may write into the session: its present is looked at so often, in milliseconds. */
const EVERY = 5_000;

const ABOVE = [{ text: "Files", href: link(["files"]) }];

export function SessionPage({ name }: { name: string }) {
  const asked = request("get", "/api/sessions/{session_id}", { path: { session_id: name } });
  const session = useLoad(asked, EVERY);
  if (session.data === undefined) return <Absent name={name} session={session} />;
  return <Present session={session.data} reload={session.reload} error={session.error === undefined ? null : session} />;
}

/** The session is on its way, cannot be read, or does not exist. */
function Absent({ name, session }: { name: string; session: Loaded<Session> }) {
  const [isMaking, setMaking] = useState(false);
  if (session.error?.status !== 404 || !may("user")) {
    return (
      <Page title={name} above={ABOVE}>
        <Show of={session}>{() => null}</Show>
      </Page>
    );
  }
  return (
    <Page title={name} above={ABOVE}>
      <Empty title={`There is no session ${name}`}>
        <p>It was deleted, or nobody has written a file into it yet, or it belongs to an agent that is not yours.</p>
        <Button kind="primary" onClick={() => setMaking(true)}>
          Begin it with a file
        </Button>
      </Empty>
      {isMaking ? (
        <NewFile
          suggested={name}
          close={() => setMaking(false)}
          done={(made, path) => {
            go(["files", made], { path });
            session.reload();
          }}
        />
      ) : null}
    </Page>
  );
}

function Present({ session, reload, error }: { session: Session; reload: () => void; error: Loaded<Session> | null }) {
  const parameters = query.value;
  const tab = parameters.get("tab") ?? "files";
  const path = parameters.get("path") ?? undefined;
  const given = parameters.get("manifest") ?? undefined;
  const old = given === session.active_manifest_id ? undefined : given;
  const [isLeaving, setLeaving] = useState(false);
  const [isBranching, setBranching] = useState(false);
  const to = (next: string) => link(["files", session.id], { tab: next === "files" ? undefined : next, path, manifest: given });
  return (
    <Page
      title={session.id}
      above={ABOVE}
      about={
        <>
          {count(session.files, "file")}, <Bytes count={session.bytes} />, changed <Time at={session.updated_at} />
        </>
      }
      actions={
        <>
          <CopyCurl of={request("get", "/api/sessions/{session_id}", { path: { session_id: session.id } })} />
          {session.active_message_id == null ? null : <ButtonLink href={link(["playground", session.id])}>Open the chat</ButtonLink>}
          {may("user") ? (
            <>
              <Button disabled={session.active_manifest_id == null} onClick={() => setBranching(true)}>
                Branch
              </Button>
              <Button kind="danger" onClick={() => setLeaving(true)}>
                Delete
              </Button>
            </>
          ) : null}
        </>
      }
    >
      {error === null ? null : <Show of={error}>{() => null}</Show>}
      <Tabs
        current={tab}
        tabs={[
          { id: "files", text: "Files", href: to("files") },
          { id: "history", text: "History", href: to("history") },
          { id: "compare", text: "Compare", href: to("compare") },
        ]}
      />
      {tab === "history" ? (
        <History session={session} reload={reload} />
      ) : tab === "compare" ? (
        <Compare session={session} from={parameters.get("from") ?? undefined} to={parameters.get("to") ?? undefined} />
      ) : (
        <>
          {old === undefined ? null : <OldState session={session} manifest={old} path={path} restored={reload} />}
          <Browse key={old} session={session} manifest={old} path={path} changed={reload} />
        </>
      )}
      {isBranching ? <Branch session={session} manifest={old} close={() => setBranching(false)} /> : null}
      {isLeaving ? <DeleteSession session={session} close={() => setLeaving(false)} done={() => go(["files"])} /> : null}
    </Page>
  );
}

/** Says that what is shown is not the present, and offers to bring it back. */
function OldState({ session, manifest, path, restored }: { session: Session; manifest: string; path: string | undefined; restored: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const state = useLoad(request("get", "/api/sessions/{session_id}/manifests/{manifest_id}", { path: { session_id: session.id, manifest_id: manifest }, query: { limit: 1 } }));
  return (
    <section class="notice warn" aria-label="An older state">
      <strong>You see an older state of the files. It cannot be changed.</strong>
      <Show of={state}>
        {(it) => (
          <p>
            {count(it.files, "file")}, <Bytes count={it.bytes} />, from {new Date(it.created_at).toLocaleString()} (<Time at={it.created_at} />)
          </p>
        )}
      </Show>
      <div class="row">
        {may("user") ? (
          <Button kind="primary" onClick={() => setAsking(true)}>
            Restore this state
          </Button>
        ) : null}
        <ButtonLink href={link(["files", session.id], { path })}>Back to the present</ButtonLink>
        {session.active_manifest_id == null ? null : (
          <ButtonLink href={link(["files", session.id], { tab: "compare", from: manifest, to: session.active_manifest_id })}>Compare with the present</ButtonLink>
        )}
      </div>
      {isAsking ? <Restore session={session.id} manifest={manifest} path={path} close={() => setAsking(false)} done={restored} /> : null}
    </section>
  );
}
