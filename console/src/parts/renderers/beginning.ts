// The beginning of a long value. `JSON.stringify` writes a value as a whole, and a value of 10 MB freezes the page meanwhile;
// `beginningOf` writes no more than what is shown. Pure.

import { ExactNumber } from "../../api/json.ts";

export interface Beginning {
  text: string;
  isWhole: boolean;
}

/** The value as `JSON.stringify(value, null, 2)` writes it, up to `limit` characters. */
export function beginningOf(value: unknown, limit: number): Beginning {
  const pieces: string[] = [];
  let room = limit;
  const put = (text: string) => {
    pieces.push(text);
    room -= text.length;
  };
  const write = (it: unknown, indent: string): void => {
    if (typeof it === "string") put(JSON.stringify(it.length > room ? it.slice(0, Math.max(room, 0)) : it));
    else if (Array.isArray(it)) writeMembers("[]", it.length, () => "", (index) => it[index], indent);
    else if (it instanceof ExactNumber) put(it.source);
    else if (typeof it === "object" && it !== null) {
      const names = Object.keys(it);
      writeMembers("{}", names.length, (index) => `${JSON.stringify(names[index])}: `, (index) => (it as Record<string, unknown>)[names[index] ?? ""], indent);
    } else put(JSON.stringify(it) ?? "null");
  };
  const writeMembers = (brackets: string, count: number, nameOf: (index: number) => string, valueOf: (index: number) => unknown, indent: string) => {
    const inner = `${indent}  `;
    put(brackets.charAt(0));
    for (let index = 0; index < count; index += 1) {
      if (room < 0) return;
      put(`${index === 0 ? "" : ","}\n${inner}${nameOf(index)}`);
      write(valueOf(index), inner);
    }
    put(`${count === 0 ? "" : `\n${indent}`}${brackets.charAt(1)}`);
  };
  write(value, "");
  const text = pieces.join("");
  return room < 0 ? { text: text.slice(0, limit), isWhole: false } : { text, isWhole: true };
}

/** The beginning of a text, up to the last line break before `limit`; a text without line breaks ends anywhere. */
export function firstLines(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const lineBreak = text.lastIndexOf("\n", limit);
  return text.slice(0, lineBreak > limit / 2 ? lineBreak : limit);
}
