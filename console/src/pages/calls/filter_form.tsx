// The fields of the filters.

import { link, setQuery } from "../../location.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { TextFilter } from "../../parts/text_filter.tsx";
import { localOf, utcOf } from "../../parts/times.ts";
import { type Filter, type Filters, STATUSES } from "./filters.ts";

export function FilterForm({ filters }: { filters: Filters }) {
  return (
    <div class="filters" role="search" aria-label="Filters of the calls">
      <TextFilter label="Tool" name="tool_name" placeholder="exact name" />
      <SelectField
        label="Status"
        value={filters.status ?? ""}
        onChange={(status) => setQuery({ status })}
        options={[["", "any"], ...STATUSES.map((it): [string, string] => [it, it.replaceAll("_", " ")])]}
      />
      <TextFilter label="Agent" name="agent_id" />
      <TextFilter label="Session" name="session_id" />
      <TextFilter label="Message" name="message_id" />
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

interface MomentProps {
  label: string;
  name: Filter;
  filters: Filters;
}

function MomentFilter({ label, name, filters }: MomentProps) {
  return <TextField label={label} type="datetime-local" value={localOf(filters[name] ?? "")} onChange={(text) => setQuery({ [name]: utcOf(text) })} />;
}
