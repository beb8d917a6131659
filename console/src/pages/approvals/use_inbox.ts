// The approvals of one status, live.

import { useEffect, useState } from "preact/hooks";
import { type Pages, useLoad, usePages } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Approval } from "../../api/types.ts";
import { type Status, decided, gone, merged } from "./inbox.ts";

const EVERY_MS = 3_000;

export const approvalRequest = (id: string) => request("get", "/api/approvals/{approval_id}", { path: { approval_id: id } });

const listRequest = (status: Status, cursor?: string) =>
  request("get", "/api/approvals", { query: { ...(status === "all" ? {} : { status }), ...(cursor === undefined ? {} : { cursor }) } });

export interface Inbox extends Pages<Approval> {
  /** Notes how an approval was decided. */
  note: (approval: Approval) => void;
}

export function useInbox(status: Status): Inbox {
  const pages = usePages(status, (cursor) => listRequest(status, cursor), (it) => it.approvals, EVERY_MS);
  const [kept, setKept] = useState<{ status: Status; seen: Approval[] }>({ status, seen: [] });
  const seen = kept.status === status ? kept.seen : [];
  const note = (...found: Approval[]) => setKept((it) => ({ status, seen: merged(it.status === status ? it.seen : [], found) }));
  useEffect(() => {
    if (pages.loading || pages.error !== undefined) return;
    note(...pages.items);
    if (status !== "pending") return;
    let isOver = false;
    for (const { id } of gone(seen, pages.items, pages.hasMore)) {
      // An approval that cannot be read now is asked for again with the next list.
      void send(approvalRequest(id)).then(
        (it) => isOver || note(it),
        () => {},
      );
    }
    return () => {
      isOver = true;
    };
  }, [status, pages.items, pages.loading]);
  return { ...pages, items: status === "pending" ? merged(seen, pages.items) : decided(seen, pages.items), note };
}

/** How many calls wait, while another list is shown. */
export function useWaiting(isWanted: boolean): { count: number; hasMore: boolean } {
  const waiting = useLoad(isWanted ? listRequest("pending") : null, EVERY_MS);
  return { count: waiting.data?.approvals.length ?? 0, hasMore: (waiting.data?.next_cursor ?? null) !== null };
}
