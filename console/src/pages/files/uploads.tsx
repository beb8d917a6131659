// Files that are on their way into a session, one after the other.

import { useState } from "preact/hooks";
import { ApiError, respond } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { writeRequest } from "../../parts/session_file.ts";
import { tell } from "../../parts/toast.tsx";
import { bytes, count } from "../../parts/words.ts";
import { inside, LARGEST_BYTES } from "./paths.ts";

interface Report {
  done: number;
  all: number;
  replaced: number;
  refused: { name: string; why: string }[];
}

export interface Uploads {
  report: Report | null;
  isBusy: boolean;
  send: (directory: string, files: File[]) => Promise<void>;
  forget: () => void;
}

/** `changed` is called after each file that was written. */
export function useUploads(session: string, changed: () => void): Uploads {
  const [report, setReport] = useState<Report | null>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (directory: string, files: File[]) => {
    // A second report would overwrite the first one.
    if (isBusy) return tell("Files are being uploaded. Drop these again when the others are done.");
    let present: Report = { done: 0, all: files.length, replaced: 0, refused: [] };
    setBusy(true);
    setReport(present);
    for (const file of files) {
      try {
        if (file.size > LARGEST_BYTES) throw new Error(`It has ${bytes(file.size)}; a file may have 10 MiB.`);
        const { status } = await respond(writeRequest({ session, path: inside(directory, file.name) }, file));
        // 201 says that the file is new.
        present = { ...present, done: present.done + 1, replaced: present.replaced + (status === 201 ? 0 : 1) };
        changed();
      } catch (cause) {
        // The browser cannot read a directory that was dropped, and says so with an error of its own.
        const why = cause instanceof ApiError || cause instanceof Error ? cause.message : String(cause);
        present = { ...present, refused: [...present.refused, { name: file.name, why }] };
      }
      setReport(present);
    }
    setBusy(false);
  };
  return { report, isBusy, send, forget: () => setReport(null) };
}

export function UploadReport({ of: { report, isBusy, forget } }: { of: Uploads }) {
  if (report === null) return null;
  return (
    <div class={`notice ${report.refused.length > 0 ? "bad" : isBusy ? "" : "good"}`} role="status">
      <p>
        {isBusy ? `Uploading ${report.done + report.refused.length + 1} of ${count(report.all, "file")}…` : `${count(report.done, "file")} uploaded`}
        {report.replaced > 0 ? `, ${report.replaced} of them replaced. The history has what was there before.` : ""}
      </p>
      {report.refused.length === 0 ? null : (
        <ul>
          {report.refused.map((it) => (
            <li key={it.name}>
              <strong>{it.name}</strong>: {it.why}
            </li>
          ))}
        </ul>
      )}
      {isBusy ? null : (
        <Button narrow onClick={forget}>
          Close
        </Button>
      )}
    </div>
  );
}
