// A conversation on the screen: the stored messages, the turn that is under way, and what a person can do with them.

import { signal } from "@preact/signals";
import { EventLines } from "../../api/event_lines.ts";
import { parseExactly } from "../../api/json.ts";
import { ApiError, type ApiRequest, brokenStream, request, respond, send } from "../../api/request.ts";
import type { Message } from "../../api/types.ts";
import { applied, type CallRecord, emptyMessage, type LiveMessage, type Part, type StreamEvent } from "./assembly.ts";

/** What the conversation is doing. */
export type Phase = "loading" | "idle" | "busy";

export interface SendOptions {
  /** The message of the user that the new one replaces. */
  edited?: string;
  /** The answer that is made anew. */
  regenerated?: string;
}

export class Conversation {
  readonly session: string;
  readonly messages = signal<Message[]>([]);
  readonly live = signal<LiveMessage | null>(null);
  readonly phase = signal<Phase>("loading");
  readonly error = signal<ApiError | null>(null);
  /** Messages of the user that are being written anew, by their ids. What was refused is not lost. */
  readonly edits = signal<ReadonlyMap<string, string>>(new Map());
  /** Rises whenever a call may have changed the session's files. */
  readonly filesTurn = signal(0);
  readonly #leaving = new AbortController();
  /** A look that is under way. */
  #looking: AbortController | null = null;

  constructor(session: string) {
    this.session = session;
  }

