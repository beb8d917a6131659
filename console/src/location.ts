// Where the person is: the hash of the URL, as a path and a query. Every view has a link of its own, and filters are in the
// query, so the browser's way back brings them back.

import { computed, signal } from "@preact/signals";

export type Query = Record<string, string | undefined>;

const hash = signal("");

/** The workspace that the last link from outside was about, until the person is there or stays where they are. */
export const askedWorkspace = signal<string | null>(null);

/** Takes the present address. A copied link names its workspace, which is no filter of the page. */
function arrive(): void {
  const [path = "", parameters = ""] = window.location.hash.split("?");
  const given = new URLSearchParams(parameters);
  const named = given.get("workspace");
  if (named !== null) {
    askedWorkspace.value = named;
    given.delete("workspace");
    history.replaceState(null, "", given.size === 0 ? path : `${path}?${given}`);
  }
  hash.value = window.location.hash;
}
window.addEventListener("hashchange", arrive);
arrive();

/** The path without the leading slash, in decoded segments. */
export const segments = computed(() => pathOf(hash.value).map(decode));

/** The parameters of the present view. */
export const query = computed(() => new URLSearchParams(hash.value.split("?")[1] ?? ""));

function pathOf(text: string): string[] {
  return (text.replace(/^#\/?/, "").split("?")[0] ?? "").split("/").filter((it) => it !== "");
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The link to a view: `link(["tools", id], {tab: "calls"})`. */
export function link(path: readonly string[], parameters: Query = {}): string {
  const given = Object.entries(parameters).filter((it): it is [string, string] => it[1] !== undefined && it[1] !== "");
  const text = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

/** The address of the present view for somebody else, with its workspace. */
export function linkHere(workspace: string): string {
  const here = link(segments.value, { ...Object.fromEntries(query.value), workspace });
  return new URL(here, window.location.href).href;
}

/** Goes to a view. */
export function go(path: readonly string[], parameters: Query = {}): void {
  window.location.hash = link(path, parameters);
}

/** Changes parameters of the present view, without a step in the browser's history. */
export function setQuery(changes: Query): void {
  const next = { ...Object.fromEntries(query.value), ...changes };
  history.replaceState(null, "", link(segments.value, next));
  hash.value = window.location.hash;
}
