// Calls that wait for a person.

import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import { link } from "../../location.ts";
import { AgentLink } from "../../parts/agent_link.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Show } from "../../parts/states.tsx";
import { Time } from "../../parts/values.tsx";

/** So many are counted, and so many are shown. */
const [COUNTED, SHOWN] = [50, 5];

export function Waiting() {
  const asked = request("get", "/api/approvals", { query: { status: "pending", limit: COUNTED } });
  const approvals = useLoad(asked, 10_000);
  return (
    <Panel title="Pending approvals" actions={<CopyCurl of={asked} />}>
      <Show of={approvals}>
        {({ approvals: items, next_cursor }) =>
          items.length === 0 ? (
            <p>Nothing waits for a decision.</p>
          ) : (
            <>
              <p>
                <Badge tone="warn">
                  {items.length}
                  {next_cursor === null || next_cursor === undefined ? "" : "+"} waiting
                </Badge>
              </p>
              <ul class="rows">
                {items.slice(0, SHOWN).map((it) => (
                  <li key={it.id}>
                    <a href={link(["approvals", it.id])}>{it.tool_name}</a>
                    <span class="soft small">
                      asked by {it.agent_id ? <AgentLink id={it.agent_id} /> : it.requested_by}, <Time at={it.created_at} />
                    </span>
                  </li>
                ))}
              </ul>
              <div>
                <ButtonLink href={link(["approvals"])}>Decide them</ButtonLink>
              </div>
            </>
          )
        }
      </Show>
    </Panel>
  );
}
