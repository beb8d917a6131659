// One tool that is to run: what it is, and its form.

import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge, RiskBadge } from "../../parts/marks.tsx";
import { Page } from "../../parts/page.tsx";
import ToolRun from "../../parts/run/index.tsx";
import { Show } from "../../parts/states.tsx";
import { ToolPicker } from "./picker.tsx";

export function RunTool({ id, version }: { id: string; version: string | undefined }) {
  const asked = request("get", "/api/tools/{tool_id}", { path: { tool_id: id }, query: { schemas: "object", ...(version === undefined ? {} : { version }) } });
  const tool = useLoad(asked);
  const present = tool.data as Tool | undefined;
  return (
    <Page
      title={present?.name ?? id}
      above={[{ text: "Run a tool", href: link(["run"]) }]}
      about={present?.description}
      marks={
        present === undefined ? null : (
          <>
            <RiskBadge risk={present.risk_level} />
            <Badge title={version === undefined ? "The active version" : "The version that the link names"}>{present.version}</Badge>
            {present.needs_approval ? <Badge tone="warn">needs an approval</Badge> : null}
          </>
        )
      }
      actions={
        <>
          <CopyCurl of={asked} />
          <ButtonLink href={link(["tools", id])}>About the tool</ButtonLink>
        </>
      }
    >
      <ToolPicker tool={id} />
      <Show of={tool}>
        {(it) => (
          <>
            <Hindrances tool={it as Tool} version={version} />
            <ToolRun tool={it as Tool} version={version} />
          </>
        )}
      </Show>
    </Page>
  );
}

/** Why a call would be refused, whoever makes it. */
function Hindrances({ tool, version }: { tool: Tool; version: string | undefined }) {
  const words = [
    tool.enabled ? null : "The tool is disabled, so calls are refused until an admin enables it.",
    tool.active || version !== undefined ? null : "No version of the tool is active, so calls are refused.",
  ].filter((it) => it !== null);
  return (
    <>
      {words.map((it) => (
        <p class="notice warn" key={it}>
          {it}
        </p>
      ))}
    </>
  );
}
