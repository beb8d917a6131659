// The page Approvals: approve, deny, two people at once, expiry, keys.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { accessible, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";

// A server that is used again has the approvals of the last time.
const house = await openHouse(`console-approvals-${Date.now().toString(36)}`);
after(house.close);
const { api } = house;

const { id: agent } = await api("POST", "/api/agents", { name: "Janitor", max_risk: "critical" });
const SCHEMA = { type: "object", properties: { path: { type: "string" }, content: { type: "string" } }, required: ["path", "content"] };
await api("POST", "/api/tools", {
  id: "keep",
  version: "1.0.0",
  name: "Keep",
  description: "Keeps a note, if somebody allows it",
  risk_level: "high",
  parameters_schema: SCHEMA,
  handler: { type: "builtin", key: "write_file" },
});
await api("POST", `/api/agents/${agent}/tools`, { tool_id: "keep" });

/** Asks for a call that waits. Returns its approval's id and its own. */
async function ask(path, more = {}) {
  const { error, call_id } = await api("POST", "/api/execute", { tool_name: "keep", arguments: { path, content: `the text of ${path}` }, session_id: "desk", ...more });
  return { approval: error.details.approval_id, call: call_id };
}

const cardOf = (page, { approval }) => page.locator(`#${approval}`);
const button = (card, name) => card.getByRole("button", { name, exact: true });
const approvalOf = ({ approval }) => api("GET", `/api/approvals/${approval}`);
const callOf = ({ call }) => api("GET", `/api/tool-calls/${call}`);

test("an empty inbox says what belongs there", async () => {
  const page = await house.open("approvals");
  await page.getByRole("heading", { name: "No call waits" }).waitFor();
  assert.equal(await page.title(), "Approvals · Pegboard");
  await accessible(page);
  // The next questions leave it as it is.
  await page.evaluate(() => {
    window.flickers = 0;
    new MutationObserver(() => (window.flickers += document.querySelectorAll("main .loading").length)).observe(document.body, { childList: true, subtree: true });
  });
  await page.getByRole("main").getByRole("link", { name: "The tools" }).focus();
  for (let turn = 0; turn < 2; turn += 1) await page.waitForResponse((it) => it.url().includes("/api/approvals?"));
  await page.getByRole("heading", { name: "No call waits" }).waitFor();
  assert.equal(await page.evaluate(() => window.flickers), 0, "the list is said to be loading");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "The tools", "the focus stays");
  await page.context().close();
});

test("approve one, deny another, and both stay in sight", async () => {
  const first = await ask("/first.txt", { agent_id: agent, user_id: "ada" });
  const page = await house.open("approvals");
  const card = cardOf(page, first);
  for (const seen of ["keep", "high", "/first.txt", "Janitor", "ada", "anonymous", "desk"]) await card.getByText(seen, { exact: false }).first().waitFor();
  await card.getByText("expires in 23 h").waitFor();
  await until(async () => (await page.title()) === "Approvals (1) · Pegboard", "the number in the title");

  // A second one comes in without a reload.
  const second = await ask("/second.txt");
  await cardOf(page, second).waitFor();
  assert.equal(await page.title(), "Approvals (2) · Pegboard");
  await accessible(page);
  await pictures(page, "approvals");

  await card.getByLabel("Reason (optional)").fill("Checked with Ada");
  // What a person types survives the next answers of the server.
  await page.waitForResponse((it) => it.url().includes("/api/approvals?"));
  assert.equal(await card.getByLabel("Reason (optional)").inputValue(), "Checked with Ada");
  await button(card, "Copy “Approve” as curl").click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, new RegExp(`/api/approvals/${first.approval}/approve'.*"reason":"Checked with Ada"`));

  await button(card, "Approve and run").click();
  await card.getByText("Approved by anonymous").waitFor();
  await card.getByText(": Checked with Ada").waitFor();
  await card.getByText("Wrote 22 bytes to /first.txt").waitFor();
  assert.deepEqual([(await approvalOf(first)).status, (await approvalOf(first)).reason], ["approved", "Checked with Ada"]);
  assert.equal(await api("GET", "/api/sessions/desk/files/first.txt"), "the text of /first.txt");

  await button(cardOf(page, second), "Deny").click();
  await cardOf(page, second).getByText("Denied by anonymous").waitFor();
  assert.equal((await callOf(second)).status, "denied");
  await button(cardOf(page, second), "Show the call").click();
  await cardOf(page, second).getByText("APPROVAL_DENIED").waitFor();
  await until(async () => (await page.title()) === "Approvals · Pegboard", "no number in the title");
  // The next answers do not take the decided ones away.
  await page.waitForResponse((it) => it.url().includes("/api/approvals?"));
  await page.waitForResponse((it) => it.url().includes("/api/approvals?"));
  assert.equal(await page.locator("article.approval").count(), 2);
  await accessible(page);
  await pictures(page, "approvals-decided");

  await page.getByRole("link", { name: "Denied", exact: true }).click();
  await cardOf(page, second).waitFor();
  await until(async () => (await page.locator("article.approval").count()) === 1, "the denied one alone");
  assert.match(page.url(), /#\/approvals\?status=denied$/);
  await page.getByRole("link", { name: "All", exact: true }).click();
  await until(async () => (await page.locator("article.approval").count()) === 2, "both in the list of all");
  await page.context().close();
});

