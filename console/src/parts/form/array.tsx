// The elements of a list: add, remove, move.

import { useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { count } from "../words.ts";
import type { ControlProps } from "./context.ts";
import { Sign } from "./controls.tsx";
import { type Draft, type Item, itemSchema, newItem } from "./draft.ts";
import { Field, useForm } from "./field.tsx";
import { type Plan, planOf } from "./plan.ts";
import { join } from "./pointer.ts";

type ArrayDraft = Draft & { is: "array" };

/** A long list is shown in parts, so that the page stays quick. */
const SHOWN = 50;

export function ArrayControl({ name, at, draft, change, secret, plan }: Omit<ControlProps, "draft"> & { draft: ArrayDraft; plan: Plan & { kind: "array" } }) {
  const { book } = useForm();
  const [shown, setShown] = useState(SHOWN);
  const edit = (update: (items: Item[]) => Item[]) => change((it) => (it.is === "array" ? { ...it, items: update(it.items) } : it));
  const fixed = plan.prefix.length;
  const length = draft.items.length;
  const mayGrow = length < plan.max && (length < fixed || plan.items !== null);
  const add = () => {
    setShown((it) => Math.max(it, length + 1));
    edit((items) => [...items, newItem(book, itemSchema(plan, items.length))]);
  };
  return (
    <div class="form-fields">
      {draft.items.slice(0, shown).map((item, index) => {
        const words = titleOf(planOf(book, itemSchema(plan, index)), index, fixed);
        // The places of a tuple have meanings of their own: only the last can go, and none can move.
        const isFixed = index < fixed;
        return (
          <Field
            key={item.id}
            name={words}
            at={join(at, index)}
            schema={itemSchema(plan, index)}
            draft={item.draft}
            change={(update) => edit((items) => items.map((it) => (it.id === item.id ? { ...it, draft: update(it.draft) } : it)))}
            required={false}
            always
            secret={secret}
            tools={
              <>
                {isFixed ? null : (
                  <>
                    <Sign sign="↑" label={`Move ${words} up`} disabled={index <= fixed} onClick={() => edit((items) => moved(items, index, index - 1))} />
                    <Sign sign="↓" label={`Move ${words} down`} disabled={index === length - 1} onClick={() => edit((items) => moved(items, index, index + 1))} />
                  </>
                )}
                {isFixed && index < length - 1 ? null : <Sign sign="✕" label={`Remove ${words}`} onClick={() => edit((items) => items.filter((it) => it.id !== item.id))} />}
              </>
            }
          />
        );
      })}
      {length > shown ? (
        <p class="row soft">
          {count(length - shown, "further item")} {length - shown === 1 ? "is" : "are"} not shown.
          <Button narrow onClick={() => setShown(shown + SHOWN)}>
            Show more
          </Button>
        </p>
      ) : null}
      {mayGrow ? (
        <div>
          <Button narrow label={`Add an item to ${name}`} onClick={add}>
            Add an item
          </Button>
        </div>
      ) : null}
    </div>
  );
}

function titleOf(plan: Plan, index: number, fixed: number): string {
  return (index < fixed ? plan.title : undefined) ?? `Item ${index + 1}`;
}

function moved(items: Item[], from: number, to: number): Item[] {
  const next = [...items];
  const [item] = next.splice(from, 1);
  return item === undefined || to < 0 ? items : next.toSpliced(to, 0, item);
}
