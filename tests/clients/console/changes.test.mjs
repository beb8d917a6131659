// Changes: the log and its filters, the registry at any moment, backup and restore, the rules.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { accessible, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";

// The log is append-only: a server that is used again would have the changes of the last time.
const WORKSPACE = `console-changes-${Date.now().toString(36)}`;
let house;
before(async () => {
  house = await openHouse(WORKSPACE);
});
after(() => house.close());

const TOOL = {
  id: "word_count",
  version: "1.0.0",
  name: "Count words",
  description: "Counts the words of a text.",
  parameters_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  handler: { type: "builtin", key: "read_file" },
};

/** The number of the last change. */
async function lastSeq() {
  const { changes } = await house.api("GET", "/api/registry/changes?order=newest&limit=1");
  return changes[0].seq;
}

const logOf = (page) => page.getByRole("list", { name: "Changes, newest first" }).getByRole("listitem");
const seen = (page, text) => page.getByText(text).first().waitFor();

test("a workspace without changes says so on every view", async () => {
  const page = await house.open("changes");
  await page.getByRole("heading", { name: "Nothing has changed yet" }).waitFor();
  await page.getByRole("link", { name: "At a moment" }).click();
  await seen(page, "As soon as there are changes");
  await page.context().close();
});

test("the log tells who, what and why, newest first; filters are in the URL", async () => {
  const { token } = await house.api("POST", "/api/tokens", { name: "Deploy pipeline", level: "admin" });
  await house.api("POST", "/api/tools", TOOL);
  const agent = await house.api("POST", "/api/agents", { name: "Ana" });
  await house.api("POST", `/api/agents/${agent.id}/tools`, { tool_id: "word_count" });
  const deployed = await fetch(`${url}/api/tools`, {
    method: "POST",
    headers: { "x-workspace-id": WORKSPACE, "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ ...TOOL, version: "1.1.0", description: "Counts the words of a text, twice." }),
  });
  assert.equal(deployed.status, 201);
  await house.api("POST", "/api/tools/word_count/rollback", { version: "1.0.0", reason: "1.1.0 counts twice" });

  const page = await house.open("changes");
  await logOf(page).first().waitFor();
  const { changes } = await house.api("GET", "/api/registry/changes?order=newest");
  assert.equal(await logOf(page).count(), changes.length);
  assert.match(await logOf(page).first().innerText(), /rollback[\s\S]*tool:word_count@1\.0\.0[\s\S]*anonymous[\s\S]*1\.1\.0 counts twice/);
  await accessible(page);

  await page.getByLabel("Who").fill("Deploy pipeline");
  await until(async () => (await logOf(page).count()) === 2, "the changes of the token");
  const updated = logOf(page).filter({ hasText: "word_count@1.1.0" });
  assert.match(await updated.innerText(), /Deploy pipeline/);
  await updated.locator("summary").click();
  const difference = page.getByRole("region", { name: /What change \d+ changed/ });
  await difference.waitFor();
  assert.match(await difference.innerText(), /\+ {2}"description": "Counts the words of a text, twice\."/);
  await page.getByRole("link", { name: "Compare 1.0.0 with 1.1.0" }).waitFor();
  await accessible(page);

  await page.getByLabel("Who").fill("");
  await page.getByLabel("Action").selectOption("attach");
  await until(async () => (await logOf(page).count()) === 1, "the only attachment");
  assert.match(page.url(), /[?&]action=attach/);
  await page.reload();
  await logOf(page).filter({ hasText: `attachment:${agent.id}/word_count` }).waitFor();
  assert.equal(await page.getByLabel("Action").inputValue(), "attach");
  assert.equal(await logOf(page).count(), 1);
  await page.getByLabel("Tool", { exact: true }).fill("no_such_tool");
  await page.getByRole("heading", { name: "No change fits the filters" }).waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await until(async () => (await logOf(page).count()) === changes.length, "all changes");

  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download the whole log" }).click()]);
  const lines = readFileSync(await saved.path(), "utf8").trim().split("\n").map((it) => JSON.parse(it));
  assert.deepEqual(lines.map((it) => it.seq), changes.map((it) => it.seq).toReversed());
  await pictures(page, "changes");
  await page.context().close();
});

test("the slider shows a tool that was deactivated later", async () => {
  await house.api("POST", "/api/tools", { ...TOOL, id: "short_lived" });
  const seq = await lastSeq();
  await house.api("POST", "/api/tools/short_lived/deactivate", { reason: "deprecated" });
  const later = await lastSeq();
  assert.equal(later, seq + 1);

  // A link with the number alone leads here.
  const page = await house.open("settings");
  const states = [];
  page.on("request", (it) => it.url().includes("/api/registry/state?seq=") && states.push(it.url()));
  await page.evaluate((it) => (location.hash = `#/changes?seq=${it}`), later);
  const tools = page.getByRole("region", { name: "Tools", exact: true });
  await tools.getByRole("listitem").filter({ hasText: "short_lived@1.0.0" }).filter({ hasText: "not active" }).waitFor();
  assert.equal(states.length, 1, "now is read once");
  const slider = page.getByRole("slider", { name: "Moment" });
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("heading", { name: `After change ${seq} of ${later}` }).waitFor();
  await tools.getByRole("listitem").filter({ hasText: "short_lived@1.0.0" }).filter({ hasNotText: "not active" }).waitFor();
  assert.match(page.url(), new RegExp(`seq=${seq}(&|$)`));
  assert.equal(await slider.getAttribute("aria-valuetext"), `after change ${seq} of ${later}`);
  const since = page.getByRole("region", { name: "What differs from now" });
  await since.getByText("tool:short_lived@1.0.0").click();
  const difference = page.getByRole("region", { name: "tool:short_lived@1.0.0, then and now" });
  await difference.waitFor();
  assert.match(await difference.innerText(), /-  "active": true[\s\S]*\+  "active": false/);
  await accessible(page);
  await pictures(page, "changes-moment");

  // While the hand moves, nothing is asked for.
  let asked = 0;
  page.on("request", (it) => it.url().includes("/api/registry/state?seq=") && asked++);
  await slider.focus();
  await page.keyboard.press("Home");
  for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowRight");
  await page.getByRole("heading", { name: `After change 3 of ${later}` }).waitFor();
  await since.getByText("new since").first().waitFor();
  assert.ok(asked <= 2, `${asked} requests for four steps`);
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByRole("heading", { name: "The registry now" }).waitFor();
  await page.context().close();
});

test("a backup is downloaded, previewed and restored", async () => {
  const { id: agent } = await house.api("POST", "/api/agents", { name: "Ben" });
  const page = await house.open("changes?tab=backup");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download one document" }).click()]);
  const backup = readFileSync(await saved.path());
  assert.deepEqual(JSON.parse(backup), await house.api("GET", "/api/registry/backup"));
  const [lines] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download JSON Lines" }).click()]);
  assert.match(readFileSync(await lines.path(), "utf8"), /\n\{"end":/);

  const picker = page.getByLabel("A backup to restore");
  const named = (name, buffer) => ({ name, mimeType: "application/octet-stream", buffer });
  await picker.setInputFiles(named("registry.ndjson", readFileSync(await lines.path())));
  await seen(page, "The registry is already as this backup says.");
  assert.equal(await page.getByRole("button", { name: "Restore this backup" }).isDisabled(), true);

  await house.api("DELETE", `/api/agents/${agent}`);
  const { id: other } = await house.api("POST", "/api/agents", { name: "Cleo" });
  await picker.setInputFiles(named("registry.json", backup));
  const preview = page.getByRole("region", { name: "What a restore would do" });
  await preview.getByRole("region", { name: "Created" }).getByText(`agent:${agent}`).waitFor();
  await preview.getByRole("region", { name: "Deleted" }).getByText(`agent:${other}`).waitFor();
  await accessible(page);
  await pictures(page, "changes-backup");
  // The preview has written nothing.
  assert.ok((await house.api("GET", "/api/agents?limit=200")).agents.some((it) => it.id === other));
  await page.getByRole("button", { name: "Restore this backup" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore", exact: true }).click();
  await seen(page, /2 things differed, and are now as the backup says/);
  const ids = (await house.api("GET", "/api/agents?limit=200")).agents.map((it) => it.id);
  assert.ok(ids.includes(agent) && !ids.includes(other), String(ids));

  await picker.setInputFiles(named("broken.json", Buffer.from('{"tools": 1}')));
  await page.getByRole("alert").filter({ hasText: "VALIDATION_ERROR" }).waitFor();
  await expectRefusals(page, 400);
  await page.context().close();
});

test("the rules are checked when somebody asks", async () => {
  const page = await house.open("changes?tab=invariants");
  await seen(page, "All rules hold.");
  const { invariants } = await house.api("GET", "/api/registry/invariants");
  assert.equal(await page.getByRole("region", { name: "Rules" }).getByRole("row").count(), invariants.length + 1);
  await Promise.all([page.waitForResponse((it) => it.url().endsWith("/api/registry/invariants")), page.getByRole("button", { name: "Check now" }).click()]);
  await accessible(page);
  await page.context().close();
});

test("a user sees why there is no log here", async () => {
  const { token } = await house.api("POST", "/api/tokens", { name: "changes user", level: "user" });
  const page = await house.open("changes", { token });
  await seen(page, "You may not see or do this");
  await expectRefusals(page, 403);
  await page.context().close();
});

test("an admin reads the log, and is told that backups are for owners", async () => {
  const { token } = await house.api("POST", "/api/tokens", { name: "changes admin", level: "admin" });
  const page = await house.open("changes", { token });
  await logOf(page).first().waitFor();
  await page.getByRole("link", { name: "Backup and restore" }).click();
  await page.getByRole("heading", { name: "Only owners back the registry up and restore it" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Choose a backup" }).count(), 0);
  await page.context().close();
});
