// The differences between two states of the files.

import { useState } from "preact/hooks";
import { useLoad, usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Schemas, Session } from "../../api/types.ts";
import { link, setQuery } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Diff } from "../../parts/diff.tsx";
import { languageOf, SideBySide } from "../../parts/editor/index.tsx";
import { SelectField } from "../../parts/field.tsx";
import { Badge, type Tone } from "../../parts/marks.tsx";
import { openFirst } from "../../parts/open_first.ts";
import { Empty, Failure, Loading, Show, ShowPages } from "../../parts/states.tsx";
import { Bytes } from "../../parts/values.tsx";
import { useFile } from "./file.ts";
import { pictureTypeOf } from "./paths.ts";
import { Picture } from "./picture.tsx";
import { statesRequest } from "./history.tsx";
import { type FileState, stateWords } from "./states.tsx";

type Difference = Schemas["DifferenceOut"];

interface CompareProps {
  session: Session;
  /** Without states: what the last change did. */
  from: string | undefined;
  to: string | undefined;
}

export function Compare({ session, from, to }: CompareProps) {
  const later = to ?? session.active_manifest_id ?? undefined;
  const states = usePages(
    `${session.id} ${session.active_manifest_id}`,
    (cursor) => statesRequest(session.id, cursor),
    (it) => it.manifests,
  );
  // Without a first state, the one before the second is meant. It may be older than the states of the list.
  const second = useLoad(
    from !== undefined || later === undefined
      ? null
      : request("get", "/api/sessions/{session_id}/manifests/{manifest_id}", { path: { session_id: session.id, manifest_id: later }, query: { limit: 1 } }),
  );
  const earlier = from ?? second.data?.parent_id ?? undefined;
  if (later === undefined) return <Empty title="There is nothing to compare">The session has no files yet.</Empty>;
  return (
    <>
      <Choice states={states.items} from={earlier} to={later} />
      {states.error === undefined ? null : <Failure error={states.error} retry={states.reload} />}
      {earlier !== undefined ? (
        <Differences session={session.id} from={earlier} to={later} />
      ) : (
        <Show of={second}>
          {() => (
            <Empty title="Nothing came before this state">
              <p>
                It is the first one. <a href={link(["files", session.id], { manifest: later })}>See its files</a>.
              </p>
            </Empty>
          )}
        </Show>
      )}
    </>
  );
}

function Choice({ states, from, to }: { states: FileState[]; from: string | undefined; to: string }) {
  const options = (chosen: string | undefined): [string, string][] => [
    ...(chosen === undefined || !states.some((it) => it.id === chosen) ? [[chosen ?? "", chosen ?? "no state"] as [string, string]] : []),
    ...states.map((it): [string, string] => [it.id, stateWords(it)]),
  ];
  return (
    <div class="filters">
      <div class="compare-choice">
        <SelectField label="From" value={from ?? ""} options={options(from)} onChange={(it) => setQuery({ from: it, to })} />
      </div>
      <div class="compare-choice">
        <SelectField label="To" value={to} options={options(to)} onChange={(it) => setQuery({ from, to: it })} />
      </div>
      <Button disabled={from === undefined} onClick={() => setQuery({ from: to, to: from })}>
        Swap
      </Button>
    </div>
  );
}

const differencesRequest = (session: string, from: string, to: string, cursor?: string) =>
  request("get", "/api/sessions/{session_id}/diff", { path: { session_id: session }, query: { from, to, content: true, ...(cursor === undefined ? {} : { cursor }) } });

function Differences({ session, from, to }: { session: string; from: string; to: string }) {
  const differences = usePages(
    `${session} ${from} ${to}`,
    (cursor) => differencesRequest(session, from, to, cursor),
    (it) => it.changes,
  );
  return (
    <>
      <div class="row">
        <CopyCurl of={differencesRequest(session, from, to)} />
      </div>
      <ShowPages of={differences} empty={<Empty title="The two states are the same">No file was added, removed or changed between them.</Empty>}>
        {(items) => {
          const isOpen = openFirst(items.map((it) => it.diff ?? ""));
          return items.map((it, index) => <OneDifference key={it.path} of={it} isOpenFirst={isOpen[index] ?? false} session={session} from={from} to={to} />);
        }}
      </ShowPages>
    </>
  );
}

const TONES: Record<Difference["change"], Tone> = { added: "good", removed: "bad", modified: "accent" };

interface OneProps {
  of: Difference;
  isOpenFirst: boolean;
  session: string;
  from: string;
  to: string;
}

function OneDifference({ of, isOpenFirst, session, from, to }: OneProps) {
  const [isOpen, setIsOpen] = useState(isOpenFirst);
  const [isSideBySide, setSideBySide] = useState(false);
  const hasBoth = of.diff !== undefined && of.change === "modified";
  const isPicture = of.diff === undefined && pictureTypeOf(of.path) !== null;
  return (
    <section class="panel" aria-label={of.path}>
      <div class="spread">
        <div class="row">
          <Badge tone={TONES[of.change]}>{of.change}</Badge>
          <h2 class="file-name">
            <a href={link(["files", session], { path: of.path, manifest: of.change === "removed" ? from : to })}>{of.path}</a>
          </h2>
          <span class="soft small">
            {of.from == null ? null : <Bytes count={of.from.size} />}
            {of.from != null && of.to != null ? " → " : ""}
            {of.to == null ? null : <Bytes count={of.to.size} />}
          </span>
        </div>
        {isOpen ? null : (
          <Button narrow label={`Show the differences of ${of.path}`} onClick={() => setIsOpen(true)}>
            Show the differences
          </Button>
        )}
        {hasBoth && isOpen ? (
          <Button narrow onClick={() => setSideBySide(!isSideBySide)}>
            {isSideBySide ? "Line by line" : "Side by side"}
          </Button>
        ) : null}
      </div>
      {of.diff_note === undefined ? null : <p class="soft">{of.diff_note}</p>}
      {!isOpen ? null : isSideBySide ? (
        <BothSides session={session} path={of.path} from={from} to={to} />
      ) : of.diff === undefined ? null : (
        <Diff text={of.diff.replace(/\n$/, "")} label={`Differences of ${of.path}`} />
      )}
      {isPicture && isOpen ? (
        <div class="columns">
          {of.from == null ? null : <OnePicture session={session} path={of.path} manifest={from} />}
          {of.to == null ? null : <OnePicture session={session} path={of.path} manifest={to} />}
        </div>
      ) : null}
    </section>
  );
}

function BothSides({ session, path, from, to }: { session: string; path: string; from: string; to: string }) {
  const before = useFile({ session, path, manifest: from }, "");
  const after = useFile({ session, path, manifest: to }, "");
  const error = before.error ?? after.error;
  if (error !== undefined) return <Failure error={error} />;
  if (before.data?.kind !== "file" || after.data?.kind !== "file") return <Loading />;
  return <SideBySide before={before.data.text ?? ""} after={after.data.text ?? ""} language={languageOf(path)} label={path} />;
}

function OnePicture({ session, path, manifest }: { session: string; path: string; manifest: string }) {
  const file = useFile({ session, path, manifest }, "");
  if (file.error !== undefined) return <Failure error={file.error} />;
  return file.data?.kind === "file" ? <Picture bytes={file.data.bytes} type={pictureTypeOf(path) ?? ""} name={path} /> : <Loading />;
}
