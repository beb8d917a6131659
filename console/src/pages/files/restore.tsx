// Going back to an earlier state of the files.

import { request, send } from "../../api/request.ts";
import { go } from "../../location.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { tell } from "../../parts/toast.tsx";

interface RestoreProps {
  session: string;
  manifest: string;
  path?: string | undefined;
  close: () => void;
  done: () => void;
}

export function Restore({ session, manifest, path, close, done }: RestoreProps) {
  const asked = request("post", "/api/sessions/{session_id}/checkout", { path: { session_id: session }, body: { manifest_id: manifest } });
  return (
    <Confirm
      title="Restore this state?"
      action="Restore this state"
      of={asked}
      close={close}
      work={async () => {
        await send(asked);
        tell("The files are as they were then");
        done();
        go(["files", session], { path });
      }}
    >
      <p>The session’s files become what they were. The present state stays in the history, and can be restored in the same way.</p>
    </Confirm>
  );
}
