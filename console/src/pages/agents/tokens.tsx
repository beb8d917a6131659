// Tokens that are bound to an agent. Only owners make them, and only the response that makes one shows it.

import { useState } from "preact/hooks";
import { may } from "../../api/caller.ts";
import { usePages } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Agent, Schemas } from "../../api/types.ts";
import { Button } from "../../parts/button.tsx";
import { copy, CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, Failure, ShowPages } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { Time } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";

type Token = Schemas["TokenOut"];

export function AgentTokens({ agent }: { agent: Agent }) {
  if (!may("owner")) return <p class="notice warn">Only an owner of the workspace sees and makes tokens.</p>;
  return <Tokens agent={agent} />;
}

function Tokens({ agent }: { agent: Agent }) {
  const ask = (cursor: string | undefined) => request("get", "/api/tokens", { query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) } });
  const tokens = usePages("tokens", ask, (it) => it.tokens);
  const [ending, setEnding] = useState<Token | null>(null);
  const revoke = ending === null ? null : request("delete", "/api/tokens/{token_id}", { path: { token_id: ending.id } });
  const bound = tokens.items.filter((it) => it.agent_id === agent.id);
  return (
    <>
      <NewToken agent={agent} made={tokens.reload} />
      <Panel title="Tokens of this agent" actions={<CopyCurl of={ask(undefined)} />}>
        {tokens.hasMore ? <p class="soft">Of the first {count(tokens.items.length, "token")} of the workspace, these are bound to the agent.</p> : null}
        <ShowPages of={tokens} empty={<NoToken />}>
          {() =>
            bound.length === 0 ? (
              <NoToken />
            ) : (
              <div class="scroll" tabIndex={0} role="region" aria-label="Tokens of this agent">
                <table class="stacks">
                  <thead>
                    <tr>
                      <th scope="col">Name</th>
                      <th scope="col">Level</th>
                      <th scope="col">Made</th>
                      <th scope="col">Expires</th>
                      <th scope="col">Actions</th>
                    </tr>
                  </thead>
                  <tbody>
                    {bound.map((it) => (
                      <tr key={it.id}>
                        <th scope="row">{it.name}</th>
                        <td>{it.level}</td>
                        <td>
                          <Time at={it.created_at} />
                        </td>
                        <td>
                          <Time at={it.expires_at} />
                        </td>
                        <td>
                          <Button narrow kind="danger" label={`Revoke ${it.name}`} onClick={() => setEnding(it)}>
                            Revoke
                          </Button>
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </ShowPages>
      </Panel>
      {ending === null || revoke === null ? null : (
        <Confirm
          title={`Revoke the token ${ending.name}`}
          action="Revoke the token"
          danger
          of={revoke}
          close={() => setEnding(null)}
          work={async () => {
            await send(revoke);
            tell(`The token ${ending.name} is revoked`);
            tokens.reload();
          }}
        >
          <p>Whoever uses it is refused from now on. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

function NoToken() {
  return (
    <Empty title="No token is bound to this agent">
      <p>A bound token acts as the agent and as nobody else: give one to the program that runs the agent.</p>
    </Empty>
  );
}

function NewToken({ agent, made }: { agent: Agent; made: () => void }) {
  const [name, setName] = useState("");
  const [level, setLevel] = useState<string>("user");
  const [expires, setExpires] = useState("");
  const [secret, setSecret] = useState<{ name: string; token: string } | null>(null);
  const form = useSubmit();
  const until = expires === "" ? {} : { expires_at: new Date(expires).toISOString() };
  const asked = request("post", "/api/tokens", { body: { name: name.trim(), level: level as Agent["permission_level"], agent_id: agent.id, ...until } });
  const make = async () => {
    const token = await send(asked);
    setSecret({ name: token.name, token: token.token });
    setName("");
    made();
  };
  return (
    <Panel title="Make a token">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          form.submit(make);
        }}
      >
        <div class="filters">
          <TextField label="Name" required value={name} onChange={setName} violation={form.at("/name")} wide placeholder="Laptop of Ada" />
          <SelectField label="Level" value={level} onChange={setLevel} options={["guest", "user", "admin", "owner"]} />
          <TextField label="Expires" type="datetime-local" value={expires} onChange={setExpires} violation={form.at("/expires_at")} />
          <Button kind="primary" type="submit" disabled={form.busy || name.trim() === ""}>
            Make the token
          </Button>
          <CopyCurl of={asked} />
        </div>
        <p class="soft small">Calls are held to the lower of this level and the agent’s, which is {agent.permission_level}. Without a time the token does not expire.</p>
      </form>
      {form.error === undefined ? null : <Failure error={form.error} />}
      {secret === null ? null : (
        <div class="notice good" role="status">
          <strong>The token {secret.name} is made. It is shown only now.</strong>
          <div class="row">
            <code>{secret.token}</code>
            <Button narrow onClick={() => void copy(secret.token)}>
              Copy the token
            </Button>
            <Button narrow kind="quiet" onClick={() => setSecret(null)}>
              I have kept it
            </Button>
          </div>
        </div>
      )}
    </Panel>
  );
}
