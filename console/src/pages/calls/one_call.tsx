// One call: what went in, what came out, and what it changed.

import type { ComponentChildren } from "preact";
import type { Call } from "../../api/types.ts";
import { request } from "../../api/request.ts";
import { link } from "../../location.ts";
import { AgentLink } from "../../parts/agent_link.tsx";
import { ButtonLink, WorkButton } from "../../parts/button.tsx";
import { CopyCurl, Id } from "../../parts/clipboard.tsx";
import { StatusBadge } from "../../parts/marks.tsx";
import { Facts, Page, Panel } from "../../parts/page.tsx";
import { CallValue, WholeValue, downloadValue, wholeValue } from "../../parts/renderers/index.tsx";
import { CallOutcome } from "../../parts/renderers/outcome.tsx";
import { useRecord } from "../../parts/renderers/record.ts";
import { Show } from "../../parts/states.tsx";
import { Duration, Text, Time } from "../../parts/values.tsx";
import { ChangedFiles } from "./changed_files.tsx";
import { lastFilters } from "./last_log.ts";

export function OneCall({ id }: { id: string }) {
  const record = useRecord(id);
  const call = record.data;
  return (
    <Page
      title={call === undefined ? "Call" : `Call of ${call.tool_name}`}
      above={[{ text: "Calls", href: link(["calls"], lastFilters()) }]}
      marks={call === undefined ? undefined : <StatusBadge status={call.status} />}
      actions={
        <>
          {call === undefined ? null : <ButtonLink href={link(["run", call.tool_name], { arguments: call.id })}>Retry with other arguments</ButtonLink>}
          <CopyCurl of={request("get", "/api/tool-calls/{call_id}", { path: { call_id: id } })} />
        </>
      }
    >
      <Show of={record}>{(it) => <Contents call={it} />}</Show>
    </Page>
  );
}

function Contents({ call }: { call: Call }) {
  const output = call.details?.output;
  const warnings = call.details?.warnings ?? [];
  const blocks = call.details?.content;
  return (
    <>
      <div class="columns">
        <Panel title="About">
          <Facts of={factsOf(call)} />
        </Panel>
        <Panel title="Arguments" actions={<ValueActions call={call} kind="arguments" />}>
          <CallValue callId={call.id} kind="arguments" value={call.arguments ?? null} label="Arguments" shortened={call.shortened} />
          {warnings.length === 0 ? null : (
            <div class="notice warn">
              {warnings.map((it) => (
                <p key={it.path + it.message}>
                  <code>{it.path}</code> {it.message}
                </p>
              ))}
            </div>
          )}
        </Panel>
      </div>
      <Panel title={call.status === "success" ? "Result" : "Outcome"} {...(call.status === "success" ? { actions: <ValueActions call={call} kind="result" /> } : {})}>
        <CallOutcome call={call} />
      </Panel>
      {output ? (
        <Panel title="Output">
          <Text text={output} label="What the tool printed" name={`${call.id}-output.txt`} />
        </Panel>
      ) : null}
      {blocks && call.details?.result_is_content !== true ? (
        <Panel title="Content blocks">
          <WholeValue value={blocks} label="Content blocks of the MCP server" name={`${call.id}-content`} />
        </Panel>
      ) : null}
      <ChangedFiles call={call} />
    </>
  );
}

function ValueActions({ call, kind }: { call: Call; kind: "arguments" | "result" }) {
  return (
    <>
      <WorkButton narrow work={() => downloadValue(call.id, kind)}>
        Download
      </WorkButton>
      <CopyCurl narrow of={wholeValue(call.id, kind)} />
    </>
  );
}

function factsOf(call: Call): [string, ComponentChildren][] {
  const facts: [string, ComponentChildren][] = [
    ["Tool", <a href={link(["tools", call.tool_name])}>{call.tool_name}</a>],
    ["Version", call.version ?? "–"],
    ["Started", <Moment at={call.started_at} />],
    ["Ended", call.finished_at ? <Moment at={call.finished_at} /> : "not yet"],
    ["Duration", <Duration ms={call.duration_ms} />],
  ];
  if (call.agent_id) facts.push(["Agent", <AgentLink id={call.agent_id} />]);
  if (call.user_id) facts.push(["User", call.user_id]);
  facts.push(["Operator", call.operator]);
  if (call.session_id) facts.push(["Session", <a href={link(["files", call.session_id])}>{call.session_id}</a>]);
  if (call.message_id) facts.push(["Message", <a href={link(["calls"], { message_id: call.message_id })}>{call.message_id}</a>]);
  facts.push(["Id", <Id id={call.id} />]);
  return facts;
}

function Moment({ at }: { at: string }) {
  return (
    <>
      {new Date(at).toLocaleString()} <span class="soft">(<Time at={at} />)</span>
    </>
  );
}
