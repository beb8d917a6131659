// Who the person is, another workspace or token, and the theme.

import { useState } from "preact/hooks";
import { caller, signIn, signOut, token } from "../../api/caller.ts";
import { isToken, isWorkspaceName } from "../../api/names.ts";
import { request } from "../../api/request.ts";
import { link } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { CheckField, TextField } from "../../parts/field.tsx";
import { hasLetterKeys, setLetterKeys } from "../../parts/letter_keys.ts";
import { Badge } from "../../parts/marks.tsx";
import { Facts, Panel } from "../../parts/page.tsx";
import { type Theme, theme, THEMES } from "../../theme.ts";

export function You() {
  return (
    <div class="columns">
      <Present />
      <Another />
      <Appearance />
    </div>
  );
}

function Present() {
  const who = caller.value;
  if (who === null) return null;
  const features = Object.entries(who.features);
  return (
    <Panel title="Who you are" actions={<CopyCurl of={request("get", "/api/whoami")} />}>
      <Facts
        of={[
          ["Workspace", <code key="workspace">{who.workspace}</code>],
          ["Level", <Badge key="level" tone="accent">{who.level}</Badge>],
          ["Agent", who.agent_id === null ? "none: the token acts for itself" : <a key="agent" href={link(["agents", who.agent_id])}>{who.agent_id}</a>],
          ["Signed in", token.value === "" ? "without a token: this Pegboard is open" : "with a token, in this tab only"],
          ["Version", who.version],
          [
            "Features",
            <span key="features" class="row">
              {features.length === 0
                ? "–"
                : features.map(([name, isOn]) => (
                    <Badge key={name} tone={isOn ? "good" : ""}>
                      {name.replaceAll("_", " ")}: {isOn ? "on" : "off"}
                    </Badge>
                  ))}
            </span>,
          ],
        ]}
      />
      {token.value === "" ? null : (
        <div>
          <Button onClick={signOut}>Sign out</Button>
        </div>
      )}
    </Panel>
  );
}

function Another() {
  const who = caller.value;
  const [name, setName] = useState(who?.workspace ?? "");
  const [secret, setSecret] = useState("");
  const isOpen = who?.open === true;
  // The same workspace with the same token would be the same person.
  const isSame = name.trim() === who?.workspace && secret.trim() === token.value;
  const canSubmit = isWorkspaceName(name.trim()) && isToken(secret.trim()) && !isSame && (isOpen || secret.trim() !== "");
  const submit = (event: Event) => {
    event.preventDefault();
    if (canSubmit) signIn(name.trim(), secret.trim());
  };
  return (
    <Panel title="Another workspace or token">
      <form class="stack" onSubmit={submit}>
        <TextField label="Workspace" value={name} onChange={setName} required hint="1 to 64 letters, digits, _ or -" />
        <TextField
          label="Token"
          type="password"
          value={secret}
          onChange={setSecret}
          required={!isOpen}
          hint={isOpen ? "This Pegboard is open: without a token you are the owner of any workspace." : "A token belongs to one workspace. It stays in this tab, and is gone when the tab is closed."}
        />
        <div>
          <Button kind="primary" type="submit" disabled={!canSubmit}>
            {secret.trim() === "" ? "Go to this workspace" : "Sign in with this token"}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

const WORDS: Record<Theme, string> = { system: "As the system has it", light: "Light", dark: "Dark" };

function Appearance() {
  return (
    <Panel title="Appearance and keys">
      <fieldset class="choices">
        <legend>Theme</legend>
        {THEMES.map((it) => (
          <label key={it} class="check">
            <input type="radio" name="theme" checked={theme.value === it} onChange={() => (theme.value = it)} />
            {WORDS[it]}
          </label>
        ))}
      </fieldset>
      <CheckField label="Keys of a single character" value={hasLetterKeys.value} onChange={setLetterKeys} hint="Such as / for the search. “Keys” in the navigation lists all." />
    </Panel>
  );
}
