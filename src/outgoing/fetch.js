// Sends a request to the network. Each crossing between JavaScript and WebAssembly costs some microseconds, so a small
// response is read here and crosses once, instead of its head, its stream and each piece of it.

/** `headers` is a JSON array of pairs, and `kept` the names of response headers that the caller wants to see, one a line. Returns
 * `[status, bytes, undefined, undefined, values]` if the response says that its body has at most `smallBytes`, and else
 * `[status, undefined, response, undefined, values]`; `values` are those of the kept headers. A body that breaks off is
 * `[status, undefined, undefined, cause]`, and a request that cannot be made `[0, undefined, undefined, cause]`. */
export async function send(url, method, headers, body, redirect, smallBytes, kept, signal) {
  let request;
  try {
    request = new Request(url, { method, headers: JSON.parse(headers), body, redirect, signal });
  } catch (cause) {
    return [0, undefined, undefined, String(cause)];
  }
  const response = await fetch(request);
  const values = kept?.split("\n").map((name) => response.headers.get(name));
  const length = response.headers.get("content-length");
  // The length of a compressed body says nothing about what it becomes. The events of a stream are read as they come.
  const isSmall =
    length !== null &&
    Number(length) <= smallBytes &&
    !response.headers.has("content-encoding") &&
    !response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!isSmall) return [response.status, undefined, response, undefined, values];
  try {
    return [response.status, new Uint8Array(await response.arrayBuffer()), undefined, undefined, values];
  } catch (cause) {
    return [response.status, undefined, undefined, String(cause)];
  }
}
