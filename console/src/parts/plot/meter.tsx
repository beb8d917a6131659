// How much of something is used up.

import { bytes } from "../words.ts";
import { percent, share } from "./scale.ts";

/** From here on the operator should look. The API warns from 80 % on, too. */
const ALMOST_FULL = 0.8;

interface UsageProps {
  usage: { files_bytes: number; calls_bytes: number; used_bytes: number; quota_bytes: number };
}

/** What the workspace stores, against what it may store. */
export function Usage({ usage }: UsageProps) {
  const used = share(usage.used_bytes, usage.quota_bytes);
  const words = `${bytes(usage.used_bytes)} of ${bytes(usage.quota_bytes)}, ${percent(used)}`;
  return (
    <div class="stack usage">
      <p>
        <strong>{words}</strong>
      </p>
      <div
        class={`meter ${used >= ALMOST_FULL ? "bad" : ""}`}
        role="meter"
        aria-label="Storage that is used"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(used * 100)}
        aria-valuetext={words}
      >
        {used === 0 ? null : <div style={{ width: `${used * 100}%` }} />}
      </div>
      <p class="soft small">
        Files and their history: {bytes(usage.files_bytes)}. Records of calls: {bytes(usage.calls_bytes)}.
      </p>
    </div>
  );
}
