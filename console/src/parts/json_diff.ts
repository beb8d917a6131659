// Differences of two texts, or of two JSON values, as `diff -u` writes them. Pure. `parts/diff.tsx` shows them.

import { ExactNumber } from "../api/json.ts";

/** Unchanged lines that are shown before and after a change. */
const CONTEXT = 3;
/**
 * The search for the fewest changed lines takes time that grows with the square of their number. After so many changed lines
 * the search ends, and everything from the first to the last difference is shown as replaced, as the API does it.
 */
const MAX_CHANGED = 1_000;

/** The differences of two texts without a head, or "" if there are none. */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return "";
  return hunksOf(stepsOf(linesOf(before), linesOf(after))).join("\n");
}

/**
 * The differences of two JSON values. The fields of objects are sorted, so that their order is no difference. A value that is
 * not there (undefined or null) has no lines.
 */
export function jsonDiff(before: unknown, after: unknown): string {
  return unifiedDiff(jsonLines(before), jsonLines(after));
}

function jsonLines(value: unknown): string {
  return value === undefined || value === null ? "" : `${JSON.stringify(sorted(value), null, 2)}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  // Not Object.fromEntries on a plain object: a field named __proto__ would set the prototype.
  const result = Object.create(null) as Record<string, unknown>;
  for (const [name, part] of entries) result[name] = sorted(part);
  return result;
}

/** The lines of a text. A last line without a line break carries the note of `diff`, so it differs from one with a line break. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

/** One line of both texts, of the first only, or of the second only. */
interface Step {
  sign: " " | "-" | "+";
  line: string;
}

function stepsOf(before: string[], after: string[]): Step[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const room = Math.min(before.length, after.length) - start;
  while (end < room && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const same = (lines: string[]): Step[] => lines.map((line) => ({ sign: " ", line }));
  return [
    ...same(before.slice(0, start)),
    ...shortest(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** The fewest steps from one list of lines to another: the greedy algorithm of Myers (1986). */
function shortest(before: string[], after: string[]): Step[] {
  const limit = Math.min(before.length + after.length, MAX_CHANGED);
  // The furthest line of `before` that is reached on each diagonal, for each number of changes.
  let furthest = new Map<number, number>([[1, 0]]);
  const history: Map<number, number>[] = [];
  for (let changes = 0; changes <= limit; changes++) {
    history.push(furthest);
    const next = new Map(furthest);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = startOf(furthest, diagonal, changes);
      let y = x - diagonal;
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x++;
        y++;
      }
      next.set(diagonal, x);
      if (x >= before.length && y >= after.length) return walkBack(history, before, after);
    }
    furthest = next;
  }
  return [...before.map((line): Step => ({ sign: "-", line })), ...after.map((line): Step => ({ sign: "+", line }))];
}

/** Where a diagonal is entered. */
function startOf(furthest: Map<number, number>, diagonal: number, changes: number): number {
  return isAddition(furthest, diagonal, changes) ? (furthest.get(diagonal + 1) ?? 0) : (furthest.get(diagonal - 1) ?? 0) + 1;
}

function walkBack(history: Map<number, number>[], before: string[], after: string[]): Step[] {
  const steps: Step[] = [];
  let x = before.length;
  let y = after.length;
  for (let changes = history.length - 1; changes >= 0; changes--) {
    const furthest = history[changes] ?? new Map<number, number>();
    const diagonal = x - y;
    const entered = startOf(furthest, diagonal, changes);
    while (x > entered && y > entered - diagonal) {
      x--;
      y--;
      steps.push({ sign: " ", line: before[x] ?? "" });
    }
    if (changes === 0) break;
    if (isAddition(furthest, diagonal, changes)) steps.push({ sign: "+", line: after[--y] ?? "" });
    else steps.push({ sign: "-", line: before[--x] ?? "" });
  }
  return steps.toReversed();
}

/** Whether a diagonal is entered by adding a line, from the diagonal above, or by removing one: whichever leads further. */
function isAddition(furthest: Map<number, number>, diagonal: number, changes: number): boolean {
  return diagonal === -changes || (diagonal !== changes && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1));
}

/** Groups steps into hunks with their places. */
function hunksOf(steps: Step[]): string[] {
  const hunks: string[] = [];
  let line = { before: 1, after: 1 };
  let index = 0;
  while (index < steps.length) {
    let change = index;
    while (steps[change]?.sign === " ") change++;
    if (change === steps.length) break;
    const from = Math.max(index, change - CONTEXT);
    line = { before: line.before + from - index, after: line.after + from - index };
    const to = endOfHunk(steps, change);
    const part = steps.slice(from, to);
    const removed = part.filter((it) => it.sign !== "+").length;
    const added = part.filter((it) => it.sign !== "-").length;
    const head = `@@ -${place(line.before, removed)} +${place(line.after, added)} @@`;
    hunks.push([head, ...part.map((it) => it.sign + it.line)].join("\n"));
    line = { before: line.before + removed, after: line.after + added };
    index = to;
  }
  return hunks;
}

/** A hunk ends where so many unchanged lines follow that the context of the next change does not touch it. */
function endOfHunk(steps: Step[], change: number): number {
  let last = change;
  for (let at = change; at < steps.length && at <= last + 2 * CONTEXT + 1; at++) {
    if (steps[at]?.sign !== " ") last = at;
  }
  return Math.min(steps.length, last + 1 + CONTEXT);
}

function place(start: number, count: number): string {
  if (count === 1) return String(start);
  // `diff` names the line before an empty range.
  return `${count === 0 ? start - 1 : start},${count}`;
}
