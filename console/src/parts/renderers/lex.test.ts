import assert from "node:assert/strict";
import { test } from "node:test";
import { lexer } from "marked";

import { tokensOf } from "./lex.ts";

/** The lexer adds a list of link definitions to its array. */
const plain = (tokens: unknown) => JSON.parse(JSON.stringify(tokens)) as unknown;

test("the tokens are those of marked", async () => {
  const text = "# A *b* <i>c</i>\r\n\r\n- [x] one\n- two [link][1]\n\n> quote `code`\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n```py\nx\n```\n\n[1]: https://a.example\n";
  assert.deepEqual(plain(await tokensOf(text)), plain(lexer(text)));
});

test("hostile texts cost little", async () => {
  const length = 50_000;
  const texts = {
    underscores: "_a".repeat(length / 2),
    stars: "*".repeat(length / 2) + "a" + "*".repeat(length / 2),
    manyParagraphs: `${"_a".repeat(1_900)}\n\n`.repeat(12),
    brackets: "[a](".repeat(length / 4),
    quotes: ">".repeat(length),
    spacedQuotes: "> ".repeat(length / 2),
    nestedLists: Array.from({ length: 220 }, (_, depth) => `${" ".repeat(depth * 2)}- a`).join("\n"),
  };
  for (const [name, text] of Object.entries(texts)) {
    // The time of the processor, because a busy machine makes every clock late.
    const began = process.cpuUsage();
    const tokens = await tokensOf(text);
    const { user } = process.cpuUsage(began);
    if (name.toLowerCase().includes("quotes")) assert.equal(tokens, null, name);
    else assert.notEqual(tokens, null, name);
    // Without bounds, the first two take about three seconds each.
    assert.ok(user < 1_200_000, `${name} took ${Math.round(user / 1_000)} ms`);
  }
});
