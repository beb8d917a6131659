// The network goes away and comes back: what was read stays, nothing that was typed is lost, and every page goes on by itself.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { gate, startModel, text } from "../chat/model.mjs";
import { accessible, allow, openHouse, pictures, url } from "./house.mjs";

const house = await openHouse(`console-offline-${Date.now().toString(36)}`);
const model = await startModel();
after(async () => {
  await house.close();
  model.stop();
});
const { api } = house;
await api("PATCH", "/api/workspace", { model_url: model.url, model_name: "scripted" });
const { id: agent } = await api("POST", "/api/agents", { name: "Clerk" });

const button = (page, name) => page.getByRole("button", { name, exact: true });
const field = (page, name) => page.getByRole("textbox", { name, exact: true });
const run = (tool_name, given) => api("POST", "/api/execute", { tool_name, arguments: given, session_id: "desk" });

/** Cuts the page off, and waits until the page has noticed. */
async function cutOff(page) {
  await page.context().setOffline(true);
  await page.getByText("Pegboard does not answer. The page shows what was read before").waitFor();
}

/** Brings the network back. What Chromium writes about lost requests is no fault of the page. */
async function bringBack(page) {
  allow(page, /net::ERR_INTERNET_DISCONNECTED/);
  await page.context().setOffline(false);
  await page.getByText("Pegboard does not answer. The page shows what was read before").waitFor({ state: "detached" });
}

test("a live page keeps what was read, and goes on", async () => {
  await run("write_file", { path: "/a.txt", content: "one" });
  const page = await house.open("calls");
  const rows = page.locator("table.calls tbody tr");
  await rows.getByText("write_file").waitFor();
  await cutOff(page);
  assert.equal(await rows.count(), 1, "the call stays on the screen");
  await accessible(page);
  await pictures(page, "offline");
  await run("read_file", { path: "/a.txt" });
  await bringBack(page);
  await rows.getByText("read_file").waitFor();
  await page.context().close();
});

test("a page that was never opened before arrives as soon as the network is back", async () => {
  const page = await house.open("calls");
  await page.locator("table.calls tbody tr").first().waitFor();
  await cutOff(page);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Agents" }).click();
  await page.getByText("Loading").waitFor();
  await bringBack(page);
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Clerk" }).waitFor();
  await page.context().close();
});

test("a page whose file got lost arrives although Pegboard answers", async () => {
  const page = await house.open("calls");
  await page.locator("table.calls tbody tr").first().waitFor();
  allow(page, /net::ERR_FAILED/);
  let asked = 0;
  await page.route(/\/assets\/[^/]*\.js$/, (route) => ((asked += 1) === 1 ? route.abort() : route.continue()));
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Agents" }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  assert.ok(asked > 1, "no file got lost");
  await page.context().close();
});

