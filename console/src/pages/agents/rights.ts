// Who may change agents.

import { caller, may } from "../../api/caller.ts";

/** Users and higher; never a token that is bound to an agent. */
export function managesAgents(): boolean {
  return may("user") && caller.value?.agent_id === null;
}

/** Why the person cannot change agents. */
export function whyNot(): string {
  return caller.value?.agent_id === null ? "Your level is guest: agents are changed by users of the workspace." : "Your token is bound to an agent, and changes no agents.";
}
