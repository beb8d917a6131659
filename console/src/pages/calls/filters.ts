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

/** A moment in the form of a field for date and time, which knows no time zone but the person's. */
export function toField(moment: string): string {
  const time = Date.parse(moment);
  if (Number.isNaN(time)) return "";
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** The moment that a person has entered. */
export function fromField(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}