  /** Reads the conversation, and comes back to a turn that is under way. */
  async open(): Promise<void> {
    await this.#guarded("loading", async () => {
      await this.#read();
      await this.#follow(this.#streamRequest());
    });
  }

  /** Whether the last turn has paused until somebody decides, here or elsewhere. */
  get waits(): boolean {
    const last = this.messages.value.at(-1);
    return last?.role === "assistant" && partsOf(last).some((it) => it.type === "dynamic-tool" && it.state === "approval-requested");
  }

  /** Looks whether somebody has decided elsewhere, and follows the turn that goes on. What the person does comes first. */
  async look(): Promise<void> {
    if (this.phase.value !== "idle" || this.#looking !== null) return;
    const looking = new AbortController();
    this.#looking = looking;
    const signal = AbortSignal.any([this.#leaving.signal, looking.signal]);
    try {
      const stream = await this.#listen(this.#streamRequest(), signal);
      if (looking.signal.aborted) return;
      if (stream !== null) {
        // The look has become a turn that is followed.
        this.#looking = null;
        await this.#guarded("busy", () => this.#take(stream));
        return;
      }
      // A turn that went on and ended between two looks has no stream any more; the records of its calls tell of it.
      if (await this.#stillWaits(signal)) return;
      const all = await this.#readAll(signal);
      if (!looking.signal.aborted) this.#show(all);
    } catch (cause) {
      // The next look tells; a lost network and a token that has ended are told by the frame.
      if (!(cause instanceof ApiError) && !signal.aborted) throw cause;
    } finally {
      if (this.#looking === looking) this.#looking = null;
    }
  }

  /** Whether all calls that waited for a decision wait still. */
  async #stillWaits(signal: AbortSignal): Promise<boolean> {
    const calls = waitingCalls(this.messages.value.at(-1));
    const records = await Promise.all(calls.map((call_id) => send(request("get", "/api/tool-calls/{call_id}", { path: { call_id } }), signal)));
    return records.length > 0 && records.every((it) => it.status === "pending_approval");
  }

  /** A conversation without messages, of a session that does not exist yet. */
  begin(): void {
    this.phase.value = "idle";
  }

  /** Stops listening. A turn goes on without listeners. */
  leave(): void {
    this.#leaving.abort();
  }

  /** The request that sends a message. */
  chatRequest(agentId: string, text: string, { edited, regenerated }: SendOptions = {}): ApiRequest<unknown> {
    const body =
      regenerated === undefined
        ? { agentId, message: text, ...(edited === undefined ? {} : { messageId: edited }) }
        : { agentId, trigger: "regenerate-message" as const, messageId: regenerated };
    return request("post", "/api/playground/sessions/{session_id}/chat", { path: { session_id: this.session }, body });
  }

  /** Says something. Returns whether it was kept; what was refused has to be said again. */
  async say(agentId: string, text: string, options: SendOptions = {}): Promise<boolean> {
    const known = new Set(this.messages.value.map((it) => it.id));
    await this.#guarded("busy", async () => {
      this.#cutAt(options.edited ?? options.regenerated);
      if (options.regenerated === undefined) this.messages.value = [...this.messages.value, draftOf(this.session, text)];
      await this.#follow(this.chatRequest(agentId, text, options));
    });
    return this.error.value === null || this.#hasNew(known);
  }

  /** Whether a message of the user is stored that was not there before. A message without an id is only on the screen. */
  #hasNew(known: ReadonlySet<string>): boolean {
    return this.messages.value.some((it) => it.role === "user" && it.id !== "" && !known.has(it.id));
  }

  /** Keeps what is typed in the place of a message, or drops it if it is null. */
  edit(messageId: string, text: string | null): void {
    const next = new Map(this.edits.value);
    if (text === null) next.delete(messageId);
    else next.set(messageId, text);
    this.edits.value = next;
  }

  /** Decides the approval of a call, and follows the turn that goes on. */
  async decide(approvalId: string, decision: "approve" | "deny", reason: string): Promise<void> {
    await this.#guarded("busy", async () => {
      const tooLate = await send(decisionRequest(approvalId, decision, reason)).then(
        () => null,
        (cause: unknown) => {
          if (cause instanceof ApiError && cause.status === 409) return cause;
          throw cause;
        },
      );
      // The turn also goes on if somebody else was first.
      await this.#follow(this.#streamRequest());
      this.error.value ??= tooLate;
    });
  }

  /** The stream of the turn that is under way. The second name of the chat is the client's own. */
  #streamRequest(): ApiRequest<unknown> {
    return request("get", "/api/playground/sessions/{session_id}/chat/{chat_id}/stream", { path: { session_id: this.session, chat_id: "console" } });
  }

  stopRequest(): ApiRequest<unknown> {
    return request("post", "/api/playground/sessions/{session_id}/stop", { path: { session_id: this.session } });
  }

  async stop(): Promise<void> {
    await send(this.stopRequest());
  }

  /** The request that goes back to a message, with its files; or to the branch of a message, as the branch was left. */
  checkOutRequest(messageId: string, isBranch = false): ApiRequest<unknown> {
    const body = { message_id: messageId, ...(isBranch ? { to_end: true } : {}) };
    return request("post", "/api/playground/sessions/{session_id}/checkout", { path: { session_id: this.session }, body });
  }

  async checkOut(asked: ApiRequest<unknown>): Promise<void> {
    await this.#guarded("busy", async () => {
      await send(asked);
      await this.#read();
    });
  }

  async #guarded(phase: Phase, work: () => Promise<void>): Promise<void> {
    this.#looking?.abort();
    this.#looking = null;
    this.phase.value = phase;
    this.error.value = null;
    try {
      await work();
    } catch (cause) {
      if (this.#leaving.signal.aborted) return;
      this.error.value = cause instanceof ApiError ? cause : new ApiError(0, "CONSOLE", cause instanceof Error ? cause.message : String(cause), null, null);
      this.live.value = null;
      // What was said stays on the screen only if it is stored.
      await this.#read().catch(() => undefined);
    } finally {
      this.phase.value = "idle";
    }
  }

  async #read(): Promise<void> {
    this.#show(await this.#readAll(this.#leaving.signal));
  }

  #show(all: Message[]): void {
    this.messages.value = all;
    this.filesTurn.value += 1;
  }

  async #readAll(signal: AbortSignal): Promise<Message[]> {
    const all: Message[] = [];
    let cursor: string | null | undefined;
    do {
      const query = { limit: 200, ...(cursor === undefined || cursor === null ? {} : { cursor }) };
      const asked = request("get", "/api/playground/sessions/{session_id}/messages", { path: { session_id: this.session }, query });
      const page = await send(asked, signal).catch((cause: unknown) => {
        // A session exists from its first message on.
        if (cause instanceof ApiError && cause.status === 404) return { messages: [], next_cursor: null };
        throw cause;
      });
      all.push(...page.messages);
      cursor = page.next_cursor;
    } while (cursor !== null && cursor !== undefined);
    return all;
  }

  /** Reads the stream of a turn to its end, and then the stored messages. */
  async #follow(asked: ApiRequest<unknown>): Promise<void> {
    const stream = await this.#listen(asked, this.#leaving.signal);
    if (stream === null) {
      await this.#read();
      this.live.value = null;
    } else await this.#take(stream);
  }

  /** The stream of a turn, or null if none is under way. */
  async #listen(asked: ApiRequest<unknown>, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const response = await respond({ ...asked, headers: { ...asked.headers, Accept: "text/event-stream" } }, signal);
    return response.status === 204 ? null : response.body;
  }

  async #take(stream: ReadableStream<Uint8Array>): Promise<void> {
    this.phase.value = "busy";
    // A stream that is come back to begins with the message so far.
    this.live.value = emptyMessage();
    await this.#readStream(stream);
    await this.#read();
    this.live.value = null;
  }

  async #readStream(body: ReadableStream<Uint8Array>): Promise<void> {
    const lines = new EventLines();
    const decoder = new TextDecoder();
    const reader = body.getReader();
    const next = () =>
      reader.read().catch((cause: unknown) => {
        throw this.#leaving.signal.aborted ? cause : brokenStream();
      });
    for (let piece = await next(); !piece.done; piece = await next()) {
      const events = lines.read(decoder.decode(piece.value, { stream: true })).filter((it) => it !== "[DONE]");
      // One change of the screen for all events of a piece.
      if (events.length > 0) this.live.value = events.map((it) => parseExactly(it) as StreamEvent).reduce(applied, this.live.value ?? emptyMessage());
      if (events.some((it) => it.includes('"tool-output-'))) this.filesTurn.value += 1;
    }
    const told = this.live.value?.error;
    if (told !== undefined) this.error.value = new ApiError(0, "TURN", told, null, null);
  }

  /** The messages before the turn that is under way. */
  get shown(): Message[] {
    const live = this.live.value;
    return live === null ? this.messages.value : this.messages.value.filter((it) => it.id !== live.id || it.id === "");
  }

  /** Takes the messages off the screen that a branch leaves behind. */
  #cutAt(replaced: string | undefined): void {
    const index = this.messages.value.findIndex((it) => it.id === replaced);
    if (index !== -1) this.messages.value = this.messages.value.slice(0, index);
  }
}

