// Two texts beside each other, or below each other where there is no room. Loaded when it is first shown.

import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { common, languageFor, looks } from "./code.ts";
import type { Language } from "./texts.ts";
import { mergeTheme } from "./theme.ts";

/** Below this width two columns cannot be read. */
const TWO_COLUMNS_PX = 640;
/** Long stretches that are the same on both sides are folded. */
const FOLDED = { margin: 3, minSize: 6 };
/** The comparison of very different texts ends after this time, and is coarser then. */
const PATIENCE = { scanLimit: 500, timeout: 500 };

export interface Texts {
  before: string;
  after: string;
  language: Language;
  label: string;
}

/** Shows the difference in a shadow root, and returns what takes it away. */
export async function mountMerge(root: ShadowRoot, width: number, { before, after, language, label }: Texts): Promise<() => void> {
  const coloured = await languageFor(language, Math.max(before.length, after.length));
  const extensions = (name: string): Extension => [looks(), mergeTheme, coloured, EditorState.lineSeparator.of("\n"), common({ readOnly: true, label: name })];
  if (width < TWO_COLUMNS_PX) {
    const merged = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: FOLDED, diffConfig: PATIENCE });
    const view = new EditorView({ doc: after, extensions: [extensions(label), merged], root, parent: root });
    return () => view.destroy();
  }
  const view = new MergeView({
    a: { doc: before, extensions: extensions(`${label}: before`) },
    b: { doc: after, extensions: extensions(`${label}: after`) },
    collapseUnchanged: FOLDED,
    diffConfig: PATIENCE,
    root,
    parent: root,
  });
  return () => view.destroy();
}
