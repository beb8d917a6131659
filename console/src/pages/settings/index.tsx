// Settings: the person, tokens, credentials, and the workspace.

import { may } from "../../api/caller.ts";
import { link, query } from "../../location.ts";
import { Page, Tabs } from "../../parts/page.tsx";
import { Credentials } from "./credentials.tsx";
import { Tokens } from "./tokens.tsx";
import { WorkspaceSettings } from "./workspace.tsx";
import { You } from "./you.tsx";

const TABS = [
  { id: "you", text: "You" },
  { id: "tokens", text: "Tokens" },
  { id: "credentials", text: "Credentials" },
  { id: "workspace", text: "Workspace" },
] as const;

export default function SettingsPage() {
  const wanted = query.value.get("tab");
  const tab = TABS.find((it) => it.id === wanted)?.id ?? "you";
  return (
    <Page title="Settings">
      <Tabs current={tab} tabs={TABS.map((it) => ({ ...it, href: link(["settings"], { tab: it.id === "you" ? undefined : it.id }) }))} />
      {tab === "you" ? <You /> : null}
      {tab === "tokens" ? may("owner") ? <Tokens /> : <Denied what="Tokens" level="owner" /> : null}
      {tab === "credentials" ? may("admin") ? <Credentials /> : <Denied what="Credentials" level="admin" /> : null}
      {tab === "workspace" ? may("user") ? <WorkspaceSettings /> : <Denied what="The settings of the workspace" level="user" /> : null}
    </Page>
  );
}

function Denied({ what, level }: { what: string; level: string }) {
  return (
    <p class="notice">
      {what} need the level {level}{level === "user" ? "" : ", and a token that is not bound to an agent"}. Sign in with another token on the tab “You”.
    </p>
  );
}
