// The filters of the log that the person came from, so that the way back to it keeps them.

import type { Filters } from "./filters.ts";

let last: Filters = {};

export function remember(filters: Filters): void {
  last = filters;
}

export function lastFilters(): Filters {
  return last;
}
