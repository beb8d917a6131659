// One MCP request for the load generator, in the older revision or in the newer one.

import { send } from "./load.mjs";

export const LEGACY = "2025-11-25";
export const MODERN = "2026-07-28";

/** A POST of a method; `params` may be a function that makes the parameters. */
export function mcp(url, revision, method, params = {}, more = {}) {
  const modern = revision === MODERN;
  const meta = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": revision,
    ...(modern && { "mcp-method": method, ...(params.name && { "mcp-name": params.name }) }),
    ...more,
  };
  const message = (given) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: modern ? { ...given, _meta: meta } : given });
  return { url, headers, body: typeof params === "function" ? () => message(params()) : message(params) };
}

/** Whether the answer to a call of a tool is a result. A tool fails with a result too. */
export const hasSucceeded = ({ result }) => result !== undefined && result.isError !== true;

/** Makes the handshake of the older revision over an agent's connection. Returns the headers of the requests that follow,
 * and how to close the session. */
export async function handshake(url, agent, more = {}) {
  const client = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const first = mcp(url, LEGACY, "initialize", client, more);
  const answer = await send({ ...first, expected: "result" }, agent);
  if (answer.status !== 200) throw new Error(`${url}: initialize was answered ${answer.status}: ${answer.text}`);
  const session = answer.headers["mcp-session-id"];
  const headers = { ...first.headers, ...(session && { "mcp-session-id": session }) };
  const done = await send({ url, headers, body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) }, agent);
  if (done.status >= 300) throw new Error(`${url}: notifications/initialized was answered ${done.status}: ${done.text}`);
  return { headers, close: () => send({ url, headers, method: "DELETE" }, agent) };
}
