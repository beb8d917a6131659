// The colours of Markdown, line by line. The full grammar would add 86 KB; a person who edits a document needs to see
// headings, code, links and emphasis. Pure.

import type { StringStream } from "@codemirror/language";

/** What the tokeniser needs of CodeMirror's stream. */
export type Stream = Pick<StringStream, "sol" | "eol" | "skipToEnd" | "next" | "match">;

export interface State {
  /** The marks that ended the line before the code, such as ```. Null outside of code. */
  fence: string | null;
}

export const markdown = {
  name: "markdown",
  startState: (): State => ({ fence: null }),
  token(stream: Stream, state: State): string | null {
    return stream.sol() ? atStart(stream, state) : inline(stream, state);
  },
};

function atStart(stream: Stream, state: State): string | null {
  if (state.fence !== null) {
    // The code ends at a line of the same marks, at least as many.
    if (stream.match(new RegExp(`^\\s*${state.fence}[${state.fence[0] ?? ""}]*\\s*$`)) !== null) state.fence = null;
    else stream.skipToEnd();
    return "monospace";
  }
  const fence = stream.match(/^\s{0,3}(`{3,}|~{3,})[^`]*$/) as RegExpMatchArray | null;
  if (fence !== null) {
    state.fence = fence[1] ?? null;
    return "monospace";
  }
  if (stream.match(/^#{1,6}(\s.*)?$/) !== null) return "heading";
  if (stream.match(/^\s*([-*_])(\s*\1){2,}\s*$/) !== null) return "contentSeparator";
  if (stream.match(/^\s*>.*$/) !== null) return "quote";
  if (stream.match(/^\s*([-*+]|\d{1,9}[.)])\s+(\[[ xX]\]\s)?/) !== null) return "list";
  return inline(stream, state);
}

const INLINE: [RegExp, string][] = [
  [/^(`+)[^`].*?\1(?!`)/, "monospace"],
  [/^!?\[[^\]]*\]\([^)]*\)/, "link"],
  [/^<https?:[^>\s]*>|^https?:\/\/[^\s)>]+/, "link"],
  [/^(\*\*|__)(?=\S)(.*?\S)\1/, "strong"],
  [/^\*(?=[^\s*])(.*?[^\s*])\*(?!\*)/, "emphasis"],
  [/^~~(?=\S).*?~~/, "strikethrough"],
  [/^\\./, "escape"],
];

function inline(stream: Stream, state: State): string | null {
  if (state.fence !== null) {
    stream.skipToEnd();
    return "monospace";
  }
  for (const [pattern, token] of INLINE) if (stream.match(pattern) !== null) return token;
  stream.next();
  // Plain words in one step: one token a character would be slow in long lines.
  stream.match(/^[^`!<h*_~\\[]+/);
  return null;
}