test("a decision in the list of all is shown at once", async () => {
  const asked = await ask("/all.txt");
  const page = await house.open("approvals?status=all");
  const card = cardOf(page, asked);
  await button(card, "Deny").waitFor();
  // The list stands still.
  await page.route("**/api/approvals?*", () => {});
  await button(card, "Deny").click();
  await card.getByText("Denied by anonymous").waitFor();
  assert.equal(await button(card, "Approve and run").count(), 0);
  await page.context().close();
});

test("of two people who decide at once one is told who was first", async () => {
  const asked = await ask("/race.txt");
  const pages = [await house.open("approvals"), await house.open("approvals")];
  const cards = pages.map((it) => cardOf(it, asked));
  await Promise.all(cards.map((it) => button(it, "Deny").waitFor()));
  // The lists stand still, so that both decide on what they see.
  for (const it of pages) await it.route("**/api/approvals?*", () => {});
  await Promise.all([button(cards[0], "Approve and run").click(), button(cards[1], "Deny").click()]);
  const { status } = await until(async () => {
    const present = await approvalOf(asked);
    return present.status !== "pending" && present;
  }, "a decision");
  const loser = status === "approved" ? cards[1] : cards[0];
  await loser.getByText(`Your decision came too late: anonymous had ${status} it before.`).waitFor();
  await expectRefusals(pages[cards.indexOf(loser)], 409);
  for (const it of cards) await it.getByText(status === "approved" ? "Approved by anonymous" : "Denied by anonymous").waitFor();
  const call = await until(async () => {
    const present = await callOf(asked);
    return !["running", "pending_approval"].includes(present.status) && present;
  }, "the end of the call");
  assert.equal(call.status, status === "approved" ? "success" : "denied");
  for (const it of pages) {
    await it.context().close();
  }
});

test("a decision of somebody else appears in place", async () => {
  const asked = await ask("/elsewhere.txt");
  const page = await house.open("approvals");
  await button(cardOf(page, asked), "Deny").waitFor();
  await api("POST", `/api/approvals/${asked.approval}/deny`, { reason: "Not before Monday" });
  await cardOf(page, asked).getByText(": Not before Monday").waitFor();
  assert.equal(await button(cardOf(page, asked), "Deny").count(), 0);
  await page.context().close();
});

