// All modules and MCP servers, and the forms that register another one.

import { useState } from "preact/hooks";
import { usePages } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import { link, query, setQuery } from "../../location.ts";
import { Button, WorkButton } from "../../parts/button.tsx";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { Badge, StatusBadge } from "../../parts/marks.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, Loading, ShowPages } from "../../parts/states.tsx";
import { Time } from "../../parts/values.tsx";
import { RegisterMcp } from "./mcp_form.tsx";
import { RegisterModule } from "./module_form.tsx";
import { RefreshOutcome } from "./outcome.tsx";
import { type Refreshed, refresh } from "./requests.ts";
import { mcpRow, moduleRow, type ServerRow } from "./rows.ts";

const POLL_MS = 10_000;

const page = (cursor: string | undefined) => ({ query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) } });
const refreshAll = request("post", "/api/refresh-tools", { body: {} });

export function Servers() {
  const modules = usePages("modules", (cursor) => request("get", "/api/modules", page(cursor)), (it) => it.modules.map(moduleRow), POLL_MS);
  const servers = usePages("mcp", (cursor) => request("get", "/api/mcp-servers", page(cursor)), (it) => it.mcp_servers.map(mcpRow), POLL_MS);
  const registering = query.value.get("register");
  const close = () => setQuery({ register: undefined });
  return (
    <Page
      title="Servers"
      about="Servers of others whose tools become tools of this workspace. What changes there waits until an admin accepts it."
      actions={
        <>
          <Button kind="primary" onClick={() => setQuery({ register: "module" })}>
            Register a module
          </Button>
          <Button kind="primary" onClick={() => setQuery({ register: "mcp" })}>
            Register an MCP server
          </Button>
        </>
      }
    >
      {registering === "module" ? <RegisterModule close={close} /> : null}
      {registering === "mcp" ? <RegisterMcp close={close} /> : null}
      <section class="stack" aria-label="Modules">
        {modules.items.length === 0 ? <h2>Modules</h2> : <AskAll reload={modules.reload} />}
        <ShowPages
          of={modules}
          empty={
            <Empty title="No module is registered">
              <p>A module is a server with a small contract, or a REST API with an OpenAPI document. Register one by its address.</p>
            </Empty>
          }
        >
          {(rows) => <ServerTable label="Modules" rows={rows} />}
        </ShowPages>
      </section>
      <section class="stack" aria-label="MCP servers">
        <h2>MCP servers</h2>
        <ShowPages
          of={servers}
          empty={
            <Empty title="No MCP server is registered">
              <p>Register a remote server by its address, or a program that the MCP host runs.</p>
            </Empty>
          }
        >
          {(rows) => <ServerTable label="MCP servers" rows={rows} />}
        </ShowPages>
      </section>
    </Page>
  );
}

function AskAll({ reload }: { reload: () => void }) {
  const [outcome, setOutcome] = useState<Refreshed[] | "asking" | null>(null);
  const work = async () => {
    setOutcome("asking");
    try {
      setOutcome(await refresh(refreshAll));
    } catch (cause) {
      setOutcome(null);
      throw cause;
    } finally {
      reload();
    }
  };
  return (
    <>
      <div class="spread">
        <h2>Modules</h2>
        <div class="row">
          <WorkButton work={work}>Ask all modules now</WorkButton>
          <CopyCurl of={refreshAll} />
        </div>
      </div>
      {outcome === "asking" ? <Loading what="All modules are being asked for their tools" /> : outcome === null ? null : <RefreshOutcome of={outcome} />}
    </>
  );
}

function ServerTable({ label, rows }: { label: string; rows: ServerRow[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">Tools</th>
            <th scope="col" class="number">Held back</th>
            <th scope="col">Last discovery</th>
            <th scope="col">Address</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((it) => (
            <tr key={it.id}>
              <th scope="row">
                <a href={link(["servers", it.kind, it.id])}>{it.id}</a>
                {it.toolset === null ? null : (
                  <div class="soft small">
                    of the toolset <a href={link(["toolsets", it.toolset])}>{it.toolset}</a>
                  </div>
                )}
              </th>
              <td>
                <span class="row">
                  <StatusBadge status={it.status} />
                  {it.enabled ? null : <Badge tone="warn">disabled</Badge>}
                </span>
                {it.error === null ? null : <div class="server-error">{it.error}</div>}
              </td>
              <td class="number">{it.tools}</td>
              <td class="number">
                {it.heldBack === 0 ? (
                  0
                ) : (
                  <a href={link(["servers", it.kind, it.id], { tab: "held-back" })}>
                    {it.heldBack} <span class="visually-hidden">definitions of {it.id} are held back</span>
                  </a>
                )}
              </td>
              <td>
                <Time at={it.discoveredAt} />
              </td>
              <td class="long">
                <Badge>{it.sort}</Badge> <code>{it.address}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
