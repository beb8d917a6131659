// The change log, newest first, with filters in the URL.

import { usePages } from "../../api/load.ts";
import { type ApiRequest, request, sendForBytes } from "../../api/request.ts";
import { query, setQuery } from "../../location.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { useSettled } from "../../parts/settled.ts";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { localOf, utcOf } from "../../parts/times.ts";
import { download } from "../../parts/values.tsx";
import { OneChange } from "./change.tsx";

const ACTIONS = [
  "register",
  "activate",
  "deactivate",
  "rollback",
  "restore",
  "attach",
  "detach",
  "configure",
  "create",
  "update",
  "delete",
  "revoke",
  "approve",
  "deny",
  "expire",
] as const;
type Action = (typeof ACTIONS)[number];

const FILTERS = ["tool_id", "subject", "operator", "action", "since", "until"] as const;
type Filters = Partial<Record<(typeof FILTERS)[number], string>>;

/** The filters of the URL. */
function filtersOf(parameters: URLSearchParams): Filters {
  return Object.fromEntries(FILTERS.map((it) => [it, parameters.get(it)]).filter(([, value]) => value !== null && value !== ""));
}

/** A page of the changes. */
function logRequest({ action, ...filters }: Filters, cursor?: string) {
  return request("get", "/api/registry/changes", {
    query: { order: "newest", limit: 50, ...filters, ...(action === undefined ? {} : { action: action as Action }), ...(cursor === undefined ? {} : { cursor }) },
  });
}

/** All changes, one a line, the oldest first. */
function wholeRequest({ action, ...filters }: Filters): ApiRequest<unknown> {
  const asked = request("get", "/api/registry/changes", { query: { ...filters, ...(action === undefined ? {} : { action: action as Action }) } });
  return { ...asked, headers: { Accept: "application/x-ndjson" } };
}

export function Log() {
  const key = useSettled(JSON.stringify(filtersOf(query.value)));
  const filters = JSON.parse(key) as Filters;
  const changes = usePages(
    key,
    (cursor) => logRequest(filters, cursor),
    (it) => it.changes,
    10_000,
  );
  const isFiltered = key !== "{}";
  const whole = wholeRequest(filters);
  return (
    <>
      <FilterBar isFiltered={isFiltered} />
      <div class="row">
        <CopyCurl of={logRequest(filters)} />
        <WorkButton work={async () => download("changes.jsonl", await sendForBytes(whole))}>Download {isFiltered ? "these changes" : "the whole log"}</WorkButton>
        <CopyCurl of={whole} />
      </div>
      <ShowPages
        of={changes}
        empty={
          changes.hasMore ? (
            <Empty title="Nothing among the last 10,000 changes">“Show more” looks further back.</Empty>
          ) : isFiltered ? (
            <Empty title="No change fits the filters">Filters are exact: a tool has its whole id, a subject its kind, such as tool:word_count.</Empty>
          ) : (
            <Empty title="Nothing has changed yet">The first tool, agent or token that somebody makes is the first change.</Empty>
          )
        }
      >
        {(items) => (
          <ol class="changes" aria-label="Changes, newest first">
            {items.map((it) => (
              <OneChange key={it.seq} change={it} />
            ))}
          </ol>
        )}
      </ShowPages>
    </>
  );
}

function FilterBar({ isFiltered }: { isFiltered: boolean }) {
  const value = (name: string) => query.value.get(name) ?? "";
  return (
    <form class="filters" role="search" aria-label="Changes" onSubmit={(event) => event.preventDefault()}>
      <TextField label="Tool" value={value("tool_id")} onChange={(it) => setQuery({ tool_id: it })} mono placeholder="word_count" />
      <TextField label="Subject" value={value("subject")} onChange={(it) => setQuery({ subject: it })} mono placeholder="agent:ana" />
      <TextField label="Who" value={value("operator")} onChange={(it) => setQuery({ operator: it })} placeholder="a token’s name or id" />
      <SelectField label="Action" value={value("action")} onChange={(it) => setQuery({ action: it })} options={[["", "all"], ...ACTIONS]} />
      <TextField label="Since" type="datetime-local" value={localOf(value("since"))} onChange={(it) => setQuery({ since: utcOf(it) })} />
      <TextField label="Until" type="datetime-local" value={localOf(value("until"))} onChange={(it) => setQuery({ until: utcOf(it) })} />
      {isFiltered ? <Button onClick={() => setQuery(Object.fromEntries(FILTERS.map((it) => [it, undefined])))}>Clear the filters</Button> : null}
    </form>
  );
}
