// Every page: its path, its place in the navigation, and the level that it needs. Pages are loaded when they are first opened.

import type { ComponentType } from "preact";
import type { Level } from "./api/caller.ts";
import { loadedPage as page } from "./loaded_page.tsx";

/** A page gets the segments of its path after the name of its area. */
export interface PageProps {
  path: string[];
}

export interface Area {
  /** The first segment of the path. */
  id: string;
  title: string;
  /** The key that goes to the page after `g`. */
  letter: string;
  /** Callers of lower levels do not see the page in the navigation. */
  level: Level;
  page: ComponentType<PageProps>;
}

export const AREAS: Area[] = [
  { id: "overview", title: "Overview", letter: "o", level: "admin", page: page(() => import("./pages/overview/index.tsx")) },
  { id: "tools", title: "Tools", letter: "t", level: "guest", page: page(() => import("./pages/tools/index.tsx")) },
  { id: "run", title: "Run", letter: "r", level: "guest", page: page(() => import("./pages/run/index.tsx")) },
  { id: "agents", title: "Agents", letter: "a", level: "guest", page: page(() => import("./pages/agents/index.tsx")) },
  { id: "approvals", title: "Approvals", letter: "p", level: "admin", page: page(() => import("./pages/approvals/index.tsx")) },
  { id: "calls", title: "Calls", letter: "c", level: "user", page: page(() => import("./pages/calls/index.tsx")) },
  { id: "files", title: "Files", letter: "f", level: "user", page: page(() => import("./pages/files/index.tsx")) },
  { id: "toolsets", title: "Toolsets", letter: "e", level: "user", page: page(() => import("./pages/toolsets/index.tsx")) },
  { id: "servers", title: "Servers", letter: "v", level: "admin", page: page(() => import("./pages/servers/index.tsx")) },
  { id: "changes", title: "Changes", letter: "h", level: "admin", page: page(() => import("./pages/changes/index.tsx")) },
  { id: "playground", title: "Playground", letter: "l", level: "user", page: page(() => import("./pages/playground/index.tsx")) },
  { id: "settings", title: "Settings", letter: "s", level: "guest", page: page(() => import("./pages/settings/index.tsx")) },
];
