// The page Agents: an agent is made, gets a tool with a configuration, is seen in every format, and goes again.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { accessible, expectRefusals, openHouse, pictures, until, url } from "./house.mjs";

const NOTHING = { tools: [], versions: [], agents: [], attachments: [], credentials: [], modules: [], mcp_servers: [], toolsets: [], overrides: [], workspace: { default_guest_modules: [] } };

const FIND = {
  id: "find_flights",
  version: "1.0.0",
  name: "Find flights",
  description: "Finds flights between two cities.",
  parameters_schema: {
    type: "object",
    required: ["from", "key"],
    properties: {
      from: { type: "string", description: "The city" },
      class: { enum: ["economy", "business"] },
      limit: { type: "integer", default: 3, maximum: 5 },
      key: { type: "string", writeOnly: true },
    },
  },
  handler: { type: "builtin", key: "list_files" },
  category: "travel",
  risk_level: "low",
};

let house;

before(async () => {
  house = await openHouse("console-agents");
  await house.api("POST", "/api/registry/restore", NOTHING);
  await house.api("POST", "/api/tools", FIND);
  await house.api("POST", "/api/tools", { ...FIND, id: "fire_rockets", name: "Fire rockets", description: "Fires all rockets at once.", risk_level: "critical" });
});

after(() => house.close());

const views = (page) => page.getByRole("navigation", { name: "Views" }).first();

test("an agent is created, and what is missing is told at its field", async () => {
  const page = await house.open("agents");
  await page.getByRole("heading", { name: "There is no agent yet" }).waitFor();
  await accessible(page);
  await page.getByRole("link", { name: "Create an agent" }).first().click();
  const create = page.getByRole("button", { name: "Create the agent" });
  await create.click();
  await page.getByText("An agent needs a name").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Travel clerk");
  await page.getByLabel("Risk up to").selectOption("low");
  await page.getByLabel("Capabilities").fill("net, mail");
  await page.getByLabel("Temperature").fill("7");
  await create.click();
  // The API's own words stand at the field.
  await until(async () => (await page.getByLabel("Temperature").getAttribute("aria-invalid")) === "true", "the temperature to be refused");
  await expectRefusals(page, 400);
  await page.getByLabel("Temperature").fill("0");
  await page.getByLabel("System prompt").fill("You book flights.");
  await accessible(page);
  await pictures(page, "agents-new");
  await create.click();
  await page.getByRole("heading", { name: "Travel clerk", level: 1 }).waitFor();
  const { agents } = await house.api("GET", "/api/agents");
  assert.equal(agents.length, 1);
  const { name, max_risk, capabilities, temperature, system_prompt, default_tools } = agents[0];
  assert.deepEqual({ name, max_risk, capabilities, temperature, system_prompt, default_tools }, {
    name: "Travel clerk",
    max_risk: "low",
    capabilities: ["net", "mail"],
    temperature: 0,
    system_prompt: "You book flights.",
    default_tools: true,
  });
  assert.match(page.url(), new RegExp(`#/agents/${agents[0].id}$`));
  assert.equal(await page.getByRole("link", { name: "Chat", exact: true }).getAttribute("href"), `#/playground?agent=${agents[0].id}`);
  // The default tools are in the toolbox.
  await page.getByRole("list", { name: "Tools for Registry" }).getByRole("link", { name: "read_file" }).waitFor();
  await page.context().close();
});

