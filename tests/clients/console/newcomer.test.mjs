// Somebody who has read nothing but the first screen of README: runs a tool, registers one, approves its call, reads what the
// call did, and rolls the tool back. Only what is on the screen is used, and no address is typed but the first.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openHouse, until } from "./house.mjs";

// A newcomer's workspace is empty, also on a server that has run this test before.
const house = await openHouse(`console-newcomer-${Date.now().toString(36)}`);
after(house.close);

const button = (place, name) => place.getByRole("button", { name, exact: true });
/** Chooses a page in the navigation. */
const choose = async (page, name) => {
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
};
const main = (page) => page.getByRole("main");
const field = (page, name) => page.getByRole("textbox", { name, exact: true });
const result = (page) => page.getByRole("region", { name: "Result", exact: true });

test("a first run, from the address in README to a rollback", async () => {
  const page = await house.open();
  await page.getByRole("heading", { name: "Welcome to Pegboard" }).waitFor();

  // Run a tool.
  await page.getByRole("link", { name: "Choose a tool" }).click();
  await page.getByRole("link", { name: "Write File" }).click();
  await page.getByRole("heading", { name: "Write File", level: 1 }).waitFor();
  await main(page).getByRole("link", { name: "Run", exact: true }).click();
  await field(page, "path").fill("/notes/today.txt");
  await field(page, "content").fill("gas is up");
  await button(page, "Run").click();
  await result(page).getByText("success", { exact: true }).waitFor();
  await result(page).getByText("gas is up").waitFor();

  // Read what it did.
  await choose(page, "Calls");
  await page.getByRole("row").filter({ hasText: "write_file" }).getByRole("link", { name: "write_file" }).click();
  await page.getByRole("region", { name: "The first files of the session" }).getByRole("link", { name: "/notes/today.txt" }).waitFor();

  // Register a tool whose calls wait.
  await choose(page, "Tools");
  await page.getByRole("link", { name: "Register a tool" }).click();
  await page.getByLabel("Begin with").selectOption({ label: "Python" });
  const editor = page.getByLabel("The tool as JSON");
  await editor.fill((await editor.inputValue()).replace('"risk_level": "safe"', '"risk_level": "high"'));
  await button(page, "Preview").click();
  await page.getByText("It replaces nothing").waitFor();
  await until(() => button(page, "Register").isEnabled(), "the tool to be registrable");
  await button(page, "Register").click();
  await page.getByRole("heading", { name: "Count lines", level: 1 }).waitFor();

  // Its call waits, and is approved.
  await main(page).getByRole("link", { name: "Run", exact: true }).click();
  await field(page, "text").fill("one\ntwo");
  await button(page, "Ask for the run").click();
  await result(page).getByText("the call waits for an approval").waitFor();
  await choose(page, "Approvals");
  const card = page.locator("article.approval");
  await card.getByText("line_count").first().waitFor();
  await button(card, "Approve and run").click();
  await card.getByText("Approved by").waitFor();
  await choose(page, "Calls");
  const row = page.getByRole("row").filter({ hasText: "line_count" });
  await row.getByText("success").waitFor();
  await row.getByRole("link", { name: "line_count" }).click();
  await page.getByRole("heading", { name: "Call of line_count" }).waitFor();
  assert.match(await result(page).innerText(), /\b2\b/);

  // A new version is worse, and is rolled back.
  await choose(page, "Tools");
  await page.getByRole("link", { name: "Count lines" }).click();
  await page.getByRole("link", { name: "New version" }).click();
  await page.getByRole("heading", { name: "A new version of line_count" }).waitFor();
  await editor.fill((await editor.inputValue()).replace("text.splitlines()", "text"));
  await button(page, "Preview").click();
  await until(() => button(page, "Register").isEnabled(), "the version to be registrable");
  await button(page, "Register").click();
  await page.getByRole("heading", { name: "Count lines", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Versions" }).click();
  await button(page, "Roll back to 1.0.0").click();
  const dialog = page.getByRole("dialog", { name: "Roll back to line_count 1.0.0" });
  await button(dialog, "Roll back to 1.0.0").click();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await house.api("GET", "/api/tools/line_count")).version, "1.0.0");

  // The overview and the log of changes tell about it.
  await choose(page, "Changes");
  await page.locator("main li, main tr").filter({ hasText: "rollback" }).filter({ hasText: "line_count" }).first().waitFor();
  await choose(page, "Overview");
  await page.getByRole("heading", { name: "Welcome to Pegboard" }).waitFor({ state: "detached" });
  await page.context().close();
});