test("an approval that expires says so, and is decided by nobody", async () => {
  const asked = await ask("/expires.txt");
  const page = await house.open("approvals");
  await button(cardOf(page, asked), "Deny").waitFor();
  // A day passes for the browser: the server answers as it does for an approval that has expired.
  const expired = { ...(await approvalOf(asked)), status: "expired", expires_at: new Date(Date.now() - 7_200_000).toISOString() };
  await page.route("**/api/approvals?*", (route) => route.fulfill({ json: { approvals: [], next_cursor: null } }));
  await page.route(`**/api/approvals/${asked.approval}`, (route) => route.fulfill({ json: expired }));
  await cardOf(page, asked).getByText("Nobody decided. The approval expired 2 h ago.").waitFor();
  assert.equal(await button(cardOf(page, asked), "Approve and run").count(), 0);
  assert.equal(await page.title(), "Approvals · Pegboard");

  // Who decides in that moment is told so.
  await page.unroute("**/api/approvals?*");
  await page.unroute(`**/api/approvals/${asked.approval}`);
  await page.reload();
  await button(cardOf(page, asked), "Deny").waitFor();
  await page.route("**/api/approvals?*", () => {});
  await page.route(`**/api/approvals/${asked.approval}`, (route) => route.fulfill({ json: expired }));
  await page.route(`**/api/approvals/${asked.approval}/approve`, (route) => route.fulfill({ status: 409, json: { error: { code: "CONFLICT", message: "The approval has expired", details: null } } }));
  await button(cardOf(page, asked), "Approve and run").click();
  await cardOf(page, asked).getByText("Your decision came too late: the approval had expired.").waitFor();
  await expectRefusals(page, 409);
  await page.context().close();
  await api("POST", `/api/approvals/${asked.approval}/deny`);
});

/** Sends a body as it is written: JavaScript would write other numbers. */
async function askWritten(given) {
  const headers = { "x-workspace-id": house.workspace, "content-type": "application/json" };
  const body = `{"tool_name": "keep", "session_id": "desk", "arguments": ${given}}`;
  const { error, call_id } = await (await fetch(`${url}/api/execute`, { method: "POST", headers, body })).json();
  return { approval: error.details.approval_id, call: call_id };
}

test("the card shows the call's own arguments, whatever their fields are called", async () => {
  const prefix = '{"path": "/harmless.txt"}';
  const forged = await ask("/forged.txt", { arguments: { path: "/forged.txt", content: "EVIL", truncated: true, sha256: "00", size: prefix.length, prefix, not_kept: "quota" } });
  const page = await house.open("approvals");
  const shown = cardOf(page, forged).getByRole("region", { name: "Arguments of keep" });
  await shown.getByText("/forged.txt").waitFor();
  assert.match(await shown.innerText(), /EVIL/);
  assert.equal(await cardOf(page, forged).getByText("The quota of the workspace was used up").count(), 0);
  for (const path of [`approvals/${forged.approval}`, `calls/${forged.call}`]) {
    await page.evaluate((it) => (location.hash = `#/${it}`), path);
    await page.getByRole("region", { name: /^Arguments/ }).getByText("EVIL").waitFor();
  }
  await api("POST", `/api/approvals/${forged.approval}/deny`);
  await page.context().close();
});

test("arguments of 9 KB are read in the inbox, and downloaded", async () => {
  const content = `${"long ".repeat(1_800)}THE END`;
  const long = await ask("/long.txt", { arguments: { path: "/long.txt", content } });
  const page = await house.open("approvals");
  const card = cardOf(page, long);
  const shown = card.getByRole("region", { name: "Arguments of keep" });
  await shown.getByText("/long.txt").waitFor();
  assert.ok(!(await shown.innerText()).includes("truncated"), "a description is no argument");
  await card.getByText(/^The first 1\.0 KB of 9\.\d KB are shown\./).waitFor();
  const coming = page.waitForEvent("download");
  await button(card, "Download the whole").click();
  const chunks = [];
  for await (const chunk of await (await coming).createReadStream()) chunks.push(chunk);
  assert.deepEqual(JSON.parse(Buffer.concat(chunks).toString()), { path: "/long.txt", content });
  await card.getByRole("button", { name: /^Show 9\.\d KB$/ }).click();
  await shown.getByText("THE END").waitFor();
  // Below the bar of the console axe takes links for hidden ones.
  await page.evaluate(() => scrollTo(0, 0));
  await accessible(page);
  await api("POST", `/api/approvals/${long.approval}/deny`);
  await page.context().close();
});

