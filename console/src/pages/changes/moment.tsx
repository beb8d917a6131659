// The registry at any moment: a slider over the numbers of the changes, what there was after one, and what differs from now.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { request, send } from "../../api/request.ts";
import type { Change, Schemas } from "../../api/types.ts";
import { link, query, setQuery } from "../../location.ts";
import { Button, useWork } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Diff } from "../../parts/diff.tsx";
import { Field, TextField } from "../../parts/field.tsx";
import { jsonDiff } from "../../parts/json_diff.ts";
import { Badge, type Tone } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty, Show } from "../../parts/states.tsx";
import { utcOf } from "../../parts/times.ts";
import { JsonText, Time } from "../../parts/values.tsx";
import { count } from "../../parts/words.ts";
import { ActionBadge, Who } from "./change.tsx";
import { byKind, type Difference, differences, placeOf, readable, type Subject, subjectsOf } from "./registry.ts";

type State = Schemas["State"];

/** While the slider moves, nothing is asked for. */
const SETTLED_MS = 250;

const newest = request("get", "/api/registry/changes", { query: { order: "newest", limit: 1 } });

export function Moment() {
  const last = useLoad(newest, 10_000);
  return (
    <Show of={last}>
      {({ changes }) => {
        const change = changes[0];
        return change === undefined ? <Empty title="Nothing has changed yet">As soon as there are changes, this page goes back in time.</Empty> : <Timeline last={change} />;
      }}
    </Show>
  );
}

function Timeline({ last }: { last: Change }) {
  const given = Number(query.value.get("seq") ?? last.seq);
  const wanted = Number.isInteger(given) ? Math.min(Math.max(given, 0), last.seq) : last.seq;
  // The slider follows the hand at once; the URL and the requests follow when the hand rests.
  const [seq, setSeq] = useState(wanted);
  useEffect(() => setSeq(wanted), [wanted]);
  useEffect(() => {
    if (seq === wanted) return;
    const timer = setTimeout(() => setQuery({ tab: "state", seq: String(seq) }), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [seq, wanted]);
  const asked = request("get", "/api/registry/state", { query: { seq: wanted } });
  const then = useLoad(asked);
  const now = useLoad(wanted === last.seq ? null : request("get", "/api/registry/state", { query: { seq: last.seq } }));
  return (
    <>
      <Panel
        title={wanted === last.seq ? "The registry now" : wanted === 0 ? "Before the first change" : `After change ${wanted} of ${last.seq}`}
        actions={<CopyCurl of={asked} />}
      >
        <Field label="Moment" hint="The arrows move by one change, Page Up and Page Down by more.">
          {(control) => (
            <input
              {...control}
              class="timeline"
              type="range"
              min={0}
              max={last.seq}
              value={seq}
              aria-valuetext={seq === 0 ? "before the first change" : `after change ${seq} of ${last.seq}`}
              onInput={(event) => setSeq(Number(event.currentTarget.value))}
            />
          )}
        </Field>
        <div class="spread">
          <div class="row">
            <Button narrow disabled={seq === 0} onClick={() => setSeq(seq - 1)}>
              One change back
            </Button>
            <Button narrow disabled={seq === last.seq} onClick={() => setSeq(seq + 1)}>
              One change on
            </Button>
            <Button narrow disabled={seq === last.seq} onClick={() => setSeq(last.seq)}>
              Now
            </Button>
          </div>
          <AtTime choose={setSeq} />
        </div>
        <Show of={then}>{(state) => <MadeBy state={state} />}</Show>
      </Panel>
      <Show of={then}>
        {(state) => (
          <>
            {wanted === last.seq ? null : <Show of={now}>{(present) => <Since then={state} now={present} />}</Show>}
            <Contents state={state} />
          </>
        )}
      </Show>
    </>
  );
}

/** Goes to a time of the clock. */
function AtTime({ choose }: { choose: (seq: number) => void }) {
  const [at, setAt] = useState("");
  const [run, busy] = useWork();
  const asked = request("get", "/api/registry/state", { query: { at: utcOf(at) } });
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => choose((await send(asked)).seq));
  };
  return (
    <form class="row at-time" onSubmit={submit}>
      <TextField label="At a time" type="datetime-local" value={at} onChange={setAt} />
      <Button narrow type="submit" disabled={busy || utcOf(at) === ""}>
        Go there
      </Button>
      {utcOf(at) === "" ? null : <CopyCurl narrow of={asked} action="Go there" />}
    </form>
  );
}

