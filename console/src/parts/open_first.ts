// Which differences are open when the page appears. Pure.

/** A page with more lines than this takes long to lay out. */
const LINES = 500;

/** The first differences, up to a number of lines; the others are opened by hand. */
export function openFirst(diffs: readonly string[]): boolean[] {
  let lines = 0;
  return diffs.map((it) => {
    lines += it.split("\n").length;
    return lines <= LINES;
  });
}
