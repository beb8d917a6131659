// One field: its name, its control, and the words below it. What is inside an object or a list are fields again.

import { useContext, useId, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Button } from "../button.tsx";
import { ArrayControl } from "./array.tsx";
import { ChoiceControl } from "./choice.tsx";
import { type Change, type ControlProps, Form } from "./context.ts";
import { JsonControl, NumberControl, OptionsControl, Sign, TextControl } from "./controls.tsx";
import { ABSENT, begun, type Draft, toForm, toJson, valueOf } from "./draft.ts";
import { ObjectControl } from "./object.tsx";
import { brief, mustBeGiven, type Plan, planOf, shapeWords } from "./plan.ts";
import type { Schema } from "./schema.ts";

interface FieldProps {
  /** What the person calls the field. */
  name: string;
  at: string;
  schema: Schema;
  draft: Draft;
  change: Change;
  required: boolean;
  /** An element of a list, or a field that the person has named. */
  always?: boolean;
  secret: boolean;
  /** Stands in place of the name: the name of a row can be changed. */
  head?: ComponentChildren;
  /** Buttons that are about the whole field. */
  tools?: ComponentChildren;
}

export function Field({ name, at, schema, draft, change, required: isRequired, always = false, secret: isInSecret, head, tools }: FieldProps) {
  const { book, violations } = useForm();
  const [refusal, setRefusal] = useState<string>();
  const id = useId();
  const plan = planOf(book, schema);
  const required = mustBeGiven(plan, isRequired);
  const secret = isInSecret || plan.secret;
  const isJson = draft.is === "json" || (plan.kind === "json" && draft.is === "absent");
  const isGroup = !isJson && holdsFields(plan, draft);
  const wrong = [...new Set([...faultsOf(draft), ...(violations.get(at) ?? []), ...(refusal === undefined ? [] : [refusal])])];
  const hint = [hintOf(plan, name, at), isJson && plan.kind === "json" ? plan.why : ""].filter((it) => it !== "").join(" ");
  const describedBy = hint === "" && wrong.length === 0 ? undefined : `${id}-about`;
  const control: ControlProps = { name, at, schema, draft, change, required, always, secret, id, unlabelled: head !== undefined, describedBy, invalid: wrong.length > 0 };
  const canLeaveOut = !required && !always && at !== "" && draft.is !== "absent" && (isGroup || (isJson && plan.kind !== "json"));
  const toggle = () => {
    if (draft.is !== "json") return change(toJson);
    const next = toForm(book, schema, draft, required || always);
    setRefusal(typeof next === "string" ? next : undefined);
    if (typeof next !== "string") change(() => next);
  };
  const contents = (
    <>
      <div class="form-head">
        {head ?? (isGroup ? <span class="form-name" id={`${id}-name`}>{name}</span> : <label class="form-name" for={id}>{name}</label>)}
        {at === "" ? null : <span class="form-kind">{isJson ? "JSON" : shapeKind(plan, draft, secret)}</span>}
        {required ? <span class="form-required">required</span> : null}
        {plan.deprecated ? <span class="form-kind">deprecated</span> : null}
        <span class="form-tools">
          {canLeaveOut ? (
            <Button kind="quiet" narrow label={`Leave out ${name}`} onClick={() => change(() => ABSENT)}>
              Leave out
            </Button>
          ) : null}
          {tools}
          {plan.kind === "json" ? null : <Sign sign={isJson ? "form" : "JSON"} label={isJson ? `Edit ${name} as a form` : `Edit ${name} as JSON`} onClick={toggle} />}
        </span>
      </div>
      {isJson ? <JsonControl {...control} plan={plan} /> : <Control {...control} plan={plan} />}
      {describedBy === undefined ? null : (
        <div id={describedBy} class="form-about">
          {wrong.map((it) => (
            <p class="violation" key={it}>
              {it}
            </p>
          ))}
          {hint === "" ? null : <p class="hint">{hint}</p>}
        </div>
      )}
    </>
  );
  const given = { class: `field form-field ${isGroup && draft.is !== "absent" ? "form-group" : ""} ${at === "" ? "form-root" : ""}`, "data-pointer": at };
  if (!isGroup) return <div {...given}>{contents}</div>;
  return (
    <fieldset {...given} {...(head === undefined ? { "aria-labelledby": `${id}-name` } : { "aria-label": name })} {...(describedBy === undefined ? {} : { "aria-describedby": describedBy })}>
      {contents}
    </fieldset>
  );
}

export function useForm() {
  const form = useContext(Form);
  if (form === null) throw new Error("A field stands outside of a form.");
  return form;
}

/** The control that asks for a value. */
export function Control(props: ControlProps & { plan: Plan }) {
  const { plan, draft } = props;
  switch (plan.kind) {
    case "text":
      return <TextControl {...props} plan={plan} />;
    case "number":
      return <NumberControl {...props} plan={plan} />;
    case "options":
      return <OptionsControl {...props} plan={plan} />;
    case "choice":
      return <ChoiceControl {...props} plan={plan} />;
    case "json":
      return <JsonControl {...props} plan={plan} />;
    case "object":
      return draft.is === "object" ? <ObjectControl {...props} draft={draft} plan={plan} /> : <Include {...props} />;
    case "array":
      return draft.is === "array" ? <ArrayControl {...props} draft={draft} plan={plan} /> : <Include {...props} />;
  }
}

/** A part that is left out. It unfolds when the person wants it, so that a schema may refer to itself. */
function Include({ name, schema, change }: ControlProps) {
  const { book } = useForm();
  return (
    <div>
      <Button narrow label={`Include ${name}`} onClick={() => change(() => begun(book, schema, 0, true))}>
        Include
      </Button>
    </div>
  );
}

/** Whether a field holds other fields or more than one control. */
function holdsFields(plan: Plan, draft: Draft): boolean {
  if (plan.kind === "choice") return draft.is !== "choice" || draft.of.is === "object" || draft.of.is === "array" || draft.of.is === "choice";
  return plan.kind === "object" || plan.kind === "array";
}

function shapeKind(plan: Plan, draft: Draft, secret: boolean): string {
  if (secret && (plan.kind === "text" || plan.kind === "number")) return "secret";
  if (plan.kind === "object") return plan.properties.length === 0 ? "map" : "object";
  if (plan.kind === "options") return "";
  if (plan.kind === "array" && draft.is === "array") return `list of ${draft.items.length}`;
  return plan.kind === "choice" ? "" : shapeWords(plan);
}

/** What is wrong with the draft itself, which the person sees while they write. */
function faultsOf(draft: Draft): string[] {
  if (draft.is !== "number" && draft.is !== "json" && draft.is !== "choice") return [];
  if (draft.is === "choice") return draft.of.is === "number" || draft.of.is === "json" ? faultsOf(draft.of) : [];
  const faults: { path: string; message: string }[] = [];
  valueOf(draft, faults);
  return faults.map((it) => it.message);
}

const letters = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

function hintOf(plan: Plan, name: string, at: string): string {
  const parts = [
    // Many schemas have the name again as a title. The title of the whole is the name of a class.
    at !== "" && plan.title !== undefined && letters(plan.title) !== letters(name) ? `${plan.title.replace(/[.:]$/, "")}.` : "",
    plan.description ?? "",
    plan.limits.length === 0 ? "" : `(${plan.limits.join("; ")})`,
    plan.default !== undefined && (plan.kind === "object" || plan.kind === "array" || plan.kind === "json") ? `Default: ${brief(plan.default)}` : "",
  ];
  return parts.filter((it) => it !== "").join(" ");
}
