// The list of the inbox. A call that was decided meanwhile stays where it was, so that nothing vanishes under a person's eyes.
// Pure.

/** What the list needs of an approval. */
export interface Listed {
  id: string;
  status: string;
  created_at: string;
}

export const STATUSES = ["pending", "approved", "denied", "expired", "all"] as const;
export type Status = (typeof STATUSES)[number];

export function readStatus(text: string | null): Status {
  return STATUSES.find((it) => it === text) ?? "pending";
}

const isBefore = (one: Listed, other: Listed) => one.created_at < other.created_at || (one.created_at === other.created_at && one.id < other.id);

/** Adds what is new to what was seen before. A decision is final: an answer that is older than the decision changes nothing. */
export function merged<T extends Listed>(seen: readonly T[], read: readonly T[]): T[] {
  const all = new Map(seen.map((it) => [it.id, it]));
  for (const it of read) {
    const known = all.get(it.id);
    if (known === undefined || known.status === "pending") all.set(it.id, it);
  }
  return [...all.values()].sort((one, other) => (isBefore(one, other) ? -1 : 1));
}

/** The list as it was read, with the decisions that were taken after the list was read. */
export function decided<T extends Listed>(seen: readonly T[], read: readonly T[]): T[] {
  const known = new Map(seen.filter((it) => it.status !== "pending").map((it) => [it.id, it]));
  return read.map((it) => known.get(it.id) ?? it);
}

/** The calls that waited when they were seen, and that the list of the waiting ones does not have any more. */
export function gone<T extends Listed>(seen: readonly T[], waiting: readonly T[], hasMore: boolean): T[] {
  const last = waiting.at(-1);
  const ids = new Set(waiting.map((it) => it.id));
  // The list is sorted by age, so that what comes after its last item may stand on the next page.
  return seen.filter((it) => it.status === "pending" && !ids.has(it.id) && (!hasMore || (last !== undefined && isBefore(it, last))));
}
