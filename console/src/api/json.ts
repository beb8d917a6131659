// JSON with numbers that a browser cannot hold, such as 9007199254740993. `JSON.parse` would make another number of them without
// a word. Pure.

/** A number that no number of JavaScript is, as it was written. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** Browsers that cannot write such a number write a text of its digits, which the API refuses. */
  toJSON(): unknown {
    return (JSON as { rawJSON?: (source: string) => unknown }).rawJSON?.(this.source) ?? this.source;
  }

  toString(): string {
    return this.source;
  }

  valueOf(): number {
    return Number(this.source);
  }
}

/** Whether a browser would hold another number than the one that is written. */
export function isInexact(source: string): boolean {
  const value = Number(source);
  return !Number.isFinite(value) || (/^-?\d+$/.test(source) && BigInt(source) !== BigInt(value));
}

/** Every text with an inexact number has one of these, and hardly any other text has. */
const MAY_BE_INEXACT = /\d{16}|\d[eE]\+?\d{3}/;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** No text of a response begins like this. */
const MARK = `\0exact ${Math.random()} `;

/** Reads JSON. `hold` makes the values of numbers that a browser cannot hold. */
export function parseExactly(text: string, hold: (source: string) => unknown = (source) => new ExactNumber(source)): unknown {
  if (!MAY_BE_INEXACT.test(text)) return JSON.parse(text);
  let isMarked = false;
  const marked = text.replace(STRING_OR_NUMBER, (it) => {
    if (it.startsWith('"') || !isInexact(it)) return it;
    isMarked = true;
    return JSON.stringify(MARK + it);
  });
  if (!isMarked) return JSON.parse(text);
  return JSON.parse(marked, (_name, value: unknown) => (typeof value === "string" && value.startsWith(MARK) ? hold(value.slice(MARK.length)) : value));
}
