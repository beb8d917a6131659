// Changes: the log, the registry at any moment, backup and restore, and the rules that always hold.

import { link, query } from "../../location.ts";
import { Page, Tabs } from "../../parts/page.tsx";
import { Backup } from "./backup.tsx";
import { Invariants } from "./invariants.tsx";
import { Log } from "./log.tsx";
import { Moment } from "./moment.tsx";

const VIEWS = [
  { id: "log", text: "Log", view: Log },
  { id: "state", text: "At a moment", view: Moment },
  { id: "backup", text: "Backup and restore", view: Backup },
  { id: "invariants", text: "Invariants", view: Invariants },
];

export default function Changes() {
  const parameters = query.value;
  // A link with a number of a change alone leads to the registry after that change.
  const current = parameters.get("tab") ?? (parameters.has("seq") ? "state" : "log");
  const View = VIEWS.find((it) => it.id === current)?.view ?? Log;
  return (
    <Page title="Changes" about="Every change of tools, agents, servers, tokens and settings: who made it, why, and what there was before.">
      <Tabs current={current} tabs={VIEWS.map((it) => ({ id: it.id, text: it.text, href: link(["changes"], { tab: it.id === "log" ? undefined : it.id }) }))} />
      <View />
    </Page>
  );
}
