// Definitions that wait for an admin: what the server offers now, beside what was accepted.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { usePages } from "../../api/load.ts";
import { type ApiRequest, send } from "../../api/request.ts";
import { link } from "../../location.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Diff } from "../../parts/diff.tsx";
import { jsonDiff } from "../../parts/json_diff.ts";
import { Badge, type Tone } from "../../parts/marks.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { tell } from "../../parts/toast.tsx";
import { count } from "../../parts/words.ts";
import { definitionOf } from "./definition.ts";
import { type Held, type Kind, requestsOf } from "./requests.ts";
import { changedSince, shownFirst, stillChosen } from "./shown_held.ts";

/** Up to so many differences are open from the beginning. */
const OPEN = 5;

interface HeldBackProps {
  kind: Kind;
  id: string;
  /** How many definitions the server's own figures count. */
  waiting: number;
  accepted: () => void;
}

export function HeldBack({ kind, id, waiting, accepted }: HeldBackProps) {
  const requests = requestsOf(kind, id);
  const held = usePages(`${kind} ${id}`, requests.heldBack, (it) => it.held_back, 10_000);
  // A discovery has found something, or somebody else has accepted something.
  const seen = useRef(waiting);
  useEffect(() => {
    if (seen.current !== waiting) held.reload();
    seen.current = waiting;
  }, [waiting]);
  const first = useRef<ReadonlyMap<string, Held>>(new Map());
  // While the list is not there, nothing is known about it.
  if (!held.loading && held.error === undefined) first.current = shownFirst(first.current, held.items);
  const shown = first.current;
  const changed = changedSince(shown, held.items);
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const still = stillChosen(chosen, held.items);
  const [isAsking, setIsAsking] = useState(false);
  const [, showAnew] = useState(0);
  const accept = async (read: readonly Held[], isEverything = false) => {
    try {
      const outcome = await send(requests.accept(read, isEverything));
      tell(outcome.accepted.map((it) => `${it.tool_id} is ${it.version} now`).join(", "));
      setChosen(new Map());
      accepted();
    } finally {
      // Also after a refusal: an offer may have changed.
      held.reload();
    }
  };
  const choose = (it: Held, isChosen: boolean) => {
    const next = new Map(chosen);
    if (isChosen) next.set(it.tool_id, it.hash);
    else next.delete(it.tool_id);
    setChosen(next);
  };
  const showOffer = (it: Held) => {
    first.current = new Map(shown).set(it.tool_id, it);
    showAnew((turn) => turn + 1);
  };
  return (
    <ShowPages
      of={held}
      empty={
        <Empty title="Nothing is held back">
          <p>Definitions that the server changes, and tools that it adds, appear here before anybody can use them.</p>
        </Empty>
      }
    >
      {(items) => {
        const read = items.map((it) => shown.get(it.tool_id) ?? it);
        return (
          <div class="stack">
            <div class="row">
              <WorkButton kind="primary" disabled={still.length === 0} work={() => accept(still)}>
                Accept {still.length} chosen
              </WorkButton>
              <Button disabled={changed.size > 0} title={changed.size > 0 ? "Look at the changed offers first" : ""} onClick={() => setIsAsking(true)}>
                Accept all
              </Button>
              <CopyCurl of={still.length === 0 ? requests.accept(read, true) : requests.accept(still, false)} action={still.length === 0 ? "Accept all" : "Accept"} />
            </div>
            {items.map((it) => (
              <HeldDefinition
                key={it.tool_id}
                held={shown.get(it.tool_id) ?? it}
                isOpen={items.length <= OPEN}
                isChosen={chosen.get(it.tool_id) === it.hash}
                hasChanged={changed.has(it.tool_id)}
                wasChosen={chosen.has(it.tool_id)}
                choose={(isChosen) => choose(it, isChosen)}
                showOffer={() => showOffer(it)}
                accept={() => accept([it])}
                request={requests.accept([it], false)}
              />
            ))}
            {isAsking ? (
              <Confirm title={`Accept everything that ${id} offers?`} action="Accept all" of={requests.accept(read, true)} close={() => setIsAsking(false)} work={() => accept(read, true)}>
                <p>
                  {held.hasMore ? "More than " : ""}
                  {count(items.length, "definition")} become versions that agents use from now on. Also those that are not shown on this page are accepted.
                </p>
              </Confirm>
            ) : null}
          </div>
        );
      }}
    </ShowPages>
  );
}

const STEPS: Record<string, Tone> = { patch: "good", minor: "warn", major: "bad" };

interface HeldProps {
  held: Held;
  isOpen: boolean;
  isChosen: boolean;
  /** The server offers something else by now. */
  hasChanged: boolean;
  /** The person has chosen what is shown. */
  wasChosen: boolean;
  showOffer: () => void;
  choose: (isChosen: boolean) => void;
  accept: () => Promise<void>;
  /** The request of `accept`. */
  request: ApiRequest<unknown>;
}

function HeldDefinition({ held, isOpen, isChosen, hasChanged, wasChosen, showOffer, choose, accept, request }: HeldProps) {
  const [open, setOpen] = useState(isOpen);
  const isNew = held.change === "new";
  return (
    <section class="panel" aria-label={held.tool_id}>
      <div class="spread">
        <div class="row">
          <input type="checkbox" aria-label={`Choose ${held.tool_id}`} checked={isChosen} disabled={hasChanged} onChange={(event) => choose(event.currentTarget.checked)} />
          <h2>{isNew ? held.tool_id : <a href={link(["tools", held.tool_id])}>{held.tool_id}</a>}</h2>
          <Badge tone={isNew ? "accent" : "warn"}>{held.change}</Badge>
          {held.bump === null || held.bump === undefined ? null : <Badge tone={STEPS[held.bump] ?? ""}>{held.bump}</Badge>}
          <span class="soft">
            {isNew ? "" : `${held.accepted?.version ?? "?"} → `}
            {held.offered.version}
          </span>
        </div>
        <div class="row">
          <WorkButton kind="primary" narrow disabled={hasChanged} work={accept}>
            Accept
          </WorkButton>
          {hasChanged ? null : <CopyCurl narrow of={request} action={`Accept ${held.tool_id}`} />}
        </div>
      </div>
      {hasChanged ? (
        <div class="notice warn" role="alert">
          <p>The server has changed its offer since it was shown here. {wasChosen ? "It is not chosen any more." : ""}</p>
          <Button narrow onClick={showOffer}>
            Show the new offer
          </Button>
        </div>
      ) : null}
      {held.reasons.length === 0 ? null : (
        <ul>
          {held.reasons.map((it) => (
            <li key={it.path + it.message}>
              <Badge tone={STEPS[it.step] ?? ""}>{it.step}</Badge> <code>{it.path}</code> {it.message}
            </li>
          ))}
        </ul>
      )}
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{isNew ? "The definition that is offered" : "What differs from the accepted definition"}</summary>
        {open ? <Differences held={held} /> : null}
      </details>
    </section>
  );
}

function Differences({ held }: { held: Held }) {
  const text = useMemo(() => jsonDiff(definitionOf(held.accepted), definitionOf(held.offered)), [held]);
  return <Diff text={text === "" ? " The fields that people and models see are the same." : text} label={`Differences of ${held.tool_id}`} />;
}
