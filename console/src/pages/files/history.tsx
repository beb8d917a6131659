// The past of a session: every state of its files, what made it, and the way back.

import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Session } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { Bytes, Time } from "../../parts/values.tsx";
import { Branch } from "./branch.tsx";
import { Restore } from "./restore.tsx";
import { type FileState, Source } from "./states.tsx";

export function statesRequest(session: string, cursor?: string) {
  return request("get", "/api/sessions/{session_id}/manifests", { path: { session_id: session }, query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } });
}

export function History({ session, reload }: { session: Session; reload: () => void }) {
  // A new present is a new state, or another one is active.
  const states = usePages(`${session.id} ${session.active_manifest_id}`, (cursor) => statesRequest(session.id, cursor), (it) => it.manifests);
  const [from, setFrom] = useState<string>();
  const [to, setTo] = useState<string>();
  const [restoring, setRestoring] = useState<string>();
  const [branching, setBranching] = useState<string>();
  return (
    <>
      <div class="row">
        <ButtonLink href={link(["files", session.id], { tab: "compare" })}>What the last change did</ButtonLink>
        {from === undefined || to === undefined || from === to ? (
          <span class="soft small">Choose two states in the table to compare them.</span>
        ) : (
          <ButtonLink kind="primary" href={link(["files", session.id], { tab: "compare", from, to })}>
            Compare the two
          </ButtonLink>
        )}
        <CopyCurl of={statesRequest(session.id)} />
      </div>
      <ShowPages of={states} empty={<Empty title="There is no history yet">The first file that is written makes the first state.</Empty>}>
        {(items) => (
          <div class="scroll" tabIndex={0} role="region" aria-label="States of the files">
            <table>
              <thead>
                <tr>
                  <th>From</th>
                  <th>To</th>
                  <th>When</th>
                  <th>What made it</th>
                  <th class="number">Files</th>
                  <th class="number">Size</th>
                  <th>
                    <span class="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((it) => (
                  <tr key={it.id}>
                    <td>
                      <input type="radio" name="from" aria-label={`Compare from ${it.id}`} checked={from === it.id} onChange={() => setFrom(it.id)} />
                    </td>
                    <td>
                      <input type="radio" name="to" aria-label={`Compare to ${it.id}`} checked={to === it.id} onChange={() => setTo(it.id)} />
                    </td>
                    <th scope="row">
                      <span class="row">
                        <Time at={it.created_at} />
                        {it.active ? <Badge tone="accent">the present</Badge> : null}
                      </span>
                    </th>
                    <td>
                      <Source of={it} />
                    </td>
                    <td class="number">{it.files.toLocaleString("en")}</td>
                    <td class="number">
                      <Bytes count={it.bytes} />
                    </td>
                    <td>
                      <Actions state={it} restore={() => setRestoring(it.id)} branch={() => setBranching(it.id)} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </ShowPages>
      {restoring === undefined ? null : <Restore session={session.id} manifest={restoring} close={() => setRestoring(undefined)} done={reload} />}
      {branching === undefined ? null : <Branch session={session} manifest={branching} close={() => setBranching(undefined)} />}
    </>
  );
}

function Actions({ state, restore, branch }: { state: FileState; restore: () => void; branch: () => void }) {
  const to = (parameters: Record<string, string | undefined>) => link(["files", state.session_id], parameters);
  return (
    <span class="row state-actions">
      <a href={to({ manifest: state.active ? undefined : state.id })}>See the files</a>
      {state.parent_id == null ? null : <a href={to({ tab: "compare", from: state.parent_id, to: state.id })}>What it changed</a>}
      {may("user") ? (
        <>
          {state.active ? null : (
            <Button narrow onClick={restore}>
              Restore
            </Button>
          )}
          <Button narrow onClick={branch}>
            Branch
          </Button>
        </>
      ) : null}
    </span>
  );
}
