// Tokens of the workspace. The secret of a new token is shown once.

import { useState } from "preact/hooks";
import { useLoad, usePages } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { copy, CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Field, SelectField, TextField } from "../../parts/field.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, Failure, ShowPages } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { Time } from "../../parts/values.tsx";
import { EXPIRIES, type Expiry, expiryOf, isOver } from "./expiry.ts";

type Token = Schemas["TokenOut"];
type Level = Schemas["Level"];

const page = (cursor: string | undefined) => request("get", "/api/tokens", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } });

export function Tokens() {
  const tokens = usePages("tokens", page, (it) => it.tokens, 30_000);
  const [made, setMade] = useState<Schemas["NewTokenOut"] | null>(null);
  const [revoked, setRevoked] = useState<Token | null>(null);
  return (
    <>
      {made === null ? null : <Secret made={made} close={() => setMade(null)} />}
      <MakeToken
        made={(it) => {
          setMade(it);
          tokens.reload();
        }}
      />
      <section class="stack" aria-label="Tokens of the workspace">
        <div class="spread">
          <h2>Tokens of the workspace</h2>
          <CopyCurl of={page(undefined)} />
        </div>
        <ShowPages
          of={tokens}
          empty={
            <Empty title="There are no tokens">
              <p>Programs and people need a token unless Pegboard is open. Make the first one above.</p>
            </Empty>
          }
        >
          {(items) => <TokenTable tokens={items} revoke={setRevoked} />}
        </ShowPages>
      </section>
      {revoked === null ? null : <Revoke token={revoked} close={() => setRevoked(null)} done={tokens.reload} />}
    </>
  );
}

function Secret({ made, close }: { made: Schemas["NewTokenOut"]; close: () => void }) {
  return (
    <div class="notice good" role="status">
      <strong>The token “{made.name}” is made. It is shown only now.</strong>
      <code class="new-token">{made.token}</code>
      <div class="row">
        <Button kind="primary" onClick={() => void copy(made.token)}>
          Copy the token
        </Button>
        <Button onClick={close}>I have stored it</Button>
      </div>
    </div>
  );
}

const LEVELS: [Level, string][] = [
  ["guest", "guest: reads tools, runs tools for guests"],
  ["user", "user: also agents, files, calls"],
  ["admin", "admin: also registers tools, decides approvals"],
  ["owner", "owner: also tokens, backups"],
];

function MakeToken({ made }: { made: (token: Schemas["NewTokenOut"]) => void }) {
  const [name, setName] = useState("");
  const [level, setLevel] = useState<Level>("user");
  const [agent, setAgent] = useState("");
  const [expiry, setExpiry] = useState<Expiry>("never");
  const [at, setAt] = useState("");
  const submission = useSubmit();
  const agents = useLoad(request("get", "/api/agents", { query: { limit: 200 } }));
  const bodyAt = (now: number) => {
    const expires = expiryOf(expiry, at, now);
    return { name: name.trim(), level, ...(agent.trim() === "" ? {} : { agent_id: agent.trim() }), ...(typeof expires === "string" ? { expires_at: expires } : {}) };
  };
  const submit = (event: Event) => {
    event.preventDefault();
    submission.submit(async () => {
      made(await send(request("post", "/api/tokens", { body: bodyAt(Date.now()) })));
      setName("");
    });
  };
  const isIncomplete = expiryOf(expiry, at, Date.now()) === undefined;
  return (
    <Panel title="Make a token">
      <form class="stack" onSubmit={submit}>
        <div class="columns">
          <TextField label="Name" value={name} onChange={setName} required violation={submission.at("/name")} hint="Who or what uses it" />
          <SelectField label="Level" value={level} onChange={(it) => setLevel(LEVELS.find(([value]) => value === it)?.[0] ?? "user")} options={LEVELS} />
          <Field label="Agent (optional)" hint="The token then acts as this agent alone, and manages nothing." violation={submission.at("/agent_id")}>
            {(control) => (
              <>
                <input {...control} class="mono" list="agents-of-tokens" value={agent} onInput={(event) => setAgent(event.currentTarget.value)} autocomplete="off" placeholder="agent_…" />
                <datalist id="agents-of-tokens">
                  {agents.data?.agents.map((it) => (
                    <option key={it.id} value={it.id}>
                      {it.name}
                    </option>
                  ))}
                </datalist>
              </>
            )}
          </Field>
          <SelectField label="Expires" value={expiry} onChange={(it) => setExpiry(EXPIRIES.find(([value]) => value === it)?.[0] ?? "never")} options={EXPIRIES.map(([value, words]): [string, string] => [value, words])} />
          {expiry === "at" ? <TextField label="Expires at" type="datetime-local" value={at} onChange={setAt} required violation={submission.at("/expires_at")} /> : null}
        </div>
        {submission.error === undefined ? null : <Failure error={submission.error} />}
        <div class="row">
          <Button kind="primary" type="submit" disabled={submission.busy || isIncomplete}>
            Make the token
          </Button>
          <CopyCurl of={request("post", "/api/tokens", { body: bodyAt(Date.now()) })} />
        </div>
      </form>
    </Panel>
  );
}

function TokenTable({ tokens, revoke }: { tokens: Token[]; revoke: (token: Token) => void }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="List of tokens">
      <table>
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">Level</th>
            <th scope="col">Agent</th>
            <th scope="col">Expires</th>
            <th scope="col">Made</th>
            <th scope="col">
              <span class="visually-hidden">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((it) => (
            <tr key={it.id}>
              <th scope="row" class="long">
                {it.name}
                <div class="soft">
                  <code>{it.id}</code>
                </div>
              </th>
              <td>
                <Badge tone="accent">{it.level}</Badge>
              </td>
              <td>{it.agent_id === null || it.agent_id === undefined ? "–" : <a href={link(["agents", it.agent_id])}>{it.agent_id}</a>}</td>
              <td>{isOver(it.expires_at, Date.now()) ? <Badge tone="bad">expired</Badge> : <Time at={it.expires_at} />}</td>
              <td>
                <Time at={it.created_at} />
                <div class="soft small">by {it.created_by}</div>
              </td>
              <td>
                <Button kind="danger" narrow label={`Revoke ${it.name}`} onClick={() => revoke(it)}>
                  Revoke
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Revoke({ token, close, done }: { token: Token; close: () => void; done: () => void }) {
  const asked = request("delete", "/api/tokens/{token_id}", { path: { token_id: token.id } });
  const work = async () => {
    await send(asked);
    tell(`${token.name} is revoked`);
    done();
  };
  return (
    <Confirm title={`Revoke “${token.name}”?`} action="Revoke" danger of={asked} close={close} work={work}>
      <p>Whoever uses the token is refused from the next request on. A revoked token cannot be brought back.</p>
    </Confirm>
  );
}
