// The head of a page: where the person is, what the page is about, and what can be done.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { stage } from "../api/caller.ts";

interface PageProps {
  title: string;
  /** Links to the pages above this one. */
  above?: { text: string; href: string }[];
  /** One or two sentences below the title. */
  about?: ComponentChildren;
  /** Badges beside the title. */
  marks?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, above = [], about, marks, actions, children }: PageProps) {
  const isHere = stage.value === "here";
  useEffect(() => {
    if (isHere) document.title = `${title} · Pegboard`;
  }, [title, isHere]);
  return (
    <div class="page">
      <header class="page-head">
        <div class="stack">
          {above.length === 0 ? null : (
            <nav class="crumbs" aria-label="Above this page">
              {above.map((it) => (
                <span key={it.href}>
                  <a href={it.href}>{it.text}</a> /{" "}
                </span>
              ))}
            </nav>
          )}
          <div class="row">
            <h1>{title}</h1>
            {marks}
          </div>
          {about === undefined ? null : <p>{about}</p>}
        </div>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A titled part of a page. */
export function Panel({ title, actions, children }: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="panel" aria-label={title}>
      <div class="spread">
        <h2>{title}</h2>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** Links between the views of one page, kept in the query. */
export function Tabs({ tabs, current }: { tabs: { id: string; text: ComponentChildren; href: string }[]; current: string }) {
  return (
    <nav class="tabs" aria-label="Views of this page">
      {tabs.map((it) => (
        <a key={it.id} href={it.href} aria-current={it.id === current ? "true" : undefined}>
          {it.text}
        </a>
      ))}
    </nav>
  );
}

/** Names and values. */
export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
