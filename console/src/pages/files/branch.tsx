// A new session that begins with the files of a state.

import { useState } from "preact/hooks";
import { request, send } from "../../api/request.ts";
import type { Session } from "../../api/types.ts";
import { go } from "../../location.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { tell } from "../../parts/toast.tsx";

interface BranchProps {
  session: Session;
  /** The state to begin with; the present if none is named. */
  manifest?: string | undefined;
  close: () => void;
}

export function Branch({ session, manifest, close }: BranchProps) {
  const [name, setName] = useState("");
  const asked = request("post", "/api/sessions/{session_id}/branch", {
    path: { session_id: session.id },
    body: { ...(manifest === undefined ? {} : { manifest_id: manifest }), ...(name.trim() === "" ? {} : { session_id: name.trim() }) },
  });
  return (
    <Confirm
      title={`Branch off from ${session.id}`}
      action="Make the session"
      of={asked}
      close={close}
      work={async () => {
        const made = await send(asked);
        tell(`${made.id} begins with the files of ${session.id}`);
        go(["files", made.id]);
      }}
    >
      <p>The new session begins with {manifest === undefined ? "the present files" : "the files of this older state"}. Neither session sees the later changes of the other.</p>
      <TextField label="Name of the new session" value={name} onChange={setName} hint="1 to 64 letters, digits, _ or -. Without a name, Pegboard chooses one." />
    </Confirm>
  );
}
