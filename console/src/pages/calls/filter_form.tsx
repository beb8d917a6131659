// The fields of the filters. A text reaches the URL when the person pauses, so that not every letter is a request.

import { useEffect, useRef, useState } from "preact/hooks";
import { link, setQuery } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { type Filter, type Filters, STATUSES, fromField, toField } from "./filters.ts";

const PAUSE_MS = 400;

export function FilterForm({ filters }: { filters: Filters }) {
  return (
    <div class="filters" role="search" aria-label="Filters of the calls">
      <TextFilter label="Tool" name="tool_name" filters={filters} placeholder="exact name" />
      <SelectField
        label="Status"
        value={filters.status ?? ""}
        onChange={(status) => setQuery({ status })}
        options={[["", "any"], ...STATUSES.map((it): [string, string] => [it, it.replaceAll("_", " ")])]}
      />
      <TextFilter label="Agent" name="agent_id" filters={filters} />
      <TextFilter label="Session" name="session_id" filters={filters} />
      <TextFilter label="Message" name="message_id" filters={filters} />
      <MomentFilter label="Since" name="since" filters={filters} />
      <MomentFilter label="Until" name="until" filters={filters} />
      {Object.keys(filters).length === 0 ? null : (
        <ButtonLink kind="quiet" href={link(["calls"])}>
          Clear the filters
        </ButtonLink>
      )}
    </div>
  );
}

interface FieldProps {
  label: string;
  name: Filter;
  filters: Filters;
  placeholder?: string;
}

function TextFilter({ label, name, filters, placeholder }: FieldProps) {
  const applied = filters[name] ?? "";
  const [typed, setTyped] = useState(applied);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // A link may set the filter from outside.
  useEffect(() => setTyped((it) => (it.trim() === applied ? it : applied)), [applied]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ [name]: text.trim() }), PAUSE_MS);
  };
  return <TextField label={label} type="search" value={typed} onChange={change} {...(placeholder === undefined ? {} : { placeholder })} />;
}

function MomentFilter({ label, name, filters }: FieldProps) {
  return <TextField label={label} type="datetime-local" value={toField(filters[name] ?? "")} onChange={(text) => setQuery({ [name]: fromField(text) })} />;
}
