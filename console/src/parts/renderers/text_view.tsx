// What the renderers `code` and `document` have in common: a text of the plan, or a file of the session, which can be changed
// and saved there.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { send } from "../../api/request.ts";
import { link } from "../../location.ts";
import { Button, ButtonLink, WorkButton } from "../button.tsx";
import { CopyCurl } from "../clipboard.tsx";
import { Editor } from "../editor/index.tsx";
import { COLOURED_CHARACTERS, type Language } from "../editor/texts.ts";
import { Failure, Loading } from "../states.tsx";
import { tell } from "../toast.tsx";
import { Text, download } from "../values.tsx";
import { bytes } from "../words.ts";
import { type SessionFile, fileRequest, readFile, saveRequest, useFile } from "./file.ts";
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

function FileView({ plan, call, session, path, children }: TextViewProps & { session: string; path: string }) {
  const { data: file, error, reload } = useFile(session, path);
  const [draft, setDraft] = useState<{ text: string; tag: string } | null>(null);
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
            <Button narrow onClick={() => setDraft({ text: file.text ?? "", tag: file.tag })}>
              Edit
            </Button>
          ) : null}
          <ButtonLink narrow href={link(["files", session], { path })}>
            Open in files
          </ButtonLink>
          <CopyCurl narrow of={fileRequest(session, path)} />
        </span>
      </div>
      {draft !== null ? (
        <EditedFile
          session={session}
          path={path}
          language={language}
          text={draft.text}
          tag={draft.tag}
          close={() => {
            setDraft(null);
            reload();
          }}
        />
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

function FileContents({ file, path, label, children }: { file: SessionFile; path: string; label: string; children: TextViewProps["children"] }) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (file.text === null) {
    return (
      <p class="row soft">
        The file is no text. It has {bytes(file.contents.size)}.
        <Button narrow onClick={() => download(name, file.contents)}>
          Download
        </Button>
      </p>
    );
  }
  if (file.text.length > COLOURED_CHARACTERS) return <Text text={file.text} label={label} name={name} />;
  return <>{children(file.text, path)}</>;
}

interface EditedFileProps {
  session: string;
  path: string;
  language: Language;
  text: string;
  /** The contents that the person began with. */
  tag: string;
  close: () => void;
}

function EditedFile({ session, path, language, text, tag, close }: EditedFileProps) {
  const [draft, setDraft] = useState(text);
  const [hasChanged, setHasChanged] = useState(false);
  const asked = saveRequest(session, path, draft);
  const write = async () => {
    await send(asked);
    tell(`Saved ${path}`);
    close();
  };
  const save = async () => {
    // The API takes every write, so that only this look keeps two people from undoing each other's work unawares.
    const present = await readFile(session, path);
    if (present.tag === tag) await write();
    else setHasChanged(true);
  };
  return (
    <div class="stack">
      <Editor value={draft} language={language} onChange={setDraft} label={`Contents of ${path}`} />
      {hasChanged ? (
        <div class="notice warn" role="alert">
          <p>The file has changed since you opened it. The history of the session keeps the other version.</p>
          <div class="row">
            <WorkButton kind="danger" work={write}>
              Save over it
            </WorkButton>
            <Button onClick={close}>Drop my changes</Button>
            <CopyCurl of={asked} />
          </div>
        </div>
      ) : (
        <div class="row">
          <WorkButton kind="primary" work={save} disabled={draft === text}>
            Save to the session
          </WorkButton>
          <Button onClick={close}>Cancel</Button>
          <CopyCurl of={asked} />
        </div>
      )}
    </div>
  );
}
