// One file: a text to edit, a picture to see, or something to download.

import { useState } from "preact/hooks";
import { send } from "../../api/request.ts";
import { go } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { type FileRead, fileRequest, type Place } from "../../parts/session_file.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { Bytes, download, Text } from "../../parts/values.tsx";
import { draftOf, setDraft } from "./drafts.ts";
import { deleteRequest, useFile } from "./file.ts";
import { EDITED_BYTES, nameOf, parentOf, pictureTypeOf } from "./paths.ts";
import { Picture } from "./picture.tsx";
import { TextFile } from "./text_file.tsx";

interface FileViewProps {
  place: Place;
  /** The state that is shown; another one reads the file again. */
  version: string;
  mayWrite: boolean;
  changed: () => void;
}

export function FileView({ place, version, mayWrite, changed }: FileViewProps) {
  const file = useFile(place, version);
  const { session, path, manifest } = place;
  const isGone = file.error?.status === 404;
  return (
    <section class="panel file" aria-label={path}>
      <div class="spread">
        <h2 class="file-name">{path}</h2>
        <div class="row">
          {file.data?.kind === "file" ? <FileFacts place={place} file={file.data} /> : null}
          {mayWrite && file.data !== undefined ? <Delete place={place} isDirectory={file.data.kind === "directory"} changed={changed} /> : null}
        </div>
      </div>
      {isGone && mayWrite && draftOf(session, path) !== undefined ? (
        <TextFile place={place} file={null} mayWrite reload={file.reload} changed={changed} />
      ) : file.error === undefined ? null : (
        <Failure error={file.error} retry={file.reload} />
      )}
      {file.loading ? <Loading /> : null}
      {file.data?.kind === "directory" ? (
        <p class="soft">A directory. It exists as long as a file is in it.</p>
      ) : file.data === undefined ? null : (
        <Contents key={manifest} place={place} file={file.data} mayWrite={mayWrite} reload={file.reload} changed={changed} />
      )}
    </section>
  );
}

function FileFacts({ place, file }: { place: Place; file: FileRead }) {
  return (
    <>
      <span class="soft small" title={`SHA-256 ${file.sha256}`}>
        <Bytes count={file.bytes.byteLength} />
      </span>
      <CopyCurl narrow of={fileRequest(place)} />
      <Button narrow onClick={() => download(nameOf(place.path), new Blob([file.bytes]))}>
        Download
      </Button>
    </>
  );
}

interface ContentsProps {
  place: Place;
  file: FileRead;
  mayWrite: boolean;
  reload: () => void;
  changed: () => void;
}

function Contents({ place, file, mayWrite, reload, changed }: ContentsProps) {
  const picture = pictureTypeOf(place.path);
  const isEdited = file.text !== null && file.bytes.byteLength <= EDITED_BYTES;
  return (
    <>
      {picture === null ? null : <Picture bytes={file.bytes} type={picture} name={nameOf(place.path)} />}
      {isEdited ? (
        <TextFile place={place} file={{ text: file.text ?? "", sha256: file.sha256 }} mayWrite={mayWrite} reload={reload} changed={changed} />
      ) : file.text !== null ? (
        <>
          <p class="soft">The file is too large to be changed here. Download it, and upload it again.</p>
          <Text text={file.text} name={nameOf(place.path)} label={place.path} />
        </>
      ) : picture === null ? (
        <p class="soft">The file is not a text. Download it to open it with a program that knows it.</p>
      ) : null}
    </>
  );
}

function Delete({ place, isDirectory, changed }: { place: Place; isDirectory: boolean; changed: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const asked = deleteRequest(place);
  return (
    <>
      <Button narrow kind="danger" onClick={() => setAsking(true)}>
        {isDirectory ? "Delete the directory" : "Delete"}
      </Button>
      {isAsking ? (
        <Confirm
          title={`Delete ${place.path}?`}
          action={isDirectory ? "Delete the directory" : "Delete the file"}
          danger
          of={asked}
          close={() => setAsking(false)}
          work={async () => {
            await send(asked);
            setDraft(place.session, place.path, null);
            tell(`${place.path} was deleted`);
            const parent = parentOf(place.path);
            go(["files", place.session], { path: parent === "/" ? undefined : parent });
            changed();
          }}
        >
          <p>{isDirectory ? "Every file in it is deleted." : "The file is deleted."} The state before stays in the history, and can be restored.</p>
        </Confirm>
      ) : null}
    </>
  );
}
