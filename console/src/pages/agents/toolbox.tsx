// The toolbox as the agent sees it: the tools that it may use now, in each format, to read and as they are sent.

import { useState } from "preact/hooks";
import { useLoad, usePages } from "../../api/load.ts";
import { type ApiRequest, request } from "../../api/request.ts";
import type { Agent, Schemas } from "../../api/types.ts";
import { link, query, setQuery } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { copy, CopyCurl } from "../../parts/clipboard.tsx";
import { CheckField } from "../../parts/field.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Panel, Tabs } from "../../parts/page.tsx";
import { SchemaTable } from "../../parts/schema_table.tsx";
import { Empty, Show, ShowPages } from "../../parts/states.tsx";
import { FORMAT_NAMES, hasStrictMode, TOOL_FORMATS, type ToolFormat, toolFormat } from "../../parts/tool_formats.ts";
import { JsonText, Text } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";
import { exportedTool } from "./exported.ts";

const PAGE = 50;

export function Toolbox({ agent }: { agent: Agent }) {
  const format = toolFormat(query.value.get("format"), "json");
  const isStrict = hasStrictMode(format) && query.value.get("strict") === "true";
  const ask = (cursor: string | undefined) =>
    request("get", "/api/agents/{agent_id}/toolbox", {
      path: { agent_id: agent.id },
      query: { format, limit: PAGE, ...(isStrict ? { strict: true } : {}), ...(cursor === undefined ? {} : { cursor }) },
    });
  return (
    <Panel title="Toolbox" actions={<CopyCurl of={ask(undefined)} />}>
      <p class="soft">
        What the agent may use now. {agent.default_tools_in_use ? "No tool is attached, so it has the default tools, and those of its modules." : "These are the attached tools, and those of its modules."} Tools
        that its level, capabilities, risk or modules exclude are left out, and so are tools above your own level.
      </p>
      <Tabs current={format} tabs={TOOL_FORMATS.map((it) => ({ id: it, text: FORMAT_NAMES[it], href: link(["agents", agent.id], { format: it === "json" ? undefined : it, show: query.value.get("show") ?? undefined }) }))} />
      <div class="row">
        {format === "text" ? null : (
          <CheckField label="Raw JSON" value={query.value.get("show") === "raw"} onChange={(it) => setQuery({ show: it ? "raw" : undefined })} />
        )}
        {hasStrictMode(format) ? <CheckField label="Strict mode" value={isStrict} onChange={(it) => setQuery({ strict: it ? "true" : undefined })} /> : null}
      </div>
      {format === "text" ? <AsText agent={agent} /> : <Tools key={`${format} ${isStrict}`} agent={agent} format={format} ask={ask} isStrict={isStrict} />}
    </Panel>
  );
}

interface ToolsProps {
  agent: Agent;
  format: ToolFormat;
  isStrict: boolean;
  ask: (cursor: string | undefined) => ApiRequest<Schemas["ToolboxOut"]>;
}

function Tools({ agent, format, isStrict, ask }: ToolsProps) {
  const isRaw = query.value.get("show") === "raw";
  const tools = usePages(`${agent.id} ${format} ${isStrict}`, ask, (it) => it.tools as unknown[]);
  return (
    <ShowPages
      of={tools}
      empty={
        <Empty title="The toolbox is empty">
          <p>Attach tools, or allow a module or more risk in the settings.</p>
        </Empty>
      }
    >
      {(items) =>
        isRaw ? (
          <>
            <div class="row">
              <span class="soft small">{tools.hasMore ? `The first ${count(items.length, "tool")}` : count(items.length, "tool")}</span>
              <Button narrow onClick={() => void copy(JSON.stringify(items, null, 2))}>
                Copy
              </Button>
            </div>
            <JsonText value={items} label={`The toolbox for ${FORMAT_NAMES[format]}`} name={`toolbox-${format}.json`} />
          </>
        ) : (
          <ul class="toolbox" aria-label={`Tools for ${FORMAT_NAMES[format]}`}>
            {items.map((it, index) => (
              <ToolboxItem key={index} tool={it} hasPage={format === "json"} />
            ))}
          </ul>
        )
      }
    </ShowPages>
  );
}

function ToolboxItem({ tool, hasPage }: { tool: unknown; hasPage: boolean }) {
  const { name, description, schema, notes } = exportedTool(tool);
  return (
    <li>
      <div class="row">
        {hasPage ? (
          <a href={link(["tools", name])}>
            <code>{name}</code>
          </a>
        ) : (
          <code>{name}</code>
        )}
        {notes.map((it) => (
          <Badge key={it}>{it}</Badge>
        ))}
      </div>
      <p>{description}</p>
      {schema === null ? (
        <p class="soft small">It takes no arguments.</p>
      ) : (
        <Arguments name={name} schema={schema} />
      )}
    </li>
  );
}

/** Made when it is opened: a toolbox may have hundreds of tools. */
function Arguments({ name, schema }: { name: string; schema: unknown }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Arguments of {name}</summary>
      {isOpen ? <SchemaTable schema={schema} label={`Arguments of ${name}`} none="It takes no arguments." /> : null}
    </details>
  );
}

function AsText({ agent }: { agent: Agent }) {
  const asked = request("get", "/api/agents/{agent_id}/toolbox", { path: { agent_id: agent.id }, query: { format: "text" } });
  const box = useLoad(asked);
  return <Show of={box}>{(it) => <Text text={String(it)} label="The toolbox as a text for a prompt" name="toolbox.txt" />}</Show>;
}
