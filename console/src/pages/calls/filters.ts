// The filters of the log, as the URL has them. Pure.

export const FILTERS = ["tool_name", "agent_id", "session_id", "message_id", "status", "since", "until"] as const;
export type Filter = (typeof FILTERS)[number];
export type Filters = Partial<Record<Filter, string>>;

export const STATUSES = ["pending_approval", "running", "success", "error", "denied"] as const;
export type Status = (typeof STATUSES)[number];

/** The filters that are set. */
export function readFilters(query: URLSearchParams): Filters {
  const found: Filters = {};
  for (const name of FILTERS) {
    const value = query.get(name)?.trim();
    if (value) found[name] = value;
  }
  return found;
}

/** The filters as parameters of the API. A status that no call can have is left out. */
export function parametersOf({ status, ...rest }: Filters): Omit<Filters, "status"> & { status?: Status } {
  const known = STATUSES.find((it) => it === status);
  return { ...rest, ...(known === undefined ? {} : { status: known }) };
}
