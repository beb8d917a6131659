// The page Settings: who one is, the theme, another workspace, tokens, credentials, the workspace.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { accessible, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";
import { zip } from "./zip.mjs";

// A server that is used again has the tokens of the last time.
const house = await openHouse(`console-settings-${Date.now().toString(36)}`);
after(house.close);
const { api } = house;

const button = (within, name) => within.getByRole("button", { name, exact: true });
const tokens = async () => (await api("GET", "/api/tokens")).tokens;
const statusWith = async (token) => (await fetch(`${url}/api/tools`, { headers: { "x-workspace-id": house.workspace, authorization: `Bearer ${token}` } })).status;

test("a person sees who they are, chooses a theme, and goes to another workspace", async () => {
  const page = await house.open("settings");
  const present = page.getByRole("region", { name: "Who you are" });
  await present.getByText(house.workspace).waitFor();
  await present.getByText("owner", { exact: true }).waitFor();
  await present.getByText("without a token: this Pegboard is open").waitFor();
  assert.equal(await button(page, "Sign out").count(), 0, "there is nothing to sign out of");
  await accessible(page);
  await pictures(page, "settings-you");

  await page.emulateMedia({ colorScheme: "light" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByLabel("Dark").check();
  await until(async () => (await background()) !== light, "the page is dark");
  await page.reload();
  await page.getByLabel("Dark").waitFor();
  assert.ok(await page.getByLabel("Dark").isChecked(), "the theme is remembered");

  const other = page.getByRole("region", { name: "Another workspace or token" });
  assert.ok(await button(other, "Go to this workspace").isDisabled(), "this workspace is the present one");
  await other.getByLabel("Workspace").fill(`${house.workspace}-b`);
  await button(other, "Go to this workspace").click();
  await present.getByText(`${house.workspace}-b`, { exact: true }).waitFor();
  await page.context().close();
});

test("a token is made, shown once, used, and revoked", async () => {
  const page = await house.open("settings?tab=tokens");
  await page.getByRole("heading", { name: "There are no tokens" }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("robot");
  await page.getByLabel("Level").selectOption("admin");
  await page.getByLabel("Expires").selectOption("day");
  await button(page, "Make the token").click();
  await page.getByText("The token “robot” is made. It is shown only now.").waitFor();
  await button(page, "Copy the token").click();
  const secret = await until(() => page.evaluate(() => navigator.clipboard.readText()), "the token is on the clipboard");
  assert.equal(await page.getByText(secret, { exact: true }).count(), 1);
  const [made] = await tokens();
  assert.deepEqual([made.name, made.level], ["robot", "admin"]);
  const lasts = Date.parse(made.expires_at) - Date.now();
  assert.ok(lasts > 23 * 3_600_000 && lasts <= 24 * 3_600_000, `lasts ${lasts} ms`);
  assert.equal(await statusWith(secret), 200);
  await page.getByRole("row").filter({ hasText: "robot" }).getByText("in 23 h").waitFor();
  await accessible(page);
  await pictures(page, "settings-tokens");
  await button(page, "I have stored it").click();
  assert.equal((await page.content()).includes(secret), false);

  const second = await house.open("settings", { token: secret });
  await second.getByRole("region", { name: "Who you are" }).getByText("admin", { exact: true }).waitFor();
  await second.getByRole("link", { name: "Tokens" }).click();
  await second.getByText("Tokens need the level owner").waitFor();
  await second.context().close();

  await button(page, "Revoke robot").click();
  await page.getByRole("dialog").getByText("refused from the next request on", { exact: false }).waitFor();
  await accessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("heading", { name: "There are no tokens" }).waitFor();
  assert.deepEqual(await tokens(), []);
  assert.equal(await statusWith(secret), 401);
  await page.context().close();
});

test("a token for an agent that there is not is refused beside its field", async () => {
  const page = await house.open("settings?tab=tokens");
  await page.getByLabel("Name", { exact: true }).fill("lost");
  await page.getByLabel("Agent (optional)").fill("agent_none");
  await button(page, "Make the token").click();
  await page.getByRole("alert").waitFor();
  await expectRefusals(page, 404);
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "lost", "nothing that was typed is lost");
  assert.deepEqual(await tokens(), []);
  await page.context().close();
});

test("a token that ends while the console is open leads to the sign-in page, and a new one leads back", async () => {
  const make = (name) => api("POST", "/api/tokens", { name, level: "user" });
  const [old, next] = [await make("old"), await make("next")];
  const page = await house.open("settings", { token: old.token });
  await page.getByText("with a token, in this tab only").waitFor();
  // The server of this test is open: without a token one would be the owner. A closed one refuses everything.
  await page.route("**/api/**", (route) => {
    if (route.request().headers()["authorization"] !== undefined) return route.continue();
    return route.fulfill({ status: 401, contentType: "application/json", body: JSON.stringify({ error: { code: "UNAUTHORIZED", message: "A token is needed", details: null } }) });
  });
  await api("DELETE", `/api/tokens/${old.id}`);
  await page.getByRole("link", { name: "Workspace", exact: true }).click();
  await page.getByText("Your token is no longer valid in this workspace").waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem("pegboard-token")), null);
  await accessible(page);
  await page.getByLabel("Token").fill(next.token);
  await button(page, "Sign in").click();
  await page.getByText("Modules of guests").waitFor();
  await expectRefusals(page, 401);
  await page.goto(`${url}/#/settings`);
  await button(page, "Sign out").click();
  await page.getByText("This Pegboard asks for a token.").waitFor();
  await expectRefusals(page, 401);
  await api("DELETE", `/api/tokens/${next.id}`);
  await page.context().close();
});

