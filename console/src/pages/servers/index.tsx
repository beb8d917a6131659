// Servers of others whose tools are tools of the workspace: modules and MCP servers.

import { may } from "../../api/caller.ts";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import type { PageProps } from "../../routes.tsx";
import { Servers } from "./list.tsx";
import { OneServer } from "./one.tsx";

export default function ServersPage({ path }: PageProps) {
  const [kind, id] = path;
  if (!may("admin"))
    return (
      <Page title="Servers">
        <Empty title="Only admins see servers">
          <p>Modules and MCP servers need the level admin, and a token that is not bound to an agent. The page Tools lists the tools that they bring.</p>
        </Empty>
      </Page>
    );
  if (id !== undefined && (kind === "modules" || kind === "mcp")) return <OneServer key={`${kind} ${id}`} kind={kind} id={id} />;
  return <Servers />;
}
