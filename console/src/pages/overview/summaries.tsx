// The busiest and the slowest tools, and the most frequent errors, of the last 24 hours.

import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { link } from "../../location.ts";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Panel } from "../../parts/page.tsx";
import { percent } from "../../parts/plot/scale.ts";
import { Show } from "../../parts/states.tsx";
import { Duration, Time } from "../../parts/values.tsx";

type Summary = Schemas["Summary"];

const SHOWN = 8;
const SUMMARY = request("get", "/api/tool-calls/summary");

export function Summaries() {
  // The summary reads each call of the last 24 hours, up to 10,000.
  const summary = useLoad(SUMMARY, 60_000);
  return (
    <Panel title="The last 24 hours" actions={<CopyCurl of={SUMMARY} />}>
      <Show of={summary}>
        {(it) =>
          it.calls === 0 ? (
            <p>There were no calls.</p>
          ) : (
            <div class="columns">
              <ToolFigures title="Busiest tools" tools={it.tools.slice(0, SHOWN)} />
              <ToolFigures title="Slowest tools" tools={it.tools.filter((tool) => (tool.p95_ms ?? 0) > 0).toSorted((a, b) => (b.p95_ms ?? 0) - (a.p95_ms ?? 0)).slice(0, SHOWN)} />
              <SlowCalls calls={it.slowest.filter((call) => call.duration_ms > 0).slice(0, SHOWN)} />
              <Errors errors={it.errors.slice(0, SHOWN)} />
            </div>
          )
        }
      </Show>
    </Panel>
  );
}

function ToolFigures({ title, tools }: { title: string; tools: Summary["tools"] }) {
  return (
    <section class="stack" aria-label={title}>
      <h3>{title}</h3>
      {tools.length === 0 ? (
        <p class="soft">No call took a measurable time.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Tool</th>
                <th scope="col" class="number">Calls</th>
                <th scope="col" class="number">Success</th>
                <th scope="col" class="number">p50</th>
                <th scope="col" class="number">p95</th>
              </tr>
            </thead>
            <tbody>
              {tools.map((it) => (
                <tr key={it.tool_name}>
                  <th scope="row">
                    <a href={link(["tools", it.tool_name])}>{it.tool_name}</a>
                  </th>
                  <td class="number">
                    <a href={link(["calls"], { tool_name: it.tool_name })}>
                      {it.count.toLocaleString("en")} <span class="visually-hidden">calls of {it.tool_name}</span>
                    </a>
                  </td>
                  <td class="number">{it.success_rate === null || it.success_rate === undefined ? "–" : percent(it.success_rate)}</td>
                  <td class="number">
                    <Duration ms={it.p50_ms} />
                  </td>
                  <td class="number">
                    <Duration ms={it.p95_ms} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function SlowCalls({ calls }: { calls: Summary["slowest"] }) {
  return (
    <section class="stack" aria-label="Slowest calls">
      <h3>Slowest calls</h3>
      {calls.length === 0 ? (
        <p class="soft">No call took a measurable time.</p>
      ) : (
        <ul class="rows">
          {calls.map((it) => (
            <li key={it.id}>
              <a href={link(["calls", it.id])}>{it.tool_name}</a>
              <span class="soft small">
                <Duration ms={it.duration_ms} />, <Time at={it.started_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Errors({ errors }: { errors: Summary["errors"] }) {
  return (
    <section class="stack" aria-label="Most frequent errors">
      <h3>Most frequent errors</h3>
      {errors.length === 0 ? (
        <p class="soft">No call failed.</p>
      ) : (
        <ul class="rows">
          {errors.map((it) => (
            <li key={it.tool_name + it.code}>
              <a href={link(["calls"], { tool_name: it.tool_name })}>
                {it.count.toLocaleString("en")} × {it.tool_name}
              </a>
              <code>{it.code}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
