// Times, sizes, durations and JSON, as people read them.

import { useEffect, useState } from "preact/hooks";
import { copy } from "./clipboard.tsx";
import { Button } from "./button.tsx";
import { bytes, duration, elapsed } from "./words.ts";

/** A moment, told by its distance; the exact time is its title. */
export function Time({ at }: { at: string | null | undefined }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  if (at === null || at === undefined) return <span class="soft">never</span>;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {elapsed(Date.parse(at), now)}
    </time>
  );
}

export function Bytes({ count }: { count: number }) {
  return <span title={`${count.toLocaleString()} bytes`}>{bytes(count)}</span>;
}

export function Duration({ ms }: { ms: number | null | undefined }) {
  return <>{ms === null || ms === undefined ? "–" : duration(ms)}</>;
}

/** What is shown of a long text; the rest can be copied or downloaded. */
const SHOWN = 50_000;

/** A text, as it is. A long text is cut, because a browser takes long to lay it out. */
export function Text({ text, name = "text", label }: { text: string; name?: string; label: string }) {
  const isLong = text.length > SHOWN;
  return (
    <div class="stack">
      <pre class="text" tabIndex={0} role="region" aria-label={label}>
        {isLong ? text.slice(0, SHOWN) : text}
      </pre>
      {isLong ? (
        <p class="row soft">
          The first {bytes(SHOWN)} of {bytes(text.length)} are shown.
          <Button narrow onClick={() => download(name, text)}>
            Download
          </Button>
          <Button narrow onClick={() => void copy(text)}>
            Copy
          </Button>
        </p>
      ) : null}
    </div>
  );
}

export function JsonText({ value, label, name = "value.json" }: { value: unknown; label: string; name?: string }) {
  return <Text text={value === undefined ? "" : JSON.stringify(value, null, 2)} name={name} label={label} />;
}

/** Hands a text or a file to the person. */
export function download(name: string, contents: string | Blob): void {
  const url = URL.createObjectURL(contents instanceof Blob ? contents : new Blob([contents]));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
