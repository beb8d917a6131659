// The search field and the filters of the list. What is set is in the URL.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { query, setQuery } from "../../location.ts";
import { CheckField, SelectField, TextField } from "../../parts/field.tsx";
import { CHOICES, type Filter, filtersOf, hasRareFilter } from "./filters.ts";

export function FilterBar() {
  const [isOpen] = useState(hasRareFilter(filtersOf(query.value)));
  return (
    <div class="stack">
      <div class="filters tool-filters" role="search" aria-label="Tools">
        <TextFilter name="q" label="Search" wide hint={<SearchHint />} />
        <SelectFilter name="source" label="Source" />
        <SelectFilter name="max_risk" label="Risk" />
        <TextFilter name="category" label="Category" />
      </div>
      <details class="fold" open={isOpen}>
        <summary>More filters</summary>
        <div class="filters tool-filters">
          <TextFilter name="capabilities" label="Capabilities" hint="Tools that need no other ones. A comma alone: tools that need none." />
          <SelectFilter name="execution_mode" label="Runs" />
          <SelectFilter name="resource_class" label="Class" />
          <TextFilter name="credential" label="Credential" />
          <TextFilter name="side_effect" label="Side effect" />
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

/** How long the person must not type before the list is asked for. */
const PAUSE = 200;

function TextFilter({ name, label, hint, wide = false }: { name: Filter; label: string; hint?: ComponentChildren; wide?: boolean }) {
  const inUrl = query.value.get(name) ?? "";
  const [text, setText] = useState(inUrl);
  const known = useRef(inUrl);
  // The search field of the bar and the way back change the URL, too.
  useEffect(() => {
    if (inUrl === known.current) return;
    known.current = inUrl;
    setText(inUrl);
  }, [inUrl]);
  useEffect(() => {
    const value = text.trim();
    if (value === known.current) return;
    const timer = setTimeout(() => {
      known.current = value;
      setQuery({ [name]: value });
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text, name]);
  return <TextField label={label} value={text} onChange={setText} wide={wide} type={name === "q" ? "search" : "text"} {...(hint === undefined ? {} : { hint })} />;
}
