// The inbox: calls that wait, and how the others were decided.

import { link, query } from "../../location.ts";
import { hasLetterKeys } from "../../parts/letter_keys.ts";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { ApprovalCard } from "./card.tsx";
import { STATUSES, type Status, readStatus } from "./inbox.ts";
import { useCards } from "./use_cards.ts";
import { useInbox, useWaiting } from "./use_inbox.ts";

const TITLES: Record<Status, string> = { pending: "Waiting", approved: "Approved", denied: "Denied", expired: "Expired", all: "All" };

export function ApprovalList() {
  const status = readStatus(query.value.get("status"));
  const inbox = useInbox(status);
  const elsewhere = useWaiting(status !== "pending");
  const here = { count: inbox.items.filter((it) => it.status === "pending").length, hasMore: inbox.hasMore };
  const { count, hasMore } = status === "pending" ? here : elsewhere;
  const [chosen, choose] = useCards(inbox.items.map((it) => it.id));
  return (
    <Page
      title={count === 0 ? "Approvals" : `Approvals (${count}${hasMore ? "+" : ""})`}
      about={`Calls that wait until an admin lets them run, the oldest first. ${inbox.standsStill ? "" : "The list is live."}`}
    >
      <Tabs tabs={STATUSES.map((it) => ({ id: it, text: TITLES[it], href: link(["approvals"], { status: it }) }))} current={status} />
      {hasLetterKeys.value ? (
        <p class="soft small">
          <kbd>j</kbd> and <kbd>k</kbd> move through the list, <kbd>a</kbd> goes to “Approve and run”, <kbd>d</kbd> to “Deny”, and <kbd>Enter</kbd> does it.
        </p>
      ) : null}
      <ShowPages of={inbox} empty={<Nothing status={status} />}>
        {(approvals) => (
          <div class="stack">
            {approvals.map((it) => (
              <ApprovalCard key={it.id} of={it} onDecided={inbox.note} isCurrent={chosen === it.id} choose={() => choose(it.id)} />
            ))}
          </div>
        )}
      </ShowPages>
    </Page>
  );
}

function Nothing({ status }: { status: Status }) {
  if (status !== "pending" && status !== "all") return <Empty title={`No call was ${status}`} />;
  return (
    <Empty title={status === "pending" ? "No call waits" : "No call has asked for an approval"}>
      <p>
        Calls of tools with high or critical risk wait here, and calls of tools that ask for an approval. <a href={link(["tools"])}>The tools</a> say which do.
      </p>
    </Empty>
  );
}
