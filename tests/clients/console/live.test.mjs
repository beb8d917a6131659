// Pages that read their data again by themselves: when they do, and when they do not.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { KEEP, expectRefusals, openHouse, until } from "./house.mjs";

const house = await openHouse(`console-live-${Date.now().toString(36)}`);
after(house.close);
const { api } = house;

await api("POST", "/api/tools", KEEP);
const run = (tool_name, given) => api("POST", "/api/execute", { tool_name, arguments: given, session_id: "desk" });
await run("write_file", { path: "/a.txt", content: "one" });

const rows = (page) => page.locator("table.calls tbody tr");
const button = (place, name) => place.getByRole("button", { name, exact: true });
/** Longer than the pages of these tests wait between two questions. */
const INTERVAL_MS = 3_500;

/** Hides the tab from the page, or shows it again, as a browser does. */
const setHidden = (page, isHidden) =>
  page.evaluate((it) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => it });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);

/** Counts the requests whose address has the words. */
function count(page, words) {
  const counted = { requests: 0 };
  page.on("request", (it) => (counted.requests += it.url().includes(words) ? 1 : 0));
  return counted;
}

test("nothing is read while the tab is hidden, and everything as soon as somebody looks again", async () => {
  const { error } = await run("keep", { path: "/hidden.txt", content: "h" });
  // A list, one thing, and a page with several of both.
  for (const [path, words] of [["calls", "/api/tool-calls?"], [`approvals/${error.details.approval_id}`, "/api/approvals/appr_"], ["approvals", "/api/approvals?"]]) {
    const page = await house.open(path);
    await page.waitForResponse((it) => it.url().includes(words));
    await page.waitForLoadState("networkidle");
    await setHidden(page, true);
    const all = count(page, "/api/");
    await sleep(INTERVAL_MS);
    assert.equal(all.requests, 0, `${path} is read while it is hidden`);
    const asked = page.waitForRequest((it) => it.url().includes(words), { timeout: 1_000 });
    await setHidden(page, false);
    await asked;
    // And it goes on.
    await page.waitForRequest((it) => it.url().includes(words));
    await page.context().close();
  }
});

test("answers that take longer than the interval arrive", async () => {
  const { error } = await run("keep", { path: "/slow.txt", content: "s" });
  for (const [path, words, seen] of [["calls", "**/api/tool-calls?*", "table.calls tbody tr"], [`approvals/${error.details.approval_id}`, "**/api/approvals/appr_*", "article.approval"]]) {
    const page = await house.open("settings");
    await page.route(words, async (route) => {
      await sleep(INTERVAL_MS + 1_000);
      // A page that gave up has closed its request.
      await route.continue().catch(() => {});
    });
    await page.evaluate((it) => (location.hash = `#/${it}`), path);
    await page.locator(seen).first().waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.context().close();
  }
});

test("a list with further pages says that it stands still, and a page that was refused does not stop it", async () => {
  for (let turn = 0; turn < 6; turn += 1) await Promise.all(Array.from({ length: 9 }, () => run("list_files", {})));
  const page = await house.open("calls");
  await until(async () => (await rows(page).count()) === 50, "the first page");
  await page.route("**/api/tool-calls?*cursor=*", (route) => route.fulfill({ status: 503, json: { error: { code: "UNAVAILABLE", message: "The database rests", details: null } } }));
  await button(page, "Show more").click();
  await page.getByRole("alert").getByText("The database rests").waitFor();
  await expectRefusals(page, 503);
  await page.unrouteAll({ behavior: "wait" });
  await run("read_file", { path: "/a.txt" });
  await rows(page).getByText("read_file").first().waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });

  await button(page, "Show more").click();
  await page.getByText("The list is not live while more than its first page is shown.").waitFor();
  await page.getByText("Not live", { exact: true }).waitFor();
  const lists = count(page, "/api/tool-calls?");
  await sleep(INTERVAL_MS);
  assert.equal(lists.requests, 0);
  await button(page, "Back to the live list").click();
  await until(async () => (await rows(page).count()) === 50, "the first page again");
  await run("write_file", { path: "/b.txt", content: "two" });
  await rows(page).first().getByText("write_file").waitFor();
  await page.context().close();
});

test("a call that was waited for is not asked about any more", async () => {
  const page = await house.open("run/keep");
  await page.getByRole("textbox", { name: "path", exact: true }).fill("/kept.txt");
  await page.getByRole("textbox", { name: "content", exact: true }).fill("k");
  await button(page, "Ask for the run").click();
  const result = page.getByRole("region", { name: "Result", exact: true });
  await result.getByText("the call waits for an approval").waitFor();
  await result.getByText("not yet run").waitFor();
  const { approvals } = await api("GET", "/api/approvals?status=pending");
  await api("POST", `/api/approvals/${approvals.at(-1).id}/approve`);
  await result.getByText("success", { exact: true }).waitFor();
  const calls = count(page, "/api/tool-calls/");
  await sleep(INTERVAL_MS);
  assert.equal(calls.requests, 0);
  await page.context().close();
});

test("what is final is not asked about again: a decision, and a refusal of the whole list", async () => {
  const { error } = await run("keep", { path: "/final.txt", content: "f" });
  const id = error.details.approval_id;
  const page = await house.open(`approvals/${id}`);
  await button(page, "Deny").waitFor();
  await api("POST", `/api/approvals/${id}/deny`);
  await page.getByText("Denied by").waitFor();
  const approvals = count(page, "/api/approvals");
  await sleep(INTERVAL_MS);
  assert.equal(approvals.requests, 0);
  await page.context().close();

  const { token } = await api("POST", "/api/tokens", { name: "visitor", level: "guest" });
  const guest = await house.open("calls", { token });
  await guest.getByRole("alert").getByText("You may not see or do this").waitFor();
  const calls = count(guest, "/api/tool-calls");
  await sleep(INTERVAL_MS);
  assert.equal(calls.requests, 0);
  await expectRefusals(guest, 403);
  await guest.context().close();
});
