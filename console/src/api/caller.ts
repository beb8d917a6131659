// Who the person is: a workspace, and a token unless the Worker is open. The token lives in the tab's sessionStorage, so it is
// gone when the tab is closed, and no other tab has it.

import { signal } from "@preact/signals";
import { isToken, isWorkspaceName } from "./names.ts";
import type { Schemas } from "./types.ts";

const TOKEN = "pegboard-token";
const WORKSPACE = "pegboard-workspace";

/** A stored value that cannot be sent is forgotten. */
const stored = (storage: Storage, key: string, isGood: (text: string) => boolean) => [storage.getItem(key) ?? ""].find((it) => it !== "" && isGood(it));

export const token = signal(stored(sessionStorage, TOKEN, isToken) ?? "");
/** The workspace is no secret, so a new tab begins with the last one. */
export const workspace = signal(stored(sessionStorage, WORKSPACE, isWorkspaceName) ?? stored(localStorage, WORKSPACE, isWorkspaceName) ?? "demo");

/** What the Worker says about the person. `agent_id` is the agent that the token is bound to. */
export type Caller = Schemas["WhoAmI"] & { agent_id: string | null };
/** Null until the Worker has answered. */
export const caller = signal<Caller | null>(null);

/** Rises when what the Worker says about the person may have changed, such as whether there is a model. */
export const callerTurn = signal(0);

/** Rises whenever somebody signs in or out, also as the same person. */
export const visit = signal(0);

export function signIn(name: string, secret: string): void {
  sessionStorage.setItem(TOKEN, secret);
  sessionStorage.setItem(WORKSPACE, name);
  localStorage.setItem(WORKSPACE, name);
  caller.value = null;
  workspace.value = name;
  token.value = secret;
  visit.value += 1;
}

/** The token has ended. What was typed stays, because the same person probably comes back with another token. */
export function expire(): void {
  sessionStorage.removeItem(TOKEN);
  caller.value = null;
  token.value = "";
  visit.value += 1;
}

const forgetters: (() => void)[] = [];

/** Registers what forgets things that somebody has typed. */
export function onSignOut(forget: () => void): void {
  forgetters.push(forget);
}

/** The person leaves, and nothing that they have typed stays in the tab. */
export function signOut(): void {
  expire();
  sessionStorage.clear();
  sessionStorage.setItem(WORKSPACE, workspace.value);
  for (const forget of forgetters) forget();
}

const LEVELS = ["guest", "user", "admin", "owner"] as const;
export type Level = (typeof LEVELS)[number];

/** Whether the person has at least this level. A token that is bound to an agent manages nothing, whatever its level. */
export function may(level: Level): boolean {
  const present = caller.value;
  if (present === null) return false;
  return LEVELS.indexOf(present.level) >= LEVELS.indexOf(level) && (level === "guest" || level === "user" || present.agent_id === null);
}
