// The overview: a newcomer's first steps, and figures of a workspace in use.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { KEEP, accessible, allow, expectRefusals, openHouse, pictures, until } from "./house.mjs";

// A server that is used again has the calls of the last time.
const house = await openHouse(`console-overview-${Date.now().toString(36)}`);
after(house.close);
const { api } = house;

const region = (page, name) => page.getByRole("region", { name, exact: true });
const figure = (page, title) => page.locator("figure").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
const run = (tool_name, given) => api("POST", "/api/execute", { tool_name, arguments: given, session_id: "desk" });

test("a workspace without calls shows what to do first, and the plots appear with the first call", async () => {
  const page = await house.open("overview");
  await page.getByRole("heading", { name: "Welcome to Pegboard" }).waitFor();
  for (const step of ["Run a tool", "Bring your own tools", "Make an agent", "Connect an MCP client"]) await page.getByRole("heading", { name: step, exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Register a module" }).getAttribute("href"), "#/servers?register=module");
  await page.getByRole("button", { name: "Copy the address" }).click();
  const address = await until(() => page.evaluate(() => navigator.clipboard.readText()), "the address is on the clipboard");
  assert.ok(address.endsWith(`/w/${house.workspace}/mcp`), address);
  assert.equal(await page.locator("canvas").count(), 0);
  await accessible(page);
  await pictures(page, "overview-first");
  await run("write_file", { path: "/a.txt", content: "hello" });
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await page.context().close();
});

test("calls, errors, approvals, alerts and storage are shown as the API has them", async () => {
  for (let turn = 0; turn < 4; turn++) await run("read_file", { path: "/a.txt" });
  await run("read_file", { path: "/none.txt" });
  await api("POST", "/api/tools", {
    id: "keep",
    version: "1.0.0",
    name: "Keep",
    description: "Keeps a note, if somebody allows it",
    risk_level: "high",
    parameters_schema: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } }, required: ["path", "content"] },
    handler: { type: "builtin", key: "write_file" },
  });
  const { error } = await run("keep", { path: "/b.txt", content: "b" });
  await api("POST", "/api/modules", { name: "gone", url: "http://127.0.0.1:9" });

  const page = await house.open("overview");
  const calls = figure(page, "Calls a minute");
  await calls.getByText("6 calls in the last hour: 5 succeeded, 1 failed, 0 were refused.").waitFor();
  await calls.locator("canvas").waitFor();
  await figure(page, "Error rate").getByText("17 % of the calls that ran in the last hour failed.").waitFor();
  await figure(page, "Duration").getByText("At the slowest, 95 of 100 calls took at most", { exact: false }).waitFor();
  await calls.getByText("Values").click();
  const cells = await calls.getByRole("cell").allInnerTexts();
  const sums = [0, 1, 2].map((column) => cells.filter((_, at) => at % 3 === column).reduce((sum, it) => sum + Number(it), 0));
  assert.deepEqual(sums, [0, 1, 5], "denied, error and success of the table");

  const waiting = region(page, "Pending approvals");
  await waiting.getByText("1 waiting").waitFor();
  assert.equal(await waiting.getByRole("link", { name: "keep" }).getAttribute("href"), `#/approvals/${error.details.approval_id}`);
  const alert = region(page, "Health").getByRole("link", { name: "gone (unreachable)" });
  assert.equal(await alert.getAttribute("href"), "#/servers/modules/gone");
  await page.getByRole("meter", { name: "Storage that is used" }).waitFor();
  const busiest = region(page, "Busiest tools").getByRole("row").filter({ hasText: "read_file" });
  await busiest.getByText("80 %").waitFor();
  assert.equal(await busiest.getByRole("link", { name: "5 calls of read_file" }).getAttribute("href"), "#/calls?tool_name=read_file");
  await region(page, "Most frequent errors").getByText("TOOL_ERROR").waitFor();
  await accessible(page);
  await pictures(page, "overview");

  // The pointer tells the values of one minute.
  const canvas = calls.locator(".u-over");
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width - 8, box.y + box.height / 2);
  await calls.locator(".plot-legend strong").first().waitFor();

  await page.getByLabel("Show").selectOption("day");
  await figure(page, "Calls a day").getByText("6 calls in the last 60 days", { exact: false }).waitFor();
  assert.ok(page.url().endsWith("#/overview?bucket=day"));
  await page.reload();
  await figure(page, "Calls a day").getByText("6 calls in the last 60 days", { exact: false }).waitFor();

  // A further approval appears without a reload.
  await run("keep", { path: "/c.txt", content: "c" });
  await waiting.getByText("2 waiting").waitFor();
  await page.context().close();
});

test("the first call that waits is shown to those who decide", async () => {
  const first = await openHouse(`${house.workspace}-waits`);
  await first.api("POST", "/api/tools", KEEP);
  await first.api("POST", "/api/execute", { tool_name: "keep", arguments: { path: "/a", content: "a" } });
  const page = await first.open("overview");
  await region(page, "Pending approvals").getByText("1 waiting").waitFor();
  await region(page, "Health").waitFor();
  assert.equal(await page.getByRole("heading", { name: "Welcome to Pegboard" }).count(), 0);
  await first.close();
});

test("a browser whose clock is wrong sees the calls all the same", async () => {
  const page = await house.open("settings");
  // Two days ahead.
  await page.clock.setFixedTime(Date.now() + 2 * 86_400_000);
  for (const [path, title] of [["overview", "Calls a minute"], ["overview?bucket=hour", "Calls an hour"], ["overview?bucket=day", "Calls a day"]]) {
    await page.evaluate((it) => (location.hash = `#/${it}`), path);
    await figure(page, title).waitFor();
    assert.equal(await page.getByText("must not be in the future").count(), 0);
  }
  await page.context().close();
});

test("figures that cannot be read leave the rest of the page usable", async () => {
  const page = await house.open("settings");
  await page.route("**/api/tool-calls/series*", (route) => route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ error: { code: "UNAVAILABLE", message: "The database rests", details: null } }) }));
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await region(page, "Calls").getByText("The database rests").waitFor();
  await region(page, "Busiest tools").getByRole("row").filter({ hasText: "read_file" }).waitFor();
  await page.unroute("**/api/tool-calls/series*");
  await page.getByRole("button", { name: "Try again" }).click();
  await figure(page, "Calls a minute").waitFor();
  await expectRefusals(page, 503);
  await page.context().close();
});

test("plots that cannot be drawn leave their values", async () => {
  const page = await house.open("settings");
  allow(page, /net::ERR_FAILED/);
  await page.route(/\/assets\/uPlot[^/]*\.js$/, (route) => route.abort());
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  const calls = figure(page, "Calls a minute");
  await calls.getByText("The drawing could not be loaded. The values are below.").waitFor();
  await calls.getByText("Values", { exact: true }).click();
  await calls.getByRole("table").waitFor();
  await accessible(page);
  await page.context().close();
});

test("a user sees why there is no overview", async () => {
  const { token } = await api("POST", "/api/tokens", { name: "clerk", level: "user" });
  const page = await house.open("overview", { token });
  await page.getByRole("heading", { name: "Only admins see the overview" }).waitFor();
  await page.context().close();
});
