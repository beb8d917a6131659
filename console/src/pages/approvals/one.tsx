// One approval, by its own link.

import { useEffect, useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import type { Approval } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Page } from "../../parts/page.tsx";
import { Show } from "../../parts/states.tsx";
import { ApprovalCard } from "./card.tsx";
import { merged } from "./inbox.ts";
import { approvalRequest } from "./use_inbox.ts";

const EVERY_MS = 3_000;

export function OneApproval({ id }: { id: string }) {
  const [decided, setDecided] = useState<Approval[]>([]);
  const approval = useLoad(approvalRequest(id), decided.length === 0 ? EVERY_MS : undefined);
  const present = approval.data;
  // A decision is final, so nobody asks again.
  useEffect(() => {
    if (present !== undefined && present.status !== "pending") setDecided([present]);
  }, [present]);
  return (
    <Page title="Approval" above={[{ text: "Approvals", href: link(["approvals"]) }]}>
      <Show of={approval}>{(read) => merged(decided, [read]).map((it) => <ApprovalCard key={it.id} of={it} onDecided={(found) => setDecided([found])} />)}</Show>
    </Page>
  );
}
