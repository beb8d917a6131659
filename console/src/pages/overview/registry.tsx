// Figures, health and storage of the workspace.

import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { link } from "../../location.ts";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { StatusBadge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Usage } from "../../parts/plot/meter.tsx";
import { percent } from "../../parts/plot/scale.ts";
import { Show } from "../../parts/states.tsx";
import { Time } from "../../parts/values.tsx";
import { linksOf } from "./alerts.ts";

type Stats = Schemas["RegistryStats"];

const STATS = request("get", "/api/registry/stats");
const HEALTH = request("get", "/api/registry/health");

export function Figures({ stats }: { stats: Stats }) {
  const ended = stats.total_executions;
  const figures: [string, string, string][] = [
    ["Active tools", stats.active_tools.toLocaleString("en"), `of ${stats.total_tools.toLocaleString("en")}`],
    ["Calls", ended.toLocaleString("en"), "since the beginning"],
    ["Succeeded", ended === 0 ? "–" : percent(stats.successful_executions / ended), `${stats.failed_executions.toLocaleString("en")} failed or denied`],
    ["Registrations", stats.registrations_24h.toLocaleString("en"), `in 24 h, ${stats.failed_registrations_24h.toLocaleString("en")} more refused`],
  ];
  return (
    <dl class="tiles">
      {figures.map(([name, value, about]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong> <span class="soft small">{about}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Storage({ stats }: { stats: Stats }) {
  return (
    <Panel title="Storage" actions={<CopyCurl of={STATS} />}>
      <Usage usage={stats.usage} />
      <p class="soft small">
        The last change of the workspace: <Time at={stats.last_updated} />.
      </p>
    </Panel>
  );
}

export function Health() {
  const health = useLoad(HEALTH, 60_000);
  return (
    <Panel title="Health" actions={<CopyCurl of={HEALTH} />}>
      <Show of={health}>
        {(it) => (
          <>
            <p>
              <StatusBadge status={it.status} /> {it.alerts.length === 0 ? "Nothing needs attention." : ""}
            </p>
            {it.alerts.map((alert) => (
              <AlertNote key={alert.condition} alert={alert} />
            ))}
          </>
        )}
      </Show>
    </Panel>
  );
}

function AlertNote({ alert }: { alert: Schemas["Alert"] }) {
  const links = linksOf({ condition: alert.condition, details: alert.details as Record<string, unknown> });
  return (
    <div class={`notice ${alert.severity === "critical" ? "bad" : "warn"}`}>
      <p>{alert.message}</p>
      {links.length === 0 ? null : (
        <ul class="names">
          {links.map((it) => (
            <li key={it.text}>
              <a href={link(it.path, { tab: it.tab })}>{it.text}</a>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
