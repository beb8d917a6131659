import assert from "node:assert/strict";
import { test } from "node:test";

import { markdown, type Stream } from "./markdown.ts";

/** The same steps as CodeMirror's StringStream takes. */
function streamOf(line: string): Stream & { at: () => number } {
  let at = 0;
  return {
    at: () => at,
    sol: () => at === 0,
    eol: () => at >= line.length,
    skipToEnd: () => {
      at = line.length;
    },
    next: () => line[at++],
    match: (pattern) => {
      const found = line.slice(at).match(pattern);
      if (found === null || (found.index ?? 0) > 0) return null;
      at += found[0].length;
      return found;
    },
  };
}

function tokensOf(text: string): [string, string][] {
  const state = markdown.startState();
  const found: [string, string][] = [];
  for (const line of text.split("\n")) {
    const stream = streamOf(line);
    while (!stream.eol()) {
      const from = stream.at();
      const token = markdown.token(stream, state);
      assert.ok(stream.at() > from, `no step in ${line} at ${from}`);
      if (token !== null) found.push([token, line.slice(from, stream.at())]);
    }
  }
  return found;
}

test("headings, lists, emphasis, links and code are told apart", () => {
  assert.deepEqual(tokensOf("# Gas\n\n- one **two** `three` [four](https://example.org)\n> five\n---"), [
    ["heading", "# Gas"],
    ["list", "- "],
    ["strong", "**two**"],
    ["monospace", "`three`"],
    ["link", "[four](https://example.org)"],
    ["quote", "> five"],
    ["contentSeparator", "---"],
  ]);
});

test("code ends at its own marks only", () => {
  const tokens = tokensOf("````\n# no heading\n```\n````\n# heading");
  assert.deepEqual(tokens.map(([it]) => it), ["monospace", "monospace", "monospace", "monospace", "heading"]);
});

test("marks without a partner are plain text", () => {
  assert.deepEqual(tokensOf("2 * 3 * 4, a_b_c, `open, [half"), []);
});
