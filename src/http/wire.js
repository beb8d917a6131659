// Reads requests and makes responses. Each crossing between JavaScript and WebAssembly costs about as much as reading a
// header, so the head of a request and the head of a response cross as one text each.

/** The method, the URL, and the names and values of the headers, one per line. None of them can hold a line break. */
export function headOf(request) {
  const lines = [request.method, request.url];
  for (const [name, value] of request.headers) lines.push(name, value);
  return lines.join("\n");
}

/** Makes a response. `head` has one line for each name and one for each value of its headers. */
export function respond(status, head, body) {
  const lines = head.split("\n");
  const headers = [];
  for (let i = 0; i + 1 < lines.length; i += 2) headers.push([lines[i], lines[i + 1]]);
  // The bytes are copied: they are in the memory of WebAssembly, which may be overwritten before they are sent.
  return new Response(body?.slice(), { status, headers });
}
