// Files: the sessions of the workspace, and the files of one session with their past.

import type { PageProps } from "../../routes.tsx";
import { SessionPage } from "./session.tsx";
import { Sessions } from "./sessions.tsx";

export default function Files({ path }: PageProps) {
  const session = path[0];
  return session === undefined ? <Sessions /> : <SessionPage key={session} name={session} />;
}
