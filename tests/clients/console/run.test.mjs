// The page Run: every kind of schema becomes a form, and what is filled in arrives at the tool exactly; then checks,
// violations, examples, approvals, earlier calls, and the built-in tools.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { accessible, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";

const SCHEMAS = new URL("./schemas/", import.meta.url);
const FIXTURES = readdirSync(SCHEMAS).map((file) => ({ name: file.replace(".json", ""), ...JSON.parse(readFileSync(new URL(file, SCHEMAS), "utf8")) }));

let house;
/** A server of tools that keeps the arguments of each call, and returns them. */
let server;
const arrived = new Map();

before(async () => {
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      const call = JSON.parse(text);
      arrived.set(call.tool_name, call);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ got: call.arguments }));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  house = await openHouse("console-run");
});

after(async () => {
  await house?.close();
  server?.close();
});

/** Registers a tool of the server. The address differs from run to run, so a tool of an earlier run gets a new version. */
async function register(id, definition) {
  const found = await fetch(`${url}/api/tools/${id}`, { headers: { "x-workspace-id": house.workspace } });
  const major = found.ok ? Number((await found.json()).version.split(".")[0]) + 1 : 1;
  const { port } = server.address();
  await house.api("POST", "/api/tools", {
    id,
    version: `${major}.0.0`,
    name: id,
    description: "A tool of the tests of the console.",
    category: "test",
    risk_level: "safe",
    handler: { type: "http", url: `http://127.0.0.1:${port}/` },
    ...definition,
  });
}

/** Goes to a page without leaving the console. */
const visit = (page, path) => page.evaluate((it) => (location.hash = `#/${it}`), path);

/** Opens the form of a tool in a page that is open already. */
async function openForm(page, id, name = id, query = "") {
  await page.goto(`${page.url().split("#")[0]}#/run/${id}${query}`);
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await page.locator(".schema-form").waitFor();
}

/** The field of a JSON pointer. */
const fieldOf = (page, pointer) => page.locator(`[data-pointer=${JSON.stringify(pointer)}]`);
const controlOf = (field) => field.locator("input:not(.form-row-name, .form-moment), textarea").first();
const button = (field, begin, end) => field.locator(`button[aria-label^="${begin}"]${end === undefined ? "" : `[aria-label$="${end}"]`}`);

/** One step of a person in a form. */
async function step(page, [action, pointer, text]) {
  const field = fieldOf(page, pointer);
  switch (action) {
    case "fill":
      return controlOf(field).fill(text);
    case "choose":
      return field.locator('select:not([aria-label^="Form of"])').first().selectOption({ label: text });
    case "branch":
      return field.locator('select[aria-label^="Form of"]').first().selectOption({ label: text });
    case "include":
      return button(field, "Include").first().click();
    case "leave":
      return button(field, "Leave out").first().click();
    case "add":
      // The button of the field itself stands after the buttons of the fields inside.
      return button(field, "Add ").last().click();
    case "remove":
      return button(field, "Remove").first().click();
    case "up":
    case "down":
      return button(field, "Move", action).first().click();
    case "name":
      return field.locator(".form-row-name").first().fill(text);
    case "json":
      return button(field, "Edit", " as JSON").first().click();
    case "form":
      return button(field, "Edit", " as a form").first().click();
    case "lines":
      return button(field, "Write").click();
    case "empty":
      return button(field, "Send an empty text").click();
    case "quote":
      return field.getByRole("button", { name: "Put in quotes" }).click();
    case "show":
      return button(field, "Show").click();
    case "secret":
      return assert.equal(await controlOf(field).getAttribute("type"), "password", `${pointer} is hidden`);
    default:
      throw new Error(`There is no step ${action}`);
  }
}

const result = (page) => page.getByRole("region", { name: "Result" });

test(`${FIXTURES.length} schemas become forms, and their arguments arrive`, async (t) => {
  assert.ok(FIXTURES.length >= 30);
  await Promise.all(FIXTURES.map(({ name, schema }) => register(`form-${name}`, { parameters_schema: schema })));
  const page = await house.open("run");
  for (const { name, about, steps, expected } of FIXTURES) {
    await t.test(`${name}: ${about}`, async () => {
      const id = `form-${name}`;
      await openForm(page, id);
      for (const it of steps) await step(page, it);
      arrived.delete(id);
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await result(page).getByText("success", { exact: true }).waitFor();
      assert.deepEqual(arrived.get(id).arguments, expected);
    });
  }
  await page.context().close();
});

