// One module or MCP server: how it is, its tools, what is held back, and its settings.

import { useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { send } from "../../api/request.ts";
import { link, go, query } from "../../location.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Badge, RiskBadge, StatusBadge } from "../../parts/marks.tsx";
import { Facts, Page, Tabs } from "../../parts/page.tsx";
import { Empty, Loading, Show } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { Time } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";
import { HeldBack } from "./held_back.tsx";
import { McpSettings } from "./mcp_form.tsx";
import { ModuleSettings } from "./module_form.tsx";
import { RefreshOutcome } from "./outcome.tsx";
import { type Details, type Kind, type Refreshed, refresh, requestsOf } from "./requests.ts";
import { mcpRow, moduleRow, type ServerRow } from "./rows.ts";

const ABOVE = [{ text: "Servers", href: link(["servers"]) }];
const TABS = ["tools", "held-back", "settings"] as const;
/** A discovery that is under way changes the figures soon. */
const [CALM_MS, SOON_MS] = [10_000, 2_000];

const rowOf = (it: Details): ServerRow => ("transport" in it ? mcpRow(it) : moduleRow(it));

export function OneServer({ kind, id }: { kind: Kind; id: string }) {
  const [isAsking, setIsAsking] = useState(false);
  const [outcome, setOutcome] = useState<Refreshed[] | null>(null);
  const requests = requestsOf(kind, id);
  const server = useLoad(requests.get, isAsking ? SOON_MS : CALM_MS);
  const row = server.data === undefined ? undefined : rowOf(server.data);
  const ask = async () => {
    setIsAsking(true);
    setOutcome(null);
    try {
      setOutcome(await refresh(requests.refresh));
    } finally {
      setIsAsking(false);
      server.reload();
    }
  };
  const changed = () => {
    // What the discovery found holds no longer.
    setOutcome(null);
    server.reload();
  };
  return (
    <Page
      title={id}
      above={ABOVE}
      about={kind === "modules" ? "A module: its tools become tools of this workspace." : "An MCP server: its tools become tools of this workspace."}
      marks={
        row === undefined ? null : (
          <>
            <StatusBadge status={row.status} />
            {row.enabled ? null : <Badge tone="warn">disabled</Badge>}
          </>
        )
      }
      actions={
        row === undefined ? undefined : (
          <>
            <WorkButton kind="primary" work={ask} disabled={isAsking}>
              Ask for its tools now
            </WorkButton>
            <CopyCurl of={requests.refresh} action="Ask" />
            <Switches row={row} reload={server.reload} />
          </>
        )
      }
    >
      {isAsking ? <Loading what={`${id} is being asked for its tools`} /> : null}
      {outcome === null ? null : <RefreshOutcome of={outcome} />}
      <Show of={server}>
        {(it) => (
          <>
            <About details={it} />
            <Views details={it} kind={kind} reload={changed} />
          </>
        )}
      </Show>
    </Page>
  );
}

function About({ details }: { details: Details }) {
  const row = rowOf(details);
  return (
    <>
      {row.error === null ? null : (
        <div class="notice bad" role="status">
          <strong>The last discovery failed. The tools of the last good one stay.</strong>
          <p>{row.error}</p>
        </div>
      )}
      <Facts
        of={[
          [row.sort === "stdio" ? "Program" : "Address", <code key="address">{row.address}</code>],
          [row.kind === "mcp" ? "Transport" : "Kind", row.sort],
          ...("transport" in details ? factsOfMcp(details) : factsOfModule(details)),
          ["Accepts changes", details.auto_accept ? "by itself" : "when an admin accepts them"],
          ["Last discovery", <Time key="last" at={row.discoveredAt} />],
          ["Next discovery", <Time key="next" at={details.expires_at} />],
        ]}
      />
      {details.warnings.length === 0 ? null : (
        <div class="notice warn">
          <strong>{count(details.warnings.length, "warning")} of the last discovery</strong>
          <ul>
            {details.warnings.map((it, index) => (
              <li key={index}>
                {it.tool === null || it.tool === undefined ? null : <code>{it.tool}</code>} {it.message}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

type Fact = Parameters<typeof Facts>[0]["of"][number];

function factsOfModule(it: Exclude<Details, { transport: unknown }>): Fact[] {
  const seconds = it.timeout_seconds ?? null;
  return [
    ["Headers", namesOf(it.headers)],
    ["Timeout", seconds === null ? (it.slow ? "that of slow modules" : "the usual one") : `${seconds} s`],
  ];
}

function factsOfMcp(it: Extract<Details, { transport: unknown }>): Fact[] {
  const info = it.server_info as { name?: string; version?: string } | null | undefined;
  const toolset = it.toolset_id ?? null;
  return [
    ...(toolset === null ? [] : [["Toolset", <a key="toolset" href={link(["toolsets", toolset])}>{toolset}</a>] satisfies Fact]),
    it.transport === "stdio" ? ["Environment", namesOf(it.env)] : ["Headers", namesOf(it.headers)],
    ["Calls itself", info === null || info === undefined ? "–" : `${info.name ?? "?"} ${info.version ?? ""}`],
    ["Protocol", it.protocol_version ?? "–"],
    ["Risk", <RiskBadge key="risk" risk={it.risk_level} />],
    ["Approvals", it.requires_approval ? "each call waits for one" : "none, unless the risk is high"],
  ];
}

/** The values are secrets, and the API never tells them. */
function namesOf(secrets: Record<string, string>): string {
  const names = Object.keys(secrets);
  return names.length === 0 ? "none" : names.map((it) => `${it}: ***`).join(", ");
}

function Views({ details, kind, reload }: { details: Details; kind: Kind; reload: () => void }) {
  const { id, heldBack } = rowOf(details);
  const wanted = query.value.get("tab");
  const tab = TABS.find((it) => it === wanted) ?? "tools";
  const titles = { tools: `Tools (${details.tool_ids.length})`, "held-back": `Held back (${heldBack})`, settings: "Settings" };
  return (
    <>
      <Tabs current={tab} tabs={TABS.map((it) => ({ id: it, text: titles[it], href: link(["servers", kind, id], { tab: it === "tools" ? undefined : it }) }))} />
      {tab === "tools" ? <ServerTools details={details} heldBack={heldBack} /> : null}
      {tab === "held-back" ? <HeldBack kind={kind} id={id} waiting={heldBack} accepted={reload} /> : null}
      {tab === "settings" ? "transport" in details ? <McpSettings server={details} saved={reload} /> : <ModuleSettings module={details} saved={reload} /> : null}
    </>
  );
}

function ServerTools({ details, heldBack }: { details: Details; heldBack: number }) {
  if (details.tool_ids.length === 0)
    return (
      <Empty title="The server has no tools here">
        <p>{heldBack === 0 ? "Ask the server for its tools, or look at its last error." : `${count(heldBack, "definition")} wait for you: look at “Held back”.`}</p>
      </Empty>
    );
  return (
    <ul class="server-tools">
      {details.tool_ids.map((it) => (
        <li key={it}>
          <a href={link(["tools", it])}>{it}</a>
        </li>
      ))}
    </ul>
  );
}

function Switches({ row, reload }: { row: ServerRow; reload: () => void }) {
  const [question, setQuestion] = useState<"disable" | "delete" | null>(null);
  const requests = requestsOf(row.kind, row.id);
  const switched = requests.change({ enabled: !row.enabled });
  const close = () => setQuestion(null);
  const change = async () => {
    await send(switched);
    tell(`${row.id} is ${row.enabled ? "disabled" : "enabled"}`);
    reload();
  };
  return (
    <>
      {row.enabled ? <Button onClick={() => setQuestion("disable")}>Disable</Button> : <WorkButton work={change}>Enable</WorkButton>}
      {row.enabled ? null : <CopyCurl of={switched} action="Enable" />}
      <Button kind="danger" disabled={row.toolset !== null} title={row.toolset === null ? "" : `The server goes when the toolset ${row.toolset} is uninstalled`} onClick={() => setQuestion("delete")}>
        Delete
      </Button>
      {question === "disable" ? (
        <Confirm title={`Disable ${row.id}?`} action="Disable" of={switched} close={close} work={change}>
          <p>
            Its {count(row.tools, "tool")} stay listed, and calls of them are refused as <code>TOOL_DISABLED</code>.
          </p>
        </Confirm>
      ) : null}
      {question === "delete" ? (
        <Confirm
          title={`Delete ${row.id}?`}
          action="Delete"
          danger
          of={requests.remove}
          close={close}
          work={async () => {
            await send(requests.remove);
            tell(`${row.id} is deleted`);
            go(["servers"]);
          }}
        >
          <p>
            Its {count(row.tools, "tool")} can no longer be called, and {count(row.heldBack, "definition")} that wait are forgotten. Versions and records of calls stay, and a server of the same name finds them again.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
