// Credentials: names of secrets that the operator lends to the workspace.

import { useState } from "preact/hooks";
import { usePages } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, Failure, ShowPages } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { Time } from "../../parts/values.tsx";

type Credential = Schemas["CredentialOut"];

const page = (cursor: string | undefined) => request("get", "/api/credentials", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } });

export function Credentials() {
  const credentials = usePages("credentials", page, (it) => it.credentials, 30_000);
  const [gone, setGone] = useState<Credential | null>(null);
  return (
    <>
      <p class="soft">
        A credential is the name of a secret of the Worker. Handlers and headers use it as <code>{"${NAME}"}</code>. The secret itself is set by the operator (<code>wrangler secret put</code> and{" "}
        <code>CREDENTIAL_WORKSPACES</code>), and is never shown.
      </p>
      <Define defined={credentials.reload} />
      <section class="stack" aria-label="Credentials of the workspace">
        <div class="spread">
          <h2>Credentials of the workspace</h2>
          <CopyCurl of={page(undefined)} />
        </div>
        <ShowPages
          of={credentials}
          empty={
            <Empty title="No credential is defined">
              <p>Define one as soon as a tool or a server needs a secret.</p>
            </Empty>
          }
        >
          {(items) => <CredentialTable credentials={items} remove={setGone} />}
        </ShowPages>
      </section>
      {gone === null ? null : <Delete credential={gone} close={() => setGone(null)} done={credentials.reload} />}
    </>
  );
}

function Define({ defined }: { defined: () => void }) {
  const [id, setId] = useState("");
  const [description, setDescription] = useState("");
  const submission = useSubmit();
  const asked = request("post", "/api/credentials", { body: { id: id.trim(), ...(description.trim() === "" ? {} : { description: description.trim() }) } });
  const submit = (event: Event) => {
    event.preventDefault();
    submission.submit(async () => {
      await send(asked);
      setId("");
      setDescription("");
      defined();
    });
  };
  return (
    <Panel title="Define a credential">
      <form class="stack" onSubmit={submit}>
        <div class="columns">
          <TextField label="Name of the secret" mono required value={id} onChange={setId} violation={submission.at("/id")} hint="Letters, digits and _, such as DOCS_KEY" />
          <TextField label="What it is for" value={description} onChange={setDescription} violation={submission.at("/description")} />
        </div>
        {submission.error === undefined ? null : <Failure error={submission.error} />}
        <div class="row">
          <Button kind="primary" type="submit" disabled={submission.busy}>
            Define the credential
          </Button>
          <CopyCurl of={asked} />
        </div>
      </form>
    </Panel>
  );
}

function CredentialTable({ credentials, remove }: { credentials: Credential[]; remove: (credential: Credential) => void }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="List of credentials">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Secret</th>
            <th scope="col">What it is for</th>
            <th scope="col">Defined</th>
            <th scope="col">
              <span class="visually-hidden">Delete</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {credentials.map((it) => (
            <tr key={it.id}>
              <th scope="row">
                <code>{it.id}</code>
              </th>
              <td>{it.present ? <Badge tone="good">there</Badge> : <Badge tone="bad" title="The operator has not lent a secret of this name to the workspace">missing</Badge>}</td>
              <td>{it.description === "" ? "–" : it.description}</td>
              <td>
                <Time at={it.created_at} />
              </td>
              <td>
                <Button kind="danger" narrow label={`Delete ${it.id}`} onClick={() => remove(it)}>
                  Delete
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Delete({ credential, close, done }: { credential: Credential; close: () => void; done: () => void }) {
  const asked = request("delete", "/api/credentials/{credential_id}", { path: { credential_id: credential.id } });
  const work = async () => {
    await send(asked);
    tell(`${credential.id} is deleted`);
    done();
  };
  return (
    <Confirm title={`Delete ${credential.id}?`} action="Delete" danger of={asked} close={close} work={work}>
      <p>Tools and servers that name it fail until it is defined again. The secret of the Worker stays.</p>
    </Confirm>
  );
}
