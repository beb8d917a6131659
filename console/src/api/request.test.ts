import assert from "node:assert/strict";
import { test } from "node:test";

// What the module needs of a browser.
const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined, clear: () => undefined };
Object.assign(globalThis, { sessionStorage: storage, localStorage: storage });
const { ApiError, request, send, sendForBytes } = await import("./request.ts");
const { online } = await import("./reach.ts");

/** A response whose body breaks off after its first bytes. */
function broken(status: number): Response {
  const body = new ReadableStream({
    pull: (controller) => {
      controller.enqueue(new TextEncoder().encode('{"tools": ['));
      controller.error(new TypeError("network error"));
    },
  });
  return new Response(body, { status, headers: { "Content-Type": "application/json" } });
}

async function errorOf(work: Promise<unknown>): Promise<InstanceType<typeof ApiError>> {
  const cause: unknown = await work.then(() => null, (it: unknown) => it);
  assert.ok(cause instanceof ApiError, String(cause));
  return cause;
}

test("a body that breaks off is lost like a response that never came", async () => {
  for (const status of [200, 503]) {
    for (const sent of [send, sendForBytes]) {
      globalThis.fetch = async () => broken(status);
      online.value = true;
      const error = await errorOf(sent(request("get", "/api/tools")));
      assert.equal(error.code, "OFFLINE");
      assert.match(error.message, /reads again/);
      assert.equal(online.value, false, "the console asks until Pegboard answers");
    }
  }
  globalThis.fetch = async () => broken(200);
  assert.match((await errorOf(send(request("post", "/api/agents", { body: { name: "Ada" } })))).message, /Nobody knows whether this request arrived/);
});

test("a body that is no JSON is a fault of the server, and is not asked for again", async () => {
  globalThis.fetch = async () => new Response("<html>", { headers: { "Content-Type": "application/json" } });
  online.value = true;
  await assert.rejects(send(request("get", "/api/tools")), SyntaxError);
  assert.equal(online.value, true);
});
