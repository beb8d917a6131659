// The result of a call, shown as its render plan says. Whatever a renderer does, the raw result can always be seen.

import { useErrorBoundary, useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import { Button } from "../button.tsx";
import { Badge } from "../marks.tsx";
import { Show } from "../states.tsx";
import { CodeRenderer } from "./code.tsx";
import { DocumentRenderer } from "./document.tsx";
import { FrameRenderer } from "./frame.tsx";
import { HtmlRenderer } from "./html.tsx";
import { type Plan, readPlan, remarks } from "./plan.ts";
import { Raw, type ShownCall, titleOf } from "./raw.tsx";

export { Markdown } from "./markdown.tsx";
export type { ShownCall } from "./raw.tsx";
export { CallValue, WholeValue, downloadValue, wholeValue } from "./stored.tsx";

export function CallResult({ call }: { call: ShownCall }) {
  const [isRaw, setIsRaw] = useState(false);
  const plan = readPlan(call.render_plan);
  if (plan === null) return <Raw call={call} />;
  return (
    <div class="stack">
      <div class="spread">
        <Badge title="The renderer of the tool">{plan.renderer}</Badge>
        <button type="button" class="button narrow" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
          Raw
        </button>
      </div>
      {isRaw ? <Raw call={call} /> : plan.isShortened ? <WithWholePlan call={call} /> : <Rendered key={call.call_id} call={call} plan={plan} />}
    </div>
  );
}

/** Lists leave long plans out, so the record is read. */
function WithWholePlan({ call }: { call: ShownCall }) {
  const record = useLoad(request("get", "/api/tool-calls/{call_id}", { path: { call_id: call.call_id } }));
  return (
    <Show of={record}>
      {(it) => {
        const plan = readPlan(it.render_plan);
        return plan === null || plan.isShortened ? <Raw call={call} /> : <Rendered call={call} plan={plan} />;
      }}
    </Show>
  );
}

/** A fault of a renderer must not hide the result. */
function Rendered({ call, plan }: { call: ShownCall; plan: Plan }) {
  const [fault, reset] = useErrorBoundary();
  if (fault !== undefined) {
    return (
      <div class="stack">
        <div class="notice warn" role="alert">
          <p>
            The renderer {plan.renderer} failed: {fault instanceof Error ? fault.message : String(fault)}. This is the raw result.
          </p>
          <Button narrow onClick={reset}>
            Try again
          </Button>
        </div>
        <Raw call={call} />
      </div>
    );
  }
  return (
    <div class="stack">
      {plan.error === null ? null : (
        <div class="notice bad">
          <p class="failure">{plan.error.message}</p>
          <p class="code">{plan.error.code}</p>
        </div>
      )}
      {remarks(plan.config).map((it) => (
        <p key={it} class="soft small">
          {it}
        </p>
      ))}
      <Renderer call={call} plan={plan} />
    </div>
  );
}

/** Whether the renderer reads something that the API shows to users only. */
const needsUser = ({ renderer, config }: Plan) => renderer === "html" || typeof config["file"] === "string";

function Renderer({ call, plan }: { call: ShownCall; plan: Plan }) {
  if (needsUser(plan) && !may("user")) {
    return (
      <>
        <p class="soft small">The renderer {plan.renderer} reads what guests may not see. This is the raw result.</p>
        <Raw call={call} />
      </>
    );
  }
  switch (plan.renderer) {
    case "code":
      return <CodeRenderer plan={plan} call={call} />;
    case "document":
      return <DocumentRenderer plan={plan} call={call} />;
    case "html":
      return <HtmlRenderer call={call} />;
    case "frame":
      return <FrameRenderer url={plan.config["url"]} title={titleOf(call)} />;
    default:
      // A newer Pegboard may know more renderers than this console.
      return (
        <>
          <p class="soft small">This console does not know the renderer {plan.renderer}, and shows the raw result.</p>
          <Raw call={call} />
        </>
      );
  }
}
