// The contents of a file as a text that can be saved again. Pure.

/** The text of UTF-8 bytes. A byte order mark stays in it: without the mark, saving would change the file. */
export function textOf(bytes: ArrayBuffer): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
