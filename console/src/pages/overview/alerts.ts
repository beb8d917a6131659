// What an alert of the registry is about, as links. Pure.

export interface AlertLink {
  text: string;
  path: string[];
  tab?: string;
}

/** The things that the details of an alert name. Each condition names them in its own way. */
export function linksOf({ condition, details }: { condition: string; details: Record<string, unknown> }): AlertLink[] {
  const list = (key: string): unknown[] => {
    const named = details[key];
    return Array.isArray(named) ? named : [];
  };
  const field = (it: unknown, name: string): string => String(typeof it === "object" && it !== null ? ((it as Record<string, unknown>)[name] ?? "") : it);
  switch (condition) {
    case "module_failing":
      return list("modules").map((it) => ({ text: `${field(it, "name")} (${field(it, "status")})`, path: ["servers", "modules", field(it, "name")] }));
    case "mcp_server_failing":
      return list("mcp_servers").map((it) => ({ text: `${field(it, "name")} (${field(it, "status")})`, path: ["servers", "mcp", field(it, "name")] }));
    case "definitions_held_back":
      return list("tools").map((it) => heldBackLink(String(it)));
    case "version_churn":
      return list("tools").map((it) => ({ text: field(it, "id"), path: ["tools", field(it, "id")] }));
    default:
      return list("versions").map((it) => versionLink(field(it, "version")));
  }
}

/** `dice.roll` is held back by the module `dice`, and `time:now` by the MCP server `time`. */
function heldBackLink(tool: string): AlertLink {
  const colon = tool.indexOf(":");
  const at = colon === -1 ? tool.indexOf(".") : colon;
  return { text: tool, path: ["servers", colon === -1 ? "modules" : "mcp", tool.slice(0, at)], tab: "held-back" };
}

function versionLink(version: string): AlertLink {
  return { text: version, path: ["tools", version.split("@")[0] ?? version] };
}
