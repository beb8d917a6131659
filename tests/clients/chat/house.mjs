// What every chat test needs: a workspace with a scripted model, tools on a small server, and an agent that has them.

import assert from "node:assert/strict";
import { createServer } from "node:http";

import { gate, startModel } from "./model.mjs";

/** `url` is the address of the Worker. */
const { url } = JSON.parse(process.env.CHAT_TEST);

const TOOLS = {
  weather: { parameters_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
  breaks: {},
  slow: {},
  wipe: { requires_approval: true, parameters_schema: { type: "object", properties: { disk: { type: "integer" } } } },
};

/** The server of the tools. A call of `slow` reports itself to `entered`, and waits for `released`, by its `key`. */
async function startTools() {
  const waits = new Map();
  const wait = (key) => {
    if (!waits.has(key)) waits.set(key, { entered: gate(), released: gate() });
    return waits.get(key);
  };
  const answers = {
    "/weather": ({ city }) => ({ city, celsius: 21.5 }),
    "/wipe": ({ disk }) => `wiped ${disk}`,
    "/slow": async ({ key }) => {
      wait(key).entered.open();
      await wait(key).released.opened;
      return "slow result";
    },
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const answer = answers[request.url];
    const content = answer ? await answer(JSON.parse(body).arguments) : { error: "The disk is on fire" };
    response.writeHead(answer ? 200 : 500, { "content-type": "application/json" });
    response.end(JSON.stringify(content));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    wait,
    stop() {
      for (const { released } of waits.values()) released.open();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A workspace of its own for each file of tests. */
export async function openHouse(workspace) {
  const [model, tools] = await Promise.all([startModel(), startTools()]);
  const headersOf = (token, space = workspace) => ({
    "x-workspace-id": space,
    ...(token && { authorization: `Bearer ${token}` }),
  });

  /** As the owner, or with a token. Returns the body of a response, which must have a good status. */
  async function api(method, path, body, token) {
    const headers = { ...headersOf(token), "content-type": "application/json" };
    const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    const content = await response.text();
    assert.ok(response.ok, `${method} ${path} answered ${response.status}: ${content}`);
    return content ? JSON.parse(content) : undefined;
  }

  await api("PATCH", "/api/workspace", { model_url: model.url, model_name: "scripted", model_key: "model-key" });
  for (const [id, fields] of Object.entries(TOOLS)) {
    await api("POST", "/api/tools", {
      id,
      version: "1.0.0",
      name: id,
      description: `The tool ${id} of the chat tests`,
      parameters_schema: { type: "object" },
      handler: { type: "http", url: `${tools.url}/${id}` },
      ...fields,
    });
  }
  const { id: agent } = await api("POST", "/api/agents", { name: "Chatter", system_prompt: "You are a test." });
  for (const tool_id of [...Object.keys(TOOLS), "write_file", "read_file"]) {
    await api("POST", `/api/agents/${agent}/tools`, { tool_id });
  }
  const { token: userToken } = await api("POST", "/api/tokens", { name: "user", level: "user" });
  const { token: adminToken } = await api("POST", "/api/tokens", { name: "admin", level: "admin" });

  let sessions = 0;
  return {
    url,
    model,
    tools,
    agent,
    userToken,
    adminToken,
    api,
    headersOf,
    newSession: (prefix) => `${prefix}-${sessions++}`,
    chatUrl: (session) => `${url}/api/playground/sessions/${session}/chat`,
    messages: async (session) => (await api("GET", `/api/playground/sessions/${session}/messages?limit=100`)).messages,
    pending: async () => (await api("GET", "/api/approvals?status=pending&limit=200")).approvals,
    close() {
      model.stop();
      tools.stop();
    },
  };
}
