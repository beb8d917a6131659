// What differs between two versions of a tool, and what callers would notice. For comparisons, and for previews of changes.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Schemas } from "../api/types.ts";
import { definitionText, isShort, shortText } from "./definition_text.ts";
import { Diff } from "./diff.tsx";
import { unifiedDiff } from "./json_diff.ts";
import { Badge, type Tone } from "./marks.tsx";
import { Facts } from "./page.tsx";

type Reason = Schemas["StepReason"];
type Difference = Schemas["FieldDifference"];
type Step = Schemas["VersionStep"];
type Warning = Schemas["Warning"];

const STEPS: Record<Step, [Tone, string]> = {
  major: ["bad", "major: callers may break"],
  minor: ["warn", "minor: compatible, but callers notice"],
  patch: ["good", "patch: callers notice nothing"],
};

export function StepBadge({ step }: { step: Step }) {
  const [tone, words] = STEPS[step];
  return <Badge tone={tone}>{words}</Badge>;
}

/** What a registration, rollback, activation or deactivation would do. */
export function ChangePreview({ of: preview }: { of: Schemas["ToolPreview"] }) {
  const facts: [string, ComponentChildren][] = [
    ["Version", preview.active ? `${preview.version}, active` : `${preview.version}, not active`],
    ["Replaces", preview.replaces ?? "no version"],
  ];
  if (preview.needed_step !== null && preview.needed_step !== undefined) facts.push(["Needed step", <StepBadge step={preview.needed_step} />]);
  return (
    <div class="stack">
      <Facts of={facts} />
      <Warnings of={preview.warnings} />
      <VersionDifferences reasons={preview.reasons} differences={preview.differences} />
    </div>
  );
}

export function Warnings({ of: warnings }: { of: Warning[] }) {
  if (warnings.length === 0) return null;
  return (
    <div class="notice warn">
      <strong>{warnings.length === 1 ? "A warning" : "Warnings"}</strong>
      <Places of={warnings} />
    </div>
  );
}

function Places({ of }: { of: { path: string; message: string; step?: Step }[] }) {
  return (
    <ul class="places">
      {of.map((it, index) => (
        <li key={index}>
          {it.step === undefined ? null : <Badge tone={STEPS[it.step][0]}>{it.step}</Badge>} {it.path === "" ? null : <code>{it.path}</code>} {it.message}
        </li>
      ))}
    </ul>
  );
}

/** The reasons for the step, and every field that differs. */
export function VersionDifferences({ reasons, differences }: { reasons: Reason[]; differences: Difference[] }) {
  const short = differences.filter((it) => isShort(it.from, it.to));
  const long = differences.filter((it) => !isShort(it.from, it.to));
  return (
    <div class="stack">
      {reasons.length === 0 ? null : (
        <>
          <h3>What callers notice</h3>
          <Places of={reasons} />
        </>
      )}
      <h3>What differs</h3>
      {differences.length === 0 ? <p class="soft">The definitions do not differ.</p> : null}
      {short.length === 0 ? null : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Fields that differ">
          <table>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">From</th>
                <th scope="col">To</th>
              </tr>
            </thead>
            <tbody>
              {short.map((it) => (
                <tr key={it.path}>
                  <th scope="row">
                    <code>{nameOf(it)}</code>
                  </th>
                  <td>{shortText(it.from)}</td>
                  <td>{shortText(it.to)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {long.map((it) => (
        <LongDifference key={it.path} of={it} />
      ))}
    </div>
  );
}

function LongDifference({ of: difference }: { of: Difference }) {
  const name = nameOf(difference);
  const text = useMemo(() => {
    const isSchema = name.endsWith("_schema");
    return unifiedDiff(definitionText(difference.from, isSchema), definitionText(difference.to, isSchema));
  }, [difference.from, difference.to, name]);
  return (
    <div class="stack">
      <p>
        <code>{name}</code>
      </p>
      {text === "" ? <p class="soft">Only values that are not shown differ.</p> : <Diff text={text} label={`Differences of ${name}`} />}
    </div>
  );
}

function nameOf({ path }: Difference): string {
  return path.replace(/^\//, "");
}
