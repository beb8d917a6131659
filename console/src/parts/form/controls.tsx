// The controls of single values: texts, numbers, known values, and JSON.

import { useEffect, useState } from "preact/hooks";
import { type ControlProps, tied } from "./context.ts";
import { ABSENT, type Draft } from "./draft.ts";
import { brief, isLongName, type Plan } from "./plan.ts";
import { same } from "./schema.ts";

/** A small button beside a control. Its label says more than the word or the arrow on it. */
export function Sign({ sign, label, onClick, disabled = false }: { sign: string; label: string; onClick: () => void; disabled?: boolean }) {
  return (
    <button type="button" class="sign" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      {sign}
    </button>
  );
}

const placeholderOf = (plan: Plan) => (plan.default === undefined || plan.secret ? {} : { placeholder: `default: ${brief(plan.default)}` });

const MODES: Record<string, "email" | "url"> = { email: "email", "idn-email": "email", uri: "url", url: "url", "uri-reference": "url" };

export function TextControl(props: ControlProps & { plan: Plan & { kind: "text" } }) {
  const { plan, draft, change, always, secret, name, at } = props;
  const text = draft.is === "text" ? draft.text : "";
  const [wantsLines, setWantsLines] = useState(false);
  const [isOpen, setOpen] = useState(false);
  // An empty field is left out. An empty text is sent where the person asks for it, and where a value has to be.
  const write = (next: string) => change(() => (next === "" && !always ? ABSENT : { is: "text", text: next }));
  const given = { ...tied(props), ...placeholderOf(plan), value: text, spellcheck: false, autocomplete: "off" as const };
  const hasLines = text.includes("\n");
  const canHaveLines = plan.format === undefined || plan.lines;
  const lines = !secret && (hasLines || wantsLines || plan.lines || (canHaveLines && isLongName(at.split("/").at(-1) ?? "")));
  if (secret) {
    // A password field drops line breaks, so a secret of several lines is written in the open.
    return (
      <div class="form-line">
        {isOpen ? (
          <textarea {...given} rows={2} onInput={(event) => write(event.currentTarget.value)} />
        ) : (
          <input {...given} type="password" autocomplete="new-password" readOnly={hasLines} onInput={(event) => write(event.currentTarget.value)} />
        )}
        <button type="button" class="button quiet narrow" aria-label={`${isOpen ? "Hide" : "Show"} ${name}`} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide" : "Show"}
        </button>
      </div>
    );
  }
  const isDate = plan.format === "date" && (text === "" || /^\d{4}-\d\d-\d\d$/.test(text));
  return (
    <div class="form-line">
      {lines ? (
        <textarea {...given} rows={3} onInput={(event) => write(event.currentTarget.value)} />
      ) : (
        <input {...given} type={(isDate ? "date" : "text") as "text"} {...(MODES[plan.format ?? ""] === undefined ? {} : { inputMode: MODES[plan.format ?? ""] })} onInput={(event) => write(event.currentTarget.value)} />
      )}
      {plan.format === "date-time" ? <Moment name={name} write={write} /> : null}
      {canHaveLines && !lines ? <Sign sign="lines" label={`Write ${name} in several lines`} onClick={() => setWantsLines(true)} /> : null}
      {draft.is === "text" && text === "" && !always ? (
        <span class="form-note">empty text</span>
      ) : draft.is !== "text" && plan.format === undefined ? (
        <Sign sign="empty" label={`Send an empty text as ${name}`} onClick={() => change(() => ({ is: "text", text: "" }))} />
      ) : null}
    </div>
  );
}

/** A picker beside the text of a moment. The text is what is sent; the picker writes it as UTC. */
function Moment({ name, write }: { name: string; write: (text: string) => void }) {
  const pick = (local: string) => {
    const moment = new Date(local);
    if (!Number.isNaN(moment.getTime())) write(moment.toISOString().replace(".000Z", "Z"));
  };
  return <input class="form-moment" type="datetime-local" aria-label={`Pick ${name} by the clock of this computer`} onInput={(event) => pick(event.currentTarget.value)} />;
}

export function NumberControl(props: ControlProps & { plan: Plan & { kind: "number" } }) {
  const { plan, draft, change, secret } = props;
  const write = (text: string) => change(() => (text === "" ? ABSENT : { is: "number", text }));
  return (
    <input
      {...tied(props)}
      {...placeholderOf(plan)}
      class="form-number"
      type={(secret ? "password" : "text") as "text"}
      inputMode={plan.integer ? "numeric" : "decimal"}
      autocomplete="off"
      value={draft.is === "number" ? draft.text : ""}
      onInput={(event) => write(event.currentTarget.value)}
    />
  );
}

export function OptionsControl(props: ControlProps & { plan: Plan & { kind: "options" } }) {
  const { plan, draft, change, required, always } = props;
  const chosen = draft.is === "option" ? plan.options.findIndex((it) => same(it.value, draft.value)) : -1;
  const [only] = plan.options;
  if (plan.options.length === 1 && only !== undefined && chosen === 0 && (required || always)) {
    return (
      <output {...tied({ ...props, required: false })}>
        <code>{only.words}</code>
      </output>
    );
  }
  const none = plan.default !== undefined ? `Left out (default: ${brief(plan.default)})` : required || always ? "Choose…" : "Left out";
  const choose = (index: string): Draft => {
    const option = index === "" ? undefined : plan.options[Number(index)];
    return option === undefined ? ABSENT : { is: "option", value: option.value };
  };
  return (
    <select
      {...tied(props)}
      value={chosen < 0 ? "" : String(chosen)}
      onChange={(event) => {
        const next = choose(event.currentTarget.value);
        change(() => next);
      }}
    >
      <option value="">{none}</option>
      {plan.options.map((it, index) => (
        <option key={index} value={String(index)}>
          {it.words}
        </option>
      ))}
    </select>
  );
}

/** JSON for one field. The text is the person's own: nothing rewrites it. */
export function JsonControl(props: ControlProps & { plan: Plan }) {
  const { plan, draft, change, secret, name, always, required } = props;
  const text = draft.is === "json" ? draft.text : "";
  const [isOpen, setOpen] = useState(!secret);
  useEffect(() => setOpen(!secret), [secret]);
  const write = (next: string) =>
    change((before) => {
      if (next === "" && plan.kind === "json" && !always) return ABSENT;
      return before.is === "json" ? { ...before, text: next } : { is: "json", text: next };
    });
  const given = { ...tied(props), class: "mono", value: text, spellcheck: false, autocomplete: "off" as const };
  const rows = Math.min(16, Math.max(2, text.split("\n").length));
  const isWord = text.trim() !== "" && !/^[\s]*[[{"]/.test(text) && !isJson(text);
  return (
    <div class="form-line">
      {isOpen ? (
        <textarea
          {...given}
          rows={rows}
          placeholder={required || always ? 'JSON, such as "text", 5, true, [1, 2] or {"a": 1}' : "JSON; empty means left out"}
          onInput={(event) => write(event.currentTarget.value)}
        />
      ) : (
        <input {...given} type="password" autocomplete="new-password" readOnly={text.includes("\n")} onInput={(event) => write(event.currentTarget.value)} />
      )}
      {secret ? (
        <button type="button" class="button quiet narrow" aria-label={`${isOpen ? "Hide" : "Show"} ${name}`} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide" : "Show"}
        </button>
      ) : null}
      {isWord ? (
        <button type="button" class="button quiet narrow" onClick={() => write(JSON.stringify(text))}>
          Put in quotes
        </button>
      ) : null}
    </div>
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
