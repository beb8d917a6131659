// Sends a request to the network. Each crossing between JavaScript and WebAssembly costs some microseconds, so a small
// response is read here and crosses once, instead of its head, its stream and each piece of it.

/** `headers` is a JSON array of pairs. Returns `[status, bytes]` if the response says that its body has at most `smallBytes`,
 * and else `[status, undefined, response]`. A body that breaks off is `[status, undefined, undefined, cause]`, and a request that
 * cannot be made `[0, undefined, undefined, cause]`. */
export async function send(url, method, headers, body, redirect, smallBytes) {
  let request;
  try {
    request = new Request(url, { method, headers: JSON.parse(headers), body, redirect });
  } catch (cause) {
    return [0, undefined, undefined, String(cause)];
  }
  const response = await fetch(request);
  const length = response.headers.get("content-length");
  // The length of a compressed body says nothing about what it becomes.
  const isSmall = length !== null && Number(length) <= smallBytes && !response.headers.has("content-encoding");
  if (!isSmall) return [response.status, undefined, response];
  try {
    return [response.status, new Uint8Array(await response.arrayBuffer())];
  } catch (cause) {
    return [response.status, undefined, undefined, String(cause)];
  }
}
