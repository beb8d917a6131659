// A Pegboard that asks for tokens: who signs in with which rights, and a token that ends while somebody writes.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { accessible, allow, closed, expectRefusals, openHouse, pictures, until } from "./house.mjs";

const house = await openHouse(`console-tokens-${Date.now().toString(36)}`, closed);
after(house.close);
const { api } = house;
const { id: agent } = await api("POST", "/api/agents", { name: "Clerk" });

const button = (place, name) => place.getByRole("button", { name, exact: true });
const heading = (page, name) => page.getByRole("heading", { name, level: 1, exact: true });
const navigation = (page) => page.getByRole("navigation", { name: "Pages" });
const makeToken = (name, level, more = {}) => api("POST", "/api/tokens", { name, level, ...more });
const ENDED = "Your token is no longer valid in this workspace";

async function signIn(page, token) {
  await page.getByLabel("Workspace").fill(house.workspace);
  await page.getByLabel("Token").fill(token);
  await button(page, "Sign in").click();
}

test("whoever has no token is asked for one, and each token opens what its level may see", async () => {
  for (const [level, last, count] of [
    ["guest", "Agents", 4],
    ["user", "Playground", 8],
    ["admin", "Changes", 12],
  ]) {
    const page = await house.open("settings");
    await page.getByText("This Pegboard asks for a token.").waitFor();
    await expectRefusals(page, 401);
    await signIn(page, (await makeToken(`${level} of the door`, level)).token);
    await heading(page, "Settings").waitFor();
    await page.locator(".bar .who").getByText(level, { exact: true }).waitFor();
    await navigation(page).getByRole("link", { name: last, exact: true }).waitFor();
    assert.equal(await navigation(page).getByRole("link").count(), count, level);
    await page.context().close();
  }
});

test("a token that nobody has made is told so", async () => {
  const page = await house.open("settings");
  await page.getByText("This Pegboard asks for a token.").waitFor();
  await signIn(page, "peg_none");
  await page.getByText("The token is not valid in this workspace.").waitFor();
  await accessible(page);
  await expectRefusals(page, 401);
  await page.context().close();
});

/** Nothing of the pages is seen, reached by a key, or read. */
async function seesNothing(page) {
  await page.getByText(ENDED).waitFor();
  assert.equal(await page.title(), "Sign in · Pegboard");
  assert.equal(await navigation(page).count(), 0);
  assert.equal(await page.locator(".frame").isVisible(), false);
  assert.equal(await page.getByRole("heading").count(), 1);
  const before = page.url();
  await page.getByRole("heading", { name: "Pegboard" }).click();
  for (const key of ["g", "t", "?"]) await page.keyboard.press(key);
  assert.equal(page.url(), before);
  assert.equal(await page.getByRole("dialog").count(), 0);
  const asked = [];
  page.on("request", (it) => asked.push(it.url()));
  await page.evaluate(() => new Promise((done) => setTimeout(done, 4_000)));
  assert.deepEqual(asked, [], "a hidden page asks for something");
}

test("a message that is being written survives the end of its token, and nobody sees it meanwhile", async () => {
  const old = await makeToken("talker", "user", { expires_at: new Date(Date.now() + 8_000).toISOString() });
  const page = await house.open(`playground/desk?agent=${agent}&new=true`, { token: old.token });
  // The conversation has no session yet.
  allow(page, /status of 404/);
  const field = page.getByLabel("Message", { exact: true });
  await field.fill("Half a thought");
  await page.evaluate((end) => new Promise((done) => setTimeout(done, end - Date.now() + 500)), Date.parse(old.expires_at));
  await button(page, "Send").click();
  await seesNothing(page);
  await accessible(page);
  await pictures(page, "token-ended");
  await signIn(page, (await makeToken("talker again", "user")).token);
  await field.waitFor();
  assert.equal(await field.inputValue(), "Half a thought");
  await until(async () => (await page.title()) === "Playground · Pegboard" || (await page.title()).endsWith("· Pegboard"), "the title of the page");
  assert.equal(await page.getByText(ENDED).count(), 0);
  await expectRefusals(page, 401);
  await page.context().close();
});

test("a half-written agent survives the end of its token, also below a dialog", async () => {
  const old = await makeToken("maker", "user");
  const page = await house.open("agents?view=new", { token: old.token });
  await page.getByLabel("Name", { exact: true }).fill("Half an agent");
  await api("DELETE", `/api/tokens/${old.id}`);
  await button(page, "Create the agent").click();
  await seesNothing(page);
  await signIn(page, (await makeToken("maker again", "user")).token);
  await button(page, "Create the agent").waitFor();
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "Half an agent");
  await button(page, "Create the agent").click();
  await heading(page, "Half an agent").waitFor();
  await expectRefusals(page, 401);
  await page.context().close();
});

test("somebody with other rights begins anew", async () => {
  const old = await makeToken("leaver", "admin");
  const page = await house.open("agents?view=new", { token: old.token });
  await page.getByLabel("Name", { exact: true }).fill("Half an agent");
  await api("DELETE", `/api/tokens/${old.id}`);
  await button(page, "Create the agent").click();
  await page.getByText(ENDED).waitFor();
  await signIn(page, "peg_none");
  await page.getByText(ENDED).waitFor();
  await signIn(page, (await makeToken("another", "user")).token);
  await page.getByLabel("Name", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "");
  await page.locator(".bar .who").getByText("user", { exact: true }).waitFor();
  await expectRefusals(page, 401);
  await page.context().close();
});
