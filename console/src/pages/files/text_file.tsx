// A text that can be changed and saved. What others do to the file meanwhile is told, and nothing that was typed is lost.

import { useState } from "preact/hooks";
import { link, query, setQuery } from "../../location.ts";
import { Button, useWork } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Editor, languageOf, SideBySide } from "../../parts/editor/index.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Markdown } from "../../parts/renderers/markdown.tsx";
import { type Place, saveText, writeRequest } from "../../parts/session_file.ts";
import { tell } from "../../parts/toast.tsx";
import { draftOf, setDraft } from "./drafts.ts";

interface TextFileProps {
  place: Place;
  /** The file as it is now. Null if somebody has deleted it while there is a draft. */
  file: { text: string; sha256: string } | null;
  mayWrite: boolean;
  reload: () => void;
  changed: () => void;
}

export function TextFile({ place, file, mayWrite, reload, changed }: TextFileProps) {
  const { session, path } = place;
  const draft = mayWrite ? draftOf(session, path) : undefined;
  const text = draft?.text ?? file?.text ?? "";
  const [run, isBusy] = useWork();
  /** The state with what somebody wrote in the very moment of saving. */
  const [replaced, setReplaced] = useState<string | null>(null);
  const isConflict = draft !== undefined && draft.base !== file?.sha256;
  const language = languageOf(path);
  const asked = writeRequest(place, text);
  const isDocument = language === "markdown" && query.value.get("view") === "document";

  const type = (typed: string) => {
    if (!mayWrite) return;
    const base = draft?.base ?? file?.sha256 ?? "";
    setDraft(session, path, typed === file?.text && base === file.sha256 ? null : { text: typed, base });
  };
  const write = (base: string | null) =>
    run(async () => {
      const outcome = await saveText(place, text, base);
      // The new state of the file is read, and is shown beside the draft.
      if (outcome.kind === "conflict") return reload();
      // What was typed while the file was being saved is a draft on top of it.
      const later = draftOf(session, path)?.text;
      setDraft(session, path, later === undefined || later === text ? null : { text: later, base: outcome.file.sha256 });
      setReplaced(outcome.replaced);
      tell(`${path} was saved`);
      changed();
      reload();
    });
  const onKey = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s" || !mayWrite) return;
    event.preventDefault();
    if (draft !== undefined && !isConflict) void write(draft.base);
  };
  return (
    <div class="stack" onKeyDown={onKey}>
      {isConflict ? (
        <section class="notice warn" role="alert">
          <strong>{file === null ? "Somebody has deleted this file while you were editing it" : "Somebody has changed this file while you were editing it"}</strong>
          <p>Nothing of yours is lost, and nothing was saved.</p>
          <div class="row">
            <Button kind="primary" disabled={isBusy} onClick={() => void write(file?.sha256 ?? null)}>
              {file === null ? "Save mine as a new file" : "Save mine over it"}
            </Button>
            <Button onClick={() => setDraft(session, path, null)}>{file === null ? "Drop my draft" : "Take theirs, drop mine"}</Button>
            <CopyCurl of={asked} />
          </div>
          {file === null ? null : (
            <div class="conflict">
              <p class="soft small">Red is what is there now, green is what you typed.</p>
              <SideBySide before={file.text} after={draft.text} language={language} label={`${path}, theirs and mine`} />
            </div>
          )}
        </section>
      ) : null}
      {replaced === null ? null : (
        <p class="notice warn" role="alert">
          <span>
            Somebody else saved this file in the same moment. Yours is on top; <a href={link(["files", session], { path, manifest: replaced })}>theirs is in the history</a>.
          </span>
        </p>
      )}
      {mayWrite ? (
        <div class="row">
          <Button kind="primary" disabled={draft === undefined || isConflict || isBusy} onClick={() => void write(draft?.base ?? null)}>
            Save
          </Button>
          <Button disabled={draft === undefined || file === null} onClick={() => setDraft(session, path, null)}>
            Undo all
          </Button>
          <CopyCurl of={asked} />
          {draft === undefined ? null : <Badge tone="warn">not saved</Badge>}
        </div>
      ) : null}
      {language === "markdown" ? (
        <div>
          <button type="button" class="button narrow" aria-pressed={isDocument} onClick={() => setQuery({ view: isDocument ? undefined : "document" })}>
            As a document
          </button>
        </div>
      ) : null}
      {isDocument ? <Markdown text={text} label={path} /> : <Editor label={path} language={language} value={text} readOnly={!mayWrite} onChange={type} />}
    </div>
  );
}
