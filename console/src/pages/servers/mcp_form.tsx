// The settings of an MCP server, for a new one and for a registered one.

import { useState } from "preact/hooks";
import { request, send } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { go, link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { CheckField, SelectField, TextField } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { type Submission, useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { mcpBody, type McpDraft, mcpDraft, mcpPatch, NEW_MCP, RISKS, type Transport } from "./drafts.ts";
import { Foot } from "./module_form.tsx";
import { requestsOf } from "./requests.ts";
import { Secrets } from "./secrets.tsx";

export function RegisterMcp({ close }: { close: () => void }) {
  const [draft, setDraft] = useState(NEW_MCP);
  const submission = useSubmit();
  const asked = request("post", "/api/mcp-servers", { body: mcpBody(draft) });
  const register = (event: Event) => {
    event.preventDefault();
    submission.submit(async () => {
      const made = await send(asked);
      tell(`${made.id} is registered: ${made.status}`);
      go(["servers", "mcp", made.id]);
    });
  };
  return (
    <Panel title="Register an MCP server" actions={<Button onClick={close}>Close</Button>}>
      <form class="stack" onSubmit={register}>
        <TextField
          label="Id"
          value={draft.id}
          onChange={(id) => setDraft({ ...draft, id })}
          required
          violation={submission.at("/id")}
          hint="Lower-case letters, digits, _ or -. The ids of the tools begin with it: time:now"
        />
        <WhatItIs draft={draft} setDraft={setDraft} submission={submission} />
        <WhatItMayDo draft={draft} setDraft={setDraft} submission={submission} />
        <Foot submission={submission}>
          <Button kind="primary" type="submit" disabled={submission.busy}>
            {submission.busy ? "Asking the server…" : "Register and ask for its tools"}
          </Button>
          <CopyCurl of={asked} />
        </Foot>
      </form>
    </Panel>
  );
}

export function McpSettings({ server, saved }: { server: Schemas["McpServerDetails"]; saved: () => void }) {
  // The form keeps what the person types, whatever polling brings.
  const [before, setBefore] = useState(() => mcpDraft(server));
  const [draft, setDraft] = useState(before);
  const submission = useSubmit();
  const patch = mcpPatch(before, draft);
  const asked = requestsOf("mcp", server.id).change(patch);
  const toolset = server.toolset_id ?? null;
  const save = (event: Event) => {
    event.preventDefault();
    submission.submit(async () => {
      const after = mcpDraft((await send(asked)) as Schemas["McpServerDetails"]);
      setBefore(after);
      setDraft(after);
      tell(`${server.id} is saved, and was asked for its tools`);
      saved();
    });
  };
  return (
    <form class="panel" onSubmit={save} aria-label="Settings of the MCP server">
      {toolset === null ? (
        <WhatItIs draft={draft} setDraft={setDraft} submission={submission} />
      ) : (
        <p class="notice">
          <span>
            The toolset <a href={link(["toolsets", toolset])}>{toolset}</a> says what this server is. What you change here stays when the toolset is upgraded.
          </span>
        </p>
      )}
      <WhatItMayDo draft={draft} setDraft={setDraft} submission={submission} />
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
  draft: McpDraft;
  setDraft: (draft: McpDraft) => void;
  submission: Submission;
}

const TRANSPORTS: [Transport, string][] = [
  ["streamable-http", "streamable-http: a remote server"],
  ["sse", "sse: a remote server with the event stream of 2024-11-05"],
  ["stdio", "stdio: a program that the MCP host runs"],
];

function WhatItIs({ draft, setDraft, submission }: FieldsProps) {
  const set = (changes: Partial<McpDraft>) => setDraft({ ...draft, ...changes });
  return (
    <>
      <SelectField label="Transport" value={draft.transport} onChange={(transport) => set({ transport: transport as Transport })} options={TRANSPORTS} />
      {draft.transport === "stdio" ? (
        <>
          <div class="columns">
            <TextField label="Command" mono required value={draft.command} onChange={(command) => set({ command })} violation={submission.at("/command")} hint="npx, uvx, node, python3, or a program that the MCP host has" />
            <TextField label="Folder (optional)" mono value={draft.cwd} onChange={(cwd) => set({ cwd })} violation={submission.at("/cwd")} hint="Where the program starts, within its own files" />
          </div>
          <TextField label="Arguments" mono lines={3} value={draft.args} onChange={(args) => set({ args })} violation={submission.at("/args")} hint="One argument on each line. Another command, argument or folder drops the values of the environment." />
          <Secrets title="Environment" noun="variable" secrets={draft.env} onChange={(env) => set({ env })} violation={submission.at("/env")} />
          <TextField label="Hosts that the program may reach" mono lines={2} value={draft.allowedHosts} onChange={(allowedHosts) => set({ allowedHosts })} violation={submission.at("/allowed_hosts")} hint="One on each line. Only containers on Cloudflare enforce it." />
        </>
      ) : (
        <>
          <TextField label="Address" type="url" mono required value={draft.url} onChange={(url) => set({ url })} violation={submission.at("/url")} hint="Another origin drops the values of headers." />
          <Secrets title="Headers of every request" noun="header" secrets={draft.headers} onChange={(headers) => set({ headers })} violation={submission.at("/headers")} />
        </>
      )}
    </>
  );
}

function WhatItMayDo({ draft, setDraft }: FieldsProps) {
  const set = (changes: Partial<McpDraft>) => setDraft({ ...draft, ...changes });
  const isRisky = draft.risk === "high" || draft.risk === "critical";
  return (
    <div class="columns">
      <SelectField
        label="Risk of its tools"
        value={draft.risk}
        onChange={(risk) => set({ risk: RISKS.find((it) => it === risk) ?? "medium" })}
        options={[...RISKS]}
        hint="Another risk, or another rule for approvals, gives all tools a new version."
      />
      <div class="stack">
        <CheckField
          label="Each call waits for an approval"
          value={draft.requiresApproval}
          onChange={(requiresApproval) => set({ requiresApproval })}
          hint={isRisky ? "Calls of high and critical risk always wait for one." : "Without it, agents call the tools at once."}
        />
        <CheckField
          label="Accept changes without an admin"
          value={draft.autoAccept}
          onChange={(autoAccept) => set({ autoAccept })}
          hint="Whatever the server offers is used at once. Only for servers that you trust like this one."
        />
      </div>
    </div>
  );
}
