// The unmodified MCP clients of the TypeScript SDK: version 1 speaks 2025-11-25, version 2 speaks both revisions.

import assert from "node:assert/strict";

import * as modern from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { url, workspace, session, agent, token, bound_token } = JSON.parse(process.env.MCP_TEST);
const ENDPOINT = new URL(`${url}/w/${workspace}/mcp?session=${session}`);
const AGENT_ENDPOINT = new URL(`${url}/w/${workspace}/agents/${agent}/mcp`);

/** What a transport sends with each request. */
const bearing = (token) => ({ requestInit: { headers: token ? { Authorization: `Bearer ${token}` } : {} } });

/** As an admin. */
async function api(method, path, body) {
  const answer = await fetch(url + path, {
    method,
    headers: { "X-Workspace-Id": workspace },
    body: body && JSON.stringify(body),
  });
  return answer.json();
}

/** The checks for both clients. */
async function check(name, client) {
  const { tools } = await client.listTools();
  const names = tools.map((it) => it.name);
  assert.ok(names.includes("weather") && names.includes("read_file"), names.join());
  // Each of these tools alone once made a client refuse the whole list.
  assert.ok(names.includes("boolean_properties") && names.includes("own_pattern"), names.join());
  const weather = tools.find((it) => it.name === "weather");
  assert.equal(weather.annotations.readOnlyHint, true);

  const warm = await client.callTool({ name: "weather", arguments: { city: "Oslo" } });
  assert.deepEqual(warm.structuredContent, { city: "Oslo", celsius: 21.5 });
  const image = await client.callTool({ name: "test_image_content", arguments: {} });
  assert.equal(image.content[0].type, "image");
  const wrong = await client.callTool({ name: "weather", arguments: {} });
  assert.ok(wrong.isError && wrong.content[0].text.startsWith("INVALID_ARGUMENTS"), JSON.stringify(wrong));
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /Tool not found: no_such_tool/);

  await client.callTool({ name: "write_file", arguments: { path: "/from-sdk.txt", content: name } });
  const { resources } = await client.listResources();
  const uri = `session://${session}/from-sdk.txt`;
  assert.ok(resources.some((it) => it.uri === uri), JSON.stringify(resources));
  const { contents } = await client.readResource({ uri });
  assert.equal(contents[0].text, name);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.ok(resourceTemplates.length > 0);
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: "tool://{tool}/{parameter}{?value}" },
    argument: { name: "value", value: "c" },
    context: { arguments: { tool: "weather", parameter: "unit" } },
  });
  assert.deepEqual(completion.values, ["celsius"]);
  console.log(`ok: ${name}: ${tools.length} tools, ${resources.length} resources`);
}

async function version1() {
  const client = new LegacyClient({ name: "test", version: "1.0.0" });
  await client.connect(new LegacyTransport(ENDPOINT, bearing(token)));
  await check("TypeScript SDK 1", client);
  await client.ping();
  const pending = await client.callTool({ name: "wipe", arguments: {} });
  assert.ok(pending.isError && /waits for an approval/.test(pending.content[0].text), JSON.stringify(pending));
  const call = pending._meta["pegboard/call_id"];
  await api("POST", `/api/approvals/${pending._meta["pegboard/approval_id"]}/approve`);
  const { contents } = await client.readResource({ uri: `call://${call}` });
  assert.equal(JSON.parse(contents[0].text).result, "wiped");
  console.log("ok: TypeScript SDK 1: an approval");
  await client.close();
}

function modernClient(versionNegotiation, answers) {
  const client = new modern.Client({ name: "test", version: "2.0.0" }, { capabilities: { elicitation: {} }, versionNegotiation });
  client.setRequestHandler("elicitation/create", answers);
  return client;
}

async function version2() {
  // The user has the call approved, in the registry.
  let asked;
  const client = modernClient({ mode: { pin: "2026-07-28" } }, async ({ params }) => {
    asked = params.message;
    const [, id] = asked.match(/\/api\/approvals\/(appr_\w+)\/approve/);
    await api("POST", `/api/approvals/${id}/approve`);
    return { action: "accept", content: {} };
  });
  await client.connect(new modern.StreamableHTTPClientTransport(ENDPOINT, bearing(token)));
  await check("TypeScript SDK 2", client);
  const wiped = await client.callTool({ name: "wipe", arguments: { disk: 1 } });
  assert.equal(wiped.content[0].text, "wiped");
  assert.match(asked, /waits for an approval/);
  // The client repeats the argument in a header, and the server compares both.
  const routed = await client.callTool({ name: "test_headers", arguments: { region: "größer" } });
  assert.ok(!routed.isError, JSON.stringify(routed));
  console.log("ok: TypeScript SDK 2: an approval, in one call");
  await client.close();

  // At the agent's own endpoint, or with the agent's token at any endpoint.
  const searcher = modernClient({ mode: "auto" }, async () => ({ action: "cancel" }));
  const transport = token ? [ENDPOINT, bearing(bound_token)] : [AGENT_ENDPOINT, {}];
  await searcher.connect(new modern.StreamableHTTPClientTransport(...transport));
  assert.deepEqual((await searcher.listTools()).tools.map((it) => it.name), ["find_tools", "call_tool"]);
  const found = await searcher.callTool({ name: "find_tools", arguments: { query: "warm city" } });
  assert.equal(found.structuredContent.tools[0].name, "weather", JSON.stringify(found));
  const called = await searcher.callTool({ name: "call_tool", arguments: { name: "weather", arguments: { city: "Oslo" } } });
  assert.equal(called.structuredContent.celsius, 21.5);
  const left = await searcher.callTool({ name: "wipe", arguments: {} });
  assert.ok(left.isError && /waits for an approval/.test(left.content[0].text), JSON.stringify(left));
  console.log("ok: TypeScript SDK 2: tools that are found");
  await searcher.close();
}

await version1();
await version2();
