// Backup and restore of the registry, for owners.

import { useRef, useState } from "preact/hooks";
import { may, workspace } from "../../api/caller.ts";
import { ApiError, type ApiRequest, request, send, sendForBytes, upload } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Button, useWork, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { Bytes, download } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";
import { endsComplete, formOf } from "./backup_form.ts";

type Preview = Schemas["RestorePreview"];
type Subjects = Preview["created"];

const JSON_LINES = "application/x-ndjson";

export function Backup() {
  if (!may("owner")) {
    return (
      <Empty title="Only owners back the registry up and restore it">
        <p>A backup holds the handlers of tools with their URLs. It needs the level owner, and a token that is not bound to an agent.</p>
      </Empty>
    );
  }
  return (
    <div class="columns">
      <Save />
      <Bring />
    </div>
  );
}

function Save() {
  const asDocument = request("get", "/api/registry/backup");
  const asLines: ApiRequest<unknown> = { ...asDocument, headers: { Accept: JSON_LINES } };
  const name = () => `registry-${workspace.value}-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}`;
  return (
    <Panel title="Back up">
      <p class="soft">Tools with all versions, agents, attachments, the names of credentials, modules, MCP servers, toolsets and settings. Neither the change log nor files of sessions.</p>
      <div class="row">
        <WorkButton kind="primary" work={async () => download(`${name()}.json`, await sendForBytes(asDocument))}>
          Download one document
        </WorkButton>
        <CopyCurl of={asDocument} />
      </div>
      <p class="soft small">Up to 16 MiB, without the contents of toolsets’ files.</p>
      <div class="row">
        <WorkButton
          work={async () => {
            const lines = await sendForBytes(asLines);
            if (!endsComplete(await lines.slice(-4_096).text())) throw new Error("The registry has changed while it was read, so the backup is not complete. Download it again.");
            download(`${name()}.ndjson`, lines);
          }}
        >
          Download JSON Lines
        </WorkButton>
        <CopyCurl of={asLines} />
      </div>
      <p class="soft small">Of any size, with the contents of toolsets’ files.</p>
    </Panel>
  );
}

/** A file that was chosen, and what its restore would do. */
interface Chosen {
  file: File;
  type: string;
  preview: Preview | null;
  error: ApiError | null;
}

const restoreRequest = (file: File, type: string, isTrial: boolean) =>
  upload<Schemas["Restored"]>("post", "/api/registry/restore", { query: isTrial ? { dry_run: true } : {} }, file, type);

function Bring() {
  const picker = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [isAsking, setAsking] = useState(false);
  const [done, setDone] = useState<number | null>(null);
  const [run, busy] = useWork();
  const choose = (file: File) =>
    run(async () => {
      setDone(null);
      setChosen(null);
      const type = formOf(file.name, await file.slice(0, 65_536).text()) === "lines" ? JSON_LINES : "application/json";
      try {
        setChosen({ file, type, preview: (await send(restoreRequest(file, type, true))) as unknown as Preview, error: null });
      } catch (cause) {
        if (!(cause instanceof ApiError)) throw cause;
        setChosen({ file, type, preview: null, error: cause });
      }
    });
  const restore = async () => {
    if (chosen === null) return;
    const { changes } = await send(restoreRequest(chosen.file, chosen.type, false));
    setDone(changes);
    setChosen(null);
    tell("The registry is as the backup says");
  };
  const differs = chosen?.preview == null ? 0 : chosen.preview.created.count + chosen.preview.changed.count + chosen.preview.deleted.count;
  return (
    <Panel title="Restore">
      <p class="soft">The registry becomes exactly what a backup says. What is not in the backup is deleted. You see what would happen first.</p>
      <div class="row">
        <Button disabled={busy} onClick={() => picker.current?.click()}>
          Choose a backup
        </Button>
        <input
          ref={picker}
          type="file"
          hidden
          aria-label="A backup to restore"
          accept=".json,.ndjson,.jsonl"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            event.currentTarget.value = "";
            if (file !== undefined) void choose(file);
          }}
        />
        {chosen === null ? null : (
          <span>
            {chosen.file.name}, <Bytes count={chosen.file.size} />
          </span>
        )}
      </div>
      {busy ? <Loading what="Looking at the backup" /> : null}
      {chosen?.error == null ? null : <Failure error={chosen.error} />}
      {chosen?.preview == null ? null : (
        <section class="stack" aria-label="What a restore would do">
          {differs === 0 ? <p>The registry is already as this backup says.</p> : null}
          <Told title="Created" of={chosen.preview.created} />
          <Told title="Changed" of={chosen.preview.changed} />
          <Told title="Deleted" of={chosen.preview.deleted} />
          <div class="row">
            <Button kind="danger" disabled={differs === 0} onClick={() => setAsking(true)}>
              Restore this backup
            </Button>
            <CopyCurl of={restoreRequest(chosen.file, chosen.type, true)} />
          </div>
        </section>
      )}
      {done === null ? null : (
        <p class="notice good" role="status">
          <span>
            {count(done, "thing")} differed, and {done === 1 ? "is" : "are"} now as the backup says. <a href={link(["changes"], { action: "restore" })}>See the changes</a>.
          </span>
        </p>
      )}
      {isAsking && chosen !== null ? (
        <Confirm title="Restore this backup?" action="Restore" danger of={restoreRequest(chosen.file, chosen.type, false)} close={() => setAsking(false)} work={restore}>
          <p>
            {count(differs, "thing")} in the workspace {workspace.value} will be created, changed or deleted, all at once. If another request changes the registry meanwhile, nothing happens.
          </p>
        </Confirm>
      ) : null}
    </Panel>
  );
}

function Told({ title, of }: { title: string; of: Subjects }) {
  if (of.count === 0) return null;
  return (
    <div class="stack">
      <h3>
        {title} <span class="soft">{of.count.toLocaleString("en")}</span>
      </h3>
      <div class="told" tabIndex={0} role="region" aria-label={title}>
        <ul>
          {of.subjects.map((it) => (
            <li key={it}>
              <code>{it}</code>
            </li>
          ))}
        </ul>
      </div>
      {of.count > of.subjects.length ? <p class="soft small">The first {of.subjects.length} are shown.</p> : null}
    </div>
  );
}
