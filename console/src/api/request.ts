// Requests to the API. A request is a value, so that one and the same value is sent and shown as curl.

import { addressOf } from "./address.ts";
import { expire, stage, token, visit, workspace } from "./caller.ts";
import { parseExactly } from "./json.ts";
import { online } from "./reach.ts";
import type { Paths } from "./types.ts";

type Method = "get" | "post" | "put" | "patch" | "delete";

type Operation<P extends keyof Paths, M extends Method> = Paths[P] extends Record<M, infer O> ? O : never;
/** The paths that have this method. */
export type PathWith<M extends Method> = {
  [P in keyof Paths]: Operation<P, M> extends { responses: object } ? P : never;
}[keyof Paths];

type Parameters<O, Place extends string> = O extends { parameters: Record<Place, infer P> } ? P : unknown;
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? Q : never;
type BodyOf<O> = O extends { requestBody?: { content: { "application/json": infer B } } } ? B : unknown;
type Success<R> = R extends { 200: infer S } ? S : R extends { 201: infer S } ? S : R extends { 204: unknown } ? null : unknown;
type Result<O> = O extends { responses: infer R }
  ? Success<R> extends { content: { "application/json": infer J } }
    ? J
    : Success<R>
  : unknown;

interface Given<O> {
  path?: Parameters<O, "path">;
  query?: QueryOf<O>;
  body?: BodyOf<O>;
}

/** A request that has not been sent. `T` is what the response holds. */
export interface ApiRequest<T> {
  readonly method: Method;
  /** The path with its parameters filled in, and the query. */
  readonly url: string;
  readonly body: BodyInit | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Why the request is never sent. */
  readonly fault: string | undefined;
  /** Only for the type. */
  readonly result?: T;
}

/** Makes a request: `request("get", "/api/tools/{tool_id}", { path: { tool_id } })`. */
export function request<M extends Method, P extends PathWith<M>>(
  method: M,
  path: P,
  given: Given<Operation<P, M>> = {},
): ApiRequest<Result<Operation<P, M>>> {
  const body = given.body === undefined ? undefined : JSON.stringify(given.body);
  return { method, ...address(path, given), body, headers: body === undefined ? {} : { "Content-Type": "application/json" } };
}

/** A request whose body is not JSON, such as a file. */
export function upload<T>(method: "put" | "post", path: string, given: { path?: object; query?: object }, body: BodyInit, type: string): ApiRequest<T> {
  return { method, ...address(path, given), body, headers: { "Content-Type": type } };
}

const address = (path: string, { path: parameters = {}, query = {} }: { path?: unknown; query?: unknown }) =>
  addressOf(path, parameters as Record<string, unknown>, query as Record<string, unknown>);

/** One violation of a body or of arguments. */
export interface Problem {
  path: string;
  message: string;
}

/** A refusal of the API, or a fault on the way to it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown> | null;
  readonly requestId: string | null;
  /** The whole body: a refused call of a tool has its id and its record there. */
  readonly body: unknown;

  constructor(status: number, code: string, message: string, details: Record<string, unknown> | null, requestId: string | null, body: unknown = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.body = body;
  }

  /** The faults of single fields, where the API names them. */
  get problems(): Problem[] {
    const named = this.details?.["problems"] ?? this.details?.["violations"];
    return Array.isArray(named) ? (named as Problem[]) : [];
  }
}

/** The request, or the response, got lost on the way. */
function lost(message: string): ApiError {
  online.value = false;
  return new ApiError(0, "OFFLINE", message, null, null);
}

/** A stream broke off before its end. */
export const brokenStream = (): ApiError => lost("The connection is lost. The console listens again as soon as Pegboard answers.");

/** Only readers are repeated by themselves: a request that changes something may have arrived. */
const lostRequest = (method: Method): ApiError =>
  lost(method === "get" ? "The console reads again as soon as Pegboard answers." : "Nobody knows whether this request arrived. Look before you send it again.");

/** Waits for the body of a response. A body that breaks off is lost, like a response that never came. */
export async function whole<T>({ method }: ApiRequest<unknown>, body: Promise<T>): Promise<T> {
  try {
    return await body;
  } catch (cause) {
    throw cause instanceof TypeError ? lostRequest(method) : cause;
  }
}

