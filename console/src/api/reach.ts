// Whether Pegboard can be reached. Every request tells; while none gets through, the console asks again by itself.

import { signal } from "@preact/signals";

/** Whether the last request reached the server. */
export const online = signal(true);

/** Asks whether the server answers. A static file costs nobody anything. */
export async function knock(): Promise<boolean> {
  try {
    await fetch("/favicon.svg", { method: "HEAD", cache: "no-store" });
    online.value = true;
  } catch {
    online.value = false;
  }
  return online.value;
}

let skew = 0;

/** Notes the clock of the server, which every response tells to the second. */
export function noteClock(date: string | null): void {
  const told = Date.parse(date ?? "");
  if (!Number.isNaN(told)) skew = told - Date.now();
}

/** The time by the clock of the server, as the last response told it. */
export const serverNow = (): number => Date.now() + skew;
