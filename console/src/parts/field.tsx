// Fields of forms: a label, a control, a hint and what is wrong.

import { useId } from "preact/hooks";
import type { ComponentChildren, TargetedEvent } from "preact";

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  violation?: string | undefined;
  wide?: boolean;
  children: (control: { id: string; "aria-describedby"?: string; "aria-invalid"?: "true" }) => ComponentChildren;
}

/** A labelled control. `children` gets the attributes that tie the control to its label, hint and violation. */
export function Field({ label, hint, violation, wide = false, children }: FieldProps) {
  const id = useId();
  const described = hint !== undefined || violation !== undefined;
  return (
    <div class={`field ${wide ? "wide" : ""}`}>
      <label for={id}>{label}</label>
      {children({ id, ...(described ? { "aria-describedby": `${id}-about` } : {}), ...(violation === undefined ? {} : { "aria-invalid": "true" as const }) })}
      {described ? (
        <div id={`${id}-about`}>
          {violation === undefined ? null : <p class="violation">{violation}</p>}
          {hint === undefined ? null : <p class="hint">{hint}</p>}
        </div>
      ) : null}
    </div>
  );
}

type TextType = "text" | "password" | "search" | "number" | "datetime-local" | "url";

interface TextFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ComponentChildren;
  violation?: string | undefined;
  wide?: boolean;
  mono?: boolean;
  type?: TextType;
  placeholder?: string;
  /** More than one line. */
  lines?: number;
  required?: boolean;
}

export function TextField({ label, value, onChange, hint, violation, wide, mono = false, type = "text", placeholder, lines, required = false }: TextFieldProps) {
  const given = { value, required, class: mono ? "mono" : "", ...(placeholder === undefined ? {} : { placeholder }) };
  const onInput = (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(event.currentTarget.value);
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })} violation={violation} wide={wide ?? false}>
      {(control) =>
        lines === undefined ? <input {...control} {...given} type={type as "text"} onInput={onInput} autocomplete="off" /> : <textarea {...control} {...given} rows={lines} onInput={onInput} />
      }
    </Field>
  );
}

interface SelectFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Values, or values with the words that are shown for them. */
  options: (string | [string, string])[];
  hint?: ComponentChildren;
}

export function SelectField({ label, value, onChange, options, hint }: SelectFieldProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((it) => {
            const [option, text] = typeof it === "string" ? [it, it] : it;
            return (
              <option key={option} value={option}>
                {text}
              </option>
            );
          })}
        </select>
      )}
    </Field>
  );
}

export function CheckField({ label, value, onChange, hint }: { label: string; value: boolean; onChange: (value: boolean) => void; hint?: string }) {
  const id = useId();
  return (
    <div class="field">
      <div class="check">
        <input id={id} type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} />
        <label for={id}>{label}</label>
      </div>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </div>
  );
}
