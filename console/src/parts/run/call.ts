// The request of a call, from what the person has chosen. Pure.

import type { JsonObject } from "../form/index.tsx";

export interface Settings {
  tool: string;
  /** Undefined for the active version. */
  version: string | undefined;
  agent: string;
  session: string;
  user: string;
}

/** The body of `POST /api/execute`. What is empty is left out. */
export function callBody({ tool, version, agent, session, user }: Settings, given: JsonObject) {
  return {
    tool_name: version === undefined ? tool : `${tool}@${version}`,
    arguments: given,
    ...(agent === "" ? {} : { agent_id: agent }),
    ...(session.trim() === "" ? {} : { session_id: session.trim() }),
    ...(user.trim() === "" ? {} : { user_id: user.trim() }),
  };
}
