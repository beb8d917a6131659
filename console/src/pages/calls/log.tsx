// The log of calls: the latest first, live.

import { useEffect, useState } from "preact/hooks";
import { usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Call } from "../../api/types.ts";
import { link, query } from "../../location.ts";
import { AgentLink } from "../../parts/agent_link.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { StatusBadge } from "../../parts/marks.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { Duration } from "../../parts/values.tsx";
import { Clock } from "./clock.tsx";
import { FilterForm } from "./filter_form.tsx";
import { type Filters, parametersOf, readFilters } from "./filters.ts";
import { remember } from "./last_log.ts";

const EVERY_MS = 3_000;
const PAGE = 50;

export function Log() {
  const filters = readFilters(query.value);
  const [isPaused, setIsPaused] = useState(false);
  const key = JSON.stringify(filters);
  useEffect(() => remember(filters), [key]);
  const page = (cursor?: string) => request("get", "/api/tool-calls", { query: { ...parametersOf(filters), limit: PAGE, ...(cursor === undefined ? {} : { cursor }) } });
  const calls = usePages(key, page, (it) => it.tool_calls, isPaused ? undefined : EVERY_MS);
  return (
    <Page
      title="Calls"
      about="Every call of a tool, the latest first."
      actions={
        <>
          <span class="soft small">{isPaused ? "Paused" : calls.standsStill ? "Not live" : "Live"}</span>
          <button type="button" class="button" aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)}>
            Pause
          </button>
          <CopyCurl of={page()} />
        </>
      }
    >
      <FilterForm filters={filters} />
      <ShowPages of={calls} empty={<NoCalls filters={filters} />}>
        {(items) => <CallTable calls={items} />}
      </ShowPages>
    </Page>
  );
}

function CallTable({ calls }: { calls: Call[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Calls">
      <table class="calls">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Tool</th>
            <th scope="col">Status</th>
            <th scope="col">Duration</th>
            <th scope="col">Agent</th>
            <th scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((it) => (
            <tr key={it.id}>
              <td class="time">
                <Clock at={it.started_at} />
              </td>
              <th scope="row">
                <a href={link(["calls", it.id])}>{it.tool_name}</a>
              </th>
              <td>
                <StatusBadge status={it.status} />
              </td>
              <td class="number">
                <Duration ms={it.duration_ms} />
              </td>
              <td>{it.agent_id ? <AgentLink id={it.agent_id} /> : <span class="soft">–</span>}</td>
              <td>{it.error && it.status !== "pending_approval" ? <code title={it.error.message}>{it.error.code}</code> : <span class="soft">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NoCalls({ filters }: { filters: Filters }) {
  if (Object.keys(filters).length > 0) {
    return (
      <Empty title="No call fits these filters">
        <p>
          <a href={link(["calls"])}>Clear the filters</a> to see all calls.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No tool has been called yet">
      <p>
        <a href={link(["run"])}>Run a tool</a>, and its call is here.
      </p>
    </Empty>
  );
}
