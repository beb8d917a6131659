// The page Calls: the live log with its filters, and one call with everything that its record tells.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test } from "node:test";

import { startServer } from "./artifacts.mjs";
import { accessible, expectRefusals, openHouse, pictures, until } from "./house.mjs";

// A server that is used again has the calls of the last time.
const house = await openHouse(`console-calls-${Date.now().toString(36)}`);
const { api } = house;

const HUGE = JSON.stringify({ rows: Array.from({ length: 40_000 }, (_, id) => ({ id, price: id / 7, text: "a longer text ".repeat(15) })) });
assert.ok(HUGE.length > 10_000_000 && HUGE.length < 10_485_760, `the result has ${HUGE.length} bytes`);

let release;
const isReleased = new Promise((done) => {
  release = done;
});
const JSON_TYPE = { "content-type": "application/json" };
const tools = await startServer(async (request) => {
  switch (request.url) {
    case "/slow":
      await isReleased;
      return [200, JSON_TYPE, '"at last"'];
    case "/huge":
      return [200, JSON_TYPE, HUGE];
    default:
      return [500, {}, "The disk is on fire"];
  }
});
after(async () => {
  await house.close();
  tools.stop();
});
for (const id of ["slow", "huge", "breaks"]) {
  await api("POST", "/api/tools", {
    id,
    version: "1.0.0",
    name: id,
    description: `The tool ${id} of the tests of the calls`,
    parameters_schema: { type: "object", properties: { path: { type: "string" } } },
    handler: { type: "http", url: `${tools.url}/${id}` },
  });
}

const run = (tool_name, given, more = {}) => api("POST", "/api/execute", { tool_name, arguments: given, session_id: "desk", ...more });
const rows = (page) => page.locator("table.calls tbody tr");
const button = (place, name) => place.getByRole("button", { name, exact: true });
const panel = (page, name) => page.getByRole("region", { name, exact: true });
/** The facts of a call, by their names. */
const fact = (page, name) => panel(page, "About").locator("dt", { hasText: new RegExp(`^${name}$`) }).locator("+ dd");

test("an empty log says how to begin, and the first call appears by itself", async () => {
  const page = await house.open("calls");
  await page.getByRole("heading", { name: "No tool has been called yet" }).waitFor();
  await run("write_file", { path: "/a.txt", content: "one\ntwo\n" });
  await rows(page).getByText("write_file").waitFor();
  // A paused log stands still.
  await button(page, "Pause").click();
  await page.getByText("Paused").waitFor();
  let asked = 0;
  page.on("request", (it) => (asked += it.url().includes("/api/tool-calls") ? 1 : 0));
  await run("breaks", {});
  // Longer than the log waits between two questions.
  await page.evaluate(() => new Promise((done) => setTimeout(done, 3_500)));
  assert.equal(asked, 0);
  await button(page, "Pause").click();
  await rows(page).getByText("TOOL_ERROR").waitFor();
  await page.context().close();
});

