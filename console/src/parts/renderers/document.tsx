// The renderer `document`: Markdown.

import { Markdown } from "./markdown.tsx";
import type { Plan } from "./plan.ts";
import { type ShownCall, titleOf } from "./raw.tsx";
import { TextView } from "./text_view.tsx";

export function DocumentRenderer({ plan, call }: { plan: Plan; call: ShownCall }) {
  return (
    <TextView plan={plan} call={call}>
      {(text) => <Markdown text={text} label={titleOf(call)} />}
    </TextView>
  );
}
