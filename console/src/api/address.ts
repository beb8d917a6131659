// The address of a request: a path of the API with its parameters filled in, and a query. Pure.

/** An address, and why no request may be sent to it. */
export interface Address {
  url: string;
  fault: string | undefined;
}

export function addressOf(path: string, parameters: Record<string, unknown>, query: Record<string, unknown>): Address {
  let fault: string | undefined;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(parameters[name] ?? "");
    // The path of a file has slashes of its own.
    const parts = name === "path" ? value.split("/") : [value];
    fault ??= faultOf(name, value, parts);
    return parts.map(encodeURIComponent).join("/");
  });
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(entries.map(([key, value]) => [key, String(value)])).toString();
  return { url: text === "" ? filled : `${filled}?${text}`, fault };
}

/** Browsers take `.` and `..` out of an address, and an empty id names the list: the request would be about another thing. */
function faultOf(name: string, value: string, parts: string[]): string | undefined {
  const what = name === "path" ? "A path" : `The ${name.replaceAll("_", " ")}`;
  if (value === "") return `${what} is missing.`;
  const dots = parts.find((it) => it === "." || it === "..");
  return dots === undefined ? undefined : `${what} cannot have “${dots}” as a name: ${value}`;
}
