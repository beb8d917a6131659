// How requests come in and responses leave. Each crossing between JavaScript and WebAssembly costs about as much as reading
// a header, so the head of a request and the head of a response cross as one text each.

/** The method, the URL, then names and values of the headers, a line each: none of them can hold a line break. */
export function headOf(request) {
  const lines = [request.method, request.url];
  for (const [name, value] of request.headers) lines.push(name, value);
  return lines.join("\n");
}

/** A response whose head is a line for each name and each value of its headers. */
export function respond(status, head, body) {
  const lines = head.split("\n");
  const headers = [];
  for (let i = 0; i + 1 < lines.length; i += 2) headers.push([lines[i], lines[i + 1]]);
  // The bytes lie in the memory of WebAssembly, which may be written to before they are sent.
  return new Response(body?.slice(), { status, headers });
}
