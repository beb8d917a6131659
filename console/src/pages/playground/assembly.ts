// The message of a turn, put together from the events of its stream, in the form in which the API stores messages. Pure.

import type { Json } from "../../api/types.ts";

export interface Approval {
  id: string;
  approved?: boolean;
}

export interface CallPart {
  type: "dynamic-tool";
  toolCallId: string;
  toolName: string;
  state: "input-streaming" | "input-available" | "output-available" | "output-error" | "output-denied" | "approval-requested" | "approval-responded";
  input?: Json;
  /** The arguments so far, while they arrive. */
  inputText?: string;
  output?: Json;
  errorText?: string;
  approval?: Approval;
}

export interface CallRecord {
  type: "data-call";
  id: string;
  data: { call_id: string; version: string | null; status: string; duration_ms: number; render_plan: { renderer: string; config: Json } | null; approval_id: string | null };
}

export type Part =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "step-start" }
  | CallPart
  | CallRecord;

/** A message that is being written. */
export interface LiveMessage {
  id: string;
  parts: Part[];
  /** The ids of texts in the stream, by which their pieces find them. */
  open: Record<string, number>;
  error?: string;
  finishReason?: string;
}

export interface StreamEvent {
  type: string;
  [field: string]: unknown;
}

export const emptyMessage = (): LiveMessage => ({ id: "", parts: [], open: {} });

/** The message after an event. Unknown events change nothing, because later versions of the protocol may add some. */
export function applied(message: LiveMessage, event: StreamEvent): LiveMessage {
  const text = (name: string) => (typeof event[name] === "string" ? event[name] : "");
  switch (event.type) {
    case "start":
      return { ...message, id: text("messageId") || message.id };
    case "start-step":
      return withPart(message, { type: "step-start" });
    case "text-start":
      return opened(message, text("id"), { type: "text", text: "" });
    case "reasoning-start":
      return opened(message, text("id"), { type: "reasoning", text: "" });
    case "text-delta":
    case "reasoning-delta":
      return grown(message, text("id"), text("delta"));
    case "tool-input-start":
      return withPart(message, { type: "dynamic-tool", toolCallId: text("toolCallId"), toolName: text("toolName"), state: "input-streaming", inputText: "" });
    case "tool-input-delta":
      return changedCall(message, text("toolCallId"), (it) => ({ ...it, inputText: (it.inputText ?? "") + text("inputTextDelta") }));
    case "tool-input-available":
      return callOf(message, event, { state: "input-available", input: event["input"] as Json });
    case "tool-input-error":
      return callOf(message, event, { state: "output-error", input: event["input"] as Json, errorText: text("errorText") });
    case "tool-output-available":
      return changedCall(message, text("toolCallId"), (it) => ({ ...it, state: "output-available", output: event["output"] as Json }));
    case "tool-output-error":
      return changedCall(message, text("toolCallId"), (it) => ({ ...it, state: "output-error", errorText: text("errorText") }));
    case "tool-output-denied":
      return changedCall(message, text("toolCallId"), (it) => ({ ...it, state: "output-denied" }));
    case "tool-approval-request":
      return changedCall(message, text("toolCallId"), (it) => ({ ...it, state: "approval-requested", approval: { id: text("approvalId") } }));
    case "data-call":
      return recorded(message, { type: "data-call", id: text("id"), data: event["data"] as CallRecord["data"] });
    case "error":
      return { ...message, error: text("errorText") };
    case "abort":
      return { ...message, finishReason: "other" };
    case "finish":
      return { ...message, finishReason: text("finishReason") };
    default:
      return message;
  }
}

function withPart(message: LiveMessage, part: Part): LiveMessage {
  return { ...message, parts: [...message.parts, part] };
}

function opened(message: LiveMessage, id: string, part: Part): LiveMessage {
  return { ...withPart(message, part), open: { ...message.open, [id]: message.parts.length } };
}

function grown(message: LiveMessage, id: string, delta: string): LiveMessage {
  const index = message.open[id];
  const part = index === undefined ? undefined : message.parts[index];
  if (index === undefined || part === undefined || !("text" in part)) return message;
  return { ...message, parts: message.parts.with(index, { ...part, text: part.text + delta }) };
}

function changedCall(message: LiveMessage, id: string, change: (part: CallPart) => CallPart): LiveMessage {
  const parts = message.parts.map((it) => (it.type === "dynamic-tool" && it.toolCallId === id ? change(it) : it));
  return { ...message, parts };
}

/** Changes a call, or adds it if its beginning was not streamed. */
function callOf(message: LiveMessage, event: StreamEvent, changes: Partial<CallPart>): LiveMessage {
  const id = String(event["toolCallId"]);
  const isThere = message.parts.some((it) => it.type === "dynamic-tool" && it.toolCallId === id);
  const begun: CallPart = { type: "dynamic-tool", toolCallId: id, toolName: String(event["toolName"]), state: "input-available" };
  return changedCall(isThere ? message : withPart(message, begun), id, (it) => ({ ...it, ...changes }));
}

/** The same id again replaces the earlier record. */
function recorded(message: LiveMessage, record: CallRecord): LiveMessage {
  const index = message.parts.findIndex((it) => it.type === "data-call" && it.id === record.id);
  return index === -1 ? withPart(message, record) : { ...message, parts: message.parts.with(index, record) };
}