test("a tool is attached after its warnings were seen, with a configuration from its schema", async () => {
  const [{ id }] = (await house.api("GET", "/api/agents")).agents;
  const page = await house.open(`agents/${id}?tab=attachments`);
  await page.getByRole("heading", { name: "No tool is attached" }).waitFor();
  await page.getByRole("link", { name: "Attach a tool" }).click();
  await page.getByLabel("Search a tool").fill("flights");
  const found = page.getByRole("list", { name: "Tools that were found" });
  await found.getByText("find_flights").waitFor();
  await until(async () => (await found.getByRole("listitem").count()) === 1, "only the tool that fits");
  await found.getByRole("link", { name: "Choose find_flights" }).click();
  await page.getByText("The first attachment ends the agent's default tools").waitFor();
  // A secret cannot have a default.
  assert.equal(await page.getByLabel("key", { exact: true }).count(), 0);
  await page.getByLabel("limit", { exact: true }).fill("9");
  await page.getByText("greater than the maximum of 5").waitFor();
  await expectRefusals(page, 400);
  await page.getByLabel("limit", { exact: true }).fill("4");
  await page.getByLabel("class", { exact: true }).selectOption({ label: "business" });
  await page.getByLabel("Longest result, in bytes").fill("5000");
  await page.getByText("greater than the maximum of 5").waitFor({ state: "detached" });
  await page.getByText("The first attachment ends the agent's default tools").waitFor();
  assert.deepEqual((await house.api("GET", `/api/agents/${id}/tools`)).tools, [], "a dry run writes nothing");
  await accessible(page);
  await pictures(page, "agents-attach");
  await page.getByRole("button", { name: "Attach the tool" }).click();
  const row = page.getByRole("row").filter({ hasText: "find_flights" });
  await row.waitFor();
  const [attached] = (await house.api("GET", `/api/agents/${id}/tools`)).tools;
  assert.equal(attached.id, "find_flights");
  assert.deepEqual(attached.config, { default_class: "business", default_limit: 4, max_result_bytes: 5000 });

  // A tool that the agent cannot use is attached all the same, and the warning says why.
  await page.getByRole("link", { name: "Attach a tool" }).click();
  await page.getByLabel("Search a tool").fill("rockets");
  await page.getByRole("link", { name: "Choose fire_rockets" }).click();
  await page.getByText(/risk.*critical|critical.*risk/i).first().waitFor();
  await page.getByRole("button", { name: "Attach the tool" }).click();
  await page.getByRole("row").filter({ hasText: "fire_rockets" }).waitFor();

  // A tool that is attached already is told, with a way to its configuration.
  await page.goto(`${url}/#/agents/${id}?tab=attachments&attach=find_flights`);
  await page.getByText("find_flights is attached already.").waitFor();
  await expectRefusals(page, 409);
  await page.getByRole("link", { name: "Change its configuration" }).click();
  await until(async () => (await page.getByLabel("limit", { exact: true }).inputValue()) === "4", "the present configuration in the form");
  await page.getByLabel("limit", { exact: true }).fill("2");
  await page.getByLabel("Other keys, as JSON").fill('{"region": "eu"}');
  await page.getByRole("button", { name: "Save the configuration" }).click();
  await page.getByRole("row").filter({ hasText: '"default_limit":2' }).waitFor();
  const after = (await house.api("GET", `/api/agents/${id}/tools`)).tools.find((it) => it.id === "find_flights");
  assert.deepEqual(after.config, { default_class: "business", default_limit: 2, max_result_bytes: 5000, region: "eu" });
  await accessible(page);
  await pictures(page, "agents-attachments");
  await page.context().close();
});

