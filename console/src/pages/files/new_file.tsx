// Writing a new file: into a session, or into a session that begins with it.

import { useState } from "preact/hooks";
import { ApiError, send } from "../../api/request.ts";
import { Button, useWork } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Editor, languageOf } from "../../parts/editor/index.tsx";
import { TextField } from "../../parts/field.tsx";
import { writeRequest } from "../../parts/session_file.ts";
import { Failure } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { isTaken } from "./file.ts";
import { inside } from "./paths.ts";

interface NewFileProps {
  /** The session to write into. Without one, the dialog asks for the name of a new session. */
  session?: string;
  /** The name that a new session is to have. */
  suggested?: string;
  /** Whether a session is known to have this name. */
  taken?: (name: string) => boolean;
  /** The directory that the path begins with. */
  directory?: string;
  close: () => void;
  done: (session: string, path: string) => void;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function NewFile({ session, suggested = "", taken = () => false, directory = "/", close, done }: NewFileProps) {
  const [name, setName] = useState(session ?? suggested);
  const [path, setPath] = useState(session === undefined ? "notes.txt" : directory === "/" ? "" : `${directory.slice(1)}/`);
  const [contents, setContents] = useState("");
  const [problem, setProblem] = useState<string | ApiError>();
  const [run, busy] = useWork();
  const place = { session: name.trim(), path: inside("/", path.trim()) };
  const asked = writeRequest(place, contents);
  const nameIsBad = !NAME.test(place.session);
  const write = async () => {
    if (nameIsBad) return setProblem("A session's name has 1 to 64 letters, digits, _ or -.");
    if (asked.fault !== undefined && place.path !== "/") return setProblem(asked.fault);
    if (place.path === "/" || path.trim().endsWith("/")) return setProblem("The path needs the name of a file.");
    try {
      if (session === undefined && taken(place.session)) return setProblem(`There is a session ${place.session} already. Open it to write a file into it.`);
      if (session !== undefined && (await isTaken(session, place.path))) return setProblem(`${place.path} exists already. Choose another path, or edit the file.`);
      const written = await send(asked);
      const existed = session === undefined && written.parent_manifest_id != null;
      tell(existed ? `${place.session} existed already; ${place.path} was written into it` : `${place.path} was written`);
      close();
      done(place.session, place.path);
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      setProblem(cause);
    }
  };
  return (
    <Dialog title={session === undefined ? "New session" : "New file"} close={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run(write);
        }}
      >
        {session === undefined ? (
          <TextField label="Name of the session" value={name} onChange={setName} required hint="1 to 64 letters, digits, _ or -. The session begins with its first file." />
        ) : null}
        <TextField label="Path of the file" value={path} onChange={setPath} mono required hint="Directories are made as needed: data/notes.txt" />
        <div class="field">
          <span class="label">Contents</span>
          <Editor label="Contents" language={languageOf(path)} value={contents} onChange={setContents} />
        </div>
        {problem === undefined ? null : typeof problem === "string" ? (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        ) : (
          <Failure error={problem} />
        )}
        <div class="dialog-foot">
          <CopyCurl of={asked} />
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={busy}>
            Write the file
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
