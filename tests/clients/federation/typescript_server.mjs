// Servers of the TypeScript SDK on one port: `node typescript_server.mjs [PORT]`
//
//   /mcp              version 2 of the SDK: both eras, without sessions
//   /modern           version 2: only 2026-07-28, and every answer is a stream
//   /sessions         version 1: 2025-11-25 with sessions; an unknown session is a 404
//   /sessions-400     the same, but an unknown session is a 400, as in many servers
//   POST /drop        forgets every session
//
// The program prints its URL as JSON when it listens, and ends with its stdin.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as LegacyServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { z } from "zod";

const INFO = { name: "typescript", version: "1.0.0" };
const text = (words) => ({ content: [{ type: "text", text: words }] });

/** The same tools for both versions of the SDK. `schema` turns fields into what the version wants. */
function register(server, schema) {
  server.registerTool(
    "echo",
    { description: "Repeats a message", inputSchema: schema({ message: z.string() }), annotations: { readOnlyHint: true } },
    ({ message }) => text(message),
  );
  server.registerTool(
    "add",
    {
      title: "Add two numbers",
      description: "Adds",
      inputSchema: schema({ a: z.number(), b: z.number() }),
      outputSchema: schema({ sum: z.number() }),
    },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  );
  server.registerTool("link", { description: "Links to a resource", inputSchema: schema({}) }, () => ({
    content: [{ type: "resource_link", uri: "note://1", name: "note", mimeType: "text/plain" }],
  }));
  server.registerTool("fail", { description: "Always fails", inputSchema: schema({}) }, () => ({
    ...text("it broke"),
    isError: true,
  }));
  server.registerTool("throw", { description: "Throws", inputSchema: schema({}) }, () => {
    throw new Error("it threw");
  });
  server.registerTool(
    "slow",
    { description: "Takes its time", inputSchema: schema({ seconds: z.number() }) },
    async ({ seconds }) => {
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      return text("done");
    },
  );
  server.registerTool("big", { description: "Answers much", inputSchema: schema({ bytes: z.number() }) }, ({ bytes }) =>
    text("x".repeat(bytes)),
  );
  return server;
}

const modernServer = () => register(new McpServer(INFO), (fields) => z.object(fields));
const legacyServer = () => register(new LegacyServer(INFO), (fields) => fields);

/** A handler with sessions, as the SDK's own examples have it. */
function withSessions(unknown) {
  const sessions = new Map();
  const refuse = (response) => {
    const error = { code: unknown === 404 ? -32001 : -32000, message: unknown === 404 ? "Session not found" : "Bad Request: No valid session ID provided" };
    response.writeHead(unknown, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
  };
  const handle = async (request, response) => {
    const id = request.headers["mcp-session-id"];
    if (id !== undefined && !sessions.has(id)) return refuse(response);
    let transport = sessions.get(id);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (opened) => sessions.set(opened, transport),
        onsessionclosed: (closed) => sessions.delete(closed),
      });
      await legacyServer().connect(transport);
    }
    return transport.handleRequest(request, response);
  };
  return { handle, sessions };
}

const notFound = withSessions(404);
const badRequest = withSessions(400);
const routes = {
  "/mcp": toNodeHandler(createMcpHandler(modernServer)),
  "/modern": toNodeHandler(createMcpHandler(modernServer, { legacy: "reject", responseMode: "sse" })),
  "/sessions": notFound.handle,
  "/sessions-400": badRequest.handle,
  "/drop": (_, response) => {
    for (const { sessions } of [notFound, badRequest]) sessions.clear();
    response.writeHead(204).end();
  },
};

const listener = createServer(async (request, response) => {
  const route = routes[new URL(request.url, "http://localhost").pathname];
  try {
    if (route) await route(request, response);
    else response.writeHead(404).end();
  } catch (error) {
    if (!response.headersSent) response.writeHead(500).end(String(error));
  }
});
listener.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${listener.address().port}` }));
});
process.stdin.on("end", () => process.exit()).resume();
