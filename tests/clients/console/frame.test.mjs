// The frame around the pages: who the person is, links with their workspace, keys, and what stays behind in a tab.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { KEEP, accessible, allow, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";

const house = await openHouse(`console-frame-${Date.now().toString(36)}`);
after(house.close);
const { api } = house;
const { id: agent } = await api("POST", "/api/agents", { name: "Clerk" });

const button = (place, name) => place.getByRole("button", { name, exact: true });
const navigation = (page) => page.getByRole("navigation", { name: "Pages" });
const present = (page) => page.locator(".bar .who");
const heading = (page, name) => page.getByRole("heading", { name, level: 1, exact: true });
const makeToken = async (name, level) => (await api("POST", "/api/tokens", { name, level })).token;
const refusal = (status, message) => ({ status, json: { error: { code: "REFUSED", message, details: null } } });

/** Goes to a page without leaving the console. */
const visit = (page, path) => page.evaluate((it) => (location.hash = `#/${it}`), path);

test("a Pegboard that fails does not ask who is there, and one that knows nobody does", async () => {
  const page = await house.open("calls");
  await heading(page, "Calls").waitFor();
  await page.route("**/api/whoami", (route) => route.fulfill(refusal(503, "The database rests")));
  await page.reload();
  await page.getByRole("alert").getByText("The database rests").waitFor();
  assert.equal(await button(page, "Sign in").count(), 0);
  await page.unrouteAll();
  await button(page, "Try again").click();
  await heading(page, "Calls").waitFor();
  await expectRefusals(page, 503);
  for (const status of [400, 401, 403]) {
    await page.route("**/api/whoami", (route) => route.fulfill(refusal(status, "Who are you?")));
    await page.reload();
    await button(page, "Sign in").waitFor();
    await expectRefusals(page, status);
    await page.unrouteAll();
  }
  await page.context().close();
});

test("a late refusal of an old token signs nobody else out", async () => {
  const [old, next] = [await makeToken("old", "admin"), await makeToken("next", "admin")];
  await api("POST", "/api/tools", KEEP);
  await api("POST", "/api/execute", { tool_name: "keep", arguments: { path: "/a", content: "a" } });
  const page = await house.open("settings", { token: old });
  let refuse;
  const isHeld = new Promise((done) => (refuse = done));
  // The page of the approvals asks for the risk of the tool's version, and does not take the question back.
  await page.route("**/api/tools/keep/versions/1.0.0", async (route) => {
    await isHeld;
    await route.fulfill(refusal(401, "The token is revoked"));
  });
  const asked = page.waitForRequest("**/api/tools/keep/versions/1.0.0");
  await visit(page, "approvals");
  await asked;
  await visit(page, "settings");
  const other = page.getByRole("region", { name: "Another workspace or token" });
  await other.getByLabel("Token").fill(next);
  await button(other, "Sign in with this token").click();
  await until(() => page.evaluate((it) => sessionStorage.getItem("pegboard-token") === it, next), "the other token");
  refuse();
  await expectRefusals(page, 401);
  await page.waitForLoadState("networkidle");
  assert.equal(await page.evaluate(() => sessionStorage.getItem("pegboard-token")), next);
  await page.getByText("with a token, in this tab only").waitFor();
  await page.context().close();
});