test("the form of each kind is accessible", async () => {
  const page = await house.open("run");
  for (const name of ["map-of-objects", "secrets"]) {
    await openForm(page, `form-${name}`);
    for (const it of FIXTURES.find((fixture) => fixture.name === name).steps) await step(page, it);
    await accessible(page);
  }
  await pictures(page, "run-fields");
  await page.context().close();
});

test("a tool is found by typing, with the keyboard alone", async () => {
  await register("find-me-quickly", { name: "Find me quickly", parameters_schema: { type: "object", properties: { a: { type: "string" } } } });
  const page = await house.open("run");
  await page.getByRole("link", { name: /read_file/ }).waitFor();
  const picker = page.getByRole("combobox", { name: "Tool" });
  await picker.press("ArrowDown");
  await picker.pressSequentially("find qui");
  await page.getByRole("option", { name: /find-me-quickly/ }).waitFor();
  await until(async () => (await page.getByRole("option").count()) === 1, "one tool is found");
  await accessible(page);
  await picker.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Find me quickly" }).waitFor();
  assert.match(page.url(), /#\/run\/find-me-quickly$/);
  await picker.fill("nosuchword");
  await page.getByText("No tool has the words “nosuchword”.").waitFor();
  await picker.press("Escape");
  assert.equal(await picker.getAttribute("aria-expanded"), "false");

  // Enter right after the last letter opens no tool of the list before.
  await visit(page, "run");
  await page.getByRole("link", { name: /read_file/ }).waitFor();
  await picker.press("ArrowDown");
  await until(async () => (await page.getByRole("option").count()) > 1, "the list of all tools");
  await picker.evaluate((field) => {
    field.value = "find qui";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  });
  await until(async () => (await page.getByRole("option").count()) === 1, "one tool is found");
  assert.match(page.url(), /#\/run$/);
  await picker.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Find me quickly" }).waitFor();
  await page.context().close();
});

const ORDER = {
  parameters_schema: {
    type: "object",
    properties: {
      customer: { type: "string", minLength: 3 },
      count: { type: "integer", minimum: 1, maximum: 5, default: 1 },
      lines: { type: "array", items: { type: "object", properties: { sku: { type: "string" }, price: { type: "number", minimum: 0 } }, required: ["sku"] } },
      extra: {},
      key: { type: "string", writeOnly: true },
    },
    required: ["customer", "lines"],
    additionalProperties: false,
  },
  examples: [{ description: "One line", params: { customer: "Ada", lines: [{ sku: "a-1", price: 2 }], extra: { a: [1] } } }],
};

test("a check shows violations at their fields, and the arguments with defaults", async () => {
  await register("order", ORDER);
  const page = await house.open("run/order");
  await fieldOf(page, "/customer").waitFor();
  await step(page, ["fill", "/customer", "A"]);
  await step(page, ["fill", "/count", "9"]);
  await step(page, ["add", "/lines"]);
  await step(page, ["fill", "/lines/0/price", "-1"]);
  const check = page.getByRole("button", { name: "Check", exact: true });
  await check.click();
  await page.getByText("The arguments do not fit: 4 violations").waitFor();
  const told = async (pointer) => (await fieldOf(page, pointer).locator(":scope > .form-about .violation").allTextContents()).join();
  assert.match(await told("/customer"), /shorter than 3/);
  assert.match(await told("/count"), /greater than the maximum of 5/);
  assert.match(await told("/lines/0/price"), /less than the minimum of 0/);
  assert.equal(await told("/lines/0/sku"), "This is required.");
  assert.ok(await page.getByLabel("customer", { exact: true }).evaluate((it) => it === document.activeElement), "the first wrong field has the focus");
  await accessible(page);
  await pictures(page, "run-violations");
  await step(page, ["fill", "/customer", "Ada"]);
  assert.equal(await told("/customer"), "", "a violation goes with its cause");
  await step(page, ["fill", "/count", ""]);
  await step(page, ["fill", "/lines/0/price", "3"]);
  await step(page, ["fill", "/lines/0/sku", "x"]);
  await check.click();
  await page.getByText("The arguments fit. Nothing was run.").waitFor();
  const shown = await page.getByRole("region", { name: "The arguments with defaults" }).textContent();
  assert.deepEqual(JSON.parse(shown), { customer: "Ada", count: 1, lines: [{ sku: "x", price: 3 }] });
  assert.ok(!arrived.has("order"), "nothing has run");
  await page.context().close();
});

test("what is not finished is told, and nothing is sent", async () => {
  const page = await house.open("run/order");
  await fieldOf(page, "/customer").waitFor();
  await step(page, ["fill", "/customer", "Ada"]);
  await step(page, ["fill", "/count", "1,5"]);
  await fieldOf(page, "/count").getByText("“1,5” is not a number. Write it like -12 or 3.5.").waitFor();
  await step(page, ["fill", "/extra", '{"a": }']);
  await fieldOf(page, "/extra").getByText("This is not JSON").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("2 fields are not finished. Nothing was sent.").waitFor();
  assert.ok(!arrived.has("order"));
  await page.context().close();
});

test("a refused call shows its violations, its code and its record", async () => {
  const page = await house.open("run/order");
  await fieldOf(page, "/customer").waitFor();
  await step(page, ["fill", "/customer", "A"]);
  await page.keyboard.press("Control+Enter");
  await result(page).getByText("INVALID_ARGUMENTS").waitFor();
  await fieldOf(page, "/customer").locator(".violation", { hasText: "shorter than 3" }).waitFor();
  const call = (await result(page).getByRole("link", { name: "Open the call" }).getAttribute("href")).split("/").at(-1);
  const record = await house.api("GET", `/api/tool-calls/${call}`);
  assert.deepEqual([record.status, record.error.code], ["error", "INVALID_ARGUMENTS"]);
  await expectRefusals(page, 400);
  await page.context().close();
});

test("an example fills the form, curl says the same, and a reload loses nothing but secrets", async () => {
  const page = await house.open("run/order?session=s1&user=ada");
  await page.getByRole("button", { name: "One line" }).click();
  assert.equal(await page.getByLabel("sku", { exact: true }).inputValue(), "a-1");
  await step(page, ["fill", "/key", "it's-secret"]);
  await page.getByText("The request as curl").click();
  const shown = await page.getByRole("region", { name: "The request as curl" }).textContent();
  assert.ok(!shown.includes("secret"), "no secret is on the screen");
  await page.getByRole("button", { name: "Copy “Run” as curl" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const body = JSON.parse(/-d '(.*)'$/s.exec(copied)[1].replaceAll(`'\\''`, "'"));
  const expected = { customer: "Ada", lines: [{ sku: "a-1", price: 2 }], extra: { a: [1] }, key: "it's-secret" };
  assert.deepEqual(body, { tool_name: "order", arguments: expected, session_id: "s1", user_id: "ada" });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await result(page).getByText("success", { exact: true }).waitFor();
  assert.deepEqual(arrived.get("order"), { tool_name: "order", arguments: { ...expected, count: 1 }, user_id: "ada" });
  await accessible(page);
  await pictures(page, "run-result");
  const call = (await result(page).getByRole("link", { name: "Open the call" }).getAttribute("href")).split("/").at(-1);
  assert.ok(!(await page.evaluate(() => JSON.stringify(sessionStorage))).includes("secret"), "no secret is stored");
  await page.reload();
  await page.getByLabel("customer", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("sku", { exact: true }).inputValue(), "a-1");
  assert.equal(await page.getByLabel("key", { exact: true }).inputValue(), "");
  assert.equal(await page.getByLabel("Session", { exact: true }).inputValue(), "s1");

  // The same call with other arguments, in another tab.
  const other = await house.open(`run/order?arguments=${call}`);
  await other.getByText("The form has the arguments of an earlier call, without its secrets: give them again.").waitFor();
  assert.equal(await other.getByLabel("customer", { exact: true }).inputValue(), "Ada");
  assert.equal(await other.getByLabel("key", { exact: true }).inputValue(), "");
  assert.equal(await other.getByLabel("Session", { exact: true }).inputValue(), "s1");
  await step(other, ["fill", "/customer", "Grace"]);
  await other.reload();
  await until(async () => (await other.getByLabel("customer", { exact: true }).inputValue()) === "Grace", "the edit survives a reload");
  await page.context().close();
  await other.context().close();
});

test("a call that waits shows its approval, and its outcome once it is approved", async () => {
  await register("careful", { requires_approval: true, parameters_schema: { type: "object", properties: { a: { type: "integer" } } } });
  const page = await house.open("run/careful");
  await page.getByText("needs an approval").waitFor();
  await step(page, ["fill", "/a", "1"]);
  await page.getByRole("button", { name: "Ask for the run", exact: true }).click();
  await page.getByText("The tool has not run: the call waits for an approval.").waitFor();
  await accessible(page);
  assert.ok(!arrived.has("careful"));
  const approval = (await page.getByRole("link", { name: "Open the approval" }).getAttribute("href")).split("/").at(-1);
  // A fault on the way ends no watch: it is told, and the page asks again.
  await page.route("**/api/tool-calls/*?wait=*", (route) => route.fulfill({ status: 429, json: { error: { code: "RATE_LIMITED", message: "Slowly", details: null } } }));
  await page.reload();
  await step(page, ["fill", "/a", "1"]);
  await page.getByRole("button", { name: "Ask for the run", exact: true }).click();
  await result(page).getByRole("alert").getByText("Slowly").waitFor();
  await page.unrouteAll();
  const second = (await page.getByRole("link", { name: "Open the approval" }).getAttribute("href")).split("/").at(-1);
  assert.notEqual(second, approval);
  await house.api("POST", `/api/approvals/${second}/deny`);
  await result(page).getByText("APPROVAL_DENIED").waitFor();
  assert.equal(await result(page).getByText("Slowly").count(), 0);
  await expectRefusals(page, 429);
  await page.getByRole("button", { name: "Ask for the run", exact: true }).click();
  await page.getByText("The tool has not run: the call waits for an approval.").waitFor();
  const third = (await page.getByRole("link", { name: "Open the approval" }).getAttribute("href")).split("/").at(-1);
  await house.api("POST", `/api/approvals/${third}/approve`, { reason: "test" });
  await result(page).getByText("success", { exact: true }).waitFor();
  assert.deepEqual(arrived.get("careful").arguments, { a: 1 });
  await page.context().close();
});

test("an older version runs if the link names it", async () => {
  const schema = (name) => ({ parameters_schema: { type: "object", properties: { [name]: { type: "string" } }, additionalProperties: false } });
  await register("versioned", schema("old"));
  const { version } = await house.api("GET", "/api/tools/versioned");
  await register("versioned", schema("new"));
  const page = await house.open(`run/versioned?version=${version}`);
  await step(page, ["fill", "/old", "x"]);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await result(page).getByText("success", { exact: true }).waitFor();
  assert.deepEqual(arrived.get("versioned").arguments, { old: "x" });
  await page.getByRole("button", { name: "Use the active version" }).click();
  await fieldOf(page, "/new").waitFor();
  await page.context().close();
});

test("an unknown tool is told, and the picker stays", async () => {
  const page = await house.open("run/no-such-tool");
  await page.getByRole("alert").getByText("There is no such thing").waitFor();
  await page.getByRole("combobox", { name: "Tool" }).waitFor();
  await expectRefusals(page, 404);
  await page.context().close();
});

test("a guest runs what guests may run, and is told what they may not", async () => {
  await register("for-guests", { required_permission: "guest", parameters_schema: { type: "object", properties: { a: { type: "string" } } } });
  const { token } = await house.api("POST", "/api/tokens", { name: "run-guest", level: "guest" });
  const page = await house.open("run/write_file", { token });
  await page.getByText("Calls need the level user, and you have a lower one.").waitFor();
  assert.ok(await page.getByRole("button", { name: "Run", exact: true }).isDisabled());
  await accessible(page);
  await openForm(page, "for-guests");
  await step(page, ["fill", "/a", "x"]);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await result(page).getByText("success", { exact: true }).waitFor();
  assert.deepEqual(arrived.get("for-guests").arguments, { a: "x" });
  assert.equal(await page.getByRole("link", { name: "Open the call" }).count(), 0, "guests read no records");
  await page.context().close();
});

test("a token that is bound to an agent runs what its level allows", async () => {
  await register("for-admins", { required_permission: "admin", parameters_schema: { type: "object", properties: { a: { type: "string" } } } });
  const { id } = await house.api("POST", "/api/agents", { name: "Ruler", permission_level: "admin" });
  await house.api("POST", `/api/agents/${id}/tools`, { tool_id: "for-admins" });
  const { token } = await house.api("POST", "/api/tokens", { name: "run-bound", level: "admin", agent_id: id });
  const page = await house.open("run/for-admins", { token });
  await step(page, ["fill", "/a", "x"]);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await result(page).getByText("success", { exact: true }).waitFor();
  assert.deepEqual(arrived.get("for-admins").arguments, { a: "x" });
  await page.context().close();
});

test("each built-in runs from its form", async (t) => {
  const page = await house.open("run");
  const session = "?session=console-run";
  /** Runs the tool, and compares what is shown with the record. */
  const run = async () => {
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const link = result(page).getByRole("link", { name: "Open the call" });
    await link.waitFor();
    const record = await house.api("GET", `/api/tool-calls/${(await link.getAttribute("href")).split("/").at(-1)}`);
    await result(page).getByText(record.status, { exact: true }).waitFor();
    if (record.status === "error") await result(page).getByText(record.error.code, { exact: true }).waitFor();
    return record;
  };
  await t.test("write_file", async () => {
    await openForm(page, "write_file", "Write File", session);
    await step(page, ["fill", "/path", "/notes/today.txt"]);
    await step(page, ["fill", "/content", "gas is up\nagain"]);
    assert.equal((await run()).status, "success");
    assert.equal(await house.api("GET", "/api/sessions/console-run/files/notes/today.txt"), "gas is up\nagain");
    await page.getByRole("link", { name: "Files of the session" }).waitFor();
  });
  await t.test("read_file", async () => {
    await openForm(page, "read_file", "Read File", session);
    await step(page, ["fill", "/path", "/notes/today.txt"]);
    assert.equal((await run()).result, "gas is up\nagain");
    await result(page).getByText("gas is up").first().waitFor();
  });
  await t.test("list_files", async () => {
    await openForm(page, "list_files", "List Files", session);
    assert.equal((await run()).status, "success");
    await result(page).getByText(/notes/).first().waitFor();
  });
  await t.test("execute_python", async () => {
    await openForm(page, "execute_python", "Execute Python", session);
    await step(page, ["fill", "/code", "print(6 * 7)"]);
    const record = await run();
    assert.equal(record.status, "success", JSON.stringify(record.error));
    await result(page).getByText("42").first().waitFor();
  });
  await t.test("email_search", async () => {
    await openForm(page, "email_search", "Search Emails", session);
    await step(page, ["fill", "/query", "gas price"]);
    await step(page, ["fill", "/inbox_id", "matt.motley@enron.com"]);
    await step(page, ["fill", "/sent_after", "2001-01-01"]);
    const record = await run();
    // The server of this test has no mail.
    assert.equal(record.status, "success", JSON.stringify(record.error));
    assert.equal(record.result.total, 0);
    assert.deepEqual(record.arguments, { query: "gas price", inbox_id: "matt.motley@enron.com", sent_after: "2001-01-01", limit: 10, match: "auto", order: "rank" });
  });
  await t.test("email_get", async () => {
    await openForm(page, "email_get", "Get Email", session);
    await page.getByRole("button", { name: "Read a message found before" }).click();
    assert.equal(await page.getByLabel("message_id", { exact: true }).inputValue(), "<1234567890@enron.com>");
    const { status, error } = await run();
    assert.deepEqual([status, error?.code], ["error", "TOOL_ERROR"]);
    await result(page).getByText(error.message).waitFor();
  });
  await page.context().close();
});
