// What a person has read of the definitions that are held back. A server may change its offer at any time; the page goes on to
// show what it has shown, until the person asks for the new offer, so that nobody accepts what they have not seen. Pure.

export interface Offer {
  tool_id: string;
  /** Names the offered definition. */
  hash: string;
}

/** The offers as they were first shown, by their tools. Those that are no longer held back are left out. */
export function shownFirst<T extends Offer>(shown: ReadonlyMap<string, T>, offered: readonly T[]): ReadonlyMap<string, T> {
  return new Map(offered.map((it) => [it.tool_id, shown.get(it.tool_id) ?? it]));
}

/** The tools whose offer is another one than the one that is shown. */
export function changedSince<T extends Offer>(shown: ReadonlyMap<string, T>, offered: readonly T[]): ReadonlySet<string> {
  return new Set(offered.filter((it) => (shown.get(it.tool_id)?.hash ?? it.hash) !== it.hash).map((it) => it.tool_id));
}

/** The offers that were chosen, as far as they still are what was chosen. A choice is the hash of what was shown. */
export function stillChosen<T extends Offer>(chosen: ReadonlyMap<string, string>, offered: readonly T[]): T[] {
  return offered.filter((it) => chosen.get(it.tool_id) === it.hash);
}
