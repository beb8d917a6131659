// Rolling back, activating and deactivating a version. The dialog shows first what would happen.

import { useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { type ApiRequest, request, send } from "../../api/request.ts";
import type { Schemas, Tool } from "../../api/types.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { Failure, Show } from "../../parts/states.tsx";
import { useSubmit } from "../../parts/submit.ts";
import { tell } from "../../parts/toast.tsx";
import { ChangePreview } from "../../parts/version_diff.tsx";
import type { Switch } from "./switches.ts";

type Why = Schemas["DeactivationReason"];

const REASONS: [Why, string][] = [
  ["operator_request", "On request: it may be activated again"],
  ["deprecated", "Deprecated: it may be activated again"],
  ["security", "Security: it can never be activated again"],
];

const TITLES: Record<Switch, (name: string) => string> = {
  rollback: (name) => `Roll back to ${name}`,
  activate: (name) => `Activate ${name}`,
  deactivate: (name) => `Deactivate ${name}`,
  reason: (name) => `Why ${name} is not active`,
};

const WORDS: Record<Switch, (version: string) => string> = {
  rollback: (version) => `Roll back to ${version}`,
  activate: (version) => `Activate ${version}`,
  deactivate: (version) => `Deactivate ${version}`,
  reason: () => "Change the reason",
};

interface SwitchDialogProps {
  of: Tool;
  to: Switch;
  close: () => void;
  done: () => void;
}

export function SwitchDialog({ of: { id: tool, version, deactivated_reason: present }, to, close, done }: SwitchDialogProps) {
  const [reason, setReason] = useState("");
  const isReason = to === "reason";
  const asksWhy = isReason || to === "deactivate";
  const [why, setWhy] = useState<Why>(REASONS.find(([it]) => it === present)?.[0] ?? "operator_request");
  const ask = (isDryRun: boolean): ApiRequest<Schemas["SwitchedOut"]> => {
    const place = { path: { tool_id: tool }, query: isDryRun ? { dry_run: true } : {} };
    if (to === "activate") return request("post", "/api/tools/{tool_id}/activate", { ...place, body: { version } });
    if (asksWhy) return request("post", "/api/tools/{tool_id}/deactivate", { ...place, body: { version, reason: why } });
    // The preview does not depend on the reason, so typing asks for no new one.
    const given = isDryRun || reason.trim() === "" ? {} : { reason: reason.trim() };
    return request("post", "/api/tools/{tool_id}/rollback", { ...place, body: { version, ...given } });
  };
  const preview = useLoad(isReason ? null : ask(true));
  const asked = ask(false);
  const { busy, error, submit } = useSubmit();
  const work = async () => {
    await send(asked);
    tell(isReason ? `The reason of ${tool} ${version} is changed` : `${tool} ${version} is ${asksWhy ? "deactivated" : "active"}`);
    close();
    done();
  };
  return (
    <Dialog title={TITLES[to](`${tool} ${version}`)} close={close}>
      {to === "rollback" ? (
        <TextField label="Reason" value={reason} onChange={setReason} hint="For the change log: why the present version is no good." placeholder="1.1.0 counts a dash as a word" />
      ) : null}
      {asksWhy ? <SelectField label="Reason" value={why} onChange={(it) => setWhy(it as Why)} options={REASONS} /> : null}
      {asksWhy && why === "security" ? (
        <p class="notice bad">This is final: no activation, rollback, restored backup or new registration under the same number brings the version back.</p>
      ) : null}
      {isReason ? (
        <p class="soft">The version stays inactive. Only the reason changes.</p>
      ) : (
        <Show of={preview}>{(it) => <ChangePreview of={it as Schemas["ToolPreview"]} />}</Show>
      )}
      {error === undefined ? null : <Failure error={error} />}
      <div class="dialog-foot">
        <CopyCurl of={asked} />
        <Button onClick={close}>Cancel</Button>
        <Button
          kind={to === "deactivate" || (isReason && why === "security") ? "danger" : "primary"}
          disabled={busy || (isReason ? why === present : preview.data === undefined)}
          onClick={() => submit(work)}
        >
          {WORDS[to](version)}
        </Button>
      </div>
    </Dialog>
  );
}
