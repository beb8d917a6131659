// What persons have typed and not saved. Drafts outlive the view of a file, so that a look at another file loses nothing.

import { signal } from "@preact/signals";
import { onSignOut, workspace } from "../../api/caller.ts";

export interface Draft {
  text: string;
  /** The SHA-256 of the contents that the person began with. */
  base: string;
}

const drafts = signal<ReadonlyMap<string, Draft>>(new Map());

const keyOf = (session: string, path: string) => JSON.stringify([workspace.value, session, path]);

export function draftOf(session: string, path: string): Draft | undefined {
  return drafts.value.get(keyOf(session, path));
}

/** Keeps a draft, or drops it if it is null. */
export function setDraft(session: string, path: string, draft: Draft | null): void {
  const next = new Map(drafts.value);
  if (draft === null) next.delete(keyOf(session, path));
  else next.set(keyOf(session, path), draft);
  drafts.value = next;
}

onSignOut(() => {
  drafts.value = new Map();
});

/** The browser asks before it closes a tab with drafts. */
window.addEventListener("beforeunload", (event) => {
  if (drafts.value.size > 0) event.preventDefault();
});
