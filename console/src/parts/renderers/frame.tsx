// The renderer `frame`: a page of another server. The policy of the console frames nothing but its own pages, so /frame, whose
// policy allows other sites, stands between.

import { useLayoutEffect, useRef } from "preact/hooks";
import { safeLink } from "./links.ts";

export function FrameRenderer({ url, title }: { url: unknown; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const address = typeof url === "string" ? safeLink(url) : null;
  useLayoutEffect(() => {
    const onMessage = ({ source, origin, data }: MessageEvent<unknown>) => {
      const page = frame.current?.contentWindow;
      if (!page || source !== page || origin !== window.location.origin || data !== "ready") return;
      page.postMessage({ url: address, title }, window.location.origin);
    };
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  }, [address, title]);
  if (address === null) return <p class="soft">There is no address to show.</p>;
  return (
    <div class="stack">
      <iframe key={address} ref={frame} class="page-frame tall" src="/frame" title={title} />
      <p class="soft small">
        A page of another server. If it stays empty, its server does not let other pages show it:{" "}
        <a href={address} rel="noopener noreferrer" target="_blank">
          open {address}
        </a>
      </p>
    </div>
  );
}
