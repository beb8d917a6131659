// What the editor must know about a text before it shows it. Pure.

export type Language = "json" | "python" | "text" | "markdown";

/** Longer texts are shown without colours, because a parser would hold the page up. */
export const COLOURED_CHARACTERS = 100_000;

const LANGUAGES: Record<string, Language> = {
  json: "json",
  jsonl: "json",
  ndjson: "json",
  ipynb: "json",
  geojson: "json",
  py: "python",
  pyi: "python",
  md: "markdown",
  markdown: "markdown",
};

/** The language of a file, by its name. */
export function languageOf(path: string): Language {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return LANGUAGES[name.slice(name.lastIndexOf(".") + 1)] ?? "text";
}

/** The line break that gives back exactly the same text. A text with several kinds is split at \n, and keeps its \r. */
export function lineBreakOf(text: string): "\n" | "\r\n" {
  return text.includes("\r\n") && !/[^\r]\n|^\n|\r(?!\n)/.test(text) ? "\r\n" : "\n";
}

/** What a person typed into a plain field, which knows only \n, with the line breaks of the text before. */
export function withLineBreaksOf(before: string, typed: string): string {
  const plain = typed.replaceAll("\r\n", "\n");
  return lineBreakOf(before) === "\n" ? plain : plain.replaceAll("\n", "\r\n");
}

/** The one replacement that makes a text out of another. Cursors outside of it stay where they are. */
export function replacement(before: string, after: string): { from: number; to: number; insert: string } {
  let from = 0;
  const shorter = Math.min(before.length, after.length);
  while (from < shorter && before[from] === after[from]) from++;
  let end = 0;
  while (end < shorter - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}
