// Saving a file that others may change meanwhile. The API knows no conditional write: the last writer wins, and the past keeps
// every state. So the file is read before it is written, and what the write was put on top of is looked at afterwards. Pure but
// for the two functions that it is given.

/** What is known about a file at one moment. */
export interface Held {
  sha256: string;
  /** The state of all files that the file was read in. */
  manifestId: string | null;
}

export interface Written extends Held {
  /** The state that the write was put on top of. */
  parentId: string | null;
}

export interface Store {
  /** The file at present, or in a state. Null if there is none. */
  read: (manifestId?: string) => Promise<Held | null>;
  write: () => Promise<Written>;
}

export type Outcome =
  /** `replaced` is a state with contents that somebody wrote between the look and the write, and that this write replaced. */
  | { kind: "saved"; file: Written; replaced: string | null }
  /** Nothing was written, because the file is not what the person began with. */
  | { kind: "conflict"; theirs: Held | null };

/** Writes a file if it is still what the person began with; `base` is its SHA-256, or null if there was no file. */
export async function save(base: string | null, { read, write }: Store): Promise<Outcome> {
  const theirs = await read();
  if ((theirs?.sha256 ?? null) !== base) return { kind: "conflict", theirs };
  const file = await write();
  const isOnTop = file.parentId === null || file.parentId === theirs?.manifestId;
  if (isOnTop) return { kind: "saved", file, replaced: null };
  const before = await read(file.parentId ?? undefined);
  const replaced = (before?.sha256 ?? null) === base ? null : file.parentId;
  return { kind: "saved", file, replaced };
}
