// Every page and every view of it on a narrow screen: nothing scrolls sideways, and nothing is missing.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";

import { call as asksFor, startModel, text } from "../chat/model.mjs";
import { allow, fits, openHouse, until, url } from "./house.mjs";
import { zipOf } from "./zip.mjs";

const house = await openHouse(`console-pages-${Date.now().toString(36)}`);
const model = await startModel();
/** Names as long as they may be: what fits with them fits with all. */
const LONG = "a_name_that_is_as_long_as_the_names_of_tools_may_be_and_no_longer";
const module = createServer((_, response) => {
  const tools = [{ name: LONG.slice(0, 40), description: "What the tool does, in a sentence. ".repeat(8), parameters: [{ name: LONG, type: "string", required: true }] }];
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ tools }));
});
await new Promise((done) => module.listen(0, "127.0.0.1", done));
after(async () => {
  await house.close();
  model.stop();
  module.closeAllConnections();
  module.close();
});
const { api } = house;

/** Fills the workspace, and returns the ids of what is in it. */
async function fill() {
  await api("PATCH", "/api/workspace", { model_url: model.url, model_name: "scripted" });
  const tool = {
    id: LONG.slice(0, 64),
    name: LONG,
    description: "What the tool does, in a sentence. ".repeat(8),
    requires_approval: true,
    category: "a_long_category_of_tools",
    parameters_schema: {
      type: "object",
      properties: {
        path: { type: "string", default: "/a.txt", description: "The file" },
        content: { type: "string", examples: ["a longer text without spaces:" + "x".repeat(200)] },
        when: { type: "string", format: "date-time" },
        places: { type: "array", items: { type: "object", properties: { [LONG]: { type: "string" } } } },
        choice: { oneOf: [{ type: "object", properties: { kind: { const: "one" } } }, { type: "object", properties: { kind: { const: "other" } } }] },
        key: { type: "string", format: "password" },
      },
      required: ["path", "content"],
    },
    handler: { type: "builtin", key: "write_file" },
  };
  await api("POST", "/api/tools", { ...tool, version: "1.0.0" });
  await api("POST", "/api/tools", { ...tool, version: "1.1.0", description: `${tool.description} More.` });
  const { id: agent } = await api("POST", "/api/agents", { name: LONG, max_risk: "critical", capabilities: ["net"] });
  for (const tool_id of [tool.id, "write_file", "read_file"]) await api("POST", `/api/agents/${agent}/tools`, { tool_id });
  const run = (tool_name, given) => api("POST", "/api/execute", { tool_name, arguments: given, session_id: LONG.slice(0, 60), agent_id: agent });
  await run("write_file", { path: `/${LONG}/${LONG}.md`, content: "one\n" });
  const written = await run("write_file", { path: `/${LONG}/${LONG}.md`, content: `two ${"x".repeat(300)}\n` });
  const failed = await run("read_file", { path: `/none/${LONG}` });
  const { error, call_id: waiting } = await run(tool.id, { path: "/a", content: "a", key: "k" });
  await api("POST", "/api/modules", { name: "dice", url: `http://127.0.0.1:${module.address().port}` });
  await api("POST", "/api/modules", { name: "gone", url: "http://127.0.0.1:9" });
  await api("POST", "/api/tokens", { name: LONG, level: "user", agent_id: agent });
  const headers = { "x-workspace-id": house.workspace, "content-type": "application/zip" };
  const imported = await fetch(`${url}/api/toolsets`, { method: "POST", headers, body: zipOf("samples/toolsets/notes") });
  assert.ok(imported.ok, await imported.text());
  const { toolsets } = await api("GET", "/api/toolsets");
  const wish = model.script(asksFor("write_file", { path: `/${LONG}.txt`, content: LONG }), text(`Done: ${LONG}${LONG}`));
  const told = await fetch(`${url}/api/playground/sessions/chat/chat`, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify({ agentId: agent, message: `Write ${wish.tag}` }) });
  await told.text();
  return { tool: tool.id, agent, session: LONG.slice(0, 60), path: `/${LONG}/${LONG}.md`, calls: [written.call_id, failed.call_id, waiting], approval: error.details.approval_id, toolset: toolsets[0].id };
}

const views = ({ tool, agent, session, path, calls, approval, toolset }) => [
  ...["overview", "overview?bucket=day"],
  ...["tools", "tools?view=register", `tools?view=register&from=${tool}`, "tools?q=nothing_has_these_words"],
  ...["about", "versions", "versions&from=1.0.0&to=1.1.0", "override", "agents", "calls", "models"].map((it) => `tools/${tool}?tab=${it}`),
  ...["run", `run/${tool}`, "run/execute_python"],
  ...["agents", "agents?view=new", "playground?agent=agent_none"],
  ...["toolbox", "attachments", "attachments&attach=list_files", `attachments&configure=${tool}`, "settings", "tokens", "connect"].map((it) => `agents/${agent}?tab=${it}`),
  ...["approvals", "approvals?status=all", `approvals/${approval}`],
  ...["calls", "calls?status=error", ...calls.map((it) => `calls/${it}`)],
  ...["files", `files/${session}`, `files/${session}?path=${encodeURIComponent(path)}`, `files/${session}?tab=history`, `files/${session}?tab=compare`, "files/nowhere"],
  ...["toolsets", "toolsets?import=open", ...["tools", "files", "servers", "overrides"].map((it) => `toolsets/${toolset}?tab=${it}`)],
  ...["servers", "servers?register=module", "servers?register=mcp", ...["tools", "held-back", "settings"].map((it) => `servers/modules/dice?tab=${it}`), "servers/modules/gone"],
  ...["log", "state", "backup", "invariants"].map((it) => `changes?tab=${it}`),
  ...["playground", "playground/chat"],
  ...["you", "tokens", "credentials", "workspace"].map((it) => `settings?tab=${it}`),
  "nowhere",
];

test("no page scrolls sideways on a screen of 400 pixels", async () => {
  const all = views(await fill());
  const page = await house.open("settings", { width: 400 });
  await page.getByRole("heading", { level: 1 }).waitFor();
  const areas = await page.locator("nav.side a").evaluateAll((found) => found.map((it) => it.getAttribute("href").slice(2)));
  assert.equal(areas.length, 12);
  for (const area of areas) assert.ok(all.some((it) => it.split(/[/?]/)[0] === area), `no view of ${area} is looked at`);
  // Two views are about things that there are not.
  allow(page, /status of 404/);
  const wide = [];
  for (const view of all) {
    await page.evaluate((it) => (location.hash = `#/${it}`), view);
    await page.waitForLoadState("networkidle");
    await until(async () => (await page.locator("main .loading").count()) === 0, `the data of ${view}`);
    await page.locator("main h1, main .notice").first().waitFor();
    await fits(page, view, 400).catch((cause) => wide.push(cause.message));
  }
  assert.deepEqual(wide, []);
  // The navigation unfolds.
  await page.getByRole("button", { name: "Navigation" }).click();
  await page.getByRole("button", { name: "Copy link" }).waitFor();
  await fits(page, "the navigation", 400);
  await page.context().close();
});