test("the toolbox is shown in each format, to read and raw", async () => {
  const [{ id }] = (await house.api("GET", "/api/agents")).agents;
  const page = await house.open(`agents/${id}`);
  for (const [name, format, field] of [
    ["Registry", "json", "parameters_schema"],
    ["OpenAI Chat", "openai", "function"],
    ["OpenAI Responses", "openai_responses", "parameters"],
    ["Anthropic", "anthropic", "input_schema"],
    ["Gemini", "gemini", "parameters"],
    ["LangChain", "langchain", "args_schema"],
    ["MCP", "mcp", "inputSchema"],
  ]) {
    await page.getByRole("link", { name, exact: true }).click();
    const list = page.getByRole("list", { name: `Tools for ${name}` });
    await list.getByText("find_flights", { exact: true }).waitFor();
    // The agent's risk excludes the other attached tool.
    assert.equal(await list.getByRole("listitem").count(), 1);
    await list.getByText("Arguments of find_flights").click();
    await list.getByRole("region", { name: "Arguments of find_flights", exact: true }).getByText("limit", { exact: true }).waitFor();
    await page.getByLabel("Raw JSON").check();
    const raw = page.getByRole("region", { name: `The toolbox for ${name}` });
    await raw.waitFor();
    const { tools } = await house.api("GET", `/api/agents/${id}/toolbox?format=${format}`);
    assert.deepEqual(JSON.parse(await raw.innerText()), tools);
    assert.ok(field in tools[0]);
    await page.getByLabel("Raw JSON").uncheck();
  }
  await page.getByRole("link", { name: "Text", exact: true }).click();
  await page.getByRole("region", { name: "The toolbox as a text for a prompt" }).getByText("Tool: find_flights").waitFor();

  // The format and strict mode have a link of their own.
  const strict = await house.open(`agents/${id}?format=openai&show=raw&strict=true`);
  const raw = strict.getByRole("region", { name: "The toolbox for OpenAI Chat" });
  await raw.waitFor();
  assert.equal(JSON.parse(await raw.innerText())[0].function.strict, true);
  await accessible(page);
  await page.getByRole("link", { name: "Anthropic", exact: true }).click();
  await page.getByText("Arguments of find_flights").click();
  await accessible(page);
  await pictures(page, "agents-toolbox");
  await page.context().close();
  await strict.context().close();
});

test("settings are changed, and an emptied field is cleared", async () => {
  const [{ id }] = (await house.api("GET", "/api/agents")).agents;
  const page = await house.open(`agents/${id}?tab=settings`);
  const save = page.getByRole("button", { name: "Save the settings" });
  await save.waitFor();
  assert.ok(await save.isDisabled(), "nothing has changed");
  await page.getByLabel("Name", { exact: true }).fill("Chief clerk");
  await page.getByLabel("Temperature").fill("");
  await page.getByLabel("Find tools").check();
  // Somebody else changes another field meanwhile.
  await house.api("PATCH", `/api/agents/${id}`, { model: "small" });
  await save.click();
  await page.getByRole("heading", { name: "Chief clerk", level: 1 }).waitFor();
  const agent = await house.api("GET", `/api/agents/${id}`);
  assert.deepEqual([agent.name, agent.temperature, agent.find_tools, agent.model, agent.system_prompt], ["Chief clerk", null, true, "small", "You book flights."]);
  await until(async () => (await page.getByLabel("Model", { exact: true }).inputValue()) === "small", "the other change in the form");
  await accessible(page);
  await pictures(page, "agents-settings");
  await page.context().close();
});

test("a token for the agent is shown once, works as the agent alone, and is revoked", async () => {
  const [{ id }] = (await house.api("GET", "/api/agents")).agents;
  const other = await house.api("POST", "/api/agents", { name: "Other" });
  const page = await house.open(`agents/${id}?tab=tokens`);
  await page.getByRole("heading", { name: "No token is bound to this agent" }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Laptop");
  await page.getByLabel("Level").selectOption("guest");
  await page.getByRole("button", { name: "Make the token" }).click();
  const shown = page.getByText(/^peg_/);
  await shown.waitFor();
  await page.getByRole("button", { name: "Copy the token" }).click();
  const token = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(token, await shown.innerText());
  const status = async (path) => (await fetch(url + path, { headers: { "x-workspace-id": house.workspace, authorization: `Bearer ${token}` } })).status;
  assert.equal(await status(`/api/agents/${id}/toolbox`), 200);
  assert.equal(await status(`/api/agents/${other.id}/toolbox`), 403);
  await accessible(page);
  await pictures(page, "agents-tokens");
  await page.getByRole("button", { name: "I have kept it" }).click();
  await shown.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Revoke Laptop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke the token" }).click();
  await page.getByRole("heading", { name: "No token is bound to this agent" }).waitFor();
  assert.equal(await status(`/api/agents/${id}/toolbox`), 401);
  await house.api("DELETE", `/api/agents/${other.id}`);
  await page.context().close();
});

test("how to connect is told with this server's address, and the address works", async () => {
  const [{ id }] = (await house.api("GET", "/api/agents")).agents;
  const page = await house.open(`agents/${id}?tab=connect`);
  const command = await page.getByRole("region", { name: "The command that adds the agent’s tools" }).innerText();
  assert.equal(command, `claude mcp add --transport http pegboard ${url}/w/console-agents/agents/${id}/mcp`);
  await page.getByRole("button", { name: "Copy: The command that adds" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
  const answer = await fetch(command.split(" ").at(-1), {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } } }),
  });
  assert.equal(answer.status, 200);
  await accessible(page);
  await pictures(page, "agents-connect");
  await page.context().close();
});

