// One tool in the list.

import { useMemo } from "preact/hooks";
import type { Tool } from "../../api/types.ts";
import { link } from "../../location.ts";
import { Badge, RiskBadge } from "../../parts/marks.tsx";

/** The row is made once for each tool, so that a longer list costs only its new rows. */
export function ToolRow({ tool, isHeldBack }: { tool: Tool; isHeldBack: boolean }) {
  return useMemo(
    () => (
      <li>
        <div class="tool-name">
          <a href={link(["tools", tool.id])}>{tool.name}</a>
          <code class="soft">{tool.id}</code>
        </div>
        <p class="tool-about">{tool.description}</p>
        <div class="row tool-marks">
          <ToolMarks tool={tool} />
          {isHeldBack ? (
            <Badge tone="warn" title="Its server offers another definition, which waits for an admin">
              change held back
            </Badge>
          ) : null}
          <a class="soft small" href={link(["tools"], { category: tool.category })}>
            {tool.category}
          </a>
          <span class="soft small">{tool.version}</span>
        </div>
      </li>
    ),
    [tool, isHeldBack],
  );
}

/** What must be known before a tool is run. */
export function ToolMarks({ tool }: { tool: Tool }) {
  return (
    <>
      <RiskBadge risk={tool.risk_level} />
      {tool.needs_approval ? (
        <Badge tone="warn" title="An admin decides each call">
          approval
        </Badge>
      ) : null}
      {tool.renderer === null || tool.renderer === undefined ? null : (
        <Badge tone="accent" title="What shows the results of its calls">
          shown as {tool.renderer}
        </Badge>
      )}
      {tool.active ? null : (
        <Badge tone="bad" title="No version is active, so the tool cannot be called">
          inactive
        </Badge>
      )}
      {tool.enabled ? null : (
        <Badge tone="bad" title="Its override, toolset, MCP server or module is disabled">
          disabled
        </Badge>
      )}
    </>
  );
}
