// The filters of the list, as they are in the URL of the page and in the request. Pure.

/** The parameters of `GET /api/tools` that narrow the list, in the order of the page. */
export const FILTERS = [
  "q",
  "source",
  "max_risk",
  "category",
  "capabilities",
  "execution_mode",
  "resource_class",
  "credential",
  "side_effect",
  "include_inactive",
] as const;
export type Filter = (typeof FILTERS)[number];

/** The filters that are behind “More filters”. */
export const RARE_FILTERS: readonly Filter[] = ["capabilities", "execution_mode", "resource_class", "credential", "side_effect", "include_inactive"];

/** The values of each filter that has a fixed set of them, with the words that are shown. */
export const CHOICES: Partial<Record<Filter, [string, string][]>> = {
  source: [
    ["", "Any source"],
    ["builtin", "Built-in"],
    ["registered", "Registered"],
    ["module", "Module"],
    ["toolset", "Toolset"],
    ["mcp", "MCP server"],
  ],
  max_risk: [
    ["", "Any risk"],
    ["safe", "Safe"],
    ["low", "At most low"],
    ["medium", "At most medium"],
    ["high", "At most high"],
  ],
  execution_mode: [
    ["", "Any"],
    ["local", "Local"],
    ["remote", "Remote"],
    ["browser", "Browser"],
  ],
  resource_class: [
    ["", "Any"],
    ["control", "Control"],
    ["compute", "Compute"],
    ["state", "State"],
  ],
};

/** The filters in a URL, without those that are not set. */
export function filtersOf(parameters: URLSearchParams): Partial<Record<Filter, string>> {
  const set: Partial<Record<Filter, string>> = {};
  for (const name of FILTERS) {
    const value = parameters.get(name)?.trim() ?? "";
    if (value !== "") set[name] = value;
  }
  return set;
}

export function hasRareFilter(filters: Partial<Record<Filter, string>>): boolean {
  return RARE_FILTERS.some((it) => filters[it] !== undefined);
}
