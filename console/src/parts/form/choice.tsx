// A value of one of several forms: the person chooses the form, and then fills it in.

import type { ControlProps } from "./context.ts";
import { ABSENT, toBranch } from "./draft.ts";
import { Control, useForm } from "./field.tsx";
import { JsonControl } from "./controls.tsx";
import { brief, type Plan, planOf } from "./plan.ts";

export function ChoiceControl(props: ControlProps & { plan: Plan & { kind: "choice" } }) {
  const { name, at, draft, change, required, always, plan } = props;
  const { book } = useForm();
  const chosen = draft.is === "choice" ? plan.branches[draft.branch] : undefined;
  const none = plan.default !== undefined ? `Left out (default: ${brief(plan.default)})` : required || always || at === "" ? "Choose…" : "Left out";
  const choose = (index: string) => change((it) => (index === "" ? ABSENT : toBranch(book, plan, it, Number(index))));
  const inner = chosen === undefined ? undefined : planOf(book, chosen.schema);
  return (
    <div class="form-choice">
      <select aria-label={`Form of ${name}`} value={draft.is === "choice" ? String(draft.branch) : ""} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{none}</option>
        {plan.branches.map((it, index) => (
          <option key={index} value={String(index)}>
            {it.words}
          </option>
        ))}
      </select>
      {draft.is === "choice" && chosen !== undefined && inner !== undefined ? <Chosen key={draft.branch} {...props} draft={draft} schema={chosen.schema} plan={inner} /> : null}
    </div>
  );
}

function Chosen(props: ControlProps & { plan: Plan; draft: ControlProps["draft"] & { is: "choice" } }) {
  const { draft, change, plan } = props;
  // The choice itself says everything.
  if (plan.kind === "options" && plan.options.length === 1 && draft.of.is === "option") return null;
  const inside = {
    ...props,
    draft: draft.of,
    secret: props.secret || plan.secret,
    change: (update: Parameters<typeof change>[0]) => change((it) => (it.is === "choice" ? { ...it, of: update(it.of) } : it)),
  };
  const about = [plan.description, plan.limits.length === 0 ? undefined : `(${plan.limits.join("; ")})`].filter((it) => it !== undefined).join(" ");
  return (
    <>
      {about === "" ? null : <p class="hint">{about}</p>}
      {draft.of.is === "json" ? <JsonControl {...inside} /> : <Control {...inside} />}
    </>
  );
}
