// The pages Tools and Tool: the list with its filters, a registration with its preview, versions, overrides, and who uses a tool.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { accessible, allow, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";
import { zip } from "./zip.mjs";

/** The registry without anything of its own. A restore of it makes a test repeatable against a server that has run it before. */
const NOTHING = { tools: [], versions: [], agents: [], attachments: [], credentials: [], modules: [], mcp_servers: [], toolsets: [], overrides: [], workspace: { default_guest_modules: [] } };

const WORD_COUNT = {
  id: "word_count",
  version: "1.0.0",
  name: "Count words",
  description: "Counts the words of a text.",
  parameters_schema: {
    type: "object",
    required: ["text"],
    properties: {
      text: { type: "string", description: "What is counted", minLength: 1 },
      limit: { type: "integer", default: 3, maximum: 5 },
      place: { type: "object", properties: { kind: { enum: ["page", "chapter"] } } },
    },
  },
  handler: { type: "http", url: "" },
  category: "text",
  risk_level: "safe",
  rate_limit: 60,
};

let house;
let server;
/** What the module and the MCP server of this test tell about their tools. */
const upstream = { description: "Searches the web." };

before(async () => {
  server = createServer(serve);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  WORD_COUNT.handler.url = `http://127.0.0.1:${server.address().port}/call`;
  house = await openHouse("console-tools");
  await house.api("POST", "/api/registry/restore", NOTHING);
});

after(async () => {
  await house.close();
  server.close();
  server.closeAllConnections();
});

/** A tool, a module and an MCP server in one. */
async function serve(request, response) {
  const json = (value) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (request.url === "/manifest") return json({ tools: [{ name: "web_search", description: upstream.description, parameters: [{ name: "query", type: "string", required: true }] }] });
  const shelf = /^\/shelf\/(\d)\/manifest$/.exec(request.url)?.[1];
  if (shelf !== undefined) return json({ tools: Array.from({ length: 1_000 }, (_, index) => itemOf(`${shelf}${String(index).padStart(3, "0")}`)) });
  let body = "";
  for await (const piece of request) body += piece;
  if (request.url === "/call") return json({ words: JSON.parse(body).arguments.text.split(/\s+/).length });
  if (request.url !== "/mcp" || request.method !== "POST") return response.writeHead(405).end();
  const { id, method } = JSON.parse(body);
  if (id === undefined) return response.writeHead(202).end();
  const answers = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "desk", version: "1.0.0" } },
    "tools/list": { tools: [{ name: "note", description: "Writes a note.", inputSchema: { type: "object", properties: { text: { type: "string" } } } }] },
  };
  const result = answers[method];
  return json({ jsonrpc: "2.0", id, ...(result === undefined ? { error: { code: -32601, message: "no such method" } } : { result }) });
}

/** One of ten thousand tools. */
const itemOf = (number) => ({ name: `item_${number}`, description: `Counts the words of volume ${number}.`, parameters: [{ name: "text", type: "string", required: true, description: "What is counted" }] });

async function makeToken(level) {
  const { token } = await house.api("POST", "/api/tokens", { name: `A ${level}`, level });
  return token;
}

test("a newcomer sees the built-ins, and how to register a tool", async () => {
  const page = await house.open("tools");
  await page.getByRole("region", { name: "Built-in" }).getByRole("link", { name: "Read File" }).waitFor();
  await page.getByRole("heading", { name: "There are only built-in tools yet" }).waitFor();
  assert.match(await page.getByRole("region", { name: "The command that registers a tool" }).innerText(), /curl '.*\/api\/tools'.*word_count/s);
  await page.getByRole("button", { name: "Copy as curl" }).first().click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `curl '${url}/api/tools?limit=50' -H 'X-Workspace-Id: console-tools'`);
  await accessible(page);
  await pictures(page, "tools-first");
  await page.context().close();
});

