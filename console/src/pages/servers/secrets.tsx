// Headers and variables: a name that is shown, and a value that is not.

import { useId } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import type { Secret } from "./drafts.ts";

interface SecretsProps {
  /** `Headers`. */
  title: string;
  /** `header`. */
  noun: string;
  secrets: Secret[];
  onChange: (secrets: Secret[]) => void;
  violation?: string | undefined;
}

export function Secrets({ title, noun, secrets, onChange, violation }: SecretsProps) {
  const id = useId();
  const change = (at: number, changes: Partial<Secret>) => onChange(secrets.map((it, index) => (index === at ? { ...it, ...changes } : it)));
  return (
    <fieldset class="secrets" aria-describedby={id}>
      <legend>{title}</legend>
      {secrets.map((it, index) => (
        <div class="secret" key={index}>
          <input class="mono" aria-label={`Name of ${noun} ${index + 1}`} placeholder="Name" value={it.name} onInput={(event) => change(index, { name: event.currentTarget.value, isStored: false })} autocomplete="off" />
          <input
            class="mono"
            type="password"
            aria-label={`Value of ${noun} ${index + 1}`}
            placeholder={it.isStored ? "*** (stays as it is)" : "Value"}
            value={it.value}
            onInput={(event) => change(index, { value: event.currentTarget.value })}
            autocomplete="new-password"
          />
          <Button label={`Remove ${noun} ${index + 1}`} onClick={() => onChange(secrets.filter((_, other) => other !== index))}>
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button narrow onClick={() => onChange([...secrets, { name: "", value: "", isStored: false }])}>
          Add a {noun}
        </Button>
      </div>
      <div id={id}>
        {violation === undefined ? null : <p class="violation">{violation}</p>}
        <p class="hint">
          Values are stored sealed and never shown again. A value may name a credential of the workspace: <code>{"Bearer ${NAME}"}</code>
        </p>
      </div>
    </fieldset>
  );
}
