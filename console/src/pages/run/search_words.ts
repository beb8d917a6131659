// What the picker searches for. Pure.

/** Words as the search takes them while somebody types: the last word may be unfinished. */
export function searchWords(typed: string): string {
  const words = typed.trim();
  // Who writes an operator means what they write.
  return words === "" || /["*]|(^|\s)-|\bOR\b/.test(words) || !/[\p{L}\p{N}_]$/u.test(words) ? words : `${words}*`;
}
