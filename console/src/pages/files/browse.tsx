// The files of a session in one state: a tree, and the file that is chosen in it.

import { useEffect, useRef, useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import type { Session } from "../../api/types.ts";
import { go } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { writeRequest } from "../../parts/session_file.ts";
import { Empty, Failure } from "../../parts/states.tsx";
import { Tree } from "../../parts/tree.tsx";
import { bytes } from "../../parts/words.ts";
import { directoryRequest, useDirectories } from "./directories.ts";
import { draftOf } from "./drafts.ts";
import { FileView } from "./file_view.tsx";
import { NewFile } from "./new_file.tsx";
import { directoriesAbove, inside, parentOf } from "./paths.ts";
import { UploadReport, useUploads } from "./uploads.tsx";

interface BrowseProps {
  session: Session;
  /** An older state; the present if none is named. */
  manifest: string | undefined;
  path: string | undefined;
  /** The person has changed the files. */
  changed: () => void;
}

export function Browse({ session, manifest, path, changed }: BrowseProps) {
  const version = manifest ?? session.active_manifest_id ?? "";
  const directories = useDirectories(session.id, manifest, version);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [isMaking, setMaking] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const uploads = useUploads(session.id, changed);
  const [isOver, setOver] = useState(false);
  const mayWrite = manifest === undefined && may("user");
  const isDirectory = path !== undefined && directories.entryAt(path)?.type === "directory";
  const directory = path === undefined ? "/" : isDirectory ? path : parentOf(path);

  // A link to a file opens the directories above it.
  useEffect(() => {
    if (path === undefined) return;
    const above = directoriesAbove(path);
    for (const it of above) directories.want(it);
    setOpen((before) => (above.every((it) => before.has(it)) ? before : new Set([...before, ...above])));
  }, [path, directories.want]);

  const toggle = (id: string, isOpen: boolean) => {
    if (isOpen) directories.want(id);
    setOpen((before) => new Set(isOpen ? [...before, id] : [...before].filter((it) => it !== id)));
  };
  const select = (id: string) => go(["files", session.id], { path: id, manifest });
  const detail = (id: string) => {
    const size = directories.entryAt(id)?.size;
    return (
      <>
        {draftOf(session.id, id) === undefined ? null : <Badge tone="warn">not saved</Badge>}
        {size == null ? null : bytes(size)}
      </>
    );
  };
  const root = directories.branches.get("/");
  const isEmpty = root !== undefined && root.entries.length === 0;
  const onDrop = (event: DragEvent) => {
    setOver(false);
    if (!mayWrite || event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    void uploads.send(directory, [...event.dataTransfer.files]);
  };
  const onDragOver = (event: DragEvent) => {
    if (!mayWrite || !(event.dataTransfer?.types.includes("Files") ?? false)) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    <div class={`browse ${isOver ? "over" : ""}`} onDragOver={onDragOver} onDragLeave={() => setOver(false)} onDrop={onDrop}>
      <section class="browse-tree" aria-label="Directory">
        <div class="row">
          {mayWrite ? (
            <>
              <Button narrow onClick={() => setMaking(true)}>
                New file
              </Button>
              <Button narrow disabled={uploads.isBusy} title={`Writes files into ${directory}`} onClick={() => picker.current?.click()}>
                Upload
              </Button>
              <input
                ref={picker}
                type="file"
                multiple
                hidden
                aria-label="Files to upload"
                onChange={(event) => {
                  const chosen = [...(event.currentTarget.files ?? [])];
                  // The same file can be chosen again.
                  event.currentTarget.value = "";
                  if (chosen.length > 0) void uploads.send(directory, chosen);
                }}
              />
            </>
          ) : null}
          <CopyCurl narrow of={directoryRequest(session.id, directory, manifest)} {...(mayWrite ? { action: "List" } : {})} />
          {mayWrite ? <CopyCurl narrow of={writeRequest({ session: session.id, path: inside(directory, "FILE") }, new Blob())} action="Upload" /> : null}
        </div>
        {mayWrite ? <p class="soft small">Files that you drop here go into {directory}</p> : null}
        <UploadReport of={uploads} />
        {directories.error === undefined ? null : <Failure error={directories.error} retry={directories.reload} />}
        {isEmpty ? (
          <Empty title="There are no files here">{mayWrite ? <p>Write one with “New file”, upload some, or run a tool in this session.</p> : <p>This state has no files.</p>}</Empty>
        ) : (
          <Tree
            label={`Files of ${session.id}`}
            root="/"
            branches={directories.branches}
            open={open}
            selected={path ?? null}
            onToggle={toggle}
            onSelect={select}
            onMore={directories.more}
            detail={detail}
          />
        )}
      </section>
      {path === undefined ? (
        isEmpty ? null : (
          <Empty title="No file is chosen">
            <p>Choose a file on the left to read it{mayWrite ? ", to change it" : ""} or to download it.</p>
          </Empty>
        )
      ) : (
        <FileView key={path} place={{ session: session.id, path, manifest }} version={version} mayWrite={mayWrite} changed={changed} />
      )}
      {isMaking ? (
        <NewFile
          session={session.id}
          directory={directory}
          close={() => setMaking(false)}
          done={(_, written) => {
            changed();
            select(written);
          }}
        />
      ) : null}
    </div>
  );
}
