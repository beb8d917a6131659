// What every test of the console needs: a browser, a workspace of its own, and the API to prepare and to check it.

import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

/** `url` is the address of a Worker in open mode that serves the console; `closed` is one that asks for tokens. */
export const { url, closed } = JSON.parse(process.env.CONSOLE_TEST);

/** How long a test waits for what must come. */
const PATIENCE_MS = 20_000;

/** Most of the flags keep Chromium from calling its maker's servers. Chromium as root needs the first one. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Waits until `holds` returns something true, and returns it. */
export async function until(holds, what) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await holds();
    if (value) return value;
    assert.ok(Date.now() < end, `waited in vain: ${what}`);
    await sleep(20);
  }
}

/** The pages of the present test. A page that a test leaves open also belongs to the next one. */
let opened = [];

/** The browser's console must be silent in every test, but for what the test has provoked. */
function checkFaults() {
  // Of the refusals that a test provokes, the last may come after the test has looked for them.
  const faults = opened.flatMap((page) => page.faults.filter((it) => !page.expected.some((isOne) => isOne(it))));
  for (const page of opened) page.faults = [];
  opened = opened.filter((page) => !page.isClosed());
  assert.deepEqual(faults, [], "the browser's console is not silent");
}
// The script of the pictures is no test.
if (process.argv[1].endsWith(".test.mjs")) afterEach(checkFaults);

/** Browsers write every refused request into their console. Those that the test has provoked are taken away, and must be there. */
export async function expectRefusals(page, status) {
  const isOne = (fault) => fault.includes(`status of ${status}`);
  await until(() => page.faults.some(isOne), `a refusal with ${status}`);
  page.faults = page.faults.filter((it) => !isOne(it));
  page.expected.push(isOne);
}

/** Faults of this kind are what the test is about, however many there are. */
export function allow(page, kind) {
  page.expected.push((fault) => kind.test(fault));
}

/** A tool whose calls wait for an approval. */
export const KEEP = {
  id: "keep",
  version: "1.0.0",
  name: "Keep",
  description: "Keeps a note, if somebody allows it",
  requires_approval: true,
  parameters_schema: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } }, required: ["path", "content"] },
  handler: { type: "builtin", key: "write_file" },
};

const OPEN = { url, root: "" };

/** A browser and a workspace for one file of tests, at the open Worker or at the closed one. */
export async function openHouse(workspace, { url, root } = OPEN) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS, timeout: 60_000 });

  /** Sends a request as the owner. Returns the body of the response, which must have a good status. */
  async function api(method, path, body) {
    const headers = { "x-workspace-id": workspace, "content-type": "application/json", ...(root === "" ? {} : { authorization: `Bearer ${root}` }) };
    const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    const content = await response.text();
    assert.ok(response.ok, `${method} ${path} answered ${response.status}: ${content}`);
    const isJson = response.headers.get("content-type")?.includes("json");
    return isJson ? JSON.parse(content) : content;
  }

  /**
   * Opens a page of the console with a new profile: `open("tools/read_file")`. Without a `token` the person is the owner, as
   * open mode has it. `page.faults` are the errors and warnings of the browser's console.
   */
  async function open(path = "", { token = "", width = 1280, height = 900, theme = "light" } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, permissions: ["clipboard-read", "clipboard-write"] });
    await context.addInitScript(
      ([space, secret]) => {
        // A sandboxed frame has no storage.
        if (window !== window.top) return;
        sessionStorage.setItem("pegboard-workspace", space);
        if (secret !== "") sessionStorage.setItem("pegboard-token", secret);
      },
      [workspace, token],
    );
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    Object.assign(page, { faults: [], expected: [] });
    opened.push(page);
    const note = (fault) => page.faults.push(fault);
    page.on("pageerror", (error) => note(String(error)));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && note(message.text()));
    await page.goto(`${url}/#/${path}`);
    return page;
  }

  return { api, open, workspace, close: () => browser.close() };
}

/** axe must find nothing, neither in light nor in dark. */
export async function accessible(page) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
    const told = violations.map(({ id, nodes }) => `${colorScheme}: ${id}: ${nodes.map((it) => `${it.target.join(" ")} ${it.failureSummary}`).join("\n  ")}`);
    assert.deepEqual(told, []);
  }
  await page.emulateMedia({ colorScheme: null });
}

/** The page must not scroll sideways. */
export async function fits(page, name, width) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `${name} is ${wide} pixels wide on a screen of ${width}`);
}

/** Takes pictures at 1,280 and at 400 pixels, for a person to look at. Neither may scroll sideways. */
export async function pictures(page, name) {
  for (const width of [1280, 400]) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: `target/it/console/${name}-${width}.png`, fullPage: true });
    await fits(page, name, width);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}
