// Tools, MCP servers and overrides of one toolset.

import type { Schemas } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Badge, StatusBadge } from "../../parts/marks.tsx";
import { Empty } from "../../parts/states.tsx";
import { overrideWords } from "./override_words.ts";

export function ToolsetTools({ tools }: { tools: Schemas["ToolsetDetails"]["tools"] }) {
  if (tools.length === 0) return <Empty title="The toolset has no tools of its own" />;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Tools of the toolset">
      <table>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">Version</th>
            <th scope="col">Function</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {tools.map((it) => (
            <tr key={it.id}>
              <th scope="row">
                <a href={link(["tools", it.id])}>{it.id}</a>
              </th>
              <td>{it.version}</td>
              <td class="long">
                <code>{it.entrypoint}</code>
              </td>
              <td>{it.active ? <Badge tone="good">active</Badge> : <Badge tone="warn">switched off</Badge>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ToolsetServers({ servers }: { servers: Schemas["ToolsetDetails"]["mcp_servers"] }) {
  if (servers.length === 0) return <Empty title="The toolset brings no MCP servers" />;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="MCP servers of the toolset">
      <table>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">Status</th>
            <th scope="col">State</th>
            <th scope="col">Last error</th>
          </tr>
        </thead>
        <tbody>
          {servers.map((it) => (
            <tr key={it.id}>
              <th scope="row">
                <a href={link(["servers", "mcp", it.id])}>{it.id}</a>
              </th>
              <td>
                <StatusBadge status={it.status} />
              </td>
              <td>{it.enabled ? "enabled" : "disabled"}</td>
              <td class="long">{it.last_error ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ToolsetOverrides({ overrides }: { overrides: Schemas["OverrideOut"][] }) {
  if (overrides.length === 0)
    return (
      <Empty title="No tool is overridden">
        <p>An override changes how a tool is named, described, approved, shown or switched off, without a new version. Set one on the page of the tool.</p>
      </Empty>
    );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Overrides of the toolset">
      <table>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">What holds</th>
            <th scope="col">Set by</th>
            <th scope="col">
              <span class="visually-hidden">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {overrides.map((it) => (
            <tr key={it.tool_id}>
              <th scope="row">
                <a href={link(["tools", it.tool_id])}>{it.tool_id}</a>
              </th>
              <td class="long">
                <ul class="plain">
                  {overrideWords(it).map((words) => (
                    <li key={words}>{words}</li>
                  ))}
                </ul>
              </td>
              <td>{it.by_admin ? "an admin" : "the bundle"}</td>
              <td>
                <a href={link(["tools", it.tool_id], { tab: "override" })}>Edit</a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
