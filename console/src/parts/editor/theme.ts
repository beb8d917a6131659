// The look of CodeMirror, from the tokens of the design system: CSS variables reach into the shadow root, so light and dark
// need nothing more.

import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--panel)", maxHeight: "var(--editor-height, 70vh)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "var(--text-s)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "var(--gap-2) 0", minHeight: "var(--editor-least, 6rem)" },
  ".cm-gutter": { minHeight: "var(--editor-least, 6rem)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)", color: "var(--ink)" },
  ".cm-specialChar": { color: "var(--bad)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-soft)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent-soft)", outline: "2px solid var(--accent)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)", fontFamily: "var(--font)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "var(--gap-2)" },
  ".cm-panel.cm-search label": { fontSize: "var(--text-s)" },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink)", fontSize: "var(--text-l)", cursor: "pointer" },
  ".cm-textfield": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "4px" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "4px" },
});

/** The look of differences side by side. */
export const mergeTheme = EditorView.theme({
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--bad-soft)" },
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--good-soft)" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: "none", textDecoration: "underline 2px var(--bad)" },
  "&.cm-merge-b .cm-changedText": { background: "none", textDecoration: "underline 2px var(--good)" },
  "&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter": { background: "var(--bad)" },
  "&.cm-merge-b .cm-changedLineGutter": { background: "var(--good)" },
  ".cm-collapsedLines": { background: "var(--sunken)", color: "var(--ink-soft)", padding: "var(--gap-1) var(--gap-3)" },
});

/** Few colours, all of them legible on every background that a line can have. */
export const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.monospace], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.escape, tags.atom], color: "var(--warn)" },
  { tag: [tags.comment, tags.quote, tags.meta, tags.contentSeparator], color: "var(--ink-soft)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className), tags.strong], fontWeight: "650" },
  { tag: tags.heading, fontWeight: "650", color: "var(--accent)" },
  { tag: tags.list, color: "var(--warn)" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--accent)", textDecoration: "underline" },
  { tag: tags.invalid, color: "var(--bad)" },
]);