/** The change that made this moment. */
function MadeBy({ state }: { state: State }) {
  const at = state.timestamp ?? undefined;
  const around = useLoad(at === undefined ? null : request("get", "/api/registry/changes", { query: { since: at, until: at, limit: 200 } }));
  if (at === undefined) return <p class="soft">Only the built-ins were there. They never change, and are not in the log.</p>;
  const change = around.data?.changes.find((it) => it.seq === state.seq);
  return (
    <p class="row">
      <span>
        {new Date(at).toLocaleString()} (<Time at={at} />)
      </span>
      {change === undefined ? null : (
        <>
          <ActionBadge action={change.action} />
          <a href={link(["changes"], { subject: change.subject })}>{change.subject}</a>
          <span class="soft">
            by <Who change={change} />
            {change.reason == null ? "" : `: “${change.reason}”`}
          </span>
        </>
      )}
    </p>
  );
}

const CHANGES: Record<Difference["change"], [Tone, string]> = {
  gone: ["bad", "gone since"],
  new: ["good", "new since"],
  changed: ["accent", "changed since"],
};

function Since({ then, now }: { then: State; now: State }) {
  const found = useMemo(() => differences(then, now), [then, now]);
  return (
    <Panel title="What differs from now">
      {found.length === 0 ? <p class="soft">Nothing: what was changed since was changed back.</p> : <Sliced items={found} noun="difference" row={(it) => <OneDifference key={it.subject} of={it} />} />}
    </Panel>
  );
}

function OneDifference({ of }: { of: Difference }) {
  const [isOpen, setOpen] = useState(false);
  const [tone, words] = CHANGES[of.change];
  return (
    <li>
      <details class="change" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Badge tone={tone}>{words}</Badge>
          <span class="change-subject">{of.subject}</span>
        </summary>
        {isOpen ? (
          <div class="change-body">
            <Diff text={jsonDiff(readable(of.before), readable(of.after))} label={`${of.subject}, then and now`} />
          </div>
        ) : null}
      </details>
    </li>
  );
}

function Contents({ state }: { state: State }) {
  const [search, setSearch] = useState("");
  const kinds = useMemo(() => byKind(subjectsOf(state).filter((it) => it.subject.toLowerCase().includes(search.toLowerCase()))), [state, search]);
  return (
    <Panel title="What there was">
      <div class="filters">
        <TextField label="Find" type="search" value={search} onChange={setSearch} wide placeholder="a part of a name" />
      </div>
      {kinds.length === 0 ? <p class="soft">Nothing has “{search}” in its name.</p> : null}
      {kinds.map(([kind, subjects]) => (
        <section key={kind} class="stack" aria-label={kind}>
          <h3>
            {kind} <span class="soft">{subjects.length.toLocaleString("en")}</span>
          </h3>
          <Sliced items={subjects} noun="thing" row={(it) => <OneSubject key={it.subject} of={it} />} />
        </section>
      ))}
    </Panel>
  );
}

function OneSubject({ of }: { of: Subject }) {
  const [isOpen, setOpen] = useState(false);
  const place = placeOf(of.subject);
  const isActive = "active" in of.state ? of.state.active === true : null;
  return (
    <li>
      <details class="change" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="change-subject">{of.subject.slice(of.subject.indexOf(":") + 1)}</span>
          {isActive === null ? null : <Badge tone={isActive ? "good" : ""}>{isActive ? "active" : "not active"}</Badge>}
          {of.kind !== "Tools" && "name" in of.state && typeof of.state.name === "string" ? <span class="soft">{of.state.name}</span> : null}
          {"source" in of.state && typeof of.state.source === "string" ? <span class="soft small">{of.state.source}</span> : null}
        </summary>
        {isOpen ? (
          <div class="stack change-body">
            {place === null ? null : (
              <p class="small">
                <a href={link(...place)}>Open it as it is now</a>
              </p>
            )}
            <JsonText value={readable(of.state)} label={`${of.subject} as it was`} name="state.json" />
          </div>
        ) : null}
      </details>
    </li>
  );
}

/** How many items of a long list are shown at once. */
const SLICE = 100;

/** A long list, some items at a time. */
function Sliced<T>({ items, noun, row }: { items: readonly T[]; noun: string; row: (item: T) => ComponentChildren }) {
  const [shown, setShown] = useState(SLICE);
  return (
    <>
      <ul class="changes">{items.slice(0, shown).map(row)}</ul>
      {items.length > shown ? (
        <div>
          <Button narrow onClick={() => setShown(shown + SLICE)}>
            Show more of {count(items.length, noun)}
          </Button>
        </div>
      ) : null}
    </>
  );
}
