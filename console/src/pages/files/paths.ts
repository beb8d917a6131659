// Paths of files, and what can be done with a file of a kind. Pure.

/** The name at the end of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The directory that a path is in. */
export function parentOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}

/** The directories from the top down to a path, without the root and without the path itself. */
export function directoriesAbove(path: string): string[] {
  const names = path.split("/").filter((it) => it !== "");
  return names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
}

/** A name inside a directory. A name may have directories of its own. */
export function inside(directory: string, name: string): string {
  return `/${[...directory.split("/"), ...name.split("/")].filter((it) => it !== "" && it !== ".").join("/")}`;
}

/** Files larger than this are not edited in the browser. */
export const EDITED_BYTES = 2_000_000;
/** The API takes no larger file. */
export const LARGEST_BYTES = 10 * 1024 * 1024;

const PICTURES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  svg: "image/svg+xml",
};

/** The media type of a picture, or null. */
export function pictureTypeOf(path: string): string | null {
  const name = nameOf(path).toLowerCase();
  return name.includes(".") ? (PICTURES[name.slice(name.lastIndexOf(".") + 1)] ?? null) : null;
}

const SOURCES: Record<string, string> = {
  user_upload: "Written by a client",
  tool_run: "A tool",
  branch: "Branched off",
  edit: "Edited",
};

/** What made a state of the files. */
export function sourceWords(source: string): string {
  return SOURCES[source] ?? source.replaceAll("_", " ");
}
