// A new agent.

import { useState } from "preact/hooks";
import { request, send } from "../../api/request.ts";
import { go, link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Page } from "../../parts/page.tsx";
import { Failure } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { AgentFields } from "./agent_form.tsx";
import { agentBody, agentDraft, draftProblems } from "./agent_draft.ts";
import { managesAgents, whyNot } from "./rights.ts";

export function NewAgent() {
  const [draft, setDraft] = useState(agentDraft(null));
  const [isTried, setTried] = useState(false);
  const form = useSubmit();
  const problems = draftProblems(draft);
  const asked = request("post", "/api/agents", { body: agentBody(draft) });
  const create = async () => {
    const agent = await send(asked);
    tell(`${agent.name} is created`);
    go(["agents", agent.id]);
  };
  return (
    <Page title="Create an agent" above={[{ text: "Agents", href: link(["agents"]) }]} about="An agent is a name, a toolbox, and the limits within which it calls tools.">
      {managesAgents() ? (
        <form
          class="stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            setTried(true);
            if (Object.keys(problems).length === 0) form.submit(create);
          }}
        >
          {/* What is missing is not told before the person has tried. */}
          <AgentFields draft={draft} change={(changes) => setDraft({ ...draft, ...changes })} violation={(field) => (isTried ? problems[field] : undefined) ?? form.at(`/${field}`)} />
          {form.error === undefined ? null : <Failure error={form.error} />}
          <div class="row">
            <Button kind="primary" type="submit" disabled={form.busy}>
              Create the agent
            </Button>
            <CopyCurl of={asked} />
          </div>
        </form>
      ) : (
        <p class="notice warn">{whyNot()}</p>
      )}
    </Page>
  );
}
