// What the renderers `code` and `document` have in common: a text of the plan, or a file of the session, which can be changed
// and saved there.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { type Loaded, useRead } from "../../api/load.ts";
import { link } from "../../location.ts";
import { Button, ButtonLink, WorkButton } from "../button.tsx";
import { CopyCurl } from "../clipboard.tsx";
import { Editor } from "../editor/index.tsx";
import { COLOURED_CHARACTERS, type Language } from "../editor/texts.ts";
import { type FileRead, type Found, type Place, fileRequest, readFile, saveText, writeRequest } from "../session_file.ts";
import { Failure, Loading } from "../states.tsx";
import { tell } from "../toast.tsx";
import { Text, download } from "../values.tsx";
import { bytes } from "../words.ts";
import { type Plan, languageIn } from "./plan.ts";
import { InsteadRaw, type ShownCall, titleOf } from "./raw.tsx";

interface TextViewProps {
  plan: Plan;
  call: ShownCall;
  /** Shows a text. `path` is null for a text of the plan. */
  children: (text: string, path: string | null) => ComponentChildren;
}

export function TextView({ plan, call, children }: TextViewProps) {
  const { file, content } = plan.config;
  const session = call.session_id;
  if (typeof file === "string" && session) return <FileView plan={plan} call={call} session={session} path={file} children={children} />;
  if (content === null || content === undefined) return <p class="soft">{typeof file === "string" ? "The call names no session, so its file cannot be shown." : "There is nothing to show."}</p>;
  return <>{children(typeof content === "string" ? content : JSON.stringify(content, null, 2), null)}</>;
}

/** Reads a file when the view appears, and again on demand. The old contents stay meanwhile. */
function useFile(place: Place): Loaded<Found> {
  return useRead(JSON.stringify([place.session, place.path]), (signal) => readFile(place, signal));
}

function FileView({ plan, call, session, path, children }: TextViewProps & { session: string; path: string }) {
  // A tool may name the file without the slash of the root.
  const place = { session, path: `/${path.replace(/^\/+/, "")}` };
  const { data: found, error, reload } = useFile(place);
  const file = found?.kind === "file" ? found : undefined;
  const [draft, setDraft] = useState<{ text: string; base: string } | null>(null);
  const language = languageIn(plan.config, path, "");
  const isEditable = may("user") && plan.config["editable"] !== false && typeof file?.text === "string" && file.text.length <= COLOURED_CHARACTERS;
  return (
    <div class="stack">
      <div class="spread">
        <span class="row">
          <code>{path}</code> <span class="soft small">in the session {session}, as it is now</span>
        </span>
        <span class="row">
          {isEditable && draft === null ? (
            <Button narrow onClick={() => setDraft({ text: file.text ?? "", base: file.sha256 })}>
              Edit
            </Button>
          ) : null}
          <ButtonLink narrow href={link(["files", session], { path })}>
            Open in files
          </ButtonLink>
          <CopyCurl narrow of={fileRequest(place)} />
        </span>
      </div>
      {draft !== null ? (
        <EditedFile
          place={place}
          language={language}
          text={draft.text}
          base={draft.base}
          close={() => {
            setDraft(null);
            reload();
          }}
        />
      ) : found?.kind === "directory" ? (
        <p class="soft">{path} is a directory now.</p>
      ) : error !== undefined && (file === undefined || error.status === 404) ? (
        <InsteadRaw call={call} error={error} retry={reload} />
      ) : (
        <>
          {error === undefined ? null : <Failure error={error} retry={reload} />}
          {file === undefined ? <Loading what="Reading the file" /> : <FileContents file={file} path={path} label={titleOf(call)} children={children} />}
        </>
      )}
    </div>
  );
}

function FileContents({ file, path, label, children }: { file: FileRead; path: string; label: string; children: TextViewProps["children"] }) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (file.text === null) {
    return (
      <p class="row soft">
        The file is no text. It has {bytes(file.bytes.byteLength)}.
        <Button narrow onClick={() => download(name, new Blob([file.bytes]))}>
          Download
        </Button>
      </p>
    );
  }
  if (file.text.length > COLOURED_CHARACTERS) return <Text text={file.text} label={label} name={name} />;
  return <>{children(file.text, path)}</>;
}

interface EditedFileProps {
  place: Place;
  language: Language;
  text: string;
  /** The SHA-256 of what the person began with. */
  base: string;
  close: () => void;
}

function EditedFile({ place, language, text, base, close }: EditedFileProps) {
  const [draft, setDraft] = useState(text);
  /** What is there now, if it is not what the person began with: its SHA-256, or null if the file is gone. */
  const [theirs, setTheirs] = useState<{ sha256: string | null } | null>(null);
  const asked = writeRequest(place, draft);
  const { path } = place;
  const save = async (on: string | null) => {
    const outcome = await saveText(place, draft, on);
    if (outcome.kind === "conflict") return setTheirs({ sha256: outcome.theirs?.sha256 ?? null });
    tell(outcome.replaced === null ? `Saved ${path}` : `Saved ${path} over what somebody else wrote in the same moment. The history of the session keeps it.`);
    close();
  };
  return (
    <div class="stack">
      <Editor value={draft} language={language} onChange={setDraft} label={`Contents of ${path}`} />
      {theirs !== null ? (
        <div class="notice warn" role="alert">
          <p>The file has changed since you opened it. The history of the session keeps the other version.</p>
          <div class="row">
            <WorkButton kind="danger" work={() => save(theirs.sha256)}>
              Save over it
            </WorkButton>
            <Button onClick={close}>Drop my changes</Button>
            <CopyCurl of={asked} />
          </div>
        </div>
      ) : (
        <div class="row">
          <WorkButton kind="primary" work={() => save(base)} disabled={draft === text}>
            Save to the session
          </WorkButton>
          <Button onClick={close}>Cancel</Button>
          <CopyCurl of={asked} />
        </div>
      )}
    </div>
  );
}