/** The question who is there. */
export const WHO = request("get", "/api/whoami");

/** Sends a request, and returns the response if the API accepts it. */
export async function respond(asked: ApiRequest<unknown>, signal?: AbortSignal): Promise<Response> {
  if (asked.fault !== undefined) throw new ApiError(0, "CONSOLE", asked.fault, null, null);
  // The pages of somebody whose token has ended are still there, and ask for nothing in the name of whoever comes next.
  const isRefused = stage.value === "ended" || (stage.value === "back" && asked.url !== WHO.url);
  if (isRefused) throw new ApiError(401, "SIGNED_OUT", "Your token is no longer valid. Nothing was sent.", null, null);
  const asking = visit.value;
  let response: Response;
  try {
    response = await fetch(asked.url, {
      method: asked.method.toUpperCase(),
      headers: { ...callerHeaders(), ...asked.headers },
      ...(asked.body === undefined ? {} : { body: asked.body }),
      ...(signal === undefined ? {} : { signal }),
      cache: "no-store",
    });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw lostRequest(asked.method);
  }
  online.value = true;
  if (!response.ok) throw await refusal(asked, response, asking);
  return response;
}

/** Sends a request, and returns what the response holds. */
export async function send<T>(asked: ApiRequest<T>, signal?: AbortSignal): Promise<T> {
  const response = await respond(asked, signal);
  if (response.status === 204) return null as T;
  const isJson = (response.headers.get("Content-Type") ?? "").includes("json");
  const text = await whole(asked, response.text());
  return (isJson ? parseExactly(text) : text) as T;
}

/** Sends a request, and returns the bytes of the response. */
export async function sendForBytes(asked: ApiRequest<unknown>, signal?: AbortSignal): Promise<Blob> {
  const response = await respond(asked, signal);
  return whole(asked, response.blob());
}

async function refusal(asked: ApiRequest<unknown>, response: Response, asking: number): Promise<ApiError> {
  const requestId = response.headers.get("X-Request-Id");
  const text = await whole(asked, response.text());
  let body: { error?: { code?: string; message?: string; details?: Record<string, unknown> | null } };
  try {
    body = parseExactly(text) as typeof body;
  } catch {
    body = {};
  }
  const { code = `HTTP_${response.status}`, message = text || response.statusText, details = null } = body.error ?? {};
  // A token that has ended while the console was open leads to the sign-in page. A late answer is about somebody who has left.
  if (response.status === 401 && token.value !== "" && visit.value === asking) expire();
  return new ApiError(response.status, code, message, details, requestId, body);
}

/** The headers that say who asks. */
export function callerHeaders(): Record<string, string> {
  const headers: Record<string, string> = { "X-Workspace-Id": workspace.value };
  if (token.value !== "") headers["Authorization"] = `Bearer ${token.value}`;
  return headers;
}

/** The request as a command for a terminal. The token is a variable, so that it is on no screen. */
export function curl(asked: ApiRequest<unknown>): string {
  if (asked.fault !== undefined) return `# ${asked.fault}`;
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const parts = ["curl"];
  const plain = asked.method === "get" || (asked.method === "post" && typeof asked.body === "string");
  if (!plain) parts.push("-X", asked.method.toUpperCase());
  parts.push(quote(window.location.origin + asked.url), "-H", quote(`X-Workspace-Id: ${workspace.value}`));
  if (token.value !== "") parts.push("-H", '"Authorization: Bearer $TOKEN"');
  // The API takes every body for JSON unless it is told otherwise.
  const told = Object.entries(asked.headers).filter(([, value]) => value !== "application/json");
  for (const [name, value] of told) parts.push("-H", quote(`${name}: ${value}`));
  // To curl a body that begins with @ would be the name of a file.
  if (typeof asked.body === "string") parts.push(asked.body.startsWith("@") ? "--data-raw" : "-d", quote(asked.body));
  else if (asked.body !== undefined) parts.push("--data-binary", "@FILE");
  return parts.join(" ");
}
