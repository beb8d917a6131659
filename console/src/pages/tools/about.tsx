// What a tool is: facts, limits, arguments, result.

import type { ComponentChildren } from "preact";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Tool } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Id } from "../../parts/clipboard.tsx";
import { Badge, RiskBadge } from "../../parts/marks.tsx";
import { Facts, Panel } from "../../parts/page.tsx";
import { SchemaTable } from "../../parts/schema_table.tsx";
import { JsonText, Text, Time } from "../../parts/values.tsx";
import { ownerOf } from "./groups.ts";
import { upstreamLink } from "./held_back.ts";
import { inactiveWords } from "./switches.ts";

export function AboutTool({ tool }: { tool: Tool }) {
  return (
    <>
      <div class="columns">
        <Panel title="Facts">
          <Facts of={factsOf(tool)} />
        </Panel>
        <Panel title="Rules and limits">
          <Facts of={rulesOf(tool)} />
        </Panel>
      </div>
      <Panel title="Arguments">
        <SchemaTable schema={tool.parameters_schema} label={`Arguments of ${tool.id}`} none="The tool takes no arguments that its schema names." />
      </Panel>
      <Panel title="Result">
        {tool.returns_schema === null ? (
          <p class="soft">The tool promises nothing about its result.</p>
        ) : (
          <SchemaTable schema={tool.returns_schema} label={`Result of ${tool.id}`} none="Any value." />
        )}
      </Panel>
      {tool.side_effects.length === 0 ? null : <SideEffects of={tool.side_effects} />}
      {tool.examples.length === 0 ? null : <Examples tool={tool} />}
      {tool.renderer_config === null || tool.renderer_config === undefined ? null : (
        <Panel title="How results are shown">
          <p>
            By the renderer <Badge tone="accent">{tool.renderer}</Badge>, with this configuration:
          </p>
          <JsonText value={tool.renderer_config} label="Configuration of the renderer" />
        </Panel>
      )}
      {tool.handler === undefined ? (
        <p class="soft small">Where and how the tool runs is shown to admins.</p>
      ) : (
        <Panel title="Handler">
          <Handler of={tool.handler} />
        </Panel>
      )}
    </>
  );
}

function factsOf(tool: Tool): [string, ComponentChildren][] {
  const owner = ownerOf(tool);
  const sources = { builtin: "Built-in", registered: "Registered", module: "Module", toolset: "Toolset", mcp: "MCP server" };
  return [
    ["Id", <Id id={tool.id} />],
    ["Version", <>{tool.version} {tool.active ? <Badge tone="good">active</Badge> : <Badge tone="bad">{inactiveWords(tool.deactivated_reason)}</Badge>}</>],
    [
      "Source",
      owner === null ? (
        sources[tool.source]
      ) : (
        <>
          {sources[tool.source]} <a href={upstreamLink(tool.source, owner)}>{owner}</a>
        </>
      ),
    ],
    ["Category", <a href={link(["tools"], { category: tool.category })}>{tool.category}</a>],
    ["Runs", `${tool.execution_mode}, class ${tool.resource_class}`],
    ["Rollback", tool.rollback_strategy.replaceAll("_", " ")],
    [
      "Registered",
      <>
        <Time at={tool.registered_at} /> by {tool.registered_by}
      </>,
    ],
    ...((tool.deactivated_at ?? null) === null ? [] : [["Deactivated", <Time at={tool.deactivated_at} />] as [string, ComponentChildren]]),
  ];
}

function rulesOf(tool: Tool): [string, ComponentChildren][] {
  return [
    ["Risk", <RiskBadge risk={tool.risk_level} />],
    ["Approval", tool.needs_approval ? <Badge tone="warn">an admin decides each call</Badge> : "calls run at once"],
    ["Level", `${tool.required_permission} or higher`],
    ["Capabilities", <Words of={tool.required_capabilities} filter="capabilities" />],
    ["Rate limit", (tool.rate_limit ?? null) === null ? "none" : <Rate id={tool.id} limit={tool.rate_limit ?? 0} />],
    ["Timeout", `${tool.timeout_seconds} s`],
    ["Credentials", <Words of={tool.credentials_required} filter="credential" />],
    ["Renderer", tool.renderer ?? "none"],
  ];
}

/** Each word leads to the tools that need it, too. */
function Words({ of, filter }: { of: string[]; filter: "capabilities" | "credential" }) {
  if (of.length === 0) return <>none</>;
  return (
    <span class="row">
      {of.map((it) => (
        <a key={it} href={link(["tools"], { [filter]: it })}>
          {it}
        </a>
      ))}
    </span>
  );
}

function Rate({ id, limit }: { id: string; limit: number }) {
  const rate = useLoad(request("get", "/api/tools/{tool_id}/rate-limit", { path: { tool_id: id } }), 5_000);
  const left = rate.data?.remaining ?? null;
  const wait = rate.data?.retry_after ?? 0;
  return (
    <>
      {limit} calls a minute
      {left === null ? null : `, ${left} left now`}
      {wait === 0 ? null : <Badge tone="warn">wait {wait} s</Badge>}
    </>
  );
}

function SideEffects({ of }: { of: Tool["side_effects"] }) {
  return (
    <Panel title="Side effects">
      <div class="scroll" tabIndex={0} role="region" aria-label="Side effects">
        <table>
          <thead>
            <tr>
              <th scope="col">Effect</th>
              <th scope="col">Meaning</th>
              <th scope="col">Scope</th>
              <th scope="col">Reversible</th>
            </tr>
          </thead>
          <tbody>
            {of.map((it) => (
              <tr key={it.effect_type + it.scope}>
                <th scope="row">
                  <a href={link(["tools"], { side_effect: it.effect_type })}>{it.effect_type}</a>
                </th>
                <td>{it.description}</td>
                <td>{it.scope}</td>
                <td>{it.reversible ? "yes" : "no"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Examples({ tool }: { tool: Tool }) {
  return (
    <Panel title="Examples">
      {tool.examples.map((it, index) => (
        <div class="stack" key={index}>
          <p>{it.description}</p>
          <JsonText value={it.params} label={`Arguments of the example: ${it.description}`} />
          {(it.expected_output ?? null) === null ? null : (
            <>
              <p class="soft small">Its result:</p>
              <JsonText value={it.expected_output} label={`Result of the example: ${it.description}`} />
            </>
          )}
        </div>
      ))}
    </Panel>
  );
}

/** Code is shown as code; everything else as JSON. */
function Handler({ of }: { of: unknown }) {
  const handler = of as { type?: string; code?: unknown } & Record<string, unknown>;
  if (typeof handler.code !== "string") return <JsonText value={handler} label="Handler" />;
  const { code, ...rest } = handler;
  return (
    <>
      <JsonText value={rest} label="Handler" />
      <Text text={code} label="Code of the handler" name="handler.py" />
    </>
  );
}
