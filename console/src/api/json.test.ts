import assert from "node:assert/strict";
import { test } from "node:test";

import { ExactNumber, isInexact, parseExactly } from "./json.ts";

test("numbers that a browser cannot hold keep their digits", () => {
  const text = '{"account":9007199254740993,"list":[-18446744073709551615,1e400,{"deep":12345678901234567890}],"small":9007199254740992}';
  const value = parseExactly(text) as { account: ExactNumber; list: unknown[]; small: unknown };
  assert.ok(value.account instanceof ExactNumber);
  assert.equal(`${value.account}`, "9007199254740993");
  assert.deepEqual(value.list.map(String).slice(0, 2), ["-18446744073709551615", "1e400"]);
  assert.equal(value.small, 9007199254740992);
});

test("they are written as they were read, or as a text where the browser cannot", () => {
  const text = '{"account":9007199254740993}';
  const { rawJSON } = JSON as { rawJSON?: unknown };
  assert.equal(JSON.stringify(parseExactly(text)), rawJSON === undefined ? '{"account":"9007199254740993"}' : text);
  Object.assign(JSON, { rawJSON: undefined });
  assert.equal(JSON.stringify(parseExactly(text)), '{"account":"9007199254740993"}');
  Object.assign(JSON, { rawJSON });
});

test("everything else is read as `JSON.parse` reads it", () => {
  const texts = ['"9007199254740993"', '{"9007199254740993": "a\\"9007199254740993\\\\"}', "[1.5, -2e3, 0.1234567890123456789, 1234567890123456]", '{"__proto__": 1, "a": 9007199254740992}', '"\\u0000exact"'];
  for (const text of texts) assert.deepEqual(parseExactly(text), JSON.parse(text), text);
  for (const text of ["", "{a: 1}", "<html>", "[9007199254740993", '"9007199254740993']) assert.throws(() => parseExactly(text), SyntaxError, text);
});

test("a long text is read too", () => {
  const long = "1234567890123456\\n".repeat(600_000);
  assert.equal((parseExactly(`["${long}", 9007199254740993]`) as unknown[]).map(String)[1], "9007199254740993");
});

test("a number is inexact if a browser makes another of it", () => {
  for (const it of ["9007199254740993", "-9007199254740993", "1e309", "12345678901234567890"]) assert.ok(isInexact(it), it);
  for (const it of ["0", "-1", "9007199254740992", "0.1", "1e22", "100000000000000000000"]) assert.ok(!isInexact(it), it);
});
