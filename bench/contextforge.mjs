// ContextForge, another gateway of MCP servers, set up for speed. Its record of calls stays on, as it is by default: the
// record is buffered, and written once a minute.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { startChild } from "./child.mjs";
import { send } from "./load.mjs";
import { LEGACY, handshake, mcp } from "./mcp-request.mjs";

const SERVER = fileURLToPath(new URL("contextforge_server.py", import.meta.url));
const ADMIN = "admin@example.com";
const SECRET = randomBytes(32).toString("hex");
const PASSWORD = `${randomBytes(16).toString("hex")}-Aa!`;

const settings = (folder) => ({
  DATABASE_URL: `sqlite:///${folder}/mcp.db`,
  CACHE_TYPE: "memory",
  JWT_SECRET_KEY: SECRET,
  AUTH_ENCRYPTION_SECRET: randomBytes(32).toString("hex"),
  PLATFORM_ADMIN_EMAIL: ADMIN,
  PLATFORM_ADMIN_PASSWORD: PASSWORD,
  DEFAULT_USER_PASSWORD: PASSWORD,
  BASIC_AUTH_PASSWORD: PASSWORD,
  REQUIRE_STRONG_SECRETS: "false",
  ENVIRONMENT: "development",
  SSRF_ALLOW_LOCALHOST: "true",
  SSRF_ALLOW_PRIVATE_NETWORKS: "true",
  // It keeps a session with the server behind it only for a client that has a session itself.
  USE_STATEFUL_SESSIONS: "true",
  // Everything that a call can do without.
  LOG_LEVEL: "ERROR",
  STRUCTURED_LOGGING_ENABLED: "false",
  PERFORMANCE_TRACKING_ENABLED: "false",
  CORRELATION_ID_ENABLED: "false",
  COMPRESSION_ENABLED: "false",
  SECURITY_HEADERS_ENABLED: "false",
  RATE_LIMITING_ENABLED: "false",
  PLUGINS_ENABLED: "false",
  MCPGATEWAY_UI_ENABLED: "false",
  MCPGATEWAY_ADMIN_API_ENABLED: "false",
  MCPGATEWAY_A2A_ENABLED: "false",
});

/** Starts the gateway with an empty database in a folder, where its log is too. `more` are settings that replace others. */
export async function startContextForge(python, folder, workers, more = {}) {
  mkdirSync(folder, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: folder, ...settings(folder), ...more };
  const jwt = ["-m", "mcpgateway.utils.create_jwt_token", "--username", ADMIN, "--exp", "10080", "--secret", SECRET, "--admin"];
  const options = { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  const token = execFileSync(python, jwt, options).trim().split("\n").at(-1);
  const log = openSync(join(folder, "log"), "w");
  const server = await startChild(python, [SERVER, String(workers)], { path: "/health", tries: 600, cwd: folder, env, stdio: ["pipe", "pipe", log] });
  return { ...server, token };
}

/** Federates a server of Streamable HTTP under a name. */
export async function federate(gateway, name, url) {
  const response = await fetch(`${gateway.url}/gateways`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
    body: JSON.stringify({ name, url, transport: "STREAMABLEHTTP" }),
  });
  if (!response.ok) throw new Error(`ContextForge did not take ${url}: ${response.status} ${await response.text()}`);
}

/** A call for the load generator. Each connection has a session of its own, and a session belongs to one worker process, so
 * it is opened over the connection itself. The first call opens the session with the server behind the gateway, so it is made
 * before the clock starts. */
export function calling(gateway, params, expected) {
  const url = `${gateway.url}/mcp`;
  const call = { ...mcp(url, LEGACY, "tools/call", params), expected };
  const open = async (agent) => {
    const session = await handshake(url, agent, { authorization: `Bearer ${gateway.token}` });
    const { status, text } = await send({ ...call, headers: session.headers }, agent);
    if (status !== 200 || !text.includes(expected)) throw new Error(`ContextForge answered ${status}: ${text}`);
    return session;
  };
  return { ...call, open };
}
