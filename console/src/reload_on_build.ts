// Loads the page again after each build. Only `scripts/console --watch` puts this file into the console.

// A module, so that its names are its own.
export {};

/** How often a page that is looked at asks for the present build. */
const EVERY_MS = 2_000;

/** The build that this page belongs to. */
const own = document.querySelector('meta[name="build"]')?.getAttribute("content");

async function look(): Promise<void> {
  if (document.hidden) return;
  try {
    const response = await fetch("/build.json", { cache: "no-store" });
    const { id, entry } = (await response.json()) as { id: string; entry: string };
    if (id === own) return;
    // The server lists new files a moment after they were written.
    const { ok } = await fetch(entry, { method: "HEAD", cache: "no-store" });
    if (ok) location.reload();
  } catch {
    // The server starts anew, which is looked at again.
  }
}

setInterval(() => void look(), EVERY_MS);
document.addEventListener("visibilitychange", () => void look());
