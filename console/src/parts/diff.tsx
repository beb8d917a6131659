// Differences of two texts, line by line, in the form that `diff -u` and the API write.

import { kindsOf } from "./diff_lines.ts";

export function Diff({ text, label }: { text: string; label: string }) {
  const lines = text.split("\n");
  const shown = lines.slice(0, MAX_LINES);
  const kinds = kindsOf(shown);
  return (
    <div class="diff" tabIndex={0} role="region" aria-label={label}>
      {shown.map((line, index) => (
        <div key={index} class={kinds[index]}>
          {line === "" ? " " : line}
        </div>
      ))}
      {lines.length > shown.length ? <div class="place">… {lines.length - shown.length} lines more</div> : null}
    </div>
  );
}

const MAX_LINES = 2_000;