test("a link names its workspace, and leads there", async () => {
  const other = `${house.workspace}-b`;
  const page = await house.open(`calls?status=error&workspace=${other}`);
  await present(page).getByText(other, { exact: true }).waitFor();
  await heading(page, "Calls").waitFor();
  assert.match(page.url(), /#\/calls\?status=error$/);
  await button(navigation(page), "Copy link").click();
  const copied = await until(() => page.evaluate(() => navigator.clipboard.readText()), "the link");
  assert.equal(copied, `${url}/#/calls?status=error&workspace=${other}`);
  // Who is there already stays there.
  await page.evaluate((it) => (location.href = it), copied);
  await until(() => page.url().endsWith("#/calls?status=error"), "the name of the workspace to be taken away");
  await present(page).getByText(other, { exact: true }).waitFor();
  // What is no name of a workspace is none.
  await visit(page, "tools?workspace=%0Aevil");
  await heading(page, "Tools").waitFor();
  await present(page).getByText(other, { exact: true }).waitFor();
  await page.context().close();
});

test("a link to another workspace takes nobody's token away", async () => {
  const token = await makeToken("linked", "user");
  const page = await house.open(`files?workspace=${house.workspace}-b`, { token });
  await page.getByText(`The link leads to the workspace ${house.workspace}-b, and your token is for ${house.workspace}.`).waitFor();
  assert.equal(await page.getByLabel("Workspace").inputValue(), `${house.workspace}-b`);
  await accessible(page);
  await button(page, `Stay in ${house.workspace}`).click();
  await heading(page, "Files").waitFor();
  await present(page).getByText("user", { exact: true }).waitFor();
  await page.context().close();
});

test("what was typed stays in its workspace, and goes when the person signs out", async () => {
  const page = await house.open("tools?view=register", { token: await makeToken("typist", "admin") });
  const editor = page.getByLabel("The tool as JSON");
  await editor.fill('{"id": "mine"}');
  await visit(page, "run/read_file");
  await page.getByRole("textbox", { name: "path", exact: true }).fill("/private.txt");
  await api("PUT", "/api/sessions/desk/files/a.txt", "one");
  await visit(page, "files/desk?path=%2Fa.txt");
  await page.locator(".editor-host").getByRole("textbox", { name: "/a.txt", exact: true }).click();
  await page.keyboard.insertText("draft ");
  await page.getByText("not saved").first().waitFor();
  await visit(page, "tools?view=register");
  await until(async () => (await editor.inputValue()) === '{"id": "mine"}', "the text is there again");
  await visit(page, "run/read_file");
  await until(async () => (await page.getByRole("textbox", { name: "path", exact: true }).inputValue()) === "/private.txt", "the argument is there again");

  await visit(page, "settings");
  await button(page, "Sign out").click();
  // Without a token everybody is the owner here.
  await page.getByText("without a token: this Pegboard is open").waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), ["pegboard-workspace"]);
  await visit(page, "tools?view=register");
  await editor.waitFor();
  assert.ok(!(await editor.inputValue()).includes("mine"));
  await visit(page, "run/read_file");
  assert.equal(await page.getByRole("textbox", { name: "path", exact: true }).inputValue(), "");
  await visit(page, "files/desk");
  await page.getByRole("treeitem", { name: /a\.txt/ }).waitFor();
  assert.equal(await page.getByText("not saved").count(), 0);

  // Another workspace has drafts of its own.
  await visit(page, "tools?view=register");
  await editor.fill('{"id": "here"}');
  await visit(page, `tools?view=register&workspace=${house.workspace}-b`);
  await present(page).getByText(`${house.workspace}-b`, { exact: true }).waitFor();
  await editor.waitFor();
  assert.ok(!(await editor.inputValue()).includes("here"));
  await visit(page, `tools?view=register&workspace=${house.workspace}`);
  await until(async () => (await editor.inputValue()) === '{"id": "here"}', "the draft of this workspace");
  await page.context().close();
});

test("the list of keys is whole, each page has a letter, and keys of one character can be switched off", async () => {
  const page = await house.open("settings");
  await heading(page, "Settings").waitFor();
  const titles = await navigation(page).getByRole("link").allInnerTexts();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  await help.waitFor();
  const listed = await help.locator("dd").allInnerTexts();
  for (const title of titles) assert.ok(listed.includes(title), `${title} has no key`);
  const keys = await help.locator("dt").allInnerTexts();
  assert.equal(new Set(keys.map((it) => it.replaceAll(/\s+/g, " ").trim())).size, keys.length, "a key is listed twice");
  for (const key of ["j", "k", "a", "d", "Ctrl Enter", "Ctrl s", "/", "?", "Esc"]) assert.ok(keys.some((it) => it.replaceAll(/\s+/g, " ").trim() === key), `${key} is not listed`);
  await accessible(page);
  await pictures(page, "keys");
  await button(help, "Close").click();
  for (const [letter, title] of [["e", "Toolsets"], ["v", "Servers"], ["o", "Overview"]]) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await page.getByRole("heading", { name: title === "Overview" ? "Welcome to Pegboard" : title, level: 1 }).or(heading(page, title)).waitFor();
  }

  await button(navigation(page), "Keys").click();
  await help.getByLabel("Keys of a single character").uncheck();
  await button(help, "Close").click();
  await page.reload();
  await button(navigation(page), "Keys").waitFor();
  for (const key of ["?", "/", "g", "t"]) await page.keyboard.press(key);
  assert.equal(await help.count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "");
  assert.match(page.url(), /#\/overview$/);
  await visit(page, "settings");
  await page.getByLabel("Keys of a single character").check();
  await page.getByRole("heading", { name: "Settings", level: 1 }).click();
  await page.keyboard.press("?");
  await help.waitFor();
  await page.context().close();
});

test("a path that climbs reaches nothing but its own session", async () => {
  const page = await house.open("settings");
  const asked = [];
  page.on("request", (it) => asked.push(new URL(it.url()).pathname));
  await visit(page, `files/desk?path=${encodeURIComponent(`/../../../agents/${agent}`)}`);
  await page.getByRole("alert").getByText("A path cannot have “..” as a name").first().waitFor();
  assert.equal(await button(page, "Delete").or(button(page, "Delete the directory")).count(), 1, "only the session can be deleted");
  for (const path of ["files/..", "tools/%2e%2e", "agents/..", "calls/.", "playground/.."]) {
    await visit(page, path);
    await page.getByRole("alert").getByText("cannot have “").first().waitFor();
  }
  assert.ok(asked.every((it) => !it.startsWith(`/api/agents/${agent}`)), asked.join("\n"));
  assert.equal((await api("GET", `/api/agents/${agent}`)).name, "Clerk");

  await visit(page, "files/desk");
  await button(page, "New file").click();
  const dialog = page.getByRole("dialog", { name: "New file" });
  await dialog.getByLabel("Path of the file").fill("notes/../../x.txt");
  await button(dialog, "Write the file").click();
  await dialog.getByText("A path cannot have “..” as a name").waitFor();
  assert.equal(await dialog.getByLabel("Path of the file").inputValue(), "notes/../../x.txt", "nothing that was typed is lost");
  allow(page, /status of 404/);
  await page.context().close();
});

