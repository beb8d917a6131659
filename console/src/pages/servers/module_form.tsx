// The settings of a module, for a new one and for a registered one.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { request, send } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { go } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { CheckField, SelectField, TextField } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { Failure } from "../../parts/states.tsx";
import { type Submission, useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { moduleBody, type ModuleDraft, moduleDraft, modulePatch, NEW_MODULE } from "./drafts.ts";
import { requestsOf } from "./requests.ts";
import { Secrets } from "./secrets.tsx";

export function RegisterModule({ close }: { close: () => void }) {
  const [draft, setDraft] = useState(NEW_MODULE);
  const submission = useSubmit();
  const asked = request("post", "/api/modules", { body: moduleBody(draft) });
  const register = (event: Event) => {
    event.preventDefault();
    submission.submit(async () => {
      const made = await send(asked);
      tell(`${made.name} is registered: ${made.status}`);
      go(["servers", "modules", made.name]);
    });
  };
  return (
    <Panel title="Register a module" actions={<Button onClick={close}>Close</Button>}>
      <form class="stack" onSubmit={register}>
        <TextField
          label="Name"
          value={draft.name}
          onChange={(name) => setDraft({ ...draft, name })}
          required
          violation={submission.at("/name")}
          hint="Lower-case letters, digits, _ or -. The ids of the tools begin with it: dice.roll"
        />
        <ModuleFields draft={draft} setDraft={setDraft} submission={submission} />
        <Foot submission={submission}>
          <Button kind="primary" type="submit" disabled={submission.busy}>
            {submission.busy ? "Asking the module…" : "Register and ask for its tools"}
          </Button>
          <CopyCurl of={asked} />
        </Foot>
      </form>
    </Panel>
  );
}

export function ModuleSettings({ module, saved }: { module: Schemas["ModuleDetails"]; saved: () => void }) {
  // The form keeps what the person types, whatever polling brings.
  const [before, setBefore] = useState(() => moduleDraft(module));
  const [draft, setDraft] = useState(before);
  const submission = useSubmit();
  const patch = modulePatch(before, draft);
  const asked = requestsOf("modules", module.name).change(patch);
  const save = (event: Event) => {
    event.preventDefault();
    submission.submit(async () => {
      const after = moduleDraft((await send(asked)) as Schemas["ModuleDetails"]);
      setBefore(after);
      setDraft(after);
      tell(`${module.name} is saved, and was asked for its tools`);
      saved();
    });
  };
  return (
    <form class="panel" onSubmit={save} aria-label="Settings of the module">
      <ModuleFields draft={draft} setDraft={setDraft} submission={submission} />
      <Foot submission={submission}>
        <Button kind="primary" type="submit" disabled={submission.busy || Object.keys(patch).length === 0}>
          Save and ask for its tools
        </Button>
        <Button onClick={() => setDraft(before)} disabled={draft === before}>
          Undo changes
        </Button>
        <CopyCurl of={asked} />
      </Foot>
    </form>
  );
}

interface FieldsProps {
  draft: ModuleDraft;
  setDraft: (draft: ModuleDraft) => void;
  submission: Submission;
}

function ModuleFields({ draft, setDraft, submission }: FieldsProps) {
  const set = (changes: Partial<ModuleDraft>) => setDraft({ ...draft, ...changes });
  return (
    <>
      <div class="columns">
        <TextField
          label="Address"
          type="url"
          mono
          value={draft.url}
          onChange={(url) => set({ url })}
          required
          violation={submission.at("/url")}
          hint={draft.kind === "manifest" ? "Pegboard adds /manifest and /execute. Another origin drops the values of headers." : "The API, or its OpenAPI document. Another origin drops the values of headers."}
        />
        <SelectField
          label="Kind"
          value={draft.kind}
          onChange={(kind) => set({ kind: kind === "openapi" ? "openapi" : "manifest" })}
          options={[
            ["manifest", "manifest: describes its tools at /manifest"],
            ["openapi", "openapi: a REST API with an OpenAPI document"],
          ]}
        />
      </div>
      <Secrets title="Headers of every request" noun="header" secrets={draft.headers} onChange={(headers) => set({ headers })} violation={submission.at("/headers")} />
      {draft.kind === "openapi" ? (
        <fieldset class="secrets">
          <legend>Which operations become tools</legend>
          <p class="hint">One entry on each line. Without any, all operations do, if there are at most 50.</p>
          <div class="columns">
            <TextField label="Tags" lines={2} mono value={draft.tags} onChange={(tags) => set({ tags })} violation={submission.at("/include/tags")} />
            <TextField label="Paths" lines={2} mono value={draft.paths} onChange={(paths) => set({ paths })} violation={submission.at("/include/paths")} hint="/users/{id}, or /users/* for all that begin so" />
            <TextField label="Operations" lines={2} mono value={draft.operations} onChange={(operations) => set({ operations })} violation={submission.at("/include/operations")} />
            <TextField label="Further hosts that get the headers" lines={2} mono value={draft.hosts} onChange={(hosts) => set({ hosts })} violation={submission.at("/include/hosts")} />
          </div>
        </fieldset>
      ) : null}
      <div class="columns">
        <TextField
          label="Timeout of a call in seconds"
          type="number"
          value={draft.timeout}
          onChange={(timeout) => set({ timeout })}
          violation={submission.at("/timeout_seconds")}
          hint="1 to 3600, for tools that name none themselves. Empty: 30, or 120 for a slow module. A timeout that is set can be changed, but not removed."
        />
        <div class="stack">
          <CheckField label="Slow" value={draft.slow} onChange={(slow) => set({ slow })} hint="Calls have 120 seconds instead of 30." />
          <CheckField
            label="Accept changes without an admin"
            value={draft.autoAccept}
            onChange={(autoAccept) => set({ autoAccept })}
            hint="Whatever the server offers is used at once. Only for servers that you trust like this one."
          />
        </div>
      </div>
    </>
  );
}

/** The buttons of a form, and why it was refused. */
export function Foot({ submission, children }: { submission: Submission; children: ComponentChildren }) {
  return (
    <>
      {submission.error === undefined ? null : <Failure error={submission.error} />}
      <div class="row">{children}</div>
    </>
  );
}
