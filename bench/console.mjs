// The console: bytes, the time until a page can be used on a slow machine against an empty page of the same server and against
// the admin page of ContextForge, and what a view of each page costs. scripts/bench prepares the database and the bundle.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { chromium } from "playwright-core";

import { startContextForge } from "./contextforge.mjs";
import { quantile } from "./load.mjs";
import { start } from "./server.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ASSETS = join(ROOT, "console/dist/assets");
const WORKSPACE = "bench";
/** Chromium then computes as a machine with a quarter of this one's speed would. */
const SLOWNESS = 4;
/** The gzipped bytes that a view may load before the editor is needed. */
const BARS = { app: 120_000 };
const PAGES = ["overview", "tools", "tools/read_file", "run/read_file", "agents", "approvals", "calls", "files", "files/bench", "toolsets", "servers", "changes", "playground", "settings"];
/** The same page without and with the editor, so that the difference is the editor and the language of the text. */
const EDITOR = { without: "files/bench", plain: "files/bench?path=%2Fplain.txt", languages: { JSON: "files/bench?path=%2Fdata.json", Python: "files/bench?path=%2Ftool.py", Markdown: "files/bench?path=%2Fnotes%2F0.md" } };
/** A page that the same server serves, with nothing on it. */
const EMPTY = "/favicon.svg";
/** Pegboard's workspace and ContextForge have as many tools. */
const TOOLS = 6;

const { values: options } = parseArgs({ options: { state: { type: "string" }, rounds: { type: "string" }, out: { type: "string" }, contextforge: { type: "string" } } });
const rounds = Number(options.rounds);

const server = await start(["--state", `${options.state}/worker`, "--assets", ...["AUTH=open", "SECRET_KEY=bench", "COST_HEADER=on"].flatMap((it) => ["--var", it])]);
const gateway = await startContextForge(options.contextforge, `${options.state}/contextforge`, 1, {
  MCPGATEWAY_UI_ENABLED: "true",
  MCPGATEWAY_ADMIN_API_ENABLED: "true",
  // What makes the page of its users faster is on, as it is by default.
  COMPRESSION_ENABLED: "true",
  PASSWORD_CHANGE_ENFORCEMENT_ENABLED: "false",
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  await fill();
  const report = { files: sizes(), pages: {}, editor: {}, interactive: {} };
  for (const path of PAGES) report.pages[path] = await view(path);
  report.editor = await editor();
  report.interactive = await interactive({
    "an empty page": () => opened(EMPTY, SLOWNESS),
    tools: () => opened("/#/tools", SLOWNESS),
    overview: () => opened("/#/overview", SLOWNESS),
    "ContextForge's tools": () => openedGateway(SLOWNESS),
  });
  print(report);
  writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
  for (const [path, { app }] of Object.entries(report.pages)) {
    if (app <= BARS.app) continue;
    console.log(`FAILED: ${path} loads ${app} bytes of the app; the bar is ${BARS.app}`);
    process.exitCode = 1;
  }
} finally {
  await browser.close();
  await gateway.stop();
  await server.stop();
}

/** Some calls, files and an agent, so that no page is empty; and as many tools for ContextForge as Pegboard has by itself. */
async function fill() {
  const post = (path, body) => fetch(server.url + path, { method: "POST", headers: { "x-workspace-id": WORKSPACE }, body: JSON.stringify(body) });
  await post("/api/agents", { name: "Clerk" });
  for (let round = 0; round < 30; round++) {
    await post("/api/execute", { tool_name: "write_file", arguments: { path: `/notes/${round}.md`, content: "gas is up" }, session_id: "bench" });
    await post("/api/execute", { tool_name: "read_file", arguments: { path: `/notes/${round}.md` }, session_id: "bench" });
  }
  for (const path of ["/plain.txt", "/data.json", "/tool.py"]) {
    await post("/api/execute", { tool_name: "write_file", arguments: { path, content: "1\n" }, session_id: "bench" });
  }
  for (let number = 0; number < TOOLS; number++) {
    const tool = { name: `tool_${number}`, url: `${server.url}/${number}`, description: "Counts the words of a text.", integration_type: "REST", request_type: "POST" };
    const response = await fetch(`${gateway.url}/tools`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
      body: JSON.stringify({ tool: { ...tool, input_schema: { type: "object", properties: { text: { type: "string" } } } } }),
    });
    if (!response.ok) throw new Error(`ContextForge did not take a tool: ${response.status} ${await response.text()}`);
  }
}

