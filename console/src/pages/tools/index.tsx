// The tools: all of them, one of them, and a new one.

import { query } from "../../location.ts";
import type { PageProps } from "../../routes.tsx";
import { ToolList } from "./list.tsx";
import { RegisterTool } from "./register.tsx";
import { ToolPage } from "./tool.tsx";

export default function Tools({ path }: PageProps) {
  const [id] = path;
  if (id !== undefined) return <ToolPage key={id} id={id} />;
  // A path such as `tools/new` could be a tool's id.
  if (query.value.get("view") !== "register") return <ToolList />;
  const from = query.value.get("from");
  return <RegisterTool key={from} from={from} />;
}
