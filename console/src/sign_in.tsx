// Who is there? A workspace, and a token unless the Worker is open.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { caller, signIn, workspace } from "./api/caller.ts";
import { isToken, isWorkspaceName } from "./api/names.ts";
import { Button } from "./parts/button.tsx";
import { TextField } from "./parts/field.tsx";

/** What is wrong with a text that cannot be a token. */
const TOKEN_FAULT = "This is no token: it has a space, or a letter that no token has.";

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
  const wasTried = useSignal(false);
  useEffect(() => {
    document.title = "Sign in · Pegboard";
  }, []);
  const [given, key] = [name.value.trim(), secret.value.trim()];
  const violation = (isGood: boolean, words: string) => (wasTried.value && !isGood ? words : undefined);
  const submit = (event: Event) => {
    event.preventDefault();
    wasTried.value = true;
    if (isWorkspaceName(given) && isToken(key)) signIn(given, key);
  };
  return (
    <main class="sign-in">
      <form class="panel" onSubmit={submit}>
        <h1>Pegboard</h1>
        <p role="alert">{why}</p>
        <TextField
          label="Workspace"
          value={name.value}
          onChange={(it) => (name.value = it)}
          required
          violation={violation(isWorkspaceName(given), "No workspace has such a name.")}
          hint="1 to 64 letters, digits, _ or -"
        />
        <TextField
          label="Token"
          type="password"
          value={secret.value}
          onChange={(it) => (secret.value = it)}
          violation={violation(isToken(key), TOKEN_FAULT)}
          hint="It begins with peg_. It stays in this tab, and is gone when the tab is closed."
        />
        {caller.value?.open === true ? <p class="soft">This Pegboard is open: without a token you go on as the owner of the workspace.</p> : null}
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
