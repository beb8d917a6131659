// One tool that is to run: what it is, whether the person may run it, and its form.

import { useRef } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link, query, setQuery } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { type JsonObject, schemaOf, withoutSecrets } from "../../parts/form/index.tsx";
import { Badge, RiskBadge } from "../../parts/marks.tsx";
import { Page } from "../../parts/page.tsx";
import { Failure, Loading, Show } from "../../parts/states.tsx";
import { kept } from "./kept.ts";
import { ToolPicker } from "./picker.tsx";
import { RunForm } from "./run_form.tsx";

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
            <WithArguments tool={it as Tool} version={version} />
          </>
        )}
      </Show>
    </Page>
  );
}

/** Why a call would be refused. */
function Hindrances({ tool, version }: { tool: Tool; version: string | undefined }) {
  const words = [
    may(tool.required_permission) ? null : `Calls need the level ${tool.required_permission}, and you have a lower one.`,
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
      {version === undefined ? null : (
        <div class="notice">
          <p>Calls from this page run version {version}, whichever is active.</p>
          <Button narrow onClick={() => setQuery({ version: undefined })}>
            Use the active version
          </Button>
        </div>
      )}
    </>
  );
}

/** The arguments that the form begins with: those of an earlier call, if the link names one, else what was written last. */
function WithArguments({ tool, version }: { tool: Tool; version: string | undefined }) {
  const call = query.value.get("arguments");
  // The form takes the call out of the URL, so that a reload does not undo what the person writes then.
  const source = useRef(call);
  source.current = call ?? source.current;
  const earlier = useLoad(call === null ? null : request("get", "/api/tool-calls/{call_id}/arguments", { path: { call_id: call } }));
  const record = useLoad(call === null ? null : request("get", "/api/tool-calls/{call_id}", { path: { call_id: call } }));
  if (earlier.loading || record.loading) return <Loading what="Reading the arguments of the call" />;
  return (
    <>
      {earlier.error === undefined ? null : <Failure error={earlier.error} retry={earlier.reload} />}
      <RunForm key={source.current} tool={tool} version={version} {...beginning(tool, earlier.data)} earlier={record.data} />
    </>
  );
}

function beginning(tool: Tool, earlier: unknown): { begin: JsonObject; note?: string } {
  if (!isObject(earlier)) return { begin: kept(tool.id) };
  // Records hold no secrets, only a mark in their place.
  const begin = withoutSecrets(schemaOf(tool.parameters_schema), earlier);
  const isWhole = JSON.stringify(begin) === JSON.stringify(earlier);
  return { begin, note: isWhole ? "The form has the arguments of an earlier call." : "The form has the arguments of an earlier call, without its secrets: give them again." };
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
