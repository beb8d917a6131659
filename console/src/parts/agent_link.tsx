// Agents by their names. Records name agents by their ids, so the list of agents is read once, and again for an id that is new.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { visit } from "../api/caller.ts";
import { request, send } from "../api/request.ts";
import { link } from "../location.ts";

const names = signal<ReadonlyMap<string, string>>(new Map());
/** The ids that the list was asked about. An agent that was deleted stays an id. */
const sought = new Set<string>();

const LIST = request("get", "/api/agents", { query: { limit: 200 } });

/** The ids of a page are sought together. */
let reading: Promise<void> | null = null;

async function readNames(own: number): Promise<void> {
  try {
    const { agents } = await send(LIST);
    names.value = new Map([...names.value, ...agents.map((it): [string, string] => [keyOf(own, it.id), it.name])]);
  } catch {
    sought.clear();
  } finally {
    reading = null;
  }
}

/** Whoever signs in later may see other agents. */
const keyOf = (own: number, id: string) => `${own} ${id}`;

function seek(key: string, own: number): void {
  if (names.value.has(key) || sought.has(key)) return;
  sought.add(key);
  reading ??= readNames(own);
}

/** The name of an agent, or its id if nobody knows the name. */
export function useAgentName(id: string): string {
  const own = visit.value;
  const key = keyOf(own, id);
  useEffect(() => seek(key, own), [key]);
  return names.value.get(key) ?? id;
}

export function AgentLink({ id }: { id: string }) {
  return (
    <a href={link(["agents", id])} title={id}>
      {useAgentName(id)}
    </a>
  );
}
