// The figures of calls over time, in the form that plots need. Pure.

export const BUCKETS = ["minute", "hour", "day"] as const;
export type Bucket = (typeof BUCKETS)[number];

const MS: Record<Bucket, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
/** So many buckets are shown. */
const SHOWN: Record<Bucket, number> = { minute: 60, hour: 48, day: 60 };

/** What the plots look at, in words. */
export const SPANS: Record<Bucket, string> = { minute: "the last hour", hour: "the last two days", day: "the last 60 days" };

export function bucketOf(text: string | null): Bucket {
  return BUCKETS.find((it) => it === text) ?? "minute";
}

/** The beginning of the first bucket that is shown. Days begin at midnight UTC, as the API counts them. */
export function sinceOf(bucket: Bucket, now: number): number {
  return Math.floor(now / MS[bucket]) * MS[bucket] - (SHOWN[bucket] - 1) * MS[bucket];
}

/** One bucket as the API gives it. */
export interface Counted {
  at: string;
  success: number;
  error: number;
  denied: number;
  p50?: number | null;
  p95?: number | null;
}

export interface Series {
  /** The beginnings of the buckets, in seconds since 1970. */
  at: number[];
  success: number[];
  error: number[];
  denied: number[];
  /** The share of errors among the calls that ran; null where none ran. */
  errorRate: (number | null)[];
  p50: (number | null)[];
  p95: (number | null)[];
}

/** All buckets from the first that is shown until now. Buckets that the API does not give have no calls. */
export function seriesOf(counted: readonly Counted[], bucket: Bucket, now: number): Series {
  const known = new Map(counted.map((it) => [Math.floor(Date.parse(it.at) / MS[bucket]), it]));
  const first = Math.floor(sinceOf(bucket, now) / MS[bucket]);
  const numbers = Array.from({ length: SHOWN[bucket] }, (_, index) => first + index);
  const all = numbers.map((it) => known.get(it));
  return {
    at: numbers.map((it) => (it * MS[bucket]) / 1000),
    success: all.map((it) => it?.success ?? 0),
    error: all.map((it) => it?.error ?? 0),
    denied: all.map((it) => it?.denied ?? 0),
    errorRate: all.map((it) => (it === undefined ? null : rateOf(it))),
    p50: all.map((it) => it?.p50 ?? null),
    p95: all.map((it) => it?.p95 ?? null),
  };
}

function rateOf({ success, error }: { success: number; error: number }): number | null {
  return success + error === 0 ? null : error / (success + error);
}

export interface Totals {
  calls: number;
  success: number;
  error: number;
  denied: number;
  errorRate: number | null;
  /** The slowest bucket's. */
  worstP95: number | null;
}

export function totalsOf(series: Series): Totals {
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  const [success, error, denied] = [sum(series.success), sum(series.error), sum(series.denied)];
  const p95s = series.p95.filter((it) => it !== null);
  return { calls: success + error + denied, success, error, denied, errorRate: rateOf({ success, error }), worstP95: p95s.length === 0 ? null : Math.max(...p95s) };
}

const MINUTE = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const HOUR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** The beginning of a bucket in words. */
export function momentWords(bucket: Bucket, seconds: number): string {
  return { minute: MINUTE, hour: HOUR, day: DAY }[bucket].format(new Date(seconds * 1000));
}
