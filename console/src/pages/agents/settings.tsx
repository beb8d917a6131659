// The settings of an agent.

import { useState } from "preact/hooks";
import { request, send } from "../../api/request.ts";
import type { Agent } from "../../api/types.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Facts, Panel } from "../../parts/page.tsx";
import { Failure } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { AgentFields } from "./agent_form.tsx";
import { type AgentDraft, agentDraft, agentPatch, draftProblems } from "./agent_draft.ts";
import { managesAgents, whyNot } from "./rights.ts";

export function AgentSettings({ agent, changed }: { agent: Agent; changed: () => void }) {
  if (managesAgents()) return <EditAgent agent={agent} changed={changed} />;
  return (
    <Panel title="Settings">
      <p class="soft">{whyNot()}</p>
      <Facts
        of={[
          ["Risk up to", agent.max_risk],
          ["Level", agent.permission_level],
          ["Capabilities", agent.capabilities.join(", ") || "none"],
          ["Modules", agent.allowed_modules.join(", ") || "the workspace’s default modules"],
          ["Default tools", agent.default_tools ? "as long as no tool is attached" : "never"],
          ["Find tools", agent.find_tools === true ? "yes" : "no"],
          ["Model", agent.model ?? "the workspace’s"],
          ["Steps", String(agent.max_steps ?? 16)],
          ["Temperature", String(agent.temperature ?? "the model’s own")],
          ["System prompt", agent.system_prompt ?? "none"],
        ]}
      />
    </Panel>
  );
}

/** The form begins with the agent as it was, and is compared with that: somebody else's change of another field stays. */
function EditAgent({ agent, changed }: { agent: Agent; changed: () => void }) {
  const [before, setBefore] = useState(agent);
  const [draft, setDraft] = useState(agentDraft(agent));
  const form = useSubmit();
  const problems = draftProblems(draft);
  const patch = agentPatch(draft, before);
  const asked = request("patch", "/api/agents/{agent_id}", { path: { agent_id: agent.id }, body: patch });
  const isChanged = Object.keys(patch).length > 0;
  const save = async () => {
    const after = (await send(asked)) as Agent;
    setBefore(after);
    setDraft(agentDraft(after));
    tell(`${after.name} is changed`);
    changed();
  };
  const change = (changes: Partial<AgentDraft>) => setDraft((it) => ({ ...it, ...changes }));
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (Object.keys(problems).length === 0) form.submit(save);
      }}
    >
      <AgentFields draft={draft} change={change} violation={(field) => problems[field] ?? form.at(`/${field}`)} />
      {form.error === undefined ? null : <Failure error={form.error} />}
      <div class="row">
        <Button kind="primary" type="submit" disabled={form.busy || !isChanged || Object.keys(problems).length > 0}>
          Save the settings
        </Button>
        {isChanged ? (
          <Button kind="quiet" onClick={() => setDraft(agentDraft(before))}>
            Undo the changes
          </Button>
        ) : (
          <span class="soft small">Nothing has changed.</span>
        )}
        <CopyCurl of={asked} />
      </div>
    </form>
  );
}
