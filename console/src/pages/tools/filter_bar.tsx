// The search field and the filters of the list. What is set is in the URL.

import { useState } from "preact/hooks";
import { query, setQuery } from "../../location.ts";
import { CheckField, SelectField } from "../../parts/field.tsx";
import { TextFilter } from "../../parts/text_filter.tsx";
import { CHOICES, type Filter, filtersOf, hasRareFilter } from "./filters.ts";

export function FilterBar() {
  const [isOpen] = useState(hasRareFilter(filtersOf(query.value)));
  return (
    <div class="stack">
      <div class="filters tool-filters" role="search" aria-label="Tools">
        <TextFilter name="q" label="Search" wide hint={<SearchHint />} />
        <SelectFilter name="source" label="Source" />
        <SelectFilter name="max_risk" label="Risk" />
        <TextFilter type="text" name="category" label="Category" />
      </div>
      <details class="fold" open={isOpen}>
        <summary>More filters</summary>
        <div class="filters tool-filters">
          <TextFilter type="text" name="capabilities" label="Capabilities" hint="Tools that need no other ones. A comma alone: tools that need none." />
          <SelectFilter name="execution_mode" label="Runs" />
          <SelectFilter name="resource_class" label="Class" />
          <TextFilter type="text" name="credential" label="Credential" />
          <TextFilter type="text" name="side_effect" label="Side effect" />
          <CheckField
            label="Inactive tools too"
            value={query.value.get("include_inactive") === "true"}
            onChange={(it) => setQuery({ include_inactive: it ? "true" : undefined })}
          />
        </div>
      </details>
    </div>
  );
}

function SearchHint() {
  return (
    <>
      Every word counts. <code>"a phrase"</code>, <code>-without</code>, <code>begin*</code>, <code>this OR that</code>
    </>
  );
}

function SelectFilter({ name, label }: { name: Filter; label: string }) {
  return <SelectField label={label} value={query.value.get(name) ?? ""} options={CHOICES[name] ?? []} onChange={(it) => setQuery({ [name]: it })} />;
}
