// The page Toolsets: a bundle is looked at, imported, read, upgraded, downgraded, switched off, exported, uninstalled.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { accessible, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";
import { zip } from "./zip.mjs";

// A server that is used again has the toolsets of the last time.
const house = await openHouse(`console-toolsets-${Date.now().toString(36)}`);
after(house.close);
const { api } = house;

const SAMPLE = fileURLToPath(new URL("../../../samples/toolsets/notes", import.meta.url));

/** The files of a directory, by their paths. */
function filesOf(root, folder = root) {
  const entries = readdirSync(folder).filter((it) => !it.startsWith("__"));
  return Object.assign({}, ...entries.map((it) => join(folder, it)).map((path) => (statSync(path).isDirectory() ? filesOf(root, path) : { [relative(root, path)]: readFileSync(path) })));
}

const SAMPLE_FILES = filesOf(SAMPLE);
const MANIFEST = SAMPLE_FILES["toolset.yaml"].toString();
const notes = (manifest) => zip({ ...SAMPLE_FILES, "toolset.yaml": manifest });

const choose = (page, name, buffer) => page.getByLabel("ZIP of the toolset").setInputFiles({ name, mimeType: "application/zip", buffer });
const button = (page, name) => page.getByRole("button", { name, exact: true });
const installed = async () => (await api("GET", "/api/toolsets")).toolsets;

test("a broken bundle is refused with every fault, its file and its line, and nothing is written", async () => {
  const page = await house.open("toolsets");
  await page.getByRole("heading", { name: "No toolset is installed" }).waitFor();
  await button(page, "Import a toolset").click();
  const broken = MANIFEST.replace("entrypoint: tools.notes:add_note", "entrypoint: tools.notes:ad_note").replace("risk_level: safe", "risk_level: sefe").replace("description:", "descripton:");
  await choose(page, "broken.zip", notes(broken));
  await page.getByText("broken.zip cannot be imported. Nothing was written.").waitFor();
  const faults = page.getByRole("region", { name: "Faults" });
  for (const [word, place] of [["descripton", "toolset.yaml:6"], ["safe", "toolset.yaml:18"]]) {
    await faults.getByRole("row").filter({ hasText: word }).filter({ hasText: place }).first().waitFor();
  }
  assert.deepEqual(await installed(), []);
  await choose(page, "text.zip", Buffer.from("no archive"));
  await page.getByText("The file is no ZIP archive").waitFor();
  await accessible(page);
  await expectRefusals(page, 400);
  await page.context().close();
});

test("a bundle is looked at, imported, and visible at once", async () => {
  const page = await house.open("toolsets?import=open");
  await choose(page, "notes.zip", notes(MANIFEST));
  const changes = page.getByRole("region", { name: "Changes of the import" });
  await changes.getByRole("row").filter({ hasText: "Tools" }).filter({ hasText: "3 added" }).filter({ hasText: "notes:add_note" }).waitFor();
  assert.deepEqual(await installed(), [], "a preview writes nothing");
  await page.getByLabel("Where it comes from (optional)").fill("https://example.com/notes");
  await pictures(page, "toolsets-import");
  await accessible(page);
  await button(page, "Import Notes 1.0.0").click();
  await page.getByRole("heading", { name: "Notes", level: 1 }).waitFor();
  await page.getByText("zip, from https://example.com/notes").waitFor();
  const [toolset] = await installed();
  assert.equal(toolset.version, "1.0.0");
  assert.equal(toolset.source_ref, "https://example.com/notes");

  const tool = page.getByRole("link", { name: "notes:add_note" });
  assert.equal(await tool.getAttribute("href"), "#/tools/notes%3Aadd_note");
  await pictures(page, "toolsets-one");
  await accessible(page);
  await page.getByRole("link", { name: "Toolsets", exact: true }).first().click();
  await page.getByRole("row").filter({ hasText: "Notes in Markdown" }).filter({ hasText: "enabled" }).waitFor();
  await accessible(page);
  await page.context().close();
});

test("what is imported is what was checked, and the same file can be chosen again", async () => {
  const page = await house.open("toolsets?import=open");
  const input = page.getByLabel("ZIP of the toolset");
  let goOn;
  const isHeld = new Promise((done) => (goOn = done));
  await page.route("**/api/toolsets?*", async (route) => {
    await isHeld;
    await route.continue();
  });
  await choose(page, "text.zip", Buffer.from("no archive"));
  await page.getByText("Checking the bundle").waitFor();
  assert.ok(await input.isDisabled(), "no other file can be chosen during the check");
  goOn();
  await page.getByText("The file is no ZIP archive").waitFor();
  assert.equal(await input.inputValue(), "", "the browser tells the page about the same name again");
  await choose(page, "text.zip", zip({ "toolset.yaml": 'manifest_version: "1"\nid: mended\nname: Mended\nversion: "1.0.0"\n' }));
  await button(page, "Import Mended 1.0.0").waitFor();
  await page.getByText("text.zip, ").waitFor();
  await expectRefusals(page, 400);
  await page.context().close();
});

test("a file of a toolset that could not be read has a way to try again", async () => {
  const page = await house.open("toolsets/notes?tab=files");
  await page.route("**/api/toolsets/notes/files/**", (route) => route.fulfill({ status: 503, json: { error: { code: "UNAVAILABLE", message: "The database rests", details: null } } }));
  await page.getByRole("link", { name: "tools/tasks.py" }).click();
  await page.getByRole("alert").getByText("The database rests").waitFor();
  await page.unrouteAll();
  await button(page, "Try again").click();
  await page.getByRole("region", { name: "tools/tasks.py" }).last().getByText("def list_tasks").waitFor();
  await expectRefusals(page, 503);
  await page.context().close();
});

