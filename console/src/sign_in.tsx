// Who is there? A workspace, and a token unless the Worker is open.

import { useSignal } from "@preact/signals";
import { signIn, workspace } from "./api/caller.ts";
import { Button } from "./parts/button.tsx";
import { TextField } from "./parts/field.tsx";

interface SignInProps {
  /** Why somebody is asked. */
  why: string;
  /** The workspace that a link leads to; the present one if none is named. */
  to?: string;
  /** Leaves everything as it is. */
  stay?: () => void;
}

export function SignIn({ why, to = workspace.value, stay }: SignInProps) {
  const name = useSignal(to);
  const secret = useSignal("");
  const submit = (event: Event) => {
    event.preventDefault();
    signIn(name.value.trim(), secret.value.trim());
  };
  return (
    <main class="sign-in">
      <form class="panel" onSubmit={submit}>
        <h1>Pegboard</h1>
        <p role="alert">{why}</p>
        <TextField label="Workspace" value={name.value} onChange={(it) => (name.value = it)} required hint="1 to 64 letters, digits, _ or -" />
        <TextField
          label="Token"
          type="password"
          value={secret.value}
          onChange={(it) => (secret.value = it)}
          hint="It begins with peg_. It stays in this tab, and is gone when the tab is closed."
        />
        <Button kind="primary" type="submit">
          Sign in
        </Button>
        {stay === undefined ? null : <Button onClick={stay}>Stay in {workspace.value}</Button>}
        <p class="soft small">
          An owner of the workspace makes tokens: <code>POST /api/tokens</code>, or the page Settings.
        </p>
      </form>
    </main>
  );
}
