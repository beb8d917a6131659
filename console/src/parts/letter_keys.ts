// Keys of a single character. They can be switched off: somebody who speaks to the computer, or whose hand trembles, hits them
// by mistake (WCAG 2.1.4).

import { signal } from "@preact/signals";
import { stage } from "../api/caller.ts";

const KEY = "pegboard-letter-keys";

export const hasLetterKeys = signal(localStorage.getItem(KEY) !== "off");

export function setLetterKeys(isOn: boolean): void {
  hasLetterKeys.value = isOn;
  localStorage.setItem(KEY, isOn ? "on" : "off");
}

/** Whether the list of keys is shown. */
export const isHelpOpen = signal(false);

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.shadowRoot !== null || ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName));

/** Whether the key is meant for the page, and not for a field, a dialog or the browser. */
export function isLetterKey(event: KeyboardEvent): boolean {
  return stage.value === "here" && hasLetterKeys.value && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target) && document.querySelector("dialog[open]") === null;
}
