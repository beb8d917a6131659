// The installed toolsets, and the import of another one.

import { may } from "../../api/caller.ts";
import { usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Toolset } from "../../api/types.ts";
import { link, query, setQuery } from "../../location.ts";
import { Button } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge } from "../../parts/marks.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, ShowPages } from "../../parts/states.tsx";
import { Time } from "../../parts/values.tsx";
import { Import } from "./import.tsx";

export function Toolsets() {
  const page = (cursor: string | undefined) => request("get", "/api/toolsets", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } });
  const toolsets = usePages("toolsets", page, (it) => it.toolsets, 10_000);
  const isImporting = query.value.get("import") === "open" && may("admin");
  return (
    <Page
      title="Toolsets"
      about="A toolset is a ZIP with Python tools, pages that show their results, files, and MCP servers."
      actions={
        <>
          <CopyCurl of={page(undefined)} />
          {may("admin") ? (
            <Button kind="primary" onClick={() => setQuery({ import: "open" })} disabled={isImporting}>
              Import a toolset
            </Button>
          ) : (
            <span class="soft">Importing needs the level admin.</span>
          )}
        </>
      }
    >
      {isImporting ? <Import close={() => setQuery({ import: undefined })} /> : null}
      <ShowPages
        of={toolsets}
        empty={
          <Empty title="No toolset is installed">
            <p>
              Import a ZIP with a <code>toolset.yaml</code>. The samples of Pegboard are in <code>samples/toolsets</code>; <code>scripts/toolset pack DIR</code> makes a ZIP of one.
            </p>
          </Empty>
        }
      >
        {(items) => <ToolsetTable toolsets={items} />}
      </ShowPages>
    </Page>
  );
}

function ToolsetTable({ toolsets }: { toolsets: Toolset[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Installed toolsets">
      <table>
        <thead>
          <tr>
            <th scope="col">Toolset</th>
            <th scope="col">Version</th>
            <th scope="col">State</th>
            <th scope="col">Installed</th>
            <th scope="col">About</th>
          </tr>
        </thead>
        <tbody>
          {toolsets.map((it) => (
            <tr key={it.id}>
              <th scope="row">
                <a href={link(["toolsets", it.id])}>{it.name}</a>
                <div class="soft">
                  <code>{it.id}</code>
                </div>
              </th>
              <td>{it.version}</td>
              <td>{it.enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="warn">disabled</Badge>}</td>
              <td>
                <Time at={it.installed_at} />
              </td>
              <td class="long">{it.description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
