// A toolset whose results are shown by renderers, without Python: its tools are those of a small MCP server, which runs in the
// test, and its pages are in the bundle.

import assert from "node:assert/strict";
import { createServer } from "node:http";

import { zip } from "./zip.mjs";

/** Starts a server that hands every request to `answer(request, body)`, which returns `[status, headers, body]`. */
export async function startServer(answer) {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const [status, headers, text] = await answer(request, body);
    response.writeHead(status, headers);
    response.end(text);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };

/** An MCP server. `tools` are functions by their names: each gets the arguments, and returns the result. */
export function startMcp(tools) {
  const methods = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "artifacts", version: "1.0.0" } }),
    "tools/list": () => ({ tools: Object.keys(tools).map((name) => ({ name, description: `The tool ${name}`, inputSchema: { type: "object" } })) }),
    "tools/call": ({ name, arguments: given }) => {
      const result = tools[name](given);
      return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
    },
  };
  return startServer((request, body) => {
    if (request.method !== "POST") return [405, {}, ""];
    const { id, method, params = {} } = JSON.parse(body);
    if (id === undefined) return [202, {}, ""];
    const handle = methods[method];
    const answer = handle ? { result: handle(params) } : { error: { code: -32601, message: `There is no method ${method}` } };
    return [200, JSON_TYPE, JSON.stringify({ jsonrpc: "2.0", id, ...answer })];
  });
}

/** Installs the toolset: `renderers` are `{renderer, renderer_config}` by the names of the MCP server's tools. */
export async function install(url, workspace, mcp, renderers, pages) {
  const manifest = {
    manifest_version: "1",
    id: "shows",
    name: "Shows",
    version: "1.0.0",
    mcp_servers: [{ id: "show", transport: "streamable-http", url: `${mcp.url}/mcp`, requires_confirmation: false, risk_level: "safe" }],
    tool_overrides: Object.entries(renderers).map(([name, override]) => ({ tool_id: `show:${name}`, ...override })),
  };
  // JSON is YAML.
  const body = zip({ "toolset.yaml": JSON.stringify(manifest, null, 2), ...pages });
  const response = await fetch(`${url}/api/toolsets`, { method: "POST", headers: { "x-workspace-id": workspace, "content-type": "application/zip" }, body });
  assert.equal(response.status, 201, await response.text());
}
