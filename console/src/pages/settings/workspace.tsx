// The settings of the workspace: guests, the model of the playground, and what is stored.

import { useState } from "preact/hooks";
import { callerTurn, may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { CheckField, SelectField, TextField } from "../../parts/field.tsx";
import { Facts, Panel } from "../../parts/page.tsx";
import { Usage } from "../../parts/plot/meter.tsx";
import { Failure, Show } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { draftOf, patchOf, type WorkspaceDraft } from "./workspace_draft.ts";

type Workspace = Schemas["WorkspaceOut"];

export function WorkspaceSettings() {
  const settings = useLoad(request("get", "/api/workspace"));
  return (
    <>
      {may("admin") ? <Stored /> : null}
      <Show of={settings}>{(it) => (may("admin") ? <WorkspaceForm settings={it} /> : <ReadOnly settings={it} />)}</Show>
    </>
  );
}

function Stored() {
  const asked = request("get", "/api/registry/stats");
  const stats = useLoad(asked, 60_000);
  return (
    <Panel title="Storage" actions={<CopyCurl of={asked} />}>
      <Show of={stats}>{(it) => <Usage usage={it.usage} />}</Show>
    </Panel>
  );
}

function ReadOnly({ settings }: { settings: Workspace }) {
  return (
    <Panel title="Settings of the workspace">
      <p class="soft">Changing them needs the level admin.</p>
      <Facts
        of={[
          ["Modules of guests", settings.default_guest_modules.length === 0 ? "none" : settings.default_guest_modules.join(", ")],
          ["Address of the model", settings.model_url ?? "the deployment's"],
          ["Model", settings.model_name ?? "the deployment's"],
          ["Key of the model", settings.model_key_set ? "stored" : "none"],
          ["Streaming", settings.model_streaming ?? "the deployment's"],
          ["Tokens of a request", settings.context_tokens ?? "the deployment's"],
        ]}
      />
    </Panel>
  );
}

const STREAMING: [string, string][] = [
  ["", "as the deployment has it"],
  ["always", "always"],
  ["without_tools", "only in requests without tools"],
  ["never", "never"],
];

function WorkspaceForm({ settings }: { settings: Workspace }) {
  const [before, setBefore] = useState(settings);
  const [draft, setDraft] = useState(() => draftOf(settings));
  const submission = useSubmit();
  const set = (changes: Partial<WorkspaceDraft>) => setDraft({ ...draft, ...changes });
  const patch = patchOf(draftOf(before), draft);
  const asked = request("patch", "/api/workspace", { body: patch });
  const isChanged = Object.keys(patch).length > 0;
  const save = (event: Event) => {
    event.preventDefault();
    submission.submit(async () => {
      const after = await send(asked);
      setBefore(after);
      setDraft(draftOf(after));
      tell("The settings are saved");
      // Whether there is a model is told by whoami.
      callerTurn.value += 1;
    });
  };
  return (
    <form class="panel" onSubmit={save} aria-label="Settings of the workspace">
      <h2>Guests</h2>
      <TextField
        label="Modules of guests"
        mono
        lines={2}
        value={draft.guestModules}
        onChange={(guestModules) => set({ guestModules })}
        violation={submission.at("/default_guest_modules")}
        hint="Names, one on each line: for guests without an agent, and for agents that name no modules."
      />
      <h2>The model of the playground</h2>
      <div class="columns">
        <TextField
          label="Address"
          type="url"
          mono
          value={draft.modelUrl}
          onChange={(modelUrl) => set({ modelUrl })}
          violation={submission.at("/model_url")}
          hint="A server that speaks OpenAI's Chat Completions, without /chat/completions. Empty: the deployment's. Another origin drops the key."
        />
        <TextField label="Model" mono value={draft.modelName} onChange={(modelName) => set({ modelName })} violation={submission.at("/model_name")} hint="For agents that name none. Empty: the deployment's." />
        <div class="stack">
          <TextField
            label="Key"
            type="password"
            value={draft.modelKey}
            onChange={(modelKey) => set({ modelKey })}
            violation={submission.at("/model_key")}
            placeholder={before.model_key_set ? "*** (stays as it is)" : "none is stored"}
            hint="Stored sealed, and never shown."
          />
          {before.model_key_set ? <CheckField label="Remove the stored key" value={draft.removesKey} onChange={(removesKey) => set({ removesKey })} /> : null}
        </div>
        <SelectField label="Streaming" value={draft.streaming} onChange={(streaming) => set({ streaming })} options={STREAMING} hint="Some servers lose the calls in a stream." />
        <TextField
          label="Tokens of a request"
          type="number"
          value={draft.contextTokens}
          onChange={(contextTokens) => set({ contextTokens })}
          violation={submission.at("/context_tokens")}
          hint="1,000 to 1,000,000. Empty: the deployment's."
        />
      </div>
      {submission.error === undefined ? null : <Failure error={submission.error} />}
      <div class="row">
        <Button kind="primary" type="submit" disabled={submission.busy || !isChanged}>
          Save the settings
        </Button>
        <Button onClick={() => setDraft(draftOf(before))} disabled={!isChanged}>
          Undo changes
        </Button>
        <CopyCurl of={asked} />
      </div>
    </form>
  );
}
