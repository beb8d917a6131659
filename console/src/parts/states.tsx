// What a view shows while its data are not there: loading, empty, refused.

import type { ComponentChildren } from "preact";
import type { Loaded, Pages } from "../api/load.ts";
import type { ApiError } from "../api/request.ts";
import { Button } from "./button.tsx";

export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <p class="loading" role="status">
      {what}…
    </p>
  );
}

/** A list without items: says what belongs here, and how to begin. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** What went wrong, in the API's own words. */
export function Failure({ error, retry }: { error: ApiError; retry?: (() => void) | undefined }) {
  const problems = error.problems;
  return (
    <div class="notice bad" role="alert">
      <strong>{titleOf(error)}</strong>
      {problems.length > 1 ? (
        <ul>
          {problems.map((it) => (
            <li key={it.path + it.message}>
              {it.path === "" ? null : <code>{it.path}</code>} {it.message}
            </li>
          ))}
        </ul>
      ) : (
        <p>{error.message}</p>
      )}
      <p class="code">
        {error.code}
        {error.status === 0 ? "" : ` · ${error.status}`}
        {error.requestId === null ? "" : ` · request ${error.requestId}`}
      </p>
      {retry === undefined ? null : <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

function titleOf({ status, code }: ApiError): string {
  if (code === "ALREADY_EXISTS") return "There is such a thing already";
  switch (status) {
    case 0:
      return code === "OFFLINE" ? "Pegboard does not answer" : "This did not work";
    case 401:
      return "You are not signed in";
    case 403:
      return "You may not see or do this";
    case 404:
      return "There is no such thing";
    case 409:
      return "Something has changed meanwhile";
    case 413:
      return "This is too large";
    case 429:
      return "Too many requests";
    default:
      return status >= 500 ? "Pegboard failed" : "This was refused";
  }
}

/** Shows the data of a view, or why they are not there. Data that could not be read again stay visible below the error. */
export function Show<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  return (
    <>
      {of.error === undefined ? null : <Failure error={of.error} retry={of.reload} />}
      {of.data === undefined ? of.loading ? <Loading /> : null : children(of.data)}
    </>
  );
}

/** Shows the items of a list, and a button for more of them. */
export function ShowPages<T>({ of, empty, children }: { of: Pages<T>; empty: ComponentChildren; children: (items: T[]) => ComponentChildren }) {
  const nothing = of.items.length === 0;
  return (
    <>
      {of.error === undefined ? null : <Failure error={of.error} retry={of.reload} />}
      {nothing ? of.loading ? <Loading /> : of.error === undefined ? empty : null : children(of.items)}
      {of.hasMore || of.standsStill ? (
        <div class="row">
          {of.hasMore ? (
            <Button onClick={of.loadMore} disabled={of.busy}>
              Show more
            </Button>
          ) : null}
          {of.standsStill ? (
            <>
              <Button onClick={of.reload}>Back to the live list</Button>
              <span class="soft small">The list is not live while more than its first page is shown.</span>
            </>
          ) : null}
        </div>
      ) : null}
    </>
  );
}