test("filters live in the URL, and are there again on the way back", async () => {
  for (const path of ["/a.txt", "/b.txt"]) await run("write_file", { path, content: "one" });
  await run("read_file", { path: "/a.txt" });
  await run("read_file", { path: 3 }).catch((cause) => assert.match(String(cause), /INVALID_ARGUMENTS/));
  const page = await house.open("calls");
  await until(async () => (await rows(page).count()) >= 4, "all calls");
  await page.getByLabel("Tool", { exact: true }).fill("read_file");
  await until(async () => (await rows(page).count()) === 2, "the calls of one tool");
  await page.getByLabel("Status").selectOption("error");
  await until(async () => (await rows(page).count()) === 1, "the failed calls of one tool");
  assert.match(page.url(), /#\/calls\?tool_name=read_file&status=error$/);
  assert.equal(await page.getByLabel("Tool", { exact: true }).inputValue(), "read_file");
  await rows(page).getByText("INVALID_ARGUMENTS").waitFor();
  await accessible(page);
  await pictures(page, "calls");

  await rows(page).getByRole("link", { name: "read_file" }).click();
  await page.getByRole("heading", { name: "Call of read_file" }).waitFor();
  const above = page.getByRole("navigation", { name: "Above this page" }).getByRole("link", { name: "Calls" });
  assert.equal(await above.getAttribute("href"), "#/calls?tool_name=read_file&status=error");
  await page.goBack();
  await until(async () => (await rows(page).count()) === 1, "the same list");
  assert.equal(await page.getByLabel("Tool", { exact: true }).inputValue(), "read_file");
  assert.equal(await page.getByLabel("Status").inputValue(), "error");

  await page.getByLabel("Since").fill("2100-01-01T00:00");
  await page.getByRole("heading", { name: "No call fits these filters" }).waitFor();
  await page.getByRole("link", { name: "Clear the filters" }).first().click();
  await until(async () => (await rows(page).count()) >= 4, "all calls again");
  assert.equal(await page.getByLabel("Tool", { exact: true }).inputValue(), "");
  await page.context().close();
});

test("a call tells what it changed, and leads to another try", async () => {
  await run("write_file", { path: "/c.txt", content: "one\ntwo\n" });
  await run("write_file", { path: "/b.txt", content: "kept\n" });
  const { call_id } = await run("write_file", { path: "/c.txt", content: "one\nthree\n" }, { user_id: "ada" });
  const page = await house.open(`calls/${call_id}`);
  const files = panel(page, "Files before and after");
  await files.getByText("/c.txt").first().waitFor();
  await files.locator(".removed", { hasText: "-two" }).waitFor();
  await files.locator(".added", { hasText: "+three" }).waitFor();
  assert.equal(await files.getByText("/b.txt").count(), 0);
  assert.equal(await fact(page, "User").textContent(), "ada");
  assert.equal(await fact(page, "Operator").textContent(), "anonymous");
  assert.equal(await fact(page, "Version").textContent(), "1.0.0");
  assert.match(await fact(page, "Duration").textContent(), /^\d+ ms$/);
  assert.equal(await page.getByRole("link", { name: "Retry with other arguments" }).getAttribute("href"), `#/run/write_file?arguments=${call_id}`);
  await accessible(page);
  await pictures(page, "call");

  const loaded = page.waitForEvent("download");
  await button(panel(page, "Arguments"), "Download").click();
  assert.deepEqual(JSON.parse(await readFile(await (await loaded).path(), "utf8")), { path: "/c.txt", content: "one\nthree\n" });
  await page.context().close();
});

test("a call that failed tells why, with all violations", async () => {
  const broken = await run("breaks", { pth: "x" });
  const page = await house.open(`calls/${broken.call_id}`);
  const outcome = panel(page, "Outcome");
  await outcome.getByText("TOOL_ERROR").waitFor();
  await outcome.getByText("The disk is on fire").waitFor();
  await panel(page, "Arguments").getByText("is not named by the schema, and may be misspelt").waitFor();
  await accessible(page);
  await pictures(page, "call-error");

  await run("list_files", { path: 3 }).catch((cause) => assert.match(String(cause), /INVALID_ARGUMENTS/));
  const { tool_calls } = await api("GET", "/api/tool-calls?tool_name=list_files&status=error");
  await page.goto(page.url().replace(/call_\w+/, tool_calls[0].id));
  await outcome.locator("li", { hasText: '/path 3 is not of type "string"' }).waitFor();
  await page.goto(page.url().replace(/call_\w+/, `call_${"0".repeat(46)}`));
  await page.getByText("There is no such thing").waitFor();
  await expectRefusals(page, 404);
  await page.context().close();
});

test("a call that runs is waited for", async () => {
  const running = run("slow", {});
  const { id } = await until(async () => (await api("GET", "/api/tool-calls?tool_name=slow")).tool_calls[0], "the call that runs");
  const page = await house.open(`calls/${id}`);
  await page.getByText("The call runs. This page waits for its end.").waitFor();
  assert.equal(await fact(page, "Ended").textContent(), "not yet");
  release();
  await panel(page, "Result").getByText("at last").waitFor();
  assert.equal((await running).status, "success");
  await page.context().close();
});

test("older calls are read page by page", async () => {
  for (let turn = 0; turn < 6; turn += 1) await Promise.all(Array.from({ length: 9 }, () => run("list_files", {})));
  const page = await house.open("calls?tool_name=list_files");
  await until(async () => (await rows(page).count()) === 50, "the first page");
  // The live log asks for its first page meanwhile, and the answer comes last: it must not take the second page away.
  let goOn;
  const isHeld = new Promise((done) => (goOn = done));
  await page.route("**/api/tool-calls?*", async (route) => {
    if (!route.request().url().includes("cursor=")) await isHeld;
    await route.continue().catch(() => {});
  });
  await page.waitForRequest((it) => it.url().includes("/api/tool-calls?") && !it.url().includes("cursor="));
  await button(page, "Show more").click();
  await until(async () => (await rows(page).count()) > 53, "the second page");
  goOn();
  await page.unrouteAll({ behavior: "wait" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200))));
  assert.ok((await rows(page).count()) > 53, "the second page is gone");
  await button(page, "Back to the live list").click();
  await until(async () => (await rows(page).count()) === 50, "the first page again");
  await page.context().close();
});

/** Opens the call, shows the beginning of its result and downloads the whole. Returns how long each long task took. */
async function useHugeResult(page, call) {
  await page.evaluate(() => (location.hash = "#/calls"));
  await rows(page).first().waitFor();
  await page.evaluate(() => {
    window.long = [];
    window.observer?.disconnect();
    window.observer = new PerformanceObserver((list) => window.long.push(...list.getEntries().map((it) => Math.round(it.duration))));
    window.observer.observe({ type: "longtask" });
  });
  await page.evaluate((id) => (location.hash = `#/calls/${id}`), call);
  const result = panel(page, "Result");
  const shown = result.getByRole("region", { name: "Result of huge" });
  await button(result, "Show 50 KB").click();
  await until(async () => (await shown.textContent()).length === 50_000, "50 KB of the result");
  assert.ok(HUGE.startsWith((await shown.textContent()).slice(0, 10_000)));
  const loaded = page.waitForEvent("download");
  await button(result, "Download the whole").click();
  assert.equal((await readFile(await (await loaded).path(), "utf8")).length, HUGE.length);
  // The observer is told after the frame.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100))));
  return page.evaluate(() => window.long);
}

test("a result of 10 MB never holds the page up", async () => {
  const { call_id, status, error } = await run("huge", {}, { max_result_bytes: 1_000 });
  assert.equal(status, "success", JSON.stringify(error));
  const page = await house.open("calls");
  // A busy machine only makes tasks longer, so one good try is enough.
  const tries = [];
  do tries.push(await useHugeResult(page, call_id));
  while (tries.at(-1).some((it) => it >= 200) && tries.length < 4);
  assert.ok(tries.at(-1).every((it) => it < 200), `long tasks of each try, in ms: ${JSON.stringify(tries)}`);
  await accessible(page);
  await page.context().close();
});
