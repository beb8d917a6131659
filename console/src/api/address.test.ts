import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf } from "./address.ts";

const FILE = "/api/sessions/{session_id}/files/{path}";
const at = (session_id: unknown, path: unknown) => addressOf(FILE, { session_id, path }, {});
/** Where the browser sends a request for this address. */
const arrives = (url: string) => new URL(url, "http://pegboard.example").pathname;

test("parameters are written so that they arrive as they are", () => {
  assert.deepEqual(at("a b", "data/ü ?#.txt"), { url: "/api/sessions/a%20b/files/data/%C3%BC%20%3F%23.txt", fault: undefined });
  assert.deepEqual(addressOf("/api/tools/{tool_id}", { tool_id: "a/b" }, { q: "x y", limit: 5, none: undefined, empty: "" }), { url: "/api/tools/a%2Fb?q=x+y&limit=5", fault: undefined });
  for (const path of ["...", "a..b", "..a", "%2e%2e/x", "a\\..\\b", ".hidden/x"]) {
    assert.equal(at("s", path).fault, undefined, path);
    assert.ok(arrives(at("s", path).url).startsWith("/api/sessions/s/files/"), path);
  }
});

test("an address that a browser would turn into another one is refused", () => {
  for (const path of ["..", ".", "../../agents/agent_x", "a/../../b", "a/./b", "a/.."]) assert.match(at("s", path).fault ?? "", /cannot have “\.\.?” as a name/, path);
  for (const session of ["..", "."]) assert.match(at(session, "a").fault ?? "", /session id cannot have/, session);
  // Any other id has no slash that counts.
  assert.equal(at("../x", "a").fault, undefined);
  assert.equal(arrives(at("../x", "a").url), "/api/sessions/..%2Fx/files/a");
});

test("nothing is asked about a thing without a name", () => {
  assert.equal(at("", "a").fault, "The session id is missing.");
  assert.equal(at("s", "").fault, "A path is missing.");
  assert.equal(at(undefined, "a").fault, "The session id is missing.");
});
