// The request of a call, from what the person has chosen. Pure.

import type { JsonObject } from "../../parts/form/index.tsx";

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

/** Words as the search takes them while somebody types: the last word may be unfinished. */
export function searchWords(typed: string): string {
  const words = typed.trim();
  // Who writes an operator means what they write.
  return words === "" || /["*]|(^|\s)-|\bOR\b/.test(words) || !/[\p{L}\p{N}_]$/u.test(words) ? words : `${words}*`;
}
