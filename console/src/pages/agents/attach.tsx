// Attaching a tool: find it, configure it, see the warnings, attach it.

import { useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Agent, Tool } from "../../api/types.ts";
import { go, link } from "../../location.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { TextField } from "../../parts/field.tsx";
import { RiskBadge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { useSettled } from "../../parts/settled.ts";
import { Failure, Show } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { Warnings } from "../../parts/version_diff.tsx";
import { areAtFields } from "./config.ts";
import { type Config, ConfigForm } from "./config_form.tsx";

interface AttachToolProps {
  agent: Agent;
  /** The tool, or `*`, which is no id, before one is chosen. */
  chosen: string;
  done: () => void;
}

export function AttachTool({ agent, chosen, done }: AttachToolProps) {
  const back = link(["agents", agent.id], { tab: "attachments" });
  return (
    <Panel title={chosen === "*" ? "Attach a tool" : `Attach ${chosen}`} actions={<ButtonLink href={back}>Cancel</ButtonLink>}>
      {chosen === "*" ? <ChooseTool agent={agent} /> : <ConfigureNew agent={agent} id={chosen} done={done} />}
    </Panel>
  );
}

function ChooseTool({ agent }: { agent: Agent }) {
  const [words, setWords] = useState("");
  const q = useSettled(words.trim(), 200);
  const found = useLoad(request("get", "/api/tools", { query: { limit: 10, ...(q === "" ? {} : { q }) } }));
  return (
    <>
      <TextField label="Search a tool" type="search" value={words} onChange={setWords} hint="Words of its id, name or description." />
      <Show of={found}>
        {({ tools }) =>
          tools.length === 0 ? (
            <p class="soft">No tool has all of these words.</p>
          ) : (
            <ul class="toolbox" aria-label="Tools that were found">
              {(tools as Tool[]).map((it) => (
                <li key={it.id}>
                  <div class="spread">
                    <div class="row">
                      <strong>{it.name}</strong> <code class="soft">{it.id}</code> <RiskBadge risk={it.risk_level} />
                    </div>
                    <a class="button narrow" href={link(["agents", agent.id], { tab: "attachments", attach: it.id })} aria-label={`Choose ${it.id}`}>
                      Choose
                    </a>
                  </div>
                  <p class="soft">{it.description}</p>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </>
  );
}

function ConfigureNew({ agent, id, done }: { agent: Agent; id: string; done: () => void }) {
  const tool = useLoad(request("get", "/api/tools/{tool_id}", { path: { tool_id: id }, query: { schemas: "object" } }));
  const [config, setConfig] = useState<Config>({});
  const [isFinished, setFinished] = useState(true);
  const settled = useSettled(JSON.stringify(config), 300);
  const form = useSubmit();
  const body = { tool_id: id, ...(Object.keys(config).length === 0 ? {} : { config: config as never }) };
  const asked = request("post", "/api/agents/{agent_id}/tools", { path: { agent_id: agent.id }, body });
  const trial = JSON.parse(settled) as Config;
  const preview = useLoad(
    request("post", "/api/agents/{agent_id}/tools", {
      path: { agent_id: agent.id },
      query: { dry_run: true },
      body: { tool_id: id, ...(Object.keys(trial).length === 0 ? {} : { config: trial as never }) },
    }),
  );
  const isAttached = preview.error?.status === 409;
  const attach = async () => {
    await send(asked);
    tell(`${id} is attached to ${agent.name}`);
    done();
    go(["agents", agent.id], { tab: "attachments" });
  };
  if (isAttached)
    return (
      <p class="notice">
        <span>
          {id} is attached already. <a href={link(["agents", agent.id], { tab: "attachments", configure: id })}>Change its configuration</a>
        </span>
      </p>
    );
  return (
    <Show of={tool}>
      {(present) => (
        <>
          <p>{present.description}</p>
          <ConfigForm
            parameters={present.parameters_schema}
            initial={null}
            problems={preview.error?.problems ?? []}
            onChange={(it, finished) => {
              setConfig(it);
              setFinished(finished);
            }}
          />
          {preview.error === undefined || areAtFields(preview.error.problems) ? null : <Failure error={preview.error} />}
          {/* That a warning is about the tool goes without saying. */}
          <Warnings of={(preview.data?.warnings ?? []).map((it) => ({ ...it, path: it.path === "/tool_id" ? "" : it.path }))} />
          {preview.data !== undefined && preview.data.warnings.length === 0 ? <p class="notice good">{agent.name} can use the tool as soon as it is attached.</p> : null}
          {form.error === undefined || areAtFields(form.error.problems) ? null : <Failure error={form.error} />}
          <div class="row">
            <Button kind="primary" disabled={form.busy || !isFinished} onClick={() => form.submit(attach)}>
              Attach the tool
            </Button>
            <CopyCurl of={asked} />
          </div>
        </>
      )}
    </Show>
  );
}
