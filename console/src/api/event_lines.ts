// The events of a `text/event-stream`, read in whatever pieces they arrive. Pure.

/** Reads pieces of a stream, and returns the data of the events that are complete. */
export class EventLines {
  #rest = "";

  read(piece: string): string[] {
    const blocks = (this.#rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(dataOf).filter((it): it is string => it !== undefined);
  }
}

/** The data of one event. A comment has none. */
function dataOf(block: string): string | undefined {
  const lines = block.split("\n").filter((it) => it.startsWith("data:"));
  if (lines.length === 0) return undefined;
  return lines.map((it) => it.slice("data:".length).replace(/^ /, "")).join("\n");
}
