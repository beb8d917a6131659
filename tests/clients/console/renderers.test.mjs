// Results of calls by their renderers: code, document, html, frame; and pages that try to get out of them.

import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { after, test } from "node:test";

import { install, startMcp, startServer } from "./artifacts.mjs";
import { ARTIFACT, FOREIGN_PAGE, LEAVERS } from "./attacks.mjs";
import { accessible, allow, openHouse, pictures, until, url } from "./house.mjs";

// A server that is used again has the toolset of the last time, whose MCP server is gone.
const house = await openHouse(`console-renderers-${Date.now().toString(36)}`);
const { api } = house;

const HOSTILE = `# Report <img src=x onerror="window.hit = 1">

A [good](https://good.example/), a [bad](javascript:window.hit=2), a [worse](data:text/html,<script>1</script>), a [relative](/api/tools), <b onclick="window.hit=3">bold</b> and *own*.

<script>window.hit = 4</script>

<iframe src="javascript:parent.hit=5"></iframe>

![picture](https://good.example/a.png "t") <https://good.example/auto> <mailto:ada@example.org> &lt;i&gt; a < b && c

- [x] done
- [ ] open

| a | b |
|---|---|
| 1 | <svg onload="window.hit=6"> |

\`\`\`html
<script>window.hit = 7</script>
\`\`\`
`;

const CHART = `<!doctype html><html lang="en"><head><title>Chart</title></head><body><h1 id="title"></h1><div style="height: 500px">Tall</div>
<script>document.getElementById("title").textContent = "Rows: " + window.__TOOL_DATA__.rows</script></body></html>`;

/** Everything that was asked of a server that nobody may ask. */
const hits = [];
const canary = await startServer((request) => {
  hits.push(request.url);
  return [200, { "content-type": request.url === "/site" ? "text/html" : "text/plain", "access-control-allow-origin": "*" }, request.url === "/site" ? FOREIGN_PAGE : "x"];
});
const stun = createSocket("udp4");
let packets = 0;
stun.on("message", () => (packets += 1));
await new Promise((done) => stun.bind(0, "127.0.0.1", done));
const targets = { canary: canary.url, own: url, stun: `stun:127.0.0.1:${stun.address().port}` };
const mcp = await startMcp({
  chart: () => ({ rows: 3 }),
  attack: () => targets,
  leave_script: () => targets,
  leave_refresh: () => targets,
  leave_link: () => targets,
  report: ({ text }) => ({ text }),
  paper: ({ path }) => ({ path }),
  site: ({ url }) => ({ url }),
});
const html = (artifact) => ({ renderer: "html", renderer_config: { artifact, data: "$return" } });
await install(
  url,
  house.workspace,
  mcp,
  {
    chart: html("artifacts/chart.html"),
    attack: html("artifacts/attack.html"),
    leave_script: html("artifacts/script.html"),
    leave_refresh: html("artifacts/refresh.html"),
    leave_link: html("artifacts/link.html"),
    report: { renderer: "document", renderer_config: { content: "$return.text" } },
    paper: { renderer: "document", renderer_config: { file: "$return.path", editable: true } },
    site: { renderer: "frame", renderer_config: { url: "$return.url" } },
  },
  { "artifacts/chart.html": CHART, "artifacts/attack.html": ARTIFACT, ...Object.fromEntries(Object.entries(LEAVERS).map(([name, page]) => [`artifacts/${name}.html`, page])) },
);
after(async () => {
  await house.close();
  mcp.stop();
  canary.stop();
  stun.close();
});

/** Runs a tool, and opens the page of its call. */
async function openCall(tool_name, given, options) {
  const result = await api("POST", "/api/execute", { tool_name, arguments: given, session_id: "desk" });
  assert.equal(result.status, "success", JSON.stringify(result.error));
  const page = await house.open(`calls/${result.call_id}`, options);
  const panel = page.getByRole("region", { name: "Result", exact: true });
  await panel.waitFor();
  return { page, panel, call: result.call_id };
}

const button = (place, name) => place.getByRole("button", { name, exact: true });

