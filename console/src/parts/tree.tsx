// A tree that is loaded branch by branch. One Tab reaches it; the arrows, Home, End, letters and Enter work inside.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Branch, type Row, rowsOf, stepOf } from "./tree_rows.ts";

export type { Branch, TreeNode } from "./tree_rows.ts";

interface TreeProps {
  label: string;
  /** The branch whose nodes are at the top. */
  root: string;
  /** The branches that are loaded. An open branch that is not among them is on its way. */
  branches: ReadonlyMap<string, Branch>;
  open: ReadonlySet<string>;
  selected: string | null;
  onToggle: (id: string, isOpen: boolean) => void;
  onSelect: (id: string) => void;
  /** Asks for further nodes of a branch. */
  onMore: (id: string) => void;
  /** What is shown after a name. */
  detail?: (id: string) => ComponentChildren;
}

export function Tree({ label, root, branches, open, selected, onToggle, onSelect, onMore, detail }: TreeProps) {
  const rows = useMemo(() => rowsOf(root, branches, open), [root, branches, open]);
  const [at, setAt] = useState<string | null>(null);
  const element = useRef<HTMLDivElement>(null);
  const [focusIsDue, setFocusIsDue] = useState(false);
  const reached = [at, selected].find((id) => rows.some((it) => it.id === id)) ?? rows[0]?.id;
  useEffect(() => {
    if (!focusIsDue) return;
    setFocusIsDue(false);
    element.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  }, [focusIsDue]);

  const choose = (row: Row) => {
    setAt(row.id);
    if (row.kind === "more") onMore(row.parent);
    else if (row.kind === "node") {
      if (row.isBranch) onToggle(row.id, !row.isOpen);
      onSelect(row.id);
    }
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || reached === undefined) return;
    const step = stepOf(rows, reached, event.key);
    if (step === null) return;
    event.preventDefault();
    // A letter here finds a name; it is none of the keys that work everywhere.
    event.stopPropagation();
    if ("move" in step) {
      setAt(step.move);
      setFocusIsDue(true);
    } else if ("open" in step) onToggle(step.open, true);
    else if ("close" in step) onToggle(step.close, false);
    else {
      const row = rows.find((it) => it.id === step.choose);
      if (row !== undefined) choose(row);
    }
  };
  return (
    <div class="tree" role="tree" aria-label={label} ref={element} onKeyDown={onKey}>
      {rows.map((row) => (
        <div
          key={row.id}
          role="treeitem"
          tabIndex={row.id === reached ? 0 : -1}
          aria-level={row.level}
          aria-posinset={row.position}
          aria-setsize={row.size}
          aria-selected={row.id === selected}
          {...(row.isBranch ? { "aria-expanded": row.isOpen } : {})}
          {...(row.kind === "waiting" ? { "aria-disabled": true } : {})}
          class={`tree-row ${row.kind}`}
          style={{ "--level": row.level }}
          // Screen readers focus a row without its keys.
          onFocus={() => setAt(row.id)}
          onClick={() => choose(row)}
        >
          <span class="tree-mark" aria-hidden="true">
            {row.isBranch ? (row.isOpen ? "▾" : "▸") : ""}
          </span>
          <span class="tree-name">{row.name}</span>
          {row.kind === "node" && detail !== undefined ? <span class="tree-detail">{detail(row.id)}</span> : null}
        </div>
      ))}
    </div>
  );
}
