// Toolsets: bundles of Python tools, pages, files and MCP servers, installed as one thing.

import { may } from "../../api/caller.ts";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import type { PageProps } from "../../routes.tsx";
import { Toolsets } from "./list.tsx";
import { OneToolset } from "./one.tsx";

export default function ToolsetsPage({ path }: PageProps) {
  const id = path[0];
  if (!may("user"))
    return (
      <Page title="Toolsets">
        <Empty title="Guests do not see toolsets">
          <p>Your token has the level guest. Toolsets need the level user, and changing them the level admin.</p>
        </Empty>
      </Page>
    );
  return id === undefined ? <Toolsets /> : <OneToolset key={id} id={id} />;
}
