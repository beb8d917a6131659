// Registering a tool, or a new version of one: JSON in an editor, a preview of what would happen, and then the registration.

import { useMemo, useState } from "preact/hooks";
import { may, onSignOut, workspace } from "../../api/caller.ts";
import { useLoad } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Json, Schemas, Tool } from "../../api/types.ts";
import { go, link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import { Failure, Show } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { ChangePreview, Warnings } from "../../parts/version_diff.tsx";
import { nextVersion, readDraft, STARTS } from "./draft.ts";

/** What was typed, for each workspace and tool: another page may be looked at in between. */
const drafts = new Map<string, string>();
onSignOut(() => drafts.clear());

export function RegisterTool({ from }: { from: string | null }) {
  const above = [{ text: "Tools", href: link(["tools"]) }];
  if (from !== null) above.push({ text: from, href: link(["tools", from]) });
  return (
    <Page
      title={from === null ? "Register a tool" : `A new version of ${from}`}
      above={above}
      about="A version is permanent: its number is used once. The preview tells what the registration would do, and writes nothing."
    >
      {!may("admin") ? (
        <p class="notice warn">Only an admin of the workspace registers tools. You can still read this page’s format in the docs: docs/versions.md.</p>
      ) : from === null ? (
        <Editor tool="" start={text(STARTS[0]?.body ?? {})} hasStarts />
      ) : (
        <FromTool id={from} />
      )}
    </Page>
  );
}

function text(body: { [key: string]: Json }): string {
  return JSON.stringify(body, null, 2);
}

/** Begins with the active version, under a number that is higher than every other one. */
function FromTool({ id }: { id: string }) {
  const tool = useLoad(request("get", "/api/tools/{tool_id}", { path: { tool_id: id }, query: { schemas: "object" } }));
  const versions = useLoad(request("get", "/api/tools/{tool_id}/versions", { path: { tool_id: id }, query: { limit: 1 } }));
  return (
    <Show of={tool}>
      {(present) =>
        present.source === "registered" ? (
          <Show of={versions}>
            {(page) => <Editor tool={id} start={text(nextVersion(present as Tool, page.versions[0]?.version ?? present.version))} hasStarts={false} />}
          </Show>
        ) : (
          <p class="notice warn">The versions of {id} come from where the tool comes from. Only registered tools get new versions here.</p>
        )
      }
    </Show>
  );
}

function Editor({ tool, start, hasStarts }: { tool: string; start: string; hasStarts: boolean }) {
  const draftKey = `${workspace.value} ${tool}`;
  const [draft, setDraft] = useState(drafts.get(draftKey) ?? start);
  const [startId, setStartId] = useState("");
  const [preview, setPreview] = useState<{ of: string; tool: Schemas["ToolPreview"] } | null>(null);
  const form = useSubmit();
  const read = useMemo(() => readDraft(draft), [draft]);
  const body = "body" in read ? read.body : null;
  const problem = "problem" in read ? read.problem : undefined;
  const change = (value: string) => {
    drafts.set(draftKey, value);
    setDraft(value);
  };
  const begin = (id: string) => {
    const chosen = STARTS.find((it) => it.id === id);
    setStartId(id);
    if (chosen !== undefined) change(text(chosen.body));
  };
  const asked = request("post", "/api/tools", { body: (body ?? {}) as never });
  const previewed = request("post", "/api/tools", { query: { dry_run: true }, body: (body ?? {}) as never });
  const look = async () => {
    setPreview(null);
    const seen = await send(previewed);
    setPreview({ of: draft, tool: seen as Schemas["ToolPreview"] });
  };
  const register = async () => {
    // The answer to the request without `dry_run` is the registered version.
    const registered = (await send(asked)) as unknown as Schemas["RegisteredOut"];
    drafts.delete(draftKey);
    tell(`${registered.id} ${registered.version} is registered and active`);
    go(["tools", registered.id]);
  };
  // What is registered is what was looked at.
  const isLookedAt = preview !== null && preview.of === draft;
  return (
    <div class="columns register">
      <Panel title="Definition">
        {hasStarts ? (
          <SelectField
            label="Begin with"
            value={startId}
            onChange={begin}
            options={[["", "Choose, to replace the text"], ...STARTS.map((it): [string, string] => [it.id, it.title])]}
          />
        ) : null}
        <TextField label="The tool as JSON" value={draft} onChange={change} lines={26} mono violation={problem} />
        <div class="row">
          <Button kind={isLookedAt ? "" : "primary"} disabled={form.busy || body === null} onClick={() => form.submit(look)}>
            Preview
          </Button>
          <Button kind={isLookedAt ? "primary" : ""} disabled={form.busy || !isLookedAt} onClick={() => form.submit(register)}>
            Register
          </Button>
          <CopyCurl of={previewed} action="Preview" />
          <CopyCurl of={asked} action="Register" />
          {isLookedAt ? null : <span class="soft small">Look at the preview first.</span>}
        </div>
      </Panel>
      <Panel title="What would happen">
        {form.error === undefined ? null : <Failure error={form.error} />}
        {preview === null ? (
          form.error === undefined ? <p class="soft">The preview shows the version, what it replaces, the step that it needs, all differences, and warnings.</p> : null
        ) : (
          <Outcome of={preview.tool} isStale={!isLookedAt} />
        )}
      </Panel>
    </div>
  );
}

function Outcome({ of: tool, isStale }: { of: Schemas["ToolPreview"]; isStale: boolean }) {
  return (
    <>
      {isStale ? <p class="notice warn">The text has changed since this preview.</p> : null}
      {tool.replaces === null || tool.replaces === undefined ? (
        <>
          <p>
            <strong>{tool.name}</strong> would be registered as <code>{tool.id}</code>, version {tool.version}. It replaces nothing.
          </p>
          <Warnings of={tool.warnings} />
        </>
      ) : (
        <ChangePreview of={tool} />
      )}
    </>
  );
}
