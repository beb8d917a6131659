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
