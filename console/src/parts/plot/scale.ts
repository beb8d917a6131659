// Numbers that a plot needs. Pure.

type Values = readonly (number | null)[];

/**
 * The heights of bars that are put on top of each other. The first list gets the heights of everything, so that a plotter that
 * draws the lists in their order hides nothing.
 */
export function stacked(lists: readonly Values[]): number[][] {
  return lists.map((list, from) => list.map((_, at) => lists.slice(from).reduce((sum, it) => sum + (it[at] ?? 0), 0)));
}

const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** The words at a tick of the axis. Below a day between two ticks, the time is told, and the day at midnight. */
export function axisWords(seconds: number, increment: number): string {
  const date = new Date(seconds * 1000);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return increment < 86_400 && !isMidnight ? TIME.format(date) : DAY.format(date);
}

/** A share of a whole, from 0 to 1. */
export function share(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole));
}

/** `12 %`, and `<1 %` for what is more than nothing. */
export function percent(part: number): string {
  if (part > 0 && part < 0.01) return "<1 %";
  return `${Math.round(part * 100)} %`;
}
