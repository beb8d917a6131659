// A tool in the format of each model: the description for a prompt, and the tool in the format of each provider.

import { useLoad } from "../../api/load.ts";
import { type ApiRequest, request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link, query, setQuery } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { copy, CopyCurl } from "../../parts/clipboard.tsx";
import { CheckField } from "../../parts/field.tsx";
import { Panel, Tabs } from "../../parts/page.tsx";
import { Show } from "../../parts/states.tsx";
import { FORMAT_NAMES, hasStrictMode, TOOL_FORMATS, type ToolFormat, toolFormat } from "../../parts/tool_formats.ts";
import { Text } from "../../parts/values.tsx";

export function ModelFormats({ tool }: { tool: Tool }) {
  const format = toolFormat(query.value.get("format"), "text");
  const isStrict = hasStrictMode(format) && query.value.get("strict") === "true";
  const formats = ["text", ...TOOL_FORMATS.filter((it) => it !== "text" && it !== "json")] as ToolFormat[];
  const asked = ask(tool.id, format, isStrict);
  const exported = useLoad(asked);
  const shown = exported.data === undefined ? "" : textOf(exported.data);
  return (
    <Panel
      title="The tool in the format of each model"
      actions={
        <>
          <Button kind="quiet" disabled={shown === ""} onClick={() => void copy(shown)}>
            Copy
          </Button>
          <CopyCurl of={asked} />
        </>
      }
    >
      <Tabs current={format} tabs={formats.map((it) => ({ id: it, text: FORMAT_NAMES[it], href: link(["tools", tool.id], { tab: "models", format: it === "text" ? undefined : it }) }))} />
      {hasStrictMode(format) ? (
        <CheckField label="Strict mode" value={isStrict} onChange={(it) => setQuery({ strict: it ? "true" : undefined })} hint="OpenAI holds the model to the schema, if strict mode can express it." />
      ) : null}
      <Show of={exported}>{() => <Text text={shown} label={`${tool.id} for ${FORMAT_NAMES[format]}`} name={`${tool.id}.txt`} />}</Show>
    </Panel>
  );
}

function ask(id: string, format: ToolFormat, strict: boolean): ApiRequest<unknown> {
  if (format === "text") return request("get", "/api/tools/{tool_id}/description", { path: { tool_id: id } });
  return request("get", "/api/tools", { query: { ids: id, format, include_inactive: true, ...(strict ? { strict } : {}) } });
}

function textOf(exported: unknown): string {
  if (typeof exported === "string") return exported;
  return JSON.stringify((exported as { tools: unknown[] }).tools[0] ?? null, null, 2);
}
