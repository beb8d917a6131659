// One tool: its head, and the view that the URL names.

import { caller, may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { loadedPage } from "../../loaded_page.tsx";
import { link, query } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Page, Tabs } from "../../parts/page.tsx";
import { Show } from "../../parts/states.tsx";
import { count } from "../../parts/words.ts";
import { AboutTool } from "./about.tsx";
import { ToolAgents } from "./agents.tsx";
import { ToolCalls } from "./calls.tsx";
import { ownerOf } from "./groups.ts";
import { upstreamLink, useHeldBackOf } from "./held_back.ts";
import { ModelFormats } from "./models.tsx";
import { ToolOverride } from "./override.tsx";
import { ToolMarks } from "./tool_row.tsx";
import { ToolVersions } from "./versions.tsx";

/** The form is not loaded before somebody wants it. */
const ToolRun = loadedPage(() => import("../../parts/run/index.tsx"));

const TABS = [
  { id: "about", text: "About" },
  { id: "run", text: "Run form" },
  { id: "versions", text: "Versions" },
  { id: "override", text: "Override" },
  { id: "agents", text: "Agents" },
  { id: "calls", text: "Calls" },
  { id: "models", text: "For models" },
];

export function ToolPage({ id }: { id: string }) {
  const version = query.value.get("version");
  const asked = request("get", "/api/tools/{tool_id}", { path: { tool_id: id }, query: { schemas: "object", ...(version === null ? {} : { version }) } });
  const tool = useLoad(asked, 15_000);
  const present = tool.data as Tool | undefined;
  return (
    <Page
      title={present?.name ?? id}
      above={[{ text: "Tools", href: link(["tools"]) }]}
      about={present?.description}
      marks={present === undefined ? null : <ToolMarks tool={present} />}
      actions={
        <>
          <CopyCurl of={asked} />
          {present !== undefined && present.source === "registered" && may("admin") ? (
            <ButtonLink href={link(["tools"], { view: "register", from: id })}>New version</ButtonLink>
          ) : null}
          {present === undefined || query.value.get("tab") === "run" ? null : (
            <ButtonLink kind="primary" href={link(["tools", id], { tab: "run", version: version ?? undefined })}>
              Run
            </ButtonLink>
          )}
        </>
      }
    >
      <Show of={tool}>{(it) => <Views tool={it as Tool} reload={tool.reload} />}</Show>
    </Page>
  );
}

function Views({ tool, reload }: { tool: Tool; reload: () => void }) {
  const asked = query.value.get("tab") ?? "about";
  const hasOverride = (tool.toolset_id ?? null) !== null;
  const tabs = TABS.filter((it) => it.id !== "override" || hasOverride);
  const current = tabs.find((it) => it.id === asked)?.id ?? "about";
  return (
    <>
      <Notices tool={tool} />
      <Tabs tabs={tabs.map((it) => ({ ...it, href: link(["tools", tool.id], { tab: it.id === "about" ? undefined : it.id }) }))} current={current} />
      {current === "about" ? <AboutTool tool={tool} /> : null}
      {current === "run" ? <ToolRun key={query.value.get("version")} tool={tool} version={query.value.get("version") ?? undefined} /> : null}
      {current === "versions" ? <ToolVersions tool={tool} changed={reload} /> : null}
      {current === "override" ? <ToolOverride tool={tool} changed={reload} /> : null}
      {current === "agents" ? <ToolAgents tool={tool} /> : null}
      {current === "calls" ? <ToolCalls tool={tool} /> : null}
      {current === "models" ? <ModelFormats tool={tool} /> : null}
    </>
  );
}

/** What keeps the tool from being called, or will change it. */
function Notices({ tool }: { tool: Tool }) {
  const heldBack = useHeldBackOf(tool);
  const owner = ownerOf(tool);
  const isOld = query.value.get("version") !== null && !tool.active;
  return (
    <>
      {isOld ? (
        <p class="notice warn">
          <span>
            This is version {tool.version}, which is not active. <a href={link(["tools", tool.id])}>See the tool as it is now</a>
          </span>
        </p>
      ) : tool.active ? null : (
        <p class="notice bad">No version of this tool is active, so calls are refused. {may("admin") ? "Activate one under Versions." : "An admin can activate one."}</p>
      )}
      {tool.enabled ? null : (
        <p class="notice bad">
          <span>
            The tool is disabled, so calls are refused: its override, toolset, MCP server or module is switched off.{" "}
            {owner === null ? null : <a href={upstreamLink(tool.source, owner)}>See {owner}</a>}
          </span>
        </p>
      )}
      {heldBack === 0 || owner === null ? null : (
        <p class="notice warn">
          <span>
            {count(heldBack, "changed definition")} of {owner} {heldBack === 1 ? "is" : "are"} held back until an admin accepts them. <a href={upstreamLink(tool.source, owner)}>See what changes</a>
          </span>
        </p>
      )}
      {caller.value?.agent_id === null || caller.value === null ? null : <p class="notice">Your token is bound to an agent: it runs tools as that agent, and changes nothing here.</p>}
    </>
  );
}
