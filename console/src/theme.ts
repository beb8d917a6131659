// Light, dark, or as the system has it.

import { effect, signal } from "@preact/signals";

const KEY = "pegboard-theme";
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const stored = localStorage.getItem(KEY);
export const theme = signal<Theme>(THEMES.find((it) => it === stored) ?? "system");

/** Keeps the document and the storage in step with the choice. */
export function applyTheme(): void {
  effect(() => {
    localStorage.setItem(KEY, theme.value);
    document.documentElement.dataset["theme"] = theme.value;
  });
}
