// Markdown as elements. Each token becomes an element of ours, so no HTML of the text is ever HTML of the page: it is shown as
// the text that it is.

import type { MarkedToken, Token, Tokens } from "marked";
import { type ComponentChildren, h } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { Loading } from "../states.tsx";
import { Text, download } from "../values.tsx";
import { bytes } from "../words.ts";
import { firstLines } from "./beginning.ts";
import { withoutReferences } from "./entities.ts";
import { safeLink } from "./links.ts";

/** Longer documents are cut, because a browser takes long to lay them out. */
const SHOWN = 50_000;

interface MarkdownProps {
  text: string;
  label: string;
  /** What is shown until the document has been read. */
  meanwhile?: ComponentChildren;
}

/** A document of Markdown. marked is loaded when the first one is shown. */
export function Markdown({ text, label, meanwhile = <Loading what="Reading the document" /> }: MarkdownProps) {
  const isLong = text.length > SHOWN;
  const shown = firstLines(text, SHOWN);
  const [read, setRead] = useState<{ of: string; tokens: Token[] | null }>();
  useEffect(() => {
    let isGone = false;
    import("./lex.ts")
      .then(({ tokensOf }) => tokensOf(shown))
      // What cannot be read as Markdown can still be read.
      .catch(() => null)
      .then((tokens) => isGone || setRead({ of: shown, tokens }));
    return () => {
      isGone = true;
    };
  }, [shown]);
  if (read === undefined || read.of !== shown) return <>{meanwhile}</>;
  return (
    <div class="stack">
      {read.tokens === null ? (
        <Text text={shown} label={label} />
      ) : (
        <div class="markdown" tabIndex={0} role="region" aria-label={label}>
          <Blocks of={read.tokens} />
        </div>
      )}
      {isLong ? (
        <p class="row soft">
          The first {bytes(shown.length)} of {bytes(text.length)} are shown.
          <Button narrow onClick={() => download("document.md", text)}>
            Download
          </Button>
        </p>
      ) : null}
    </div>
  );
}

function Blocks({ of }: { of: Token[] }) {
  return <>{of.map((it, index) => <Block key={index} of={it as MarkedToken} />)}</>;
}

function Block({ of }: { of: MarkedToken }): ComponentChildren {
  switch (of.type) {
    case "heading":
      // The page and its panels have the first two levels.
      return h(`h${Math.min(of.depth + 2, 6)}` as "h3", { "data-depth": of.depth }, <Inlines of={of.tokens} />);
    case "paragraph":
      return (
        <p>
          <Inlines of={of.tokens} />
        </p>
      );
    case "text":
      return of.tokens === undefined ? withoutReferences(of.text) : <Inlines of={of.tokens} />;
    case "code":
      return (
        <pre class="text" tabIndex={0} role="region" aria-label={of.lang ? `Code, ${of.lang}` : "Code"}>
          {of.text}
        </pre>
      );
    case "html":
      return <pre class="text">{of.text}</pre>;
    case "blockquote":
      return (
        <blockquote>
          <Blocks of={of.tokens} />
        </blockquote>
      );
    case "list":
      return <List of={of} />;
    case "table":
      return <Table of={of} />;
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    default:
      return <Inline of={of} />;
  }
}

function List({ of }: { of: Tokens.List }) {
  const items = of.items.map((it, index) => (
    <li key={index}>
      {it.task ? <span aria-label={it.checked ? "done" : "open"}>{it.checked ? "☑ " : "☐ "}</span> : null}
      <Blocks of={it.tokens.filter((token) => token.type !== "checkbox")} />
    </li>
  ));
  return of.ordered ? <ol start={of.start === "" ? 1 : of.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ of }: { of: Tokens.Table }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {of.header.map((it, index) => (
              <th key={index} scope="col">
                <Inlines of={it.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.rows.map((row, place) => (
            <tr key={place}>
              {row.map((it, index) => (
                <td key={index}>
                  <Inlines of={it.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inlines({ of }: { of: Token[] }) {
  return <>{of.map((it, index) => <Inline key={index} of={it as MarkedToken} />)}</>;
}

function Inline({ of }: { of: MarkedToken }): ComponentChildren {
  switch (of.type) {
    case "strong":
      return (
        <strong>
          <Inlines of={of.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inlines of={of.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inlines of={of.tokens} />
        </del>
      );
    case "codespan":
      return <code>{of.text}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Link address={of.href}>
          <Inlines of={of.tokens} />
        </Link>
      );
    case "image":
      // The policy of the console loads no picture from elsewhere, so the person decides whether to look at it.
      return <Link address={of.href}>Picture: {of.text === "" ? of.href : of.text}</Link>;
    case "text":
      return of.tokens === undefined ? withoutReferences(of.text) : <Inlines of={of.tokens} />;
    case "escape":
      return of.text;
    default:
      return of.raw;
  }
}

function Link({ address, children }: { address: string; children: ComponentChildren }) {
  const href = safeLink(address);
  if (href === null) return <>{children}</>;
  return (
    <a href={href} rel="noopener noreferrer" target="_blank">
      {children}
    </a>
  );
}