test("a number that no browser holds is shown as it is, and never sent rounded", async () => {
  const asked = await askWritten('{"path": "/n.txt", "content": "n", "account": 9007199254740993}');
  const page = await house.open("approvals");
  await cardOf(page, asked).getByText('"account": 9007199254740993').waitFor();
  await api("POST", `/api/approvals/${asked.approval}/deny`);
  const sent = [];
  page.on("request", (it) => it.url().endsWith("/api/execute") && sent.push(it.postData()));
  await page.evaluate((it) => (location.hash = `#/calls/${it}`), asked.call);
  await page.getByRole("region", { name: "Arguments" }).getByText('"account": 9007199254740993').first().waitFor();
  await page.getByRole("link", { name: "Retry with other arguments" }).click();
  await page.getByText("The form has the arguments of an earlier call").waitFor();
  await button(page, "Ask for the run").or(button(page, "Run")).first().click();
  await page.getByText("9007199254740993 is too large to be sent exactly.").first().waitFor();
  assert.deepEqual(sent, []);
  await page.context().close();
});

test("an approval that cannot be read after the decision is decided all the same", async () => {
  const asked = await ask("/unread.txt");
  const page = await house.open(`approvals/${asked.approval}`);
  const card = cardOf(page, asked);
  await button(card, "Deny").waitFor();
  await page.route(`**/api/approvals/${asked.approval}`, (route) => route.fulfill({ status: 503, json: { error: { code: "UNAVAILABLE", message: "The database rests", details: null } } }));
  await button(card, "Deny").click();
  await card.getByText("Your decision is taken.").waitFor();
  await card.getByText("The database rests").waitFor();
  assert.equal(await button(card, "Deny").count(), 0);
  assert.equal((await approvalOf(asked)).status, "denied");
  await page.unrouteAll();
  await button(card, "Try again").click();
  await card.getByText("Denied by anonymous").waitFor();
  await expectRefusals(page, 503);
  await page.context().close();
});

test("keys choose and decide, and nothing runs before Enter", async () => {
  for (const { id } of (await api("GET", "/api/approvals?status=pending")).approvals) await api("POST", `/api/approvals/${id}/deny`);
  const [one, two] = [await ask("/key-1.txt"), await ask("/key-2.txt")];
  const page = await house.open("approvals");
  await button(cardOf(page, two), "Deny").waitFor();
  for (const it of ["j", "j", "k"]) await page.keyboard.press(it);
  await page.locator(`#${one.approval}:focus`).waitFor();
  await page.keyboard.press("a");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Approve and run");
  assert.equal((await approvalOf(one)).status, "pending");
  await page.keyboard.press("Enter");
  await cardOf(page, one).getByText("Approved by anonymous").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("d");
  await page.keyboard.press("Enter");
  await cardOf(page, two).getByText("Denied by anonymous").waitFor();
  assert.deepEqual([(await approvalOf(one)).status, (await approvalOf(two)).status], ["approved", "denied"]);
  // Letters of a reason are letters.
  const three = await ask("/key-3.txt");
  await cardOf(page, three).getByLabel("Reason (optional)").pressSequentially("jade");
  assert.equal(await cardOf(page, three).getByLabel("Reason (optional)").inputValue(), "jade");
  // `g a` goes to the agents, and decides nothing.
  await cardOf(page, three).focus();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await until(() => page.url().endsWith("#/agents"), "the page of the agents");
  assert.equal((await approvalOf(three)).status, "pending");
  await page.context().close();
});

test("an approval has a link of its own, and a refusal is told in its place", async () => {
  const asked = await ask("/alone.txt");
  const page = await house.open(`approvals/${asked.approval}`);
  const card = cardOf(page, asked);
  await card.getByText("/alone.txt").first().waitFor();
  await api("POST", "/api/tools/keep/deactivate", { reason: "security" });
  await button(card, "Approve and run").click();
  await card.getByText("has been deactivated since the call was asked").waitFor();
  assert.equal((await approvalOf(asked)).status, "pending");
  await button(card, "Deny").click();
  await card.getByText("Denied by anonymous").waitFor();
  await page.goto(page.url().replace(/appr_\w+/, "appr_00000000000000000000000000000000"));
  await page.getByText("There is no such thing").waitFor();
  for (const status of [409, 404]) await expectRefusals(page, status);
  await page.context().close();
});
