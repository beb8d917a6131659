// Another configuration for a tool that is attached.

import { useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Agent, Schemas } from "../../api/types.ts";
import { go, link } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Panel } from "../../parts/page.tsx";
import { Failure, Show } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { areAtFields } from "./config.ts";
import { type Config, ConfigForm } from "./config_form.tsx";

export function ConfigureTool({ agent, tool, done }: { agent: Agent; tool: Schemas["AttachedOut"]; done: () => void }) {
  const [before] = useState(() => (tool.config ?? {}) as Config);
  const [config, setConfig] = useState(before);
  const [isFinished, setFinished] = useState(true);
  const form = useSubmit();
  const whole = useLoad(request("get", "/api/tools/{tool_id}", { path: { tool_id: tool.id }, query: { schemas: "object" } }));
  const asked = request("patch", "/api/agents/{agent_id}/tools/{tool_id}", { path: { agent_id: agent.id, tool_id: tool.id }, body: { config: config as never } });
  const save = async () => {
    await send(asked);
    tell(`${tool.id} has another configuration for ${agent.name}`);
    done();
    go(["agents", agent.id], { tab: "attachments" });
  };
  return (
    <Panel title={`Configure ${tool.id}`} actions={<ButtonLink href={link(["agents", agent.id], { tab: "attachments" })}>Cancel</ButtonLink>}>
      <Show of={whole}>
        {(present) => (
          <>
            <ConfigForm
              parameters={present.parameters_schema}
              initial={before}
              problems={form.error?.problems ?? []}
              onChange={(it, finished) => {
                setConfig(it);
                setFinished(finished);
              }}
            />
            {form.error === undefined || areAtFields(form.error.problems) ? null : <Failure error={form.error} />}
            <div class="row">
              <Button kind="primary" disabled={form.busy || !isFinished} onClick={() => form.submit(save)}>
                Save the configuration
              </Button>
              <CopyCurl of={asked} />
            </div>
          </>
        )}
      </Show>
    </Panel>
  );
}
