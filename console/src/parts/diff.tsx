// Differences of two texts, line by line, in the form that `diff -u` and the API write.

export function Diff({ text, label }: { text: string; label: string }) {
  const lines = text.split("\n");
  const shown = lines.slice(0, MAX_LINES);
  return (
    <div class="diff" tabIndex={0} role="region" aria-label={label}>
      {shown.map((line, index) => (
        <div key={index} class={kindOf(line)}>
          {line === "" ? " " : line}
        </div>
      ))}
      {lines.length > shown.length ? <div class="place">… {lines.length - shown.length} lines more</div> : null}
    </div>
  );
}

const MAX_LINES = 2_000;

function kindOf(line: string): string {
  if (line.startsWith("@@") || line.startsWith("---") || line.startsWith("+++")) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}