test("what can be no name and no token is told, never sent, and forgotten if it was stored", async () => {
  const page = await house.open("settings");
  await heading(page, "Settings").waitFor();
  await page.route("**/api/whoami", (route) => route.fulfill(refusal(401, "Who are you?")));
  await page.reload();
  await page.getByLabel("Workspace").fill("wörk");
  await page.getByLabel("Token").fill("peg_…");
  await button(page, "Sign in").click();
  await page.getByText("No workspace has such a name.").waitFor();
  await page.getByText("This is no token").waitFor();
  await accessible(page);
  await page.unrouteAll();
  await page.getByLabel("Workspace").fill(house.workspace);
  await page.getByLabel("Token").fill(await makeToken("typed", "user"));
  await button(page, "Sign in").click();
  await page.getByText("with a token, in this tab only").waitFor();
  await expectRefusals(page, 401);

  const other = page.getByRole("region", { name: "Another workspace or token" });
  await other.getByLabel("Token").fill("peg_ä");
  assert.ok(await other.getByRole("button").isDisabled());

  await page.context().addInitScript(() => {
    if (window !== window.top) return;
    sessionStorage.setItem("pegboard-workspace", "wörk");
    sessionStorage.setItem("pegboard-token", "peg_日本");
  });
  await page.reload();
  await page.getByText("without a token: this Pegboard is open").waitFor();
  await present(page).getByText(house.workspace, { exact: true }).waitFor();
  await page.context().close();
});

const SEEN_BY = {
  guest: ["Tools", "Run", "Agents", "Settings"],
  user: ["Tools", "Run", "Agents", "Calls", "Files", "Toolsets", "Playground", "Settings"],
  admin: ["Overview", "Tools", "Run", "Agents", "Approvals", "Calls", "Files", "Toolsets", "Servers", "Changes", "Playground", "Settings"],
};

test("the navigation has the pages that the level may see, and each of them opens", async () => {
  for (const [level, titles] of Object.entries(SEEN_BY)) {
    const page = await house.open("settings", { token: await makeToken(`navigation ${level}`, level) });
    await heading(page, "Settings").waitFor();
    assert.deepEqual(await navigation(page).getByRole("link").allInnerTexts(), titles, level);
    for (const title of titles) {
      await navigation(page).getByRole("link", { name: title, exact: true }).click();
      await page.waitForLoadState("networkidle");
      await page.locator("main h1").waitFor();
      assert.equal(await page.getByText("You may not see or do this").count(), 0, `${title} as ${level}`);
    }
    await page.context().close();
  }
});

test("a page that the level may not see says so to whoever has a link", async () => {
  for (const [level, paths] of [["guest", ["calls", "approvals", "playground"]], ["user", ["approvals"]]]) {
    const page = await house.open("settings", { token: await makeToken(`link ${level}`, level) });
    await heading(page, "Settings").waitFor();
    for (const path of paths) {
      await visit(page, path);
      await heading(page, `${path[0].toUpperCase()}${path.slice(1)}`).waitFor();
      await page.getByRole("alert").getByText("You may not see or do this").first().waitFor();
      await accessible(page);
      await expectRefusals(page, 403);
    }
    await page.context().close();
  }
});

test("a browser gets the console at the root, whatever the query says, and other clients get JSON", async () => {
  for (const path of ["/", "/?", "/?from=mail", "/?next=/api/"]) {
    const page = await fetch(url + path, { headers: { accept: "text/html,*/*;q=0.8" } });
    assert.match(await page.text(), /<div id="app">/, path);
    const told = await fetch(url + path);
    assert.match(told.headers.get("content-type"), /json/, path);
    await told.body.cancel();
  }
  const list = await fetch(`${url}/api/tools?q=/?`, { headers: { accept: "text/html", "x-workspace-id": house.workspace } });
  assert.match(list.headers.get("content-type"), /json/);
  await list.body.cancel();
});

test("what the browser does not let the page copy is shown, so that it can be copied by hand", async () => {
  const page = await house.open("settings");
  // So it is on a page that came by plain http from another machine.
  await page.context().addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.reload();
  await button(page, "Copy as curl").first().click();
  const dialog = page.getByRole("dialog", { name: "Copy it by hand" });
  const field = dialog.getByLabel("Text to copy");
  assert.match(await field.inputValue(), /^curl 'http.*\/api\/whoami'/);
  assert.equal(await field.evaluate((it) => it.value.slice(it.selectionStart, it.selectionEnd)), await field.inputValue(), "everything is selected");
  await accessible(page);
  await pictures(page, "copy-by-hand");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.context().close();
});