test("a token that expires while the console is open leads to the sign-in page", async () => {
  const { token } = await api("POST", "/api/tokens", { name: "brief", level: "user", expires_at: new Date(Date.now() + 6_000).toISOString() });
  const page = await house.open("settings", { token });
  await page.getByText("with a token, in this tab only").waitFor();
  // The server of this test is open; a closed one refuses whoever has no token.
  await page.route("**/api/**", (route) => {
    if (route.request().headers()["authorization"] !== undefined) return route.continue();
    return route.fulfill({ status: 401, json: { error: { code: "UNAUTHORIZED", message: "A token is needed", details: null } } });
  });
  // The log is live, so nobody needs to press anything.
  await page.evaluate(() => (location.hash = "#/calls"));
  await page.getByRole("heading", { name: "Calls", level: 1 }).waitFor();
  await page.getByText("Your token is no longer valid in this workspace").waitFor();
  assert.equal(await statusWith(token), 401);
  await expectRefusals(page, 401);
  await page.context().close();
});

test("credentials are listed with whether their secret is there, refused beside their field, and deleted", async () => {
  const manifest = `manifest_version: "1"
id: kit
name: Kit
version: "1.0.0"
mcp_servers:
  - id: docs
    transport: streamable-http
    url: http://127.0.0.1:9/mcp
    headers:
      Authorization: "Bearer \${DOCS_KEY}"
`;
  const imported = await fetch(`${url}/api/toolsets`, { method: "POST", headers: { "x-workspace-id": house.workspace }, body: zip({ "toolset.yaml": manifest }) });
  assert.equal(imported.status, 201, await imported.text());
  const page = await house.open("settings?tab=credentials");
  await page.getByRole("row").filter({ hasText: "DOCS_KEY" }).getByText("missing").waitFor();
  await page.getByLabel("Name of the secret").fill("NOBODY_LENT_THIS");
  await button(page, "Define the credential").click();
  await until(async () => (await page.getByLabel("Name of the secret").getAttribute("aria-invalid")) === "true", "the name is marked");
  await expectRefusals(page, 400);
  await accessible(page);
  await pictures(page, "settings-credentials");
  await button(page, "Delete DOCS_KEY").click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByText("The credential DOCS_KEY is in use by the MCP server docs").waitFor();
  await expectRefusals(page, 409);
  await api("DELETE", "/api/toolsets/kit");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "No credential is defined" }).waitFor();
  assert.deepEqual((await api("GET", "/api/credentials")).credentials, []);
  await page.context().close();
});

test("the settings of the workspace are changed; violations stand at their fields; a key is never shown", async () => {
  const page = await house.open("settings?tab=workspace");
  const form = page.getByRole("form", { name: "Settings of the workspace" });
  await page.getByRole("meter", { name: "Storage that is used" }).waitFor();
  assert.ok(await button(form, "Save the settings").isDisabled(), "nothing has changed");
  await form.getByLabel("Tokens of a request").fill("10");
  await form.getByLabel("Modules of guests").fill("dice\nNot A Name");
  await button(form, "Save the settings").click();
  await form.getByText("must be 1000 to 1000000, or 0 for the default").first().waitFor();
  for (const label of ["Tokens of a request", "Modules of guests"]) assert.equal(await form.getByLabel(label).getAttribute("aria-invalid"), "true", label);
  await expectRefusals(page, 400);

  await form.getByLabel("Tokens of a request").fill("9000");
  await form.getByLabel("Modules of guests").fill("dice\nclock");
  await form.getByLabel("Address").fill("https://models.example.com/v1");
  await form.getByLabel("Model", { exact: true }).fill("small");
  await form.getByLabel("Key").fill("open sesame");
  await form.getByLabel("Streaming").selectOption("never");
  await button(form, "Save the settings").click();
  await form.getByLabel("Remove the stored key").waitFor();
  const expected = { default_guest_modules: ["dice", "clock"], model_url: "https://models.example.com/v1", model_name: "small", model_key_set: true, model_streaming: "never", context_tokens: 9000 };
  assert.deepEqual(await api("GET", "/api/workspace"), expected);
  assert.equal(await form.getByLabel("Key", { exact: true }).inputValue(), "");
  await accessible(page);
  await pictures(page, "settings-workspace");

  await form.getByLabel("Remove the stored key").check();
  await form.getByLabel("Tokens of a request").fill("");
  await button(form, "Save the settings").click();
  await form.getByLabel("Remove the stored key").waitFor({ state: "detached" });
  assert.deepEqual(await api("GET", "/api/workspace"), { ...expected, model_key_set: false, context_tokens: null });
  await page.context().close();
});

test("a user reads the settings of the workspace, and sees what needs another level", async () => {
  const { token, id } = await api("POST", "/api/tokens", { name: "clerk", level: "user" });
  const page = await house.open("settings?tab=workspace", { token });
  await page.getByText("Changing them needs the level admin.").waitFor();
  await page.getByRole("link", { name: "Credentials" }).click();
  await page.getByText("Credentials need the level admin").waitFor();
  await page.context().close();
  await api("DELETE", `/api/tokens/${id}`);
});
