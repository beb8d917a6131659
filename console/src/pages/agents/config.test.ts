import assert from "node:assert/strict";
import { test } from "node:test";

import { areAtFields, defaultsSchema, joinConfig, placesInForm, splitConfig } from "./config.ts";

const parameters = {
  type: "object",
  required: ["text", "key"],
  properties: { text: { type: "string" }, limit: { type: "integer", default: 3 }, key: { type: "string", writeOnly: true }, node: { $ref: "#/$defs/Node" } },
  $defs: { Node: { type: "object" } },
};

test("defaults are optional, without secrets, and without the schema's own defaults", () => {
  assert.deepEqual(defaultsSchema(parameters), {
    type: "object",
    additionalProperties: false,
    properties: { text: { type: "string" }, limit: { type: "integer" }, node: { $ref: "#/$defs/Node" } },
    $defs: parameters.$defs,
  });
});

test("a schema without named parameters takes any default", () => {
  const schema = defaultsSchema({ type: "object" });
  assert.deepEqual(schema, { type: "object" });
  assert.deepEqual(splitConfig({ default_x: 1 }, schema).defaults, { x: 1 });
});

test("what was read is sent back", () => {
  const config = { default_limit: 4, default_text: "a", default_gone: true, max_result_bytes: 1000, region: { name: "eu" } };
  const parts = splitConfig(config, defaultsSchema(parameters));
  assert.deepEqual(parts.defaults, { limit: 4, text: "a" });
  assert.equal(parts.maxResultBytes, "1000");
  assert.deepEqual(JSON.parse(parts.other), { default_gone: true, region: { name: "eu" } });
  assert.deepEqual(joinConfig(parts), { config, problems: {} });
  assert.deepEqual(joinConfig(splitConfig(null, {})), { config: {}, problems: {} });
});

test("what is not finished is a problem of its part", () => {
  const { config, problems } = joinConfig({ defaults: { limit: 1 }, maxResultBytes: "1.5", other: "[" });
  assert.deepEqual(config, { default_limit: 1 });
  assert.equal(problems.maxResultBytes, "This is no whole number");
  assert.match(problems.other ?? "", /not valid JSON/);
  assert.match(joinConfig({ defaults: {}, maxResultBytes: "", other: "[]" }).problems.other ?? "", /JSON object/);
});

test("the API's places become those of the form", () => {
  assert.deepEqual(
    placesInForm([{ path: "/config/default_limit" }, { path: "/config/default_a/b" }, { path: "/config" }, { path: "/tool_id" }]).map((it) => it.path),
    ["/limit", "/a/b", "", "/tool_id"],
  );
  assert.equal(areAtFields([{ path: "/config/default_limit" }, { path: "/config/region" }]), true);
  assert.equal(areAtFields([{ path: "/config/default_limit" }, { path: "/tool_id" }]), false);
  assert.equal(areAtFields([]), false);
});