/** The gzipped bytes of each file of the app, by its name. */
function sizes() {
  const names = readdirSync(ASSETS).filter((name) => /\.(js|css)$/.test(name));
  return Object.fromEntries(names.map((name) => [name, gzipSync(readFileSync(join(ASSETS, name))).length]));
}

/** Opens an address with a new profile, as somebody does who comes for the first time, and waits until the page can be used. */
async function opening(address, prepare, isReady, slowness) {
  const context = await browser.newContext();
  await prepare(context);
  const page = await context.newPage();
  const responses = [];
  page.on("response", (response) => responses.push(response));
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowness });
  const begun = performance.now();
  await page.goto(address);
  if (isReady !== null) await page.waitForFunction(isReady);
  return { context, page, responses, ms: performance.now() - begun };
}

function opened(path, slowness = 1) {
  const isReady = () => document.querySelector("main h1") !== null && document.querySelector(".loading") === null;
  const prepare = (context) => context.addInitScript((space) => sessionStorage.setItem("pegboard-workspace", space), WORKSPACE);
  return opening(server.url + path, prepare, path === EMPTY ? null : isReady, slowness);
}

/** The admin page of ContextForge at its list of tools. */
function openedGateway(slowness) {
  const isReady = () => document.querySelector("#tools-table-body tr")?.offsetParent != null;
  const prepare = (context) => context.addCookies([{ name: "jwt_token", value: gateway.token, url: gateway.url }]);
  return opening(`${gateway.url}/admin/#tools`, prepare, isReady, slowness);
}

/** The requests of one view, and what they cost in D1. */
async function view(path) {
  const { context, page, responses } = await opened(`/#/${path}`);
  await page.waitForLoadState("networkidle");
  const cost = { requests: responses.length, app: 0, api: 0, round_trips: 0, rows_read: 0 };
  const files = sizes();
  for (const response of responses) {
    cost.app += files[basename(new URL(response.url()).pathname)] ?? 0;
    const told = response.headers()["x-d1-cost"];
    if (told === undefined) continue;
    cost.api += 1;
    for (const pair of told.split(", ")) {
      const [name, value] = pair.split("=");
      if (name in cost) cost[name] += Number(value);
    }
  }
  await context.close();
  return cost;
}

/** The gzipped bytes that are loaded when something is edited for the first time: the editor, and on top of it each language. */
async function editor() {
  const [without, plain] = [(await view(EDITOR.without)).app, (await view(EDITOR.plain)).app];
  const bytes = { editor: plain - without };
  for (const [language, path] of Object.entries(EDITOR.languages)) bytes[language] = (await view(path)).app - plain;
  return bytes;
}

/** Each way of opening a page in turn, so that all of them meet the machine in the same moods. */
async function interactive(ways) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const { context, ms } = await way();
      times[name].push(ms);
      await context.close();
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, { p50: quantile(all, 0.5), p95: quantile(all, 0.95) }]));
}

function print({ files, pages, editor: { editor: bytes, ...languages }, interactive: times }) {
  const all = Object.values(files).reduce((sum, it) => sum + it, 0);
  console.log(`\nAll files of the console, editor and plots among them: ${(all / 1000).toFixed(0)} KB gzipped. A view may load ${BARS.app / 1000} KB.\n`);
  const further = Object.entries(languages).map(([language, more]) => `${(more / 1000).toFixed(1)} KB more for ${language}`);
  console.log(`The editor, loaded where something is edited: ${(bytes / 1000).toFixed(1)} KB gzipped; ${further.join(", ")}.\n`);
  console.log(`${"a view of".padEnd(20)} app, KB  requests  of the API  D1 round trips  rows read`);
  for (const [path, it] of Object.entries(pages)) {
    const cells = [[(it.app / 1000).toFixed(1), 7], [it.requests, 9], [it.api, 11], [it.round_trips, 15], [it.rows_read, 10]];
    console.log(`${path.padEnd(20)} ${cells.map(([value, width]) => String(value).padStart(width)).join(" ")}`);
  }
  const [empty, gatewayTools] = [times["an empty page"].p50, times["ContextForge's tools"].p50];
  console.log(`\nUntil the page can be used, with a processor ${SLOWNESS} times slower, a new profile:`);
  console.log(`${"".padEnd(22)}  p50 ms  p95 ms  ÷ empty  ÷ ContextForge's tools`);
  for (const [name, { p50, p95 }] of Object.entries(times)) {
    console.log(`${name.padEnd(22)} ${p50.toFixed(0).padStart(7)} ${p95.toFixed(0).padStart(7)} ${(p50 / empty).toFixed(2).padStart(8)} ${(p50 / gatewayTools).toFixed(2).padStart(22)}`);
  }
}
