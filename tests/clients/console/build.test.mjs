// The console that scripts/dev builds: a page that is open loads itself again after a build. No other console does.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { allow, openHouse, until, url } from "./house.mjs";

const house = await openHouse(`console-build-${Date.now().toString(36)}`);
const dist = mkdtempSync(join(tmpdir(), "pegboard-console-"));
const builder = spawn(process.execPath, ["scripts/lib/build-console.mjs", "--watch", "--out", dist], { stdio: ["ignore", "inherit", "inherit"] });
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml" };
const POLICY = /Content-Security-Policy: (.*)/.exec(readFileSync("console/static/_headers", "utf8"))[1];
const CALLER = { workspace: "demo", level: "guest", agent_id: null, open: true, version: "0", features: {} };
/** How often a page has asked for the present build. */
let looks = 0;
const server = createServer(({ url: asked }, response) => {
  if (asked === "/build.json") looks += 1;
  if (asked.startsWith("/api/")) return response.setHeader("content-type", "application/json").end(JSON.stringify(CALLER));
  const file = join(dist, asked === "/" ? "index.html" : asked);
  if (!existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "text/plain", "content-security-policy": POLICY }).end(readFileSync(file));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
after(async () => {
  await house.close();
  builder.kill();
  server.closeAllConnections();
  server.close();
  rmSync(dist, { recursive: true });
});

const build = join(dist, "build.json");

/** Longer than a page waits between two looks. */
const INTERVAL_MS = 2_500;

test("a page that is looked at loads itself again after a build, and once", async () => {
  await until(() => existsSync(build), "the first build");
  const page = await house.open("settings");
  await page.goto(`http://127.0.0.1:${server.address().port}/#/settings`);
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  const mark = () => page.evaluate(() => (window.isMarked = true));
  // While the page is loaded, there is nothing to ask.
  const isMarked = () => page.evaluate(() => window.isMarked === true).catch(() => true);
  await mark();
  await until(() => looks >= 2, "two looks");
  assert.ok(await isMarked(), "nothing was built");

  const { id, entry } = JSON.parse(readFileSync(build, "utf8"));
  // The server may list new files later than it serves the old ones.
  writeFileSync(build, JSON.stringify({ id: "next", entry: "/assets/later.js" }));
  const before = looks;
  await until(() => looks >= before + 2, "two more looks");
  assert.ok(await isMarked(), "the new files are not there yet");
  allow(page, /status of 404/);
  const index = join(dist, "index.html");
  writeFileSync(index, readFileSync(index, "utf8").replace(id, "next"));
  writeFileSync(build, JSON.stringify({ id: "next", entry }));
  await until(async () => !(await isMarked()), "the page to be loaded again");
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await mark();
  await sleep(INTERVAL_MS);
  assert.ok(await isMarked(), "the page has the present build");

  await page.evaluate(() => Object.defineProperty(document, "hidden", { configurable: true, get: () => true }));
  const last = looks;
  await sleep(INTERVAL_MS);
  assert.ok(looks <= last + 1, "nobody looks at the page");
  await page.context().close();
});

test("the console that is deployed has neither an id nor the module that looks for one", async () => {
  const folder = "console/dist/assets";
  for (const name of readdirSync(folder)) assert.ok(!readFileSync(join(folder, name), "utf8").includes("build.json"), name);
  assert.ok(!(await (await fetch(url, { headers: { accept: "text/html" } })).text()).includes('name="build"'));
  assert.equal((await fetch(`${url}/build.json`)).status, 404);
});
