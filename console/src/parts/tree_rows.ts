// A tree as the rows that are seen of it, and what the keys do in it. Pure.

export interface TreeNode {
  id: string;
  name: string;
  /** Whether it can be opened. */
  isBranch: boolean;
}

/** What is known about the inside of a branch. */
export interface Branch {
  nodes: TreeNode[];
  /** There are further nodes, which were not asked for yet. */
  hasMore: boolean;
}

export interface Row {
  /** `more` asks for the further nodes of its parent; `waiting` stands for nodes that are on their way. */
  kind: "node" | "more" | "waiting";
  id: string;
  name: string;
  /** The branch that it is in. */
  parent: string;
  level: number;
  /** The place among its neighbours, from 1, and how many there are; -1 while that is unknown. */
  position: number;
  size: number;
  isBranch: boolean;
  isOpen: boolean;
}

/** The rows below a branch, with everything that is open. */
export function rowsOf(root: string, branches: ReadonlyMap<string, Branch>, open: ReadonlySet<string>, level = 1): Row[] {
  const branch = branches.get(root);
  const extra = (kind: "more" | "waiting", name: string, position: number): Row => ({ kind, id: `${kind} ${root}`, name, parent: root, level, position, size: -1, isBranch: false, isOpen: false });
  if (branch === undefined) return [extra("waiting", "Loading…", 1)];
  const rows: Row[] = [];
  for (const [index, node] of branch.nodes.entries()) {
    const isOpen = node.isBranch && open.has(node.id);
    rows.push({ kind: "node", ...node, parent: root, level, position: index + 1, size: branch.hasMore ? -1 : branch.nodes.length, isOpen });
    if (isOpen) for (const row of rowsOf(node.id, branches, open, level + 1)) rows.push(row);
  }
  if (branch.hasMore) rows.push(extra("more", "Show more", branch.nodes.length + 1));
  return rows;
}

/** What a key does: it moves to a row, opens or closes a branch, or chooses the row. */
export type Step = { move: string } | { open: string } | { close: string } | { choose: string };

/** What a key does at a row, as the tree pattern of ARIA has it. Null if the key is none of the tree's. */
export function stepOf(rows: readonly Row[], at: string, key: string): Step | null {
  const index = rows.findIndex((it) => it.id === at);
  const row = rows[index];
  if (row === undefined) return null;
  const moveTo = (target: Row | undefined): Step | null => (target === undefined ? null : { move: target.id });
  switch (key) {
    case "ArrowDown":
      return moveTo(rows[index + 1]);
    case "ArrowUp":
      return moveTo(rows[index - 1]);
    case "Home":
      return moveTo(rows[0]);
    case "End":
      return moveTo(rows.at(-1));
    case "ArrowRight":
      if (!row.isBranch) return null;
      return row.isOpen ? moveTo(rows[index + 1]) : { open: row.id };
    case "ArrowLeft":
      return row.isOpen ? { close: row.id } : moveTo(rows.find((it) => it.id === row.parent));
    case "Enter":
    case " ":
      return { choose: row.id };
    default:
      return moveTo(beginningWith(rows, index, key));
  }
}

/** The next row whose name begins with a letter. */
function beginningWith(rows: readonly Row[], index: number, key: string): Row | undefined {
  if (key.length !== 1) return undefined;
  const after = [...rows.slice(index + 1), ...rows.slice(0, index)];
  return after.find((it) => it.kind === "node" && it.name.toLowerCase().startsWith(key.toLowerCase()));
}
