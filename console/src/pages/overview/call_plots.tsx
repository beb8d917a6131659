// Calls by status, their error rate and their durations, over time.

import { useEffect, useMemo, useState } from "preact/hooks";
import { useLoad } from "../../api/load.ts";
import { request } from "../../api/request.ts";
import type { Schemas } from "../../api/types.ts";
import { query, setQuery } from "../../location.ts";
import { CopyCurl } from "../../parts/clipboard.tsx";
import { SelectField } from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import { Plot } from "../../parts/plot/plot.tsx";
import { percent } from "../../parts/plot/scale.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { count, duration } from "../../parts/words.ts";
import { type Bucket, bucketOf, momentWords, seriesOf, sinceOf, SPANS, totalsOf } from "./series.ts";

type CallSeries = Schemas["CallSeries"];

const TITLES: Record<Bucket, string> = { minute: "Calls a minute", hour: "Calls an hour", day: "Calls a day" };
const CHOICES: [Bucket, string][] = [
  ["minute", "Minutes of the last hour"],
  ["hour", "Hours of the last two days"],
  ["day", "Days of the last 60 days"],
];

export function CallPlots() {
  const bucket = bucketOf(query.value.get("bucket"));
  // The clock of the browser may be wrong, and the API refuses a beginning in the future. So the end of an answer tells what time
  // it is. Of minutes the API gives the last hour by itself.
  const [kept, setKept] = useState<Kept | null>(null);
  const known = kept?.bucket === bucket ? kept : null;
  const since = bucket === "minute" || known === null ? undefined : new Date(sinceOf(bucket, known.last)).toISOString();
  const asked = request("get", "/api/tool-calls/series", { query: { bucket, ...(since === undefined ? {} : { since }) } });
  const read = useLoad(asked, 10_000);
  useEffect(() => {
    const last = read.data?.buckets.at(-1);
    if (read.data === undefined || last === undefined) return;
    const isWhole = bucket === "minute" || since !== undefined;
    setKept({ bucket, last: Date.parse(last.at), data: isWhole ? read.data : known?.data });
  }, [read.data]);
  const data = known?.data;
  return (
    <Panel title="Calls" actions={<CopyCurl of={asked} />}>
      <div class="plot-span">
        <SelectField label="Show" value={bucket} onChange={(it) => setQuery({ bucket: it === "minute" ? undefined : it })} options={CHOICES} />
      </div>
      {read.error === undefined ? null : <Failure error={read.error} retry={read.reload} />}
      {data === undefined ? read.error === undefined ? <Loading /> : null : <Plots data={data} bucket={bucket} />}
    </Panel>
  );
}

/** The last answer. It stays on the screen until the next one is there: the request changes with each bucket that begins. */
interface Kept {
  bucket: Bucket;
  /** The beginning of the present bucket. */
  last: number;
  /** Undefined as long as only a part of the span is known. */
  data: CallSeries | undefined;
}

function Plots({ data, bucket }: { data: CallSeries; bucket: Bucket }) {
  const series = useMemo(() => {
    // The last bucket is the present one by the clock of Pegboard, whatever the clock of the browser says.
    const last = data.buckets.at(-1);
    return seriesOf(data.buckets, bucket, last === undefined ? Date.now() : Date.parse(last.at));
  }, [data, bucket]);
  const lines = useMemo(
    () => ({
      // The first line lies on top of the others.
      calls: [
        { label: "Denied", tone: "warn" as const, values: series.denied },
        { label: "Error", tone: "bad" as const, values: series.error },
        { label: "Success", tone: "good" as const, values: series.success },
      ],
      errors: [{ label: "Errors", tone: "bad" as const, values: series.errorRate }],
      durations: [
        { label: "p50", tone: "accent" as const, values: series.p50 },
        { label: "p95", tone: "warn" as const, values: series.p95, dashed: true },
      ],
    }),
    [series],
  );
  const totals = totalsOf(series);
  const moment = (seconds: number) => momentWords(bucket, seconds);
  const span = SPANS[bucket];
  const shared = { at: series.at, moment };
  return (
    <div class="plots">
      <Plot
        key={`calls ${bucket}`}
        title={TITLES[bucket]}
        kind="bars"
        whole
        lines={lines.calls}
        format={(it) => it.toLocaleString("en")}
        summary={totals.calls === 0 ? `No calls in ${span}.` : `${count(totals.calls, "call")} in ${span}: ${totals.success} succeeded, ${totals.error} failed, ${totals.denied} were refused.`}
        {...shared}
      />
      <Plot
        key={`errors ${bucket}`}
        title="Error rate"
        kind="lines"
        lines={lines.errors}
        format={percent}
        summary={totals.errorRate === null ? `No call ran in ${span}.` : `${percent(totals.errorRate)} of the calls that ran in ${span} failed.`}
        {...shared}
      />
      <Plot
        key={`durations ${bucket}`}
        title="Duration"
        kind="lines"
        lines={lines.durations}
        format={duration}
        summary={totals.worstP95 === null ? `No durations in ${span}.` : `At the slowest, 95 of 100 calls took at most ${duration(totals.worstP95)}.`}
        {...shared}
      />
    </div>
  );
}
