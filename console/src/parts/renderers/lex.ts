// Markdown as tokens, by marked's lexer. The text is untrusted, and some texts take the lexer seconds: emphasis costs the square
// of its paragraph's length, and quotes within quotes overflow the stack. So the work is bounded, and pauses for the page.

import { Lexer, type Token } from "marked";

/** Longer paragraphs are shown without emphasis and links. */
const MAX_INLINE = 4_000;
/** How long the lexer works before the page may draw. */
const TURN_MS = 30;
/** Nobody quotes so deeply. */
const DEEP_QUOTES = /^[ \t]*(?:>[ \t]*){30}/m;

/** The tokens of the text, or null if it is not to be read as Markdown. */
export async function tokensOf(text: string): Promise<Token[] | null> {
  if (DEEP_QUOTES.test(text)) return null;
  const lexer = new Lexer();
  const tokens = lexer.blockTokens(text.replace(/\r\n|\r/g, "\n"), lexer.tokens);
  let turn = Date.now();
  // The queue has the texts whose inline tokens are wanted; `Lexer.lex` goes through it without a pause.
  for (const { src, tokens: into } of lexer.inlineQueue) {
    if (src.length > MAX_INLINE) into.push({ type: "text", raw: src, text: src });
    else lexer.inlineTokens(src, into);
    if (Date.now() - turn > TURN_MS) {
      await new Promise((done) => setTimeout(done));
      turn = Date.now();
    }
  }
  lexer.inlineQueue = [];
  return tokens;
}
