// Which addresses of a document may become links. Pure.

const SCHEMES = ["http:", "https:", "mailto:"];

/** The address, if a person may go there by a click; null for scripts, data, files, and everything relative. */
export function safeLink(address: string): string | null {
  let url: URL;
  try {
    // Without a base a relative address is no URL: it would lead into the console.
    url = new URL(address);
  } catch {
    return null;
  }
  return SCHEMES.includes(url.protocol) ? url.href : null;
}
