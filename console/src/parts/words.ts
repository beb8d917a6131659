// Numbers as words. Pure.

const UNITS: [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** How long ago, or how long from now. */
export function elapsed(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < 5_000) return "now";
  const [size, unit] = UNITS.find(([size]) => distance >= size) ?? [1_000, "s"];
  const text = `${Math.floor(distance / size)} ${unit}`;
  return at < now ? `${text} ago` : `in ${text}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = count;
  let unit = "";
  for (const next of units) {
    if (value < 1_000) break;
    value /= 1_000;
    unit = next;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** `1 tool`, `2 tools`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
