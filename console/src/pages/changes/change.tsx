// One change: what, who, when and why; opened, the states before and after it.

import { useMemo, useState } from "preact/hooks";
import type { Change } from "../../api/types.ts";
import { link } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { Diff } from "../../parts/diff.tsx";
import { jsonDiff } from "../../parts/json_diff.ts";
import { Badge, type Tone } from "../../parts/marks.tsx";
import { Time } from "../../parts/values.tsx";
import { placeOf, readable } from "./registry.ts";

const TONES: Record<string, Tone> = {
  register: "good",
  create: "good",
  attach: "good",
  activate: "good",
  approve: "good",
  deactivate: "warn",
  rollback: "warn",
  restore: "warn",
  expire: "warn",
  detach: "bad",
  delete: "bad",
  revoke: "bad",
  deny: "bad",
};

export function ActionBadge({ action }: { action: string }) {
  return <Badge tone={TONES[action] ?? "accent"}>{action}</Badge>;
}

export function OneChange({ change }: { change: Change }) {
  const [isOpen, setOpen] = useState(false);
  const name = nameIn(change.new_state) ?? nameIn(change.previous_state);
  return (
    <li>
      {/* Differences are computed when they are looked at. */}
      <details class="change" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="soft change-number">{change.seq}</span>
          <span class="change-action">
            <ActionBadge action={change.action} />
          </span>
          <span class="change-subject">{change.subject}</span>
          {name === null ? null : <span>{name}</span>}
          <span class="soft">
            <Who change={change} />, <Time at={change.timestamp} />
          </span>
          {change.reason == null ? null : <span class="change-reason">“{change.reason}”</span>}
        </summary>
        {isOpen ? <Opened change={change} /> : null}
      </details>
    </li>
  );
}

/** The name that people know a thing by: ids of agents and tokens say nothing to them. */
function nameIn(state: unknown): string | null {
  return typeof state === "object" && state !== null && "name" in state && typeof state.name === "string" ? state.name : null;
}

export function Who({ change }: { change: Change }) {
  return <span title={change.operator}>{change.operator_name ?? change.operator}</span>;
}

function Opened({ change }: { change: Change }) {
  const text = useMemo(() => jsonDiff(readable(change.previous_state), readable(change.new_state)), [change]);
  const place = placeOf(change.subject);
  const replaced = replacedVersion(change);
  return (
    <div class="stack change-body">
      <div class="row small">
        <span>
          {new Date(change.timestamp).toLocaleString()} by {change.operator}
        </span>
        {place === null ? null : (
          <ButtonLink narrow href={link(...place)}>
            Open {change.subject.slice(0, change.subject.indexOf(":")).replaceAll("_", " ")}
          </ButtonLink>
        )}
        <ButtonLink narrow href={link(["changes"], { tab: "state", seq: String(change.seq) })}>
          The registry after this change
        </ButtonLink>
        <ButtonLink narrow href={link(["changes"], { subject: change.subject })}>
          All changes of it
        </ButtonLink>
        {replaced === null || change.tool_id == null || change.version == null ? null : (
          <ButtonLink narrow href={link(["tools", change.tool_id], { tab: "versions", from: replaced, to: change.version })}>
            Compare {replaced} with {change.version}
          </ButtonLink>
        )}
      </div>
      {change.previous_state == null && change.new_state != null ? <p class="soft small">There was nothing before. This is what was made:</p> : null}
      {change.new_state == null && change.previous_state != null ? <p class="soft small">Nothing is left. This is what there was:</p> : null}
      {text === "" ? <p class="soft">The states before and after are the same.</p> : <Diff text={text} label={`What change ${change.seq} changed`} />}
    </div>
  );
}

/** The version that an update replaced: the log keeps only its number and whether it was active. */
function replacedVersion({ action, previous_state }: Change): string | null {
  if (action !== "update" || typeof previous_state !== "object" || previous_state === null || !("version" in previous_state)) return null;
  return String(previous_state.version);
}
