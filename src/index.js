// The main module of the Worker. It hands requests to the compiled module on a shorter way than worker-build's own entry,
// which makes four proxies and two promises for each request (ARCHITECTURE.md, "The bundle").

import Entrypoint from "../build/index.js";
import { workspaceClass } from "./workspace.js";

export { Chat, Limiter, LongCall, McpHost, Sandbox } from "../build/index.js";

// The handlers behind worker-build's proxies.
const { fetch: respond, scheduled: keepUp } = Entrypoint.prototype;

// No trigger has such a name.
export const Workspace = workspaceClass((name, env, ctx) =>
  enter("scheduled", keepUp, { type: "scheduled", cron: `workspace ${name}`, scheduledTime: Date.now() }, env, ctx),
);

// The runtime's own queueMicrotask makes a function template for each call, which takes longer than most of the tasks that
// wasm-bindgen queues. A reaction of a promise runs at the same time.
const settled = Promise.resolve();
globalThis.queueMicrotask = (task) => {
  settled.then(() => {
    try {
      task();
    } catch (cause) {
      reportError(cause);
    }
  });
};

// After a panic the compiled module has to be made anew. worker-build's entry does so before the next request, and learns of
// the panic from the same event.
let panicked = false;
addEventListener("error", ({ error }) => {
  panicked ||= error instanceof WebAssembly.RuntimeError;
});

// The runtime cancels a request whose client has left. A read may be cancelled. Anything else is carried on by `waitUntil` for
// the 30 seconds that the platform gives: a tool that has acted must get its record, and an approval that was used must get
// its run.
const READS = new Set(["GET", "HEAD", "OPTIONS"]);

// A browser gets the console at `/`; other clients get the names and addresses that the Worker tells.
const isForConsole = ({ method, url, headers }) =>
  method === "GET" && new URL(url).pathname === "/" && (headers.get("Accept") ?? "").includes("text/html");

export default {
  fetch(request, env, ctx) {
    // Few URLs end with a slash, or have one before their query; all others are not parsed here.
    const { url } = request;
    if ((url.endsWith("/") || url.includes("/?")) && env.ASSETS && isForConsole(request)) return env.ASSETS.fetch(request);
    const response = begin(request, env, ctx);
    if (!READS.has(request.method)) ctx.waitUntil(response);
    return response;
  },
  scheduled(event, env, ctx) {
    return new Entrypoint(ctx, env).scheduled(event);
  },
};

/** Hands an event to the compiled module: after a panic through worker-build's entry, and otherwise on the shorter way. */
function enter(kind, handle, event, env, ctx) {
  if (!panicked) return handle.call({ env, ctx }, event);
  panicked = false;
  return new Entrypoint(ctx, env)[kind](event);
}

function begin(request, env, ctx) {
  try {
    return enter("fetch", respond, request, env, ctx);
  } catch (cause) {
    reportError(cause);
    throw cause;
  }
}
