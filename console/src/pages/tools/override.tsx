// The override of a tool of a toolset: other texts, approval, renderer, or switched off, without a new version.

import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Schemas, Tool } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { JsonText } from "../../parts/values.tsx";
import { type OverrideDraft, overrideBody, overrideDraft } from "./override_draft.ts";

export function ToolOverride({ tool, changed }: { tool: Tool; changed: () => void }) {
  const place = { toolset_id: tool.toolset_id ?? "", tool_id: tool.id };
  const override = useLoad(may("user") ? request("get", "/api/toolsets/{toolset_id}/overrides/{tool_id}", { path: place }) : null);
  const reload = () => {
    override.reload();
    changed();
  };
  if (!may("user")) return <p class="notice warn">Overrides are shown to users of the workspace, and set by admins.</p>;
  // Without an override there is nothing to read.
  const isNone = override.error?.status === 404;
  if (override.error !== undefined && !isNone) return <Failure error={override.error} retry={override.reload} />;
  if (override.loading) return <Loading />;
  const present = isNone ? null : (override.data ?? null);
  return (
    <Panel title="Override">
      <p>
        An override holds at once, for every version of the tool.{" "}
        {present === null ? (
          "The tool has none."
        ) : present.by_admin ? (
          "An admin has set this one, and upgrades of the toolset keep it."
        ) : (
          <>
            The toolset <a href={link(["toolsets", place.toolset_id])}>{place.toolset_id}</a> has set this one.
          </>
        )}
      </p>
      {may("admin") ? (
        <OverrideForm key={JSON.stringify(present)} place={place} present={present} done={reload} />
      ) : present === null ? null : (
        <JsonText value={present} label="The override" />
      )}
    </Panel>
  );
}

interface OverrideFormProps {
  place: { toolset_id: string; tool_id: string };
  present: Schemas["OverrideOut"] | null;
  done: () => void;
}

function OverrideForm({ place, present, done }: OverrideFormProps) {
  const [draft, setDraft] = useState(overrideDraft(present));
  const [isDeleting, setDeleting] = useState(false);
  const form = useSubmit();
  const read = overrideBody(draft);
  const put = request("put", "/api/toolsets/{toolset_id}/overrides/{tool_id}", { path: place, body: ("body" in read ? read.body : {}) as never });
  const remove = request("delete", "/api/toolsets/{toolset_id}/overrides/{tool_id}", { path: place });
  const change = (changes: Partial<OverrideDraft>) => setDraft({ ...draft, ...changes });
  const save = async () => {
    await send(put);
    tell(`The override of ${place.tool_id} is saved`);
    done();
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        form.submit(save);
      }}
    >
      <TextField label="Name" value={draft.name} onChange={(name) => change({ name })} hint="What people see instead of the tool’s own name." violation={form.at("/name_override")} />
      <TextField label="Description" value={draft.description} onChange={(description) => change({ description })} lines={3} hint="What models read instead of the tool’s own description." violation={form.at("/description_override")} />
      <div class="thirds">
        <SelectField
          label="Approval"
          value={draft.approval}
          onChange={(it) => change({ approval: it as OverrideDraft["approval"] })}
          options={[
            ["", "As the version says"],
            ["true", "An admin decides each call"],
            ["false", "Calls run at once"],
          ]}
          hint="Calls of high and critical risk always wait."
        />
        <SelectField
          label="Calls"
          value={draft.enabled}
          onChange={(it) => change({ enabled: it as OverrideDraft["enabled"] })}
          options={[
            ["", "As the toolset says"],
            ["true", "Allowed"],
            ["false", "Refused: the tool is switched off"],
          ]}
        />
        <SelectField
          label="Renderer"
          value={draft.renderer}
          onChange={(renderer) => change({ renderer })}
          options={[["", "None"], "code", "document", "html", "frame"]}
          hint="What shows the results of calls."
        />
      </div>
      {draft.renderer === "" ? null : (
        <TextField
          label="Configuration of the renderer"
          value={draft.config}
          onChange={(config) => change({ config })}
          lines={5}
          mono
          placeholder='{"content": "$return"}'
          violation={"problem" in read ? read.problem : (form.at("/renderer_config") ?? form.at("/renderer"))}
        />
      )}
      {form.error === undefined ? null : <Failure error={form.error} />}
      <div class="row">
        <Button kind="primary" type="submit" disabled={form.busy || "problem" in read}>
          Save the override
        </Button>
        {present === null ? null : (
          <Button kind="danger" onClick={() => setDeleting(true)}>
            Delete the override
          </Button>
        )}
        <CopyCurl of={put} />
      </div>
      {isDeleting ? (
        <Confirm
          title={`Delete the override of ${place.tool_id}`}
          action="Delete the override"
          danger
          of={remove}
          close={() => setDeleting(false)}
          work={async () => {
            await send(remove);
            tell(`The override of ${place.tool_id} is deleted`);
            done();
          }}
        >
          <p>The tool is then as its version and its toolset say.</p>
        </Confirm>
      ) : null}
    </form>
  );
}