test("a tool is detached, and the agent deleted", async () => {
  const [{ id }] = (await house.api("GET", "/api/agents")).agents;
  const page = await house.open(`agents/${id}?tab=attachments`);
  await page.getByRole("button", { name: "Detach fire_rockets" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Detach the tool" }).click();
  await page.getByRole("button", { name: "Detach fire_rockets" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Detach find_flights" }).click();
  await page.getByRole("dialog").getByText("the agent gets the default tools back").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Detach the tool" }).click();
  await page.getByRole("heading", { name: "No tool is attached" }).waitFor();
  assert.deepEqual((await house.api("GET", `/api/agents/${id}/tools`)).tools, []);
  await views(page).getByRole("link", { name: "Toolbox" }).click();
  await page.getByRole("list", { name: "Tools for Registry" }).getByRole("link", { name: "read_file" }).waitFor();

  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Chief clerk" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal((await house.api("GET", "/api/agents")).agents.length, 1);
  await page.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete the agent" }).click();
  await page.getByRole("heading", { name: "There is no agent yet" }).waitFor();
  assert.deepEqual((await house.api("GET", "/api/agents")).agents, []);
  await page.context().close();
});

test("a guest reads agents, and is told who changes them", async () => {
  const agent = await house.api("POST", "/api/agents", { name: "Shown" });
  const { token } = await house.api("POST", "/api/tokens", { name: "A guest", level: "guest" });
  const page = await house.open("agents", { token });
  await page.getByText("Your level is guest").waitFor();
  assert.equal(await page.getByRole("link", { name: "Create an agent" }).count(), 0);
  await page.getByRole("link", { name: "Shown" }).click();
  await page.getByRole("heading", { name: "Shown", level: 1 }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Delete" }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "Chat", exact: true }).count(), 0);
  await views(page).getByRole("link", { name: "Attachments" }).click();
  await page.getByRole("heading", { name: "No tool is attached" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Attach a tool" }).count(), 0);
  await views(page).getByRole("link", { name: "Settings" }).click();
  await page.getByText("agents are changed by users of the workspace").waitFor();
  assert.equal(await page.getByRole("button", { name: "Save the settings" }).count(), 0);
  await views(page).getByRole("link", { name: "Tokens" }).click();
  await page.getByText("Only an owner of the workspace sees and makes tokens.").waitFor();
  await page.goto(`${url}/#/agents?view=new`);
  await page.getByText("Your level is guest").waitFor();
  await accessible(page);
  await page.context().close();
  await house.api("DELETE", `/api/agents/${agent.id}`);
});

test("a bound token changes no agents, whatever its level", async () => {
  const agent = await house.api("POST", "/api/agents", { name: "Bound" });
  const { token } = await house.api("POST", "/api/tokens", { name: "Bound", level: "owner", agent_id: agent.id });
  const page = await house.open(`agents/${agent.id}?tab=settings`, { token });
  await page.getByText("Your token is bound to an agent").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Save the settings" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Delete" }).count(), 0);
  await page.context().close();
  await house.api("DELETE", `/api/agents/${agent.id}`);
});