export function decisionRequest(approvalId: string, decision: "approve" | "deny", reason: string): ApiRequest<unknown> {
  const body = reason === "" ? {} : { reason };
  return decision === "approve"
    ? request("post", "/api/approvals/{approval_id}/approve", { path: { approval_id: approvalId }, body })
    : request("post", "/api/approvals/{approval_id}/deny", { path: { approval_id: approvalId }, body });
}

/** The parts of a stored message. The description of the API leaves their form open. */
export const partsOf = (message: Message): Part[] => message.parts as unknown as Part[];

/** The ids of the calls of a message that wait for a decision; none, if one of them has no record in the message. */
function waitingCalls(message: Message | undefined): string[] {
  const parts = message === undefined ? [] : partsOf(message);
  const waiting = parts.filter((it) => it.type === "dynamic-tool" && it.state === "approval-requested");
  const records = parts.filter((it) => it.type === "data-call" && it.data.status === "pending_approval");
  return waiting.length === records.length ? records.map((it) => (it as CallRecord).data.call_id) : [];
}

/** A message that is being sent. */
function draftOf(session: string, text: string): Message {
  return {
    id: "",
    session_id: session,
    role: "user",
    parts: [{ type: "text", text }] as never,
    siblings: [],
    created_at: new Date().toISOString(),
  };
}
