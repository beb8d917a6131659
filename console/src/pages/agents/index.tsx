// The agents: all of them, one of them, and a new one.

import { query } from "../../location.ts";
import type { PageProps } from "../../routes.tsx";
import { AgentPage } from "./agent.tsx";
import { AgentList } from "./list.tsx";
import { NewAgent } from "./new.tsx";

export default function Agents({ path }: PageProps) {
  const [id] = path;
  if (id !== undefined) return <AgentPage key={id} id={id} />;
  return query.value.get("view") === "new" ? <NewAgent /> : <AgentList />;
}