test("a page without a clock of its own is read again", async () => {
  const page = await house.open("calls");
  await page.locator("table.calls tbody tr").first().waitFor();
  // The file of the page is there, its data are not.
  await page.goto(`${url}/#/tools/read_file`);
  await page.getByRole("heading", { name: "Read File", level: 1 }).waitFor();
  await page.goBack();
  await cutOff(page);
  await page.goto(`${url}/#/tools/write_file`);
  await page.getByRole("alert").getByText("The console reads again as soon as Pegboard answers.").first().waitFor();
  await bringBack(page);
  await page.getByRole("heading", { name: "Write File", level: 1 }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.context().close();
});

test("files and directories that could not be read are read, and a file stays on the screen", async () => {
  await run("write_file", { path: "/far/deep.txt", content: "far away" });
  await run("write_file", { path: "/near.txt", content: "close by" });
  const page = await house.open("files/desk?path=%2Fnear.txt");
  const editor = (path) => page.locator(".editor-host").getByRole("textbox", { name: path, exact: true });
  await editor("/near.txt").getByText("close by").waitFor();
  await cutOff(page);
  await page.getByRole("treeitem", { name: "far" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("alert").getByText("The console reads again as soon as Pegboard answers.").first().waitFor();
  assert.equal(await editor("/near.txt").getByText("close by").count(), 1);
  await page.getByRole("button", { name: "Try again" }).last().click();
  await bringBack(page);
  await page.getByRole("treeitem", { name: /deep\.txt/ }).waitFor();
  await page.getByRole("alert").first().waitFor({ state: "detached" });

  // The file itself gets lost.
  await cutOff(page);
  await page.getByRole("treeitem", { name: /deep\.txt/ }).click();
  await page.getByRole("region", { name: "/far/deep.txt" }).getByText("The console reads again as soon as Pegboard answers.").waitFor();
  await bringBack(page);
  await editor("/far/deep.txt").getByText("far away").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.context().close();
});

test("a fault of one view is gone in the next view of the same page", async () => {
  const page = await house.open("agents");
  await page.route(`**/api/agents/${agent}`, (route) => route.fulfill({ json: { id: agent, name: "Clerk", capabilities: 3 } }));
  await page.getByRole("link", { name: "Clerk" }).waitFor();
  await page.evaluate((it) => (location.hash = `#/agents/${it}?tab=settings`), agent);
  await page.getByRole("alert").getByText("The page could not be shown").waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.context().close();
});

test("a form that could not be sent stays as it is, and nothing is sent twice", async () => {
  const page = await house.open("run/write_file?session=desk");
  await field(page, "path").fill("/typed.txt");
  await field(page, "content").fill("typed with care");
  await page.context().setOffline(true);
  await button(page, "Run").click();
  await page.getByRole("alert").getByText("Nobody knows whether this request arrived. Look before you send it again.").waitFor();
  assert.equal(await field(page, "content").inputValue(), "typed with care");
  await bringBack(page);
  const { entries } = await api("GET", "/api/sessions/desk/files");
  assert.ok(!entries.some((it) => it.name === "typed.txt"), "the console sends nothing by itself");
  await button(page, "Run").click();
  await page.getByRole("region", { name: "Result", exact: true }).getByText("success", { exact: true }).waitFor();
  await page.context().close();
});

test("a chat comes back to the turn that went on without it, and a message that was not sent stays in its field", async () => {
  const page = await house.open(`playground/talk?agent=${agent}&new=true`);
  const halted = gate();
  const turn = model.script([text("The first half"), halted.opened, text(" and the second.")]);
  const message = page.getByLabel("Message", { exact: true });
  await message.fill(`Go on ${turn.tag}`);
  await button(page, "Send").click();
  await page.locator(".messages").getByText("The first half").waitFor();
  // An emulated loss of the network cuts no stream that is under way; this does. Any other request that succeeds tells the page
  // that it may come back, so the notice may be there only for a moment.
  const again = page.waitForRequest((it) => it.url().endsWith("/stream"));
  await page.evaluate(() => window.stop());
  await again;
  halted.open();
  await page.locator(".messages").getByText("The first half and the second.").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);

  await page.context().setOffline(true);
  await message.fill("Never sent");
  await button(page, "Send").click();
  await page.getByText("Nobody knows whether this request arrived").waitFor();
  assert.equal(await message.inputValue(), "Never sent");
  await bringBack(page);
  await page.getByText("Nobody knows whether this request arrived").waitFor({ state: "detached" });
  assert.equal(await page.locator(".messages").getByText("Never sent").count(), 0, "what was not stored is not shown as said");
  assert.equal(await message.inputValue(), "Never sent");
  await page.context().close();
});

test("a console that was opened before an update says so", async () => {
  const page = await house.open("calls");
  await page.locator("table.calls tbody tr").first().waitFor();
  allow(page, /status of 404/);
  await page.route("**/assets/*.js", (route) => route.fulfill({ status: 404, body: "gone" }));
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Toolsets" }).click();
  await page.getByText("This page of the console could not be loaded").waitFor();
  await accessible(page);
  await page.unrouteAll();
  await button(page, "Reload the console").click();
  await page.getByRole("heading", { name: "Toolsets", level: 1 }).waitFor();
  await page.context().close();
});
