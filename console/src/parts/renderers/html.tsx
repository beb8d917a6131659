// The renderer `html`: a page of a toolset, which nobody trusts. The page is shown by /shell, whose policy and sandbox hold for
// it: it has no origin, no storage and no network. The console believes nothing that the page says but a height.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import { CopyCurl } from "../clipboard.tsx";
import { Loading } from "../states.tsx";
import { askedHeight } from "./plan.ts";
import { InsteadRaw, type ShownCall, titleOf } from "./raw.tsx";

export function HtmlRenderer({ call }: { call: ShownCall }) {
  const asked = request("get", "/api/tool-calls/{call_id}/render", { path: { call_id: call.call_id } });
  const page = useLoad(asked);
  if (page.error !== undefined) return <InsteadRaw call={call} error={page.error} retry={page.reload} />;
  if (page.data === undefined) return <Loading what="Reading the page" />;
  return (
    <div class="stack">
      <SandboxedPage text={String(page.data)} title={titleOf(call)} />
      <div class="row soft small">
        A page of the toolset. It runs in a sandbox without network and storage.
        <CopyCurl narrow of={asked} />
      </div>
    </div>
  );
}

function SandboxedPage({ text, title }: { text: string; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(320);
  // A layout effect listens before the shell can say anything.
  useLayoutEffect(() => {
    let isSent = false;
    const onMessage = ({ source, data }: MessageEvent<unknown>) => {
      const shell = frame.current?.contentWindow;
      if (!shell || source !== shell) return;
      if (data === "ready" && !isSent) {
        isSent = true;
        // The shell has no origin that could be named. `frame-src 'self'` keeps all other sites out of the frame.
        shell.postMessage(text, "*");
        return;
      }
      const asked = askedHeight(data);
      if (asked !== null) setHeight(asked);
    };
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  }, [text]);
  return <iframe ref={frame} class="page-frame" sandbox="allow-scripts" src="/shell" title={title} style={{ height: `${height}px` }} />;
}