test("a tool is registered after a preview, and a refused one stays in the editor", async () => {
  const page = await house.open("tools");
  await page.getByRole("link", { name: "Register a tool" }).click();
  const editor = page.getByLabel("The tool as JSON");
  const registered = page.getByRole("button", { name: "Register", exact: true });
  assert.equal(JSON.parse(await editor.inputValue()).id, "word_count");
  assert.ok(await registered.isDisabled(), "nothing is registered that was not looked at");

  await editor.fill('{"id": ');
  await page.getByText("This is not valid JSON").waitFor();
  assert.ok(await page.getByRole("button", { name: "Preview", exact: true }).isDisabled());

  await editor.fill(JSON.stringify({ ...WORD_COUNT, description: "Short", risk_level: "huge" }, null, 2));
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  const refusal = page.getByRole("alert");
  await refusal.getByText("/risk_level").waitFor();
  await refusal.getByText("/description").waitFor();
  await expectRefusals(page, 400);

  const withWarning = { ...WORD_COUNT, parameters_schema: { ...WORD_COUNT.parameters_schema, properties: { ...WORD_COUNT.parameters_schema.properties, tags: { type: "array" } } } };
  await editor.fill(JSON.stringify(withWarning, null, 2));
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("It replaces nothing").waitFor();
  await page.getByText("refuse an array without items").waitFor();
  assert.deepEqual((await house.api("GET", "/api/tools?source=registered")).tools, [], "a preview writes nothing");

  // What was typed is there after a look at another page.
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Agents" }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await page.goBack();
  await until(async () => (await editor.inputValue()).includes("tags"), "the draft to be there again");

  await editor.fill(JSON.stringify(WORD_COUNT, null, 2));
  assert.ok(await registered.isDisabled(), "another text needs another preview");
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("It replaces nothing").waitFor();
  await until(() => registered.isEnabled(), "the tool to be registrable");
  await accessible(page);
  await pictures(page, "tools-register");
  await registered.click();
  await page.getByRole("heading", { name: "Count words", level: 1 }).waitFor();
  assert.match(page.url(), /#\/tools\/word_count$/);
  const tool = await house.api("GET", "/api/tools/word_count");
  assert.equal(tool.version, "1.0.0");
  assert.equal(tool.active, true);
  await page.context().close();
});

test("one tool: facts, limits, and its schema as a table", async () => {
  const page = await house.open("tools/word_count");
  const table = page.getByRole("region", { name: "Arguments of word_count", exact: true });
  const row = (name) => table.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
  await row("text").waitFor();
  assert.match(await row("text").innerText(), /required[\s\S]*string[\s\S]*What is counted[\s\S]*at least 1 character/);
  assert.match(await row("limit").innerText(), /integer[\s\S]*default 3 · at most 5/);
  assert.match(await row("kind").innerText(), /one of "page", "chapter"/);
  const indent = async (name) => (await table.getByText(name, { exact: true }).boundingBox()).x;
  assert.ok((await indent("kind")) > (await indent("place")), "inner properties are indented");
  await page.getByText("60 calls a minute, 60 left now").waitFor();
  assert.match(await page.getByRole("region", { name: "Handler" }).last().innerText(), /127\.0\.0\.1/);
  await accessible(page);
  await pictures(page, "tools-one");

  // The tool runs on its own page.
  const toRun = page.getByRole("main").getByRole("link", { name: "Run", exact: true });
  await toRun.click();
  await page.getByRole("button", { name: "Check", exact: true }).waitFor();
  assert.match(page.url(), /#\/tools\/word_count\?tab=run$/);
  assert.equal(await toRun.count(), 0, "the button of the form is the only one");
  await page.getByRole("textbox", { name: "text", exact: true }).fill("one two");
  await page.getByLabel("Session", { exact: true }).fill("desk");
  await until(() => page.url().endsWith("#/tools/word_count?tab=run&session=desk"), "the session to be in the URL");
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByText("The arguments fit. Nothing was run.").waitFor();
  await accessible(page);
  await pictures(page, "tools-run");
  await page.context().close();
});

test("filters are in the URL, and are there again on the way back", async () => {
  const page = await house.open("tools");
  await page.getByRole("link", { name: "Read File" }).waitFor();
  await page.getByLabel("Search", { exact: true }).fill("words text");
  await page.getByRole("link", { name: "Read File" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Count words" }).waitFor();
  await page.getByLabel("Source").selectOption("registered");
  await page.getByText("More filters").click();
  await page.getByLabel("Class").selectOption("control");
  await page.getByLabel("Capabilities").fill(",");
  await until(() => page.url().includes("capabilities="), "the filters to be in the URL");
  assert.deepEqual(Object.fromEntries(new URLSearchParams(page.url().split("?")[1])), { q: "words text", source: "registered", resource_class: "control", capabilities: "," });
  await page.getByRole("link", { name: "Count words" }).click();
  await page.getByRole("heading", { name: "Count words", level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Count words" }).waitFor();
  assert.equal(await page.getByLabel("Search", { exact: true }).inputValue(), "words text");
  assert.equal(await page.getByLabel("Source").inputValue(), "registered");
  assert.equal(await page.getByLabel("Class").inputValue(), "control");
  assert.equal(await page.getByRole("link", { name: "Read File" }).count(), 0);
  await page.getByLabel("Category").fill("nothing-like-it");
  await page.getByRole("heading", { name: "No tool fits these filters" }).waitFor();
  await page.getByRole("link", { name: "Clear the filters" }).click();
  await page.getByRole("link", { name: "Read File" }).waitFor();
  assert.equal(await page.getByLabel("Search", { exact: true }).inputValue(), "");

  // The search field of the bar leads here, too.
  await page.keyboard.press("/");
  await page.keyboard.type("count");
  await page.keyboard.press("Enter");
  await until(async () => (await page.getByLabel("Search", { exact: true }).inputValue()) === "count", "the words of the bar to arrive");
  await page.getByRole("link", { name: "Count words" }).waitFor();

  // A filter that the API does not know is told in its words.
  const wrong = await house.open("tools?max_risk=huge");
  await wrong.getByRole("alert").getByText("max_risk").waitFor();
  await expectRefusals(wrong, 400);
  await page.context().close();
  await wrong.context().close();
});

test("a version is published, compared and rolled back", async () => {
  const page = await house.open("tools/word_count");
  await page.getByRole("link", { name: "New version" }).click();
  await page.getByRole("heading", { name: "A new version of word_count" }).waitFor();
  const editor = page.getByLabel("The tool as JSON");
  const draft = JSON.parse(await editor.inputValue());
  assert.equal(draft.version, "1.0.1");
  const { limit: _, ...properties } = draft.parameters_schema.properties;
  await editor.fill(JSON.stringify({ ...draft, version: "3.0.0", timeout_seconds: 20, parameters_schema: { ...draft.parameters_schema, properties } }, null, 2));
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("major: callers may break").waitFor();
  await page.getByText("`limit` is no longer taken").waitFor();
  const fields = page.getByRole("region", { name: "Fields that differ" });
  assert.match(await fields.innerText(), /timeout_seconds\s+30\s+20/);
  await page.getByRole("button", { name: "Register", exact: true }).click();
  await page.getByRole("heading", { name: "Count words", level: 1 }).waitFor();
  assert.equal((await house.api("GET", "/api/tools/word_count")).version, "3.0.0");

  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByRole("link", { name: "Compare with 3.0.0" }).click();
  const diff = page.getByRole("region", { name: "Differences of parameters_schema" });
  await diff.waitFor();
  const removed = await diff.locator(".removed").allInnerTexts();
  assert.ok(removed.some((it) => it.includes('"limit"')), removed.join("\n"));
  assert.match(page.url(), /from=1\.0\.0&to=3\.0\.0/);
  // The other way round nothing breaks.
  await page.getByLabel("From").selectOption("3.0.0");
  await page.getByText("A version does not differ from itself.").waitFor();
  await page.getByLabel("To", { exact: true }).selectOption("1.0.0");
  await page.getByText("minor: compatible").waitFor();
  await accessible(page);
  await pictures(page, "tools-versions");

  await page.getByRole("button", { name: "Roll back to 1.0.0" }).click();
  const dialog = page.getByRole("dialog", { name: "Roll back to word_count 1.0.0" });
  await dialog.getByText("minor: compatible").waitFor();
  await dialog.getByText("1.0.0, active").waitFor();
  await accessible(page);
  await pictures(page, "tools-rollback");
  // Looking changes nothing, and Escape goes back.
  assert.equal((await house.api("GET", "/api/tools/word_count")).version, "3.0.0");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Roll back to 1.0.0" }).click();
  await dialog.getByLabel("Reason").fill("3.0.0 forgets the limit");
  // A refusal is told in the dialog, which a message of the page would lie behind, and what was typed stays.
  const place = (it) => it.pathname.endsWith("/rollback") && it.search === "";
  await page.route(place, (route) => route.fulfill({ status: 503, json: { error: { code: "UNAVAILABLE", message: "The database rests", details: null } } }));
  await dialog.getByRole("button", { name: "Roll back to 1.0.0" }).click();
  await dialog.getByRole("alert").getByText("The database rests").waitFor();
  assert.equal(await dialog.getByLabel("Reason").inputValue(), "3.0.0 forgets the limit");
  await page.unroute(place);
  await expectRefusals(page, 503);
  await dialog.getByRole("button", { name: "Roll back to 1.0.0" }).click();
  await dialog.waitFor({ state: "detached" });
  const row = (version) => page.getByRole("row").filter({ has: page.getByRole("link", { name: version, exact: true }) });
  await row("1.0.0").getByText("active", { exact: true }).waitFor();
  await row("3.0.0").getByText("deactivated on request").waitFor();
  assert.equal((await house.api("GET", "/api/tools/word_count")).version, "1.0.0");
  const { changes } = await house.api("GET", "/api/registry/changes?tool_id=word_count&action=rollback&order=newest");
  assert.equal(changes[0].reason, "3.0.0 forgets the limit");

  // An older version has a link of its own.
  await row("3.0.0").getByRole("link", { name: "3.0.0", exact: true }).click();
  await page.getByText("This is version 3.0.0, which is not active.").waitFor();
  await page.context().close();
});

test("a version that is off for security stays off", async () => {
  // No restore brings the number back, so each run has a tool of its own.
  const id = `leaky-${Date.now()}`;
  for (const version of ["1.0.0", "1.0.1"]) await house.api("POST", "/api/tools", { ...WORD_COUNT, id, version, name: "Leaky" });
  const page = await house.open(`tools/${id}?tab=versions`);
  // A version that is not active cannot be deactivated. Only the reason can change.
  await page.getByText("replaced by a newer version").waitFor();
  assert.equal(await page.getByRole("button", { name: "Deactivate 1.0.0" }).count(), 0);
  await page.getByRole("button", { name: "Change the reason of 1.0.0" }).click();
  const dialog = page.getByRole("dialog", { name: `Why ${id} 1.0.0 is not active` });
  await dialog.getByText("The version stays inactive.").waitFor();
  await dialog.getByLabel("Reason").selectOption("security");
  await dialog.getByText("This is final").waitFor();
  await dialog.getByRole("button", { name: "Change the reason" }).click();
  await page.getByText("Deactivated for security, for good.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Roll back to 1.0.0" }).count(), 0);
  assert.equal((await house.api("GET", `/api/tools/${id}/versions/1.0.0`)).deactivated_reason, "security");
  await page.context().close();
});

test("a tool without an active version is found by a filter, and activated again", async () => {
  await house.api("POST", "/api/tools", { ...WORD_COUNT, id: "asleep", name: "Sleeper" });
  await house.api("POST", "/api/tools/asleep/deactivate", { reason: "deprecated" });
  const page = await house.open("tools?source=registered");
  await page.getByRole("link", { name: "Count words" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Sleeper" }).count(), 0);
  await page.getByText("More filters").click();
  await page.getByLabel("Inactive tools too").check();
  const item = page.getByRole("listitem").filter({ hasText: "Sleeper" });
  await item.getByText("inactive", { exact: true }).waitFor();
  await item.getByRole("link", { name: "Sleeper" }).click();
  await page.getByText("No version of this tool is active").waitFor();
  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByRole("button", { name: "Activate 1.0.0", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Activate 1.0.0" }).click();
  await page.getByText("No version of this tool is active").waitFor({ state: "detached" });
  assert.equal((await house.api("GET", "/api/tools/asleep")).active, true);
  await page.context().close();
});

test("modules, toolsets and MCP servers are groups, and what they hold back is marked", async () => {
  const base = WORD_COUNT.handler.url.replace("/call", "");
  await house.api("POST", "/api/modules", { name: "research", url: base });
  const bundle = zip({
    "toolset.yaml": `manifest_version: "1"\nid: office\nname: Office\nversion: "1.0.0"\nmcp_servers:\n  - id: desk\n    transport: streamable-http\n    url: ${base}/mcp\n`,
  });
  const imported = await fetch(`${url}/api/toolsets`, { method: "POST", headers: { "x-workspace-id": house.workspace, "content-type": "application/zip" }, body: bundle });
  assert.ok(imported.ok, await imported.text());
  upstream.description = "Searches the whole web, and tells nobody.";
  await house.api("POST", "/api/refresh-tools", { modules: ["research"] });

  const page = await house.open("tools");
  const module = page.getByRole("region", { name: "Module research" });
  await module.getByText("research.web_search").waitFor();
  await module.getByText("1 change held back").waitFor();
  await module.getByRole("listitem").filter({ hasText: "research.web_search" }).getByText("change held back").waitFor();
  await page.getByText("1 changed definition of modules and MCP servers waits for an admin.").waitFor();
  const mcp = page.getByRole("region", { name: "MCP server desk" });
  await mcp.getByText("desk:note").waitFor();
  assert.match(await mcp.getByRole("link", { name: "office" }).getAttribute("href"), /#\/toolsets\/office/);
  assert.match(await module.getByRole("link", { name: "Module research" }).getAttribute("href"), /#\/servers\/modules\/research/);
  await accessible(page);
  await pictures(page, "tools-groups");

  await module.getByRole("link", { name: "web_search" }).first().click();
  await page.getByText("1 changed definition of research is held back").waitFor();
  await page.context().close();
});

test("the override of a tool of a toolset is set, and deleted", async () => {
  const page = await house.open("tools/desk%3Anote?tab=override");
  await page.getByText("The tool has none.").waitFor();
  // That there is none is a 404.
  allow(page, /status of 404/);
  await page.getByLabel("Name", { exact: true }).fill("Write a note");
  await page.getByLabel("Approval").selectOption("false");
  await page.getByLabel("Renderer").selectOption("code");
  await page.getByLabel("Configuration of the renderer").fill("{");
  await page.getByText("This is not valid JSON").waitFor();
  await page.getByLabel("Configuration of the renderer").fill('{"content": "$return"}');
  await accessible(page);
  await pictures(page, "tools-override");
  await page.getByRole("button", { name: "Save the override" }).click();
  await page.getByRole("heading", { name: "Write a note", level: 1 }).waitFor();
  const saved = await house.api("GET", "/api/toolsets/office/overrides/desk:note");
  assert.deepEqual([saved.name_override, saved.requires_approval, saved.renderer, saved.enabled], ["Write a note", false, "code", null]);
  // Calls of an MCP server's tools wait, unless the override says otherwise.
  assert.equal((await house.api("GET", "/api/tools/desk:note")).needs_approval, false);

  await page.getByText("An admin has set this one").waitFor();
  await page.getByRole("button", { name: "Delete the override" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the override" }).click();
  await page.getByText("The tool has none.").waitFor();
  assert.equal((await house.api("GET", "/api/tools/desk:note")).needs_approval, true);
  await page.context().close();
});

test("who may use a tool, its calls, and how models see it", async () => {
  const clerk = await house.api("POST", "/api/agents", { name: "Clerk" });
  const idle = await house.api("POST", "/api/agents", { name: "Idle", default_tools: false });
  await house.api("POST", `/api/agents/${clerk.id}/tools`, { tool_id: "word_count" });
  const { call_id } = await house.api("POST", "/api/execute", { tool_name: "word_count", arguments: { text: "one two" }, agent_id: clerk.id });
  const page = await house.open("tools/word_count?tab=agents");
  const row = (name) => page.getByRole("row").filter({ hasText: name });
  await row("Clerk").getByText("yes").waitFor();
  await row("Idle").getByText("no", { exact: true }).waitFor();
  assert.match(await row("Idle").getByRole("link", { name: "Attach it" }).getAttribute("href"), new RegExp(`#/agents/${idle.id}\\?tab=attachments&attach=word_count`));
  await accessible(page);

  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Calls" }).click();
  const call = page.locator(`a[href="#/calls/${call_id}"]`);
  await call.waitFor();
  assert.match(await page.getByRole("row").nth(1).innerText(), /success/);
  // A later call appears by itself.
  const next = await house.api("POST", "/api/execute", { tool_name: "word_count", arguments: { text: "three" } });
  await page.locator(`a[href="#/calls/${next.call_id}"]`).waitFor();

  await page.getByRole("link", { name: "For models" }).click();
  await page.getByRole("region", { name: "word_count for Text" }).getByText("Tool: word_count").waitFor();
  for (const [name, field] of [["OpenAI Chat", '"function"'], ["OpenAI Responses", '"strict"'], ["Anthropic", '"input_schema"'], ["Gemini", '"STRING"'], ["LangChain", '"args_schema"'], ["MCP", '"inputSchema"']]) {
    await page.getByRole("link", { name, exact: true }).click();
    const text = page.getByRole("region", { name: `word_count for ${name}` });
    await text.waitFor();
    await until(async () => (await text.innerText()).includes(field), `${field} in the format ${name}`);
  }
  await accessible(page);
  await pictures(page, "tools-models");
  await page.context().close();
});

test("an unknown tool is told, with the nearest name", async () => {
  const page = await house.open("tools/word_cuont");
  await page.getByRole("alert").getByText("There is no such thing").waitFor();
  await page.getByRole("alert").getByText("word_count").waitFor();
  await expectRefusals(page, 404);
  await page.context().close();
});

test("a guest reads tools, and is told why the rest is not shown", async () => {
  const page = await house.open("tools", { token: await makeToken("guest") });
  await page.getByRole("link", { name: "Count words" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Register a tool" }).count(), 0);
  await page.getByRole("link", { name: "Count words" }).click();
  await page.getByText("Where and how the tool runs is shown to admins.").waitFor();
  assert.equal(await page.getByRole("link", { name: "New version" }).count(), 0);
  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByText("Versions are shown to admins.").waitFor();
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Calls" }).click();
  await page.getByText("The record of calls is shown to users").waitFor();
  await page.goto(`${url}/#/tools?view=register`);
  await page.getByText("Only an admin of the workspace registers tools.").waitFor();
  await page.goto(`${url}/#/tools/desk%3Anote?tab=override`);
  await page.getByText("Overrides are shown to users").waitFor();
  await accessible(page);
  await page.context().close();
});

test("a user sees calls and overrides, and changes no tools", async () => {
  const page = await house.open("tools/desk%3Anote?tab=override", { token: await makeToken("user") });
  await page.getByText("The tool has none.").waitFor();
  await expectRefusals(page, 404);
  assert.equal(await page.getByRole("button", { name: "Save the override" }).count(), 0);
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Calls" }).click();
  await page.getByRole("heading", { name: "The tool has not been called yet" }).waitFor();
  await page.context().close();
});

test("a list of 10,000 tools stays usable, without a frame over 200 ms", async (t) => {
  const many = await openHouse(`console-tools-many-${Date.now().toString(36)}`);
  t.after(() => many.close());
  // A module has at most 1,000 tools.
  for (let module = 0; module < 10; module++) await many.api("POST", "/api/modules", { name: `shelf_${module}`, url: `${new URL(WORD_COUNT.handler.url).origin}/shelf/${module}` });
  const page = await many.open("tools");
  // Selectors of CSS: those by role and name would keep the page itself busy.
  const link = (id) => page.locator(`.tool-list a[href="#/tools/${id}"]`);
  await link("shelf_0.item_0020").waitFor();
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ["toplevel"] });
  const shown = () => page.locator(".tool-list > li").count();
  for (let wanted = 100; wanted <= 500; wanted += 50) {
    await page.locator("button", { hasText: "Show more" }).click();
    await until(async () => (await shown()) >= wanted, `${wanted} tools`);
  }
  await page.mouse.wheel(0, 20_000);
  await page.locator("input[type=search]").last().fill("item_7345");
  await link("shelf_7.item_7345").waitFor();
  await until(async () => (await shown()) === 1, "the one tool that fits");
  await link("shelf_7.item_7345").click();
  await page.locator("h1", { hasText: "item_7345" }).waitFor();
  const longest = longestTask(JSON.parse(await browser.stopTracing()));
  assert.ok(longest > 0 && longest < 200, `the longest task took ${longest} ms`);
});

/** How long the page was busy without a break, in milliseconds of the processor's time: others use the machine, too. */
function longestTask({ traceEvents }) {
  const main = traceEvents.filter((it) => it.name === "thread_name" && it.args.name === "CrRendererMain").map((it) => `${it.pid} ${it.tid}`);
  // A task that was under way when the trace began or ended has no length.
  const tasks = traceEvents.filter((it) => it.name === "ThreadControllerImpl::RunTask" && it.ph === "X" && main.includes(`${it.pid} ${it.tid}`));
  return Math.max(0, ...tasks.map((it) => it.tdur ?? it.dur ?? 0)) / 1_000;
}
