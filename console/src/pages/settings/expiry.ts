// When a new token ends. Pure.

export const EXPIRIES = [
  ["never", "Never"],
  ["hour", "In an hour"],
  ["day", "In a day"],
  ["month", "In 30 days"],
  ["quarter", "In 90 days"],
  ["at", "At a time of your choice"],
] as const;
export type Expiry = (typeof EXPIRIES)[number][0];

const HOUR = 3_600_000;
const LASTING: Partial<Record<Expiry, number>> = { hour: HOUR, day: 24 * HOUR, month: 30 * 24 * HOUR, quarter: 90 * 24 * HOUR };

/** The moment as the API takes it; null if the token never ends, undefined if no valid time was given. */
export function expiryOf(choice: Expiry, at: string, now: number): string | null | undefined {
  if (choice === "never") return null;
  const lasting = LASTING[choice];
  const moment = lasting === undefined ? Date.parse(at) : now + lasting;
  return Number.isNaN(moment) ? undefined : new Date(moment).toISOString();
}

export function isOver(expiresAt: string | null | undefined, now: number): boolean {
  return expiresAt !== null && expiresAt !== undefined && Date.parse(expiresAt) <= now;
}
