// The overview: how calls go, what waits, and what needs attention.

import { useEffect, useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import { Page } from "../../parts/page.tsx";
import { Empty, Loading, Show } from "../../parts/states.tsx";
import { CallPlots } from "./call_plots.tsx";
import { FirstSteps } from "./first_steps.tsx";
import { Figures, Health, Storage } from "./registry.tsx";
import { Summaries } from "./summaries.tsx";
import { Waiting } from "./waiting.tsx";

/** Figures of the registry cost a row for each tool, so they are read less often than the calls. */
const [OFTEN_MS, SELDOM_MS]: [number, number] = [10_000, 60_000];

const ANY_CALL = request("get", "/api/tool-calls", { query: { limit: 1 } });

export default function OverviewPage() {
  if (!may("admin"))
    return (
      <Page title="Overview">
        <Empty title="Only admins see the overview">
          <p>The figures of the workspace need the level admin, and a token that is not bound to an agent.</p>
        </Empty>
      </Page>
    );
  return <Overview />;
}

function Overview() {
  const [every, setEvery] = useState(SELDOM_MS);
  const stats = useLoad(request("get", "/api/registry/stats"), every);
  const isNew = stats.data?.total_executions === 0;
  // A new workspace is small, and its owner waits for the first call to appear.
  useEffect(() => setEvery(isNew ? OFTEN_MS : SELDOM_MS), [isNew]);
  // The figures count calls that have ended. The first call may still wait for somebody who has to find it here.
  const calls = useLoad(isNew ? ANY_CALL : null, OFTEN_MS);
  if (isNew && calls.loading) return <Loading />;
  if (isNew && calls.data?.tool_calls.length === 0) return <FirstSteps />;
  return (
    <Page title="Overview" about="The page is live: calls and approvals every 10 seconds, the other figures every minute.">
      <Show of={stats}>
        {(it) => (
          <>
            <Figures stats={it} />
            <CallPlots />
            <div class="overview-states">
              <Waiting />
              <Health />
              <Storage stats={it} />
            </div>
            <Summaries />
          </>
        )}
      </Show>
    </Page>
  );
}
