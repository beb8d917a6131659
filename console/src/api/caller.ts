// Who the person is: a workspace, and a token unless the Worker is open. The token lives in the tab's sessionStorage, so it is
// gone when the tab is closed, and no other tab has it.

import { batch, signal } from "@preact/signals";
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

/**
 * Whether the console is open to the person. `ended`: their token has ended. `back`: somebody has signed in after that, and the
 * Worker has not said yet who it is. In both cases the pages keep what was typed, are shown to nobody, and send nothing.
 */
export const stage = signal<"here" | "ended" | "back">("here");

/** Rises when all pages begin anew, because another person may be there. */
export const seat = signal(0);

/** Rises when the same person is back with another token: everything is read again. */
export const returns = signal(0);

export function signIn(name: string, secret: string): void {
  sessionStorage.setItem(TOKEN, secret);
  sessionStorage.setItem(WORKSPACE, name);
  localStorage.setItem(WORKSPACE, name);
  batch(() => {
    if (stage.value !== "here" && caller.value !== null && name === workspace.value) stage.value = "back";
    else beginAnew();
    workspace.value = name;
    token.value = secret;
    visit.value += 1;
  });
}

function beginAnew(): void {
  stage.value = "here";
  caller.value = null;
  seat.value += 1;
}

/** The token has ended. The pages stay as they are, because the same person probably comes back with another token. */
export function expire(): void {
  sessionStorage.removeItem(TOKEN);
  batch(() => {
    token.value = "";
    stage.value = "ended";
    visit.value += 1;
  });
}

/** The Worker says who is there. Pages that were read with other rights are not shown. */
export function recognise(who: Caller): void {
  const before = caller.value;
  batch(() => {
    if (stage.value === "back") {
      const hasSameRights = before !== null && before.level === who.level && before.agent_id === who.agent_id;
      if (hasSameRights) returns.value += 1;
      else seat.value += 1;
    }
    stage.value = "here";
    caller.value = who;
  });
}

const forgetters: (() => void)[] = [];

/** Registers what forgets things that somebody has typed. */
export function onSignOut(forget: () => void): void {
  forgetters.push(forget);
}

/** The person leaves, and nothing that they have typed stays in the tab. */
export function signOut(): void {
  sessionStorage.clear();
  sessionStorage.setItem(WORKSPACE, workspace.value);
  batch(() => {
    beginAnew();
    token.value = "";
    visit.value += 1;
  });
  for (const forget of forgetters) forget();
}

/** Whether the person's level is at least this one. Tools look at nothing else, also for a token that is bound to an agent. */
export const hasLevel = (level: Level): boolean => caller.value !== null && LEVELS.indexOf(caller.value.level) >= LEVELS.indexOf(level);

const LEVELS = ["guest", "user", "admin", "owner"] as const;
export type Level = (typeof LEVELS)[number];

/** Whether the person has at least this level. A token that is bound to an agent manages nothing, whatever its level. */
export function may(level: Level): boolean {
  return hasLevel(level) && (level === "guest" || level === "user" || caller.value?.agent_id === null);
}
