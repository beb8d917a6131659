// What each line of a difference is, in the form that `diff -u` and the API write. Pure.

export type LineKind = "place" | "added" | "removed" | "";

/** The kinds of the lines. Only before the first place are `---` and `+++` a head: later they are changed lines such as `-- x`. */
export function kindsOf(lines: readonly string[]): LineKind[] {
  const first = lines.findIndex((it) => it.startsWith("@@"));
  return lines.map((line, index) => {
    if (line.startsWith("@@") || (index < first && /^(?:---|\+\+\+)/.test(line))) return "place";
    if (line.startsWith("+")) return "added";
    return line.startsWith("-") ? "removed" : "";
  });
}
