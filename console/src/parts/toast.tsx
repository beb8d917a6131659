// Short messages at the edge of the screen, which screen readers read out.

import { signal } from "@preact/signals";

const shown = signal<{ id: number; text: string }[]>([]);
let last = 0;

/** Shows a message for some seconds. */
export function tell(text: string): void {
  const id = ++last;
  shown.value = [...shown.value.slice(-3), { id, text }];
  setTimeout(() => {
    shown.value = shown.value.filter((it) => it.id !== id);
  }, 6_000);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((it) => (
        <div class="toast" key={it.id}>
          {it.text}
        </div>
      ))}
    </div>
  );
}
