// Hands requests in and responses out. Each crossing between JavaScript and WebAssembly costs about as much as reading a
// header, so the head of a request and the head of a response cross as one text each.

/** The method, the URL, then the names and values of the headers, one line each: none of them can contain a line break. */
export function headOf(request) {
  const lines = [request.method, request.url];
  for (const [name, value] of request.headers) lines.push(name, value);
  return lines.join("\n");
}

// Most responses have the same headers except for the request's id, and to copy a Headers object costs a fifth of
// building one. Some responses have headers of their own, so the number of kept objects is bounded.
const MAX_TEMPLATES = 64;
const templates = new Map();

function templateOf(head) {
  const known = templates.get(head);
  if (known !== undefined) return known;
  const template = new Headers();
  const lines = head.split("\n");
  for (let i = 0; i + 1 < lines.length; i += 2) template.append(lines[i], lines[i + 1]);
  if (templates.size >= MAX_TEMPLATES) templates.clear();
  templates.set(head, template);
  return template;
}

/** A response. `head` has a line for each name and each value of its headers, except for the request's id. */
export function respond(status, requestId, head, body) {
  // The bytes lie in the memory of WebAssembly, which may be overwritten before they are sent.
  const response = new Response(body?.slice(), { status, headers: templateOf(head) });
  response.headers.set("x-request-id", requestId);
  return response;
}
