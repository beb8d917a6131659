// The pictures of README.md and docs/console.md, from a workspace that looks like one in use. scripts/pictures runs this.

import { setTimeout as sleep } from "node:timers/promises";

import { zipOf } from "./zip.mjs";
import { call, startModel, text } from "../chat/model.mjs";
import { openHouse, url, until } from "./house.mjs";

const FOLDER = "docs/images";
const house = await openHouse("acme");
const model = await startModel();
const { api } = house;

/** Makes a call. A refused call is a part of the picture too. */
const run = (tool_name, args, more = {}) =>
  fetch(`${url}/api/execute`, {
    method: "POST",
    headers: { "x-workspace-id": "acme", "content-type": "application/json" },
    body: JSON.stringify({ tool_name, arguments: args, session_id: "report", ...more }),
  }).then((response) => response.json());

async function shoot(path, name, { prepare = async () => {}, height = 800 } = {}) {
  const page = await house.open(path, { height });
  await prepare(page);
  await page.waitForLoadState("networkidle");
  await until(async () => (await page.locator(".loading").count()) === 0, `the data of ${name}`);
  // Plots and editors draw after their data are there.
  await sleep(500);
  await page.screenshot({ path: `${FOLDER}/console-${name}.png` });
  await page.context().close();
}

const notice = {
  id: "send_notice",
  name: "Send Notice",
  description: "Sends a notice to everybody in a room",
  category: "communication",
  risk_level: "high",
  requires_approval: true,
  parameters_schema: {
    type: "object",
    properties: {
      path: { type: "string", description: "The file that is sent" },
      content: { type: "string", description: "The words of the notice" },
    },
    required: ["path", "content"],
  },
  handler: { type: "builtin", key: "write_file" },
};
const schedule = {
  id: "plan_meeting",
  name: "Plan Meeting",
  description: "Finds a time for a meeting, and writes it into the notes of the session",
  category: "calendar",
  risk_level: "low",
  parameters_schema: {
    type: "object",
    properties: {
      path: { type: "string", default: "/meetings.md", description: "The file with the notes" },
      content: { type: "string", description: "What the meeting is about" },
      attendees: {
        type: "array",
        items: { type: "object", properties: { name: { type: "string" }, optional: { type: "boolean", default: false } }, required: ["name"] },
      },
      day: { type: "string", format: "date" },
      length: { enum: ["15 minutes", "30 minutes", "an hour"], default: "30 minutes" },
    },
    required: ["path", "content"],
  },
  handler: { type: "builtin", key: "write_file" },
};

try {
  await api("PATCH", "/api/workspace", { model_url: model.url, model_name: "scripted" });
  await api("POST", "/api/tools", { ...notice, version: "1.0.0" });
  const stricter = structuredClone(notice);
  stricter.parameters_schema.properties.content.maxLength = 500;
  stricter.description = "Sends a short notice to everybody in a room";
  await api("POST", "/api/tools", { ...stricter, version: "2.0.0" });
  await api("POST", "/api/tools", { ...schedule, version: "1.0.0" });
  await fetch(`${url}/api/toolsets`, { method: "POST", headers: { "x-workspace-id": "acme", "content-type": "application/zip" }, body: zipOf("samples/toolsets/data-report") });
  const { id: agent } = await api("POST", "/api/agents", { name: "Mail clerk", max_risk: "critical", system_prompt: "You look after the notes." });
  for (const tool_id of ["write_file", "read_file", "send_notice"]) await api("POST", `/api/agents/${agent}/tools`, { tool_id });

  // past_calls.sql has the calls of the last hour.
  await run("write_file", { path: "/notes/today.md", content: "# Today\n\nGas is up.\n" });
  await run("execute_python", { code: "print(sum(range(10_000)))" });
  await run("send_notice", { path: "/notice.txt", content: "The office closes at noon on Friday." }, { agent_id: agent });
  await run("send_notice", { path: "/notice.txt", content: "Please return the projector." }, { agent_id: agent });
  await run("data-report:load_example", {});
  const chart = await run("data-report:chart_csv", { chart: { file: "coffee.csv", x: "date", y: ["cups"], split: "drink", dates_by: "month" } });

  await shoot("overview", "overview", { height: 1240 });
  await shoot("run/plan_meeting", "run", { height: 1040 });
  await shoot("approvals", "approvals", { height: 960 });
  await shoot(`calls/${chart.call_id}`, "call", { height: 1220 });
  await shoot("tools/send_notice?tab=versions&from=1.0.0&to=2.0.0", "versions", { height: 1030 });
  const wish = "Write a haiku about gas prices, and tell everybody.";
  model.scriptFor(
    wish,
    call("write_file", { path: "/haiku.md", content: "Pipes hum in the cold,\nthe price climbs with the moonlight:\nsomeone counts the stars." }),
    call("send_notice", { path: "/notice.txt", content: "A haiku about gas prices is in /haiku.md." }),
  );
  await shoot(`playground/haiku?agent=${agent}&new=true`, "playground", {
    height: 1280,
    prepare: async (page) => {
      await page.getByLabel("Message", { exact: true }).fill(wish);
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByRole("button", { name: "Approve and run" }).waitFor();
    },
  });
} finally {
  await house.close();
  model.stop();
}
