// One toolset: what is in it, and what can be done with it.

import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request, send, sendForBytes } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { go, link, query } from "../../location.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Facts, Page, Tabs } from "../../parts/page.tsx";
import { Show } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { download, Time } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";
import { ToolsetFiles } from "./files.tsx";
import { Notes } from "./notes.tsx";
import { ToolsetOverrides, ToolsetServers, ToolsetTools } from "./tables.tsx";

type Details = Schemas["ToolsetDetails"];

const ABOVE = [{ text: "Toolsets", href: link(["toolsets"]) }];
const TABS = ["tools", "files", "servers", "overrides"] as const;

export function OneToolset({ id }: { id: string }) {
  const asked = request("get", "/api/toolsets/{toolset_id}", { path: { toolset_id: id } });
  const toolset = useLoad(asked, 10_000);
  const { data } = toolset;
  return (
    <Page
      title={data?.name ?? id}
      above={ABOVE}
      about={data?.description === "" ? undefined : data?.description}
      marks={
        data === undefined ? null : (
          <>
            <Badge>{data.version}</Badge>
            {data.enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="warn">disabled</Badge>}
          </>
        )
      }
      actions={data === undefined ? undefined : <Actions toolset={data} reload={toolset.reload} />}
    >
      <Show of={toolset}>
        {(it) => (
          <>
            <Facts
              of={[
                ["Id", <code key="id">{it.id}</code>],
                ["Installed", <Time key="installed" at={it.installed_at} />],
                ["Source", it.source_ref === null ? it.source_type : `${it.source_type}, from ${it.source_ref}`],
              ]}
            />
            <Notes title="Warnings of the import" notes={it.warnings} />
            <FailingServers toolset={it} />
            <Views toolset={it} />
          </>
        )}
      </Show>
    </Page>
  );
}

/** A server that does not answer spoils no import, so it must be told here. */
function FailingServers({ toolset }: { toolset: Details }) {
  const failing = toolset.mcp_servers.filter((it) => it.last_error !== null);
  if (failing.length === 0) return null;
  return (
    <div class="notice warn">
      <strong>{count(failing.length, "MCP server")} of the toolset cannot be used now</strong>
      <ul>
        {failing.map((it) => (
          <li key={it.id}>
            <a href={link(["servers", "mcp", it.id])}>{it.id}</a>: {it.last_error}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Views({ toolset }: { toolset: Details }) {
  const wanted = query.value.get("tab");
  const tab = TABS.find((it) => it === wanted) ?? "tools";
  const to = (view: string) => link(["toolsets", toolset.id], { tab: view === "tools" ? undefined : view });
  const titles: Record<(typeof TABS)[number], string> = {
    tools: `Tools (${toolset.tools.length})`,
    files: `Files (${toolset.files.length})`,
    servers: `MCP servers (${toolset.mcp_servers.length})`,
    overrides: `Overrides (${toolset.overrides.length})`,
  };
  return (
    <>
      <Tabs current={tab} tabs={TABS.map((it) => ({ id: it, text: titles[it], href: to(it) }))} />
      {tab === "tools" ? <ToolsetTools tools={toolset.tools} /> : null}
      {tab === "files" ? <ToolsetFiles toolset={toolset} /> : null}
      {tab === "servers" ? <ToolsetServers servers={toolset.mcp_servers} /> : null}
      {tab === "overrides" ? <ToolsetOverrides overrides={toolset.overrides} /> : null}
    </>
  );
}

function Actions({ toolset, reload }: { toolset: Details; reload: () => void }) {
  const [question, setQuestion] = useState<"disable" | "uninstall" | null>(null);
  const path = { toolset_id: toolset.id };
  if (!may("admin")) return <span class="soft">Changing a toolset needs the level admin.</span>;
  const enable = request("post", "/api/toolsets/{toolset_id}/enable", { path });
  const disable = request("post", "/api/toolsets/{toolset_id}/disable", { path });
  const uninstall = request("delete", "/api/toolsets/{toolset_id}", { path });
  const exported = request("get", "/api/toolsets/{toolset_id}/export", { path });
  const close = () => setQuestion(null);
  return (
    <>
      <WorkButton work={async () => download(`${toolset.id}-${toolset.version}.zip`, await sendForBytes(exported))}>Export as ZIP</WorkButton>
      {toolset.enabled ? (
        <Button onClick={() => setQuestion("disable")}>Disable</Button>
      ) : (
        <WorkButton
          kind="primary"
          work={async () => {
            await send(enable);
            tell(`${toolset.name} is enabled`);
            reload();
          }}
        >
          Enable
        </WorkButton>
      )}
      <Button kind="danger" onClick={() => setQuestion("uninstall")}>
        Uninstall
      </Button>
      <CopyCurl of={exported} action="Export" />
      {toolset.enabled ? null : <CopyCurl of={enable} action="Enable" />}
      {question === "disable" ? (
        <Confirm
          title={`Disable ${toolset.name}?`}
          action="Disable"
          of={disable}
          close={close}
          work={async () => {
            await send(disable);
            reload();
          }}
        >
          <p>
            Calls of its {count(toolset.tools.length, "tool")} are refused as <code>TOOL_DISABLED</code>, and its {count(toolset.mcp_servers.length, "MCP server")} stop. Enabling it brings everything back.
          </p>
        </Confirm>
      ) : null}
      {question === "uninstall" ? (
        <Confirm
          title={`Uninstall ${toolset.name}?`}
          action="Uninstall"
          danger
          of={uninstall}
          close={close}
          work={async () => {
            await send(uninstall);
            tell(`${toolset.name} is uninstalled`);
            go(["toolsets"]);
          }}
        >
          <WhatGoes toolset={toolset} />
        </Confirm>
      ) : null}
    </>
  );
}

function WhatGoes({ toolset }: { toolset: Details }) {
  return (
    <>
      <ul>
        <li>
          {count(toolset.tools.length, "tool")} can no longer be called{toolset.tools.length === 0 ? "" : ": "}
          {toolset.tools
            .slice(0, 20)
            .map((it) => it.id)
            .join(", ")}
          {toolset.tools.length > 20 ? " …" : ""}
        </li>
        <li>{count(toolset.files.length, "file")} of the bundle are deleted.</li>
        <li>{count(toolset.overrides.length, "override")} are deleted.</li>
        <li>
          {count(toolset.mcp_servers.length, "MCP server")} are deleted{toolset.mcp_servers.length === 0 ? "." : `: ${toolset.mcp_servers.map((it) => it.id).join(", ")}`}
        </li>
      </ul>
      <p>The versions of the tools and the records of their calls stay. Export the toolset first if you want to keep the bundle.</p>
    </>
  );
}
