// What a call did to the files of its session.

import { useState } from "preact/hooks";
import { usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Call, Schemas } from "../../api/types.ts";
import { link } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Diff } from "../../parts/diff.tsx";
import { Badge, type Tone } from "../../parts/marks.tsx";
import { openFirst } from "../../parts/open_first.ts";
import { Panel } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { Bytes } from "../../parts/values.tsx";

type Difference = Schemas["DifferenceOut"];

const PAGE = 20;

export function ChangedFiles({ call }: { call: Call }) {
  const { session_id: session, pre_manifest_id: before, post_manifest_id: after } = call;
  if (!session || !after || before === after) return null;
  return before ? <Differences session={session} before={before} after={after} /> : <FirstFiles session={session} manifest={after} />;
}

function Differences({ session, before, after }: { session: string; before: string; after: string }) {
  const page = (cursor?: string) =>
    request("get", "/api/sessions/{session_id}/diff", {
      path: { session_id: session },
      query: { from: before, to: after, content: true, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
    });
  const changes = usePages(`${session} ${before} ${after}`, page, (it) => it.changes);
  return (
    <Panel title="Files before and after" actions={<CopyCurl narrow of={page()} />}>
      <ShowPages of={changes} empty={<Empty title="The same files" />}>
        {(items) => {
          const isOpen = openFirst(items.map((it) => it.diff ?? ""));
          return items.map((it, index) => <FileChange key={it.path} of={it} session={session} isOpenFirst={isOpen[index] ?? false} />);
        }}
      </ShowPages>
    </Panel>
  );
}

const TONES: Record<Difference["change"], Tone> = { added: "good", removed: "bad", modified: "accent" };

function FileChange({ of, session, isOpenFirst }: { of: Difference; session: string; isOpenFirst: boolean }) {
  const [isOpen, setIsOpen] = useState(isOpenFirst);
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <code>{of.path}</code> <Badge tone={TONES[of.change]}>{of.change}</Badge>
      </summary>
      {isOpen ? (
        <div class="stack changed">
          {of.diff_note ? <p class="soft small">{of.diff_note}</p> : null}
          {of.diff ? <Diff text={of.diff} label={`Changes of ${of.path}`} /> : null}
          {of.change === "removed" ? null : (
            <div>
              <ButtonLink narrow href={link(["files", session], { path: of.path })}>
                Open in files
              </ButtonLink>
            </div>
          )}
        </div>
      ) : null}
    </details>
  );
}

/** The session had no file before, so that there is nothing to compare with. */
function FirstFiles({ session, manifest }: { session: string; manifest: string }) {
  const page = (cursor?: string) =>
    request("get", "/api/sessions/{session_id}/manifests/{manifest_id}", {
      path: { session_id: session, manifest_id: manifest },
      ...(cursor === undefined ? {} : { query: { cursor } }),
    });
  const files = usePages(`${session} ${manifest}`, page, (it) => it.entries);
  return (
    <Panel title="The first files of the session" actions={<CopyCurl narrow of={page()} />}>
      <ShowPages of={files} empty={<Empty title="No files" />}>
        {(entries) => (
          <ul class="first-files">
            {entries.map((it) => (
              <li key={it.path}>
                <a href={link(["files", session], { path: it.path })}>{it.path}</a>{" "}
                <span class="soft">
                  <Bytes count={it.size} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </ShowPages>
    </Panel>
  );
}