test("files can be read, and overrides lead to their tools", async () => {
  const page = await house.open("toolsets/notes?tab=files");
  await page.getByRole("link", { name: "tools/tasks.py" }).click();
  await page.getByRole("region", { name: "tools/tasks.py" }).last().getByText("def list_tasks").waitFor();
  assert.ok(page.url().endsWith("#/toolsets/notes?tab=files&file=tools%2Ftasks.py"));
  await accessible(page);
  await page.getByRole("link", { name: "Overrides (3)" }).click();
  const row = page.getByRole("row").filter({ hasText: "notes:list_tasks" });
  await row.getByText("Results are shown as document").waitFor();
  assert.equal(await row.getByRole("link", { name: "Edit" }).getAttribute("href"), "#/tools/notes%3Alist_tasks?tab=override");
  await accessible(page);
  await page.context().close();
});

test("an upgrade and a downgrade are offered when the API says that they are needed", async () => {
  const page = await house.open("toolsets?import=open");
  const smaller = MANIFEST.replace('version: "1.0.0"', 'version: "1.1.0"')
    .replace(/ {2}- id: list_tasks\n[^-]*(?=tool_overrides)/, "")
    .replace(/ {2}- tool_id: list_tasks\n[^]*$/, "");
  await choose(page, "notes-1.1.0.zip", notes(smaller));
  await page.getByText("This toolset is installed already").waitFor();
  await page.getByRole("row").filter({ hasText: "1 removed" }).filter({ hasText: "notes:list_tasks" }).first().waitFor();
  assert.equal((await installed())[0].version, "1.0.0");
  await button(page, "Replace by Notes 1.1.0").click();
  await page.getByRole("link", { name: "Tools (2)" }).waitFor();
  assert.equal((await installed())[0].version, "1.1.0");

  await page.goto(`${url}/#/toolsets?import=open`);
  await choose(page, "notes-1.0.0.zip", notes(MANIFEST));
  await page.getByText("The bundle is older than the installed toolset").waitFor();
  await button(page, "Downgrade to Notes 1.0.0").click();
  await page.getByRole("link", { name: "Tools (3)" }).waitFor();
  assert.equal((await installed())[0].version, "1.0.0");
  await expectRefusals(page, 409);
  await page.context().close();
});

test("a toolset is disabled, enabled, exported and uninstalled", async () => {
  const page = await house.open("toolsets/notes");
  await button(page, "Disable").click();
  await page.getByRole("dialog").getByText("TOOL_DISABLED").waitFor();
  await accessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await page.getByText("disabled", { exact: true }).waitFor();
  assert.equal((await api("GET", "/api/toolsets/notes")).enabled, false);
  await button(page, "Enable").click();
  await page.getByText("enabled", { exact: true }).waitFor();
  assert.equal((await api("GET", "/api/toolsets/notes")).enabled, true);

  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Export as ZIP").click()]);
  assert.equal(file.suggestedFilename(), "notes-1.0.0.zip");
  const expected = await fetch(`${url}/api/toolsets/notes/export`, { headers: { "x-workspace-id": house.workspace } });
  assert.deepEqual(readFileSync(await file.path()), Buffer.from(await expected.arrayBuffer()));

  await button(page, "Uninstall").click();
  const dialog = page.getByRole("dialog");
  for (const seen of ["3 tools can no longer be called: notes:add_note", "3 overrides are deleted", "The versions of the tools and the records of their calls stay"]) {
    await dialog.getByText(seen, { exact: false }).waitFor();
  }
  await dialog.getByRole("button", { name: "Uninstall" }).click();
  await page.getByRole("heading", { name: "No toolset is installed" }).waitFor();
  assert.deepEqual(await installed(), []);
  await page.context().close();
});

test("MCP servers of a bundle are shown, and told if they do not answer", async () => {
  const manifest = `manifest_version: "1"
id: kit
name: Kit
version: "1.0.0"
mcp_servers:
  - id: absent
    transport: streamable-http
    url: http://127.0.0.1:9/mcp
`;
  const page = await house.open("toolsets?import=open");
  await choose(page, "kit.zip", zip({ "toolset.yaml": manifest }));
  await page.getByRole("row").filter({ hasText: "MCP servers" }).filter({ hasText: "absent" }).waitFor();
  await button(page, "Import Kit 1.0.0").click();
  await page.getByText("1 MCP server of the toolset cannot be used now").waitFor();
  await page.getByRole("link", { name: "MCP servers (1)" }).click();
  const row = page.getByRole("row").filter({ hasText: "unreachable" });
  assert.equal(await row.getByRole("link", { name: "absent" }).getAttribute("href"), "#/servers/mcp/absent");
  await accessible(page);
  await row.getByRole("link", { name: "absent" }).click();
  await page.getByRole("heading", { name: "absent", level: 1 }).waitFor();
  assert.ok(await button(page, "Delete").isDisabled(), "the toolset owns the server");
  await api("DELETE", "/api/toolsets/kit");
  await page.context().close();
});

test("a user reads toolsets and changes nothing, and a guest sees why there is nothing", async () => {
  const tokenOf = async (level) => (await api("POST", "/api/tokens", { name: level, level })).token;
  const user = await house.open("toolsets", { token: await tokenOf("user") });
  await user.getByText("Importing needs the level admin.").waitFor();
  await user.getByRole("heading", { name: "No toolset is installed" }).waitFor();
  assert.equal(await button(user, "Import a toolset").count(), 0);
  await accessible(user);
  await user.context().close();
  const guest = await house.open("toolsets", { token: await tokenOf("guest") });
  await guest.getByRole("heading", { name: "Guests do not see toolsets" }).waitFor();
  await guest.context().close();
  await until(async () => (await installed()).length === 0, "nothing is installed");
});
