// Run: choose a tool, fill in its arguments, see what it answers.

import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link, query } from "../../location.ts";
import { Page } from "../../parts/page.tsx";
import { RiskBadge } from "../../parts/marks.tsx";
import { Empty, Show } from "../../parts/states.tsx";
import type { PageProps } from "../../routes.tsx";
import { ToolPicker } from "./picker.tsx";
import { RunTool } from "./run_tool.tsx";

export default function Run({ path: [tool] }: PageProps) {
  const version = query.value.get("version") ?? undefined;
  return tool === undefined ? <Choose /> : <RunTool key={`${tool} ${version}`} id={tool} version={version} />;
}

function Choose() {
  const tools = useLoad(request("get", "/api/tools", { query: { limit: 12 } }));
  return (
    <Page title="Run a tool" about="Choose a tool, fill in its arguments, and see what it answers.">
      <ToolPicker tool={undefined} />
      <Show of={tools}>
        {({ tools: some }) =>
          some.length === 0 ? (
            <Empty title="There are no tools">
              <p>
                Register one, import a toolset, or connect a server. <a href={link(["tools"])}>Tools</a>
              </p>
            </Empty>
          ) : (
            <ul class="run-tools">
              {(some as Tool[]).map((it) => (
                <li key={it.id}>
                  <a href={link(["run", it.id])}>
                    <span class="spread">
                      <strong>{it.name}</strong> <RiskBadge risk={it.risk_level} />
                    </span>
                    <code>{it.id}</code>
                    <span class="soft small run-about">{it.description}</span>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </Page>
  );
}