/** Replaces everything in an editor, as a person does it. */
async function type(page, place, name, text) {
  await place.locator(".editor-host").getByRole("textbox", { name, exact: true }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

const fileOf = (path) => api("GET", `/api/sessions/desk/files${path}`);

/** The document that a page shows in a frame, found by an element that it must have. */
async function documentWith(page, selector) {
  return until(async () => {
    for (const frame of page.frames()) {
      const found = await frame.$(selector).catch(() => null);
      if (found !== null) return frame;
    }
    return null;
  }, `a frame with ${selector}`);
}

test("a file that was written is shown with colours, changed, and saved back", async () => {
  const { page, panel } = await openCall("write_file", { path: "/notes/plan.py", content: "def plan():\n    return 1\n" });
  await panel.getByText("/notes/plan.py").first().waitFor();
  const shown = panel.getByRole("textbox", { name: "Result of write_file" });
  await shown.getByText("def").waitFor();
  assert.equal(await panel.getByRole("link", { name: "Open in files" }).getAttribute("href"), "#/files/desk?path=%2Fnotes%2Fplan.py");

  await button(panel, "Raw").click();
  await panel.getByText("Wrote 25 bytes to /notes/plan.py").waitFor();
  await button(panel, "Raw").click();

  await button(panel, "Edit").click();
  await type(page, panel, "Contents of /notes/plan.py", "def plan():\n    return 2\n");
  await button(panel, "Save to the session").click();
  await shown.getByText("2", { exact: true }).waitFor();
  assert.equal(await fileOf("/notes/plan.py"), "def plan():\n    return 2\n");
  await accessible(page);
  await pictures(page, "renderers-code");

  // Somebody else writes meanwhile.
  await button(panel, "Edit").click();
  await type(page, panel, "Contents of /notes/plan.py", "mine");
  await api("POST", "/api/execute", { tool_name: "write_file", arguments: { path: "/notes/plan.py", content: "theirs" }, session_id: "desk" });
  await button(panel, "Save to the session").click();
  await panel.getByText("The file has changed since you opened it.").waitFor();
  assert.equal(await fileOf("/notes/plan.py"), "theirs");
  await button(panel, "Save over it").click();
  await shown.getByText("mine").waitFor();
  assert.equal(await fileOf("/notes/plan.py"), "mine");

  // A file that is gone leaves the raw result.
  allow(page, /status of 404/);
  await api("DELETE", "/api/sessions/desk/files/notes/plan.py");
  await page.reload();
  await panel.getByText("This is the raw result instead.").waitFor();
  await panel.getByText("Wrote 25 bytes to /notes/plan.py").waitFor();
  await page.context().close();
});

test("a document is shown as elements, and its HTML as text", async () => {
  const { page, panel } = await openCall("show:report", { text: HOSTILE });
  const document = panel.getByRole("region", { name: "Result of show:report" });
  await document.getByRole("heading", { name: "Report" }).waitFor();
  for (const text of ['<img src=x onerror="window.hit = 1">', '<b onclick="window.hit=3">', "<script>window.hit = 4</script>", '<svg onload="window.hit=6">', "<script>window.hit = 7</script>", "<i> a < b && c"]) {
    await document.getByText(text).first().waitFor();
  }
  assert.deepEqual(await document.locator("script, img, iframe, svg, b, style, object, embed, form, [onclick], [onload], [onerror], [style]").count(), 0);
  const links = await document.locator("a").evaluateAll((found) => found.map((it) => [it.getAttribute("href"), it.rel]));
  assert.deepEqual(
    links,
    ["https://good.example/", "https://good.example/a.png", "https://good.example/auto", "mailto:ada@example.org"].map((it) => [it, "noopener noreferrer"]),
  );
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await accessible(page);
  await pictures(page, "renderers-document");
  await page.context().close();
});

test("a byte order mark stays when a file is changed", async () => {
  const { page, panel } = await openCall("write_file", { path: "/mark.txt", content: "\ufeffone\n" });
  await button(panel, "Edit").click();
  await panel.locator(".editor-host").getByRole("textbox", { name: "Contents of /mark.txt", exact: true }).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("two\n");
  await button(panel, "Save to the session").click();
  await button(panel, "Edit").waitFor();
  const response = await fetch(`${url}/api/sessions/desk/files/mark.txt`, { headers: { "x-workspace-id": house.workspace } });
  assert.equal(Buffer.from(await response.arrayBuffer()).toString("hex"), Buffer.from("\ufeffone\ntwo\n").toString("hex"));
  await page.context().close();
});

test("a document that is a file is edited as Markdown", async () => {
  await api("POST", "/api/execute", { tool_name: "write_file", arguments: { path: "/paper.md", content: "# Old\n" }, session_id: "desk" });
  const { page, panel } = await openCall("show:paper", { path: "/paper.md" });
  await panel.getByRole("heading", { name: "Old" }).waitFor();
  await button(panel, "Edit").click();
  await type(page, panel, "Contents of /paper.md", "# New\n\nwith *emphasis*\n");
  await button(panel, "Save to the session").click();
  await panel.getByRole("heading", { name: "New" }).waitFor();
  await panel.locator("em", { hasText: "emphasis" }).waitFor();
  assert.equal(await fileOf("/paper.md"), "# New\n\nwith *emphasis*\n");
  await page.context().close();
});

test("a page of a toolset gets its data, and the height that it needs", async () => {
  const { page, panel } = await openCall("show:chart", {});
  const frame = panel.locator("iframe");
  assert.equal(await frame.getAttribute("sandbox"), "allow-scripts");
  await panel.frameLocator("iframe").getByText("Rows: 3").waitFor();
  await until(async () => (await frame.boundingBox()).height > 500, "a frame as high as its page");
  // A page that knows no dark colours is light in a dark console too.
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await panel.frameLocator("iframe").locator("h1").evaluate((it) => getComputedStyle(it).color), "rgb(0, 0, 0)");
  await accessible(page);
  await pictures(page, "renderers-html");
  await button(panel, "Raw").click();
  await panel.getByText('"rows": 3').waitFor();
  await page.context().close();
});

test("a page of a toolset gets out in no way", async () => {
  hits.length = 0;
  const { page, panel } = await openCall("show:attack", {});
  // The browser tells each refusal.
  allow(page, /./);
  const frame = await documentWith(page, "#outcomes");
  const { outcomes, heard, origin, data } = JSON.parse(await frame.textContent("#outcomes"));
  assert.deepEqual(data, targets);
  assert.equal(origin, "null");
  assert.ok(Object.keys(outcomes).length > 35, "the attacks did not run");
  assert.deepEqual(Object.entries(outcomes).filter(([, it]) => !it.startsWith("refused")), []);
  assert.deepEqual(heard, [], "the console answered the page");
  await until(async () => (await panel.locator("iframe").boundingBox()).height === 1_200, "the greatest height");
  assert.equal(page.context().pages().length, 1);
  assert.match(page.url(), new RegExp(`^${url}/#/calls/`));
  assert.deepEqual(await page.context().cookies(), []);
  assert.deepEqual(hits, [], "another server was asked");
  assert.equal(packets, 0, "WebRTC sent packets to another server");
  await page.context().close();
});

for (const way of Object.keys(LEAVERS)) {
  test(`a page of a toolset cannot carry data away by leaving (${way})`, async () => {
    hits.length = 0;
    const { page } = await openCall(`show:leave_${way}`, {});
    // The browser says that it refused; without that the page may not have tried yet.
    await until(() => page.faults.some((it) => it.includes(canary.url) && /frame-src/.test(it)), "the refusal of the browser");
    allow(page, /frame-src/);
    assert.deepEqual(hits, []);
    assert.ok(page.frames().every((it) => !it.url().startsWith(canary.url)));
    await page.context().close();
  });
}

test("a page of another server is shown, and reaches nothing of the console", async () => {
  hits.length = 0;
  const { page, panel } = await openCall("show:site", { url: `${canary.url}/site` });
  allow(page, /sandboxed/);
  const frame = await documentWith(page, "#outcomes");
  const { outcomes, heard, origin } = JSON.parse(await frame.textContent("#outcomes"));
  assert.equal(frame.url(), `${canary.url}/site`);
  assert.equal(new URL(frame.parentFrame().url()).pathname, "/frame");
  assert.equal(await frame.frameElement().then((it) => it.getAttribute("sandbox")), "allow-scripts allow-forms");
  assert.equal(origin, "null");
  assert.ok(Object.keys(outcomes).length > 12, "the attacks did not run");
  assert.deepEqual(Object.entries(outcomes).filter(([, it]) => !it.startsWith("refused")), []);
  assert.deepEqual(heard, []);
  assert.deepEqual(hits, ["/site"]);
  assert.equal(page.context().pages().length, 1);
  assert.match(page.url(), new RegExp(`^${url}/#/calls/`));
  assert.equal(await panel.getByRole("link", { name: `open ${canary.url}/site` }).getAttribute("rel"), "noopener noreferrer");
  await pictures(page, "renderers-frame");
  await page.context().close();
});

test("an address that may not be shown is refused by the API, and said so", async () => {
  const { page, panel } = await openCall("show:site", { url: "http://ada:secret@example.org/" });
  await panel.getByText("The address is not shown").waitFor();
  assert.equal(await panel.locator("iframe").count(), 0);
  await page.context().close();
});

test("/frame shows addresses of its own parent alone, and only good ones", async () => {
  hits.length = 0;
  const page = await house.open("calls");
  await page.getByRole("heading", { name: "Calls" }).waitFor();
  allow(page, /sandboxed/);
  /** Whether /frame shows the address that this page sends to it. */
  const shows = (address) =>
    page.evaluate(async (address) => {
      const frame = document.createElement("iframe");
      frame.src = "/frame";
      document.body.append(frame);
      await new Promise((done) => addEventListener("message", function ready(event) {
        if (event.source !== frame.contentWindow || event.data !== "ready") return;
        removeEventListener("message", ready);
        done();
      }));
      const inner = () => frame.contentDocument.querySelector("iframe")?.getAttribute("src") ?? null;
      frame.contentWindow.postMessage({ url: address, title: "x" }, location.origin);
      await new Promise((done) => setTimeout(done, 50));
      const shown = inner();
      // Only the first good address counts.
      frame.contentWindow.postMessage({ url: "https://second.example/", title: "x" }, location.origin);
      await new Promise((done) => setTimeout(done, 50));
      const second = shown === null ? null : inner();
      frame.remove();
      return [shown, second];
    }, address);
  for (const bad of [url, `${url}/#/settings`, "javascript:alert(1)", "data:text/html,x", "blob:null/1", "file:///etc/passwd", "http://example.org/", "//example.org", "", null, 3]) {
    assert.deepEqual(await shows(bad), [null, null], String(bad));
  }
  const good = `${canary.url}/site`;
  assert.deepEqual(await shows(good), [good, good]);
  await page.context().close();
});

test("no other site can frame the console, the shell or the page of frames", async () => {
  const page = await house.open("calls");
  await page.goto(`${canary.url}/text`);
  page.faults.length = 0;
  for (const path of ["/", "/shell", "/frame"]) {
    await page.evaluate((address) => document.body.append(Object.assign(document.createElement("iframe"), { src: address })), url + path);
  }
  await until(() => page.faults.filter((it) => it.includes("frame-ancestors")).length === 3, "three refusals");
  allow(page, /frame-ancestors/);
  await page.context().close();
});

test("the headers are those of the recipe", async () => {
  // Only browsers get the console at `/`.
  const get = (path) => fetch(url + path, { headers: { accept: "text/html" } });
  const policyOf = async (path) => (await get(path)).headers.get("content-security-policy");
  assert.equal(
    await policyOf("/"),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  assert.equal(
    await policyOf("/shell"),
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  );
  assert.equal((await get("/shell")).headers.get("connection-allowlist"), "()");
  assert.equal(
    await policyOf("/frame"),
    "default-src 'none'; script-src 'self'; frame-src https: http://127.0.0.1:* http://localhost:*; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  );
  const index = await get("/");
  assert.deepEqual([index.headers.get("x-content-type-options"), index.headers.get("referrer-policy")], ["nosniff", "no-referrer"]);
  const asset = /\/assets\/[\w-]+\.js/.exec(await index.text())[0];
  assert.equal((await fetch(url + asset)).headers.get("cache-control"), "public, max-age=31536000, immutable");
});

test("a page that is gone leaves the raw result", async () => {
  const { page, panel } = await openCall("show:chart", {});
  await panel.frameLocator("iframe").getByText("Rows: 3").waitFor();
  allow(page, /status of 404/);
  await api("DELETE", "/api/toolsets/shows");
  await page.reload();
  await panel.getByText("This is the raw result instead.").waitFor();
  await panel.getByText('"rows": 3').waitFor();
  await page.context().close();
});
