// Values of a call: arguments and results. Small ones are shown; of large ones the beginning is shown, and the rest is
// downloaded from the record without being read by the page.

import { useMemo, useState } from "preact/hooks";
import { type ApiRequest, request, sendForBytes } from "../../api/request.ts";
import { Button, WorkButton } from "../button.tsx";
import { CopyCurl, copy } from "../clipboard.tsx";
import { Text, download } from "../values.tsx";
import { bytes } from "../words.ts";
import { beginningOf } from "./beginning.ts";
import { type Shortened, readShortened } from "./plan.ts";

/** What is shown of a value. */
const SHOWN = 50_000;

type Kind = "arguments" | "result";

/** The request for a whole value of a call's record. */
export function wholeValue(callId: string, kind: Kind): ApiRequest<unknown> {
  const path = { call_id: callId };
  return kind === "result" ? request("get", "/api/tool-calls/{call_id}/result", { path }) : request("get", "/api/tool-calls/{call_id}/arguments", { path });
}

/** Hands a whole value of a call's record to the person. */
export async function downloadValue(callId: string, kind: Kind): Promise<void> {
  download(`${callId}-${kind}.json`, await sendForBytes(wholeValue(callId, kind)));
}

interface ValueProps {
  callId: string;
  kind: Kind;
  value: unknown;
  label: string;
  /** What the API says is shortened. The value itself cannot tell: a caller may give it any fields. */
  shortened: readonly string[] | undefined;
}

/** A value of a call, as JSON or as text. */
export function CallValue({ callId, kind, value, label, shortened }: ValueProps) {
  if (shortened?.includes(kind)) return <ShortenedValue callId={callId} kind={kind} of={readShortened(value)} label={label} />;
  return <WholeValue value={value} label={label} name={`${callId}-${kind}`} />;
}

/** A value that the page has, as JSON or as text. `name` is that of a download, without its ending. */
export function WholeValue({ value, label, name }: { value: unknown; label: string; name: string }) {
  if (typeof value === "string") return <Text text={value} label={label} name={`${name}.txt`} />;
  return <InlineValue value={value} label={label} name={`${name}.json`} />;
}

/** It is never written as a whole, unless the person wants that. */
function InlineValue({ value, label, name }: { value: unknown; label: string; name: string }) {
  const { text, isWhole } = useMemo(() => beginningOf(value, SHOWN), [value]);
  return (
    <div class="stack">
      <pre class="text" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      {isWhole ? null : (
        <p class="row soft">
          The first {bytes(SHOWN)} are shown.
          <Button narrow onClick={() => download(name, JSON.stringify(value))}>
            Download
          </Button>
          <Button narrow onClick={() => void copy(JSON.stringify(value))}>
            Copy
          </Button>
        </p>
      )}
    </div>
  );
}

const NOT_KEPT = {
  refused: "The call was refused, so the record keeps only the beginning.",
  quota: "The quota of the workspace was used up, so the record does not keep the value.",
};

function ShortenedValue({ callId, kind, of, label }: { callId: string; kind: Kind; of: Shortened; label: string }) {
  const [more, setMore] = useState<string | null>(null);
  const shown = more ?? of.prefix;
  const asked = wholeValue(callId, kind);
  // A JSON text of 10 MB would freeze the page while it is parsed, so its beginning is cut out of the bytes.
  const readMore = async () => setMore(await (await sendForBytes(asked)).slice(0, SHOWN).text());
  return (
    <div class="stack">
      {shown === "" ? null : (
        <pre class="text" tabIndex={0} role="region" aria-label={label}>
          {shown}
        </pre>
      )}
      <p class="row soft">
        {of.notKept === null ? `The first ${bytes(shown.length)} of ${bytes(of.size)} are shown.` : `${NOT_KEPT[of.notKept]} It had ${bytes(of.size)}.`}
        {of.notKept === null && more === null ? (
          <WorkButton narrow work={readMore}>
            Show {bytes(Math.min(SHOWN, of.size))}
          </WorkButton>
        ) : null}
        {of.notKept === null ? (
          <>
            <WorkButton narrow work={() => downloadValue(callId, kind)}>
              Download the whole
            </WorkButton>
            <CopyCurl narrow of={asked} />
          </>
        ) : null}
      </p>
    </div>
  );
}
