//! The calls of a workspace over time, for plots: how many of each minute, hour or day ended how, and how long they took.
//! Upkeep counts them up to a mark (`call_mark.series_key`), and a reader adds what is not counted yet.

use super::durations::{StepCounts, quantile};
use super::store;
use super::store::series::SeriesRow;
use crate::app::App;
use crate::callers::Scope;
use crate::error::{Error, Result};
use crate::ids::ToolId;
use crate::text_enum::{TextEnum, text_enum};
use crate::time::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The most buckets of one series.
const MAX_BUCKETS: u64 = 1_440;

text_enum! {
    /// How long a bucket of a series is. Days are those of UTC.
    BucketLength {
        Minute = "minute",
        Hour = "hour",
        Day = "day",
    }
}

impl BucketLength {
    const fn millis(self) -> u64 {
        match self {
            Self::Minute => 60_000,
            Self::Hour => 60 * 60_000,
            Self::Day => 24 * 60 * 60_000,
        }
    }

    /// How many buckets a series has that names no beginning: an hour, a day, and thirty days.
    const fn usual_buckets(self) -> u64 {
        match self {
            Self::Minute => 60,
            Self::Hour => 24,
            Self::Day => 30,
        }
    }

    /// For how many days buckets are kept. No series reaches further back ([`MAX_BUCKETS`]).
    pub const fn kept_days(self) -> u32 {
        match self {
            Self::Minute => 2,
            Self::Hour => 61,
            Self::Day => 4 * 365 + 1,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub struct CallSeries {
    bucket: BucketLength,
    /// The beginning of the first bucket.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// The buckets from `since` to now, the oldest first, also those without calls. At most 1,440.
    buckets: Vec<CallBucket>,
}

/// The calls that started in one minute, hour or day and have ended.
#[derive(Serialize, ToSchema)]
pub struct CallBucket {
    /// The beginning of the bucket.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    success: u32,
    error: u32,
    denied: u32,
    /// The median of the durations of the calls that ran, in milliseconds; off by an eighth at most. Null if none ran.
    p50: Option<u32>,
    /// The duration that 95 of 100 calls that ran did not exceed.
    p95: Option<u32>,
}

/// The buckets that a series covers.
#[derive(Debug, PartialEq)]
struct Span {
    length: BucketLength,
    /// The beginning of the first bucket, in milliseconds since 1970.
    first: u64,
    count: u64,
}

impl Span {
    /// The buckets from the one of `since` to the one of `now`.
    fn new(length: BucketLength, since: Option<Timestamp>, now: Timestamp) -> Result<Self> {
        let width = length.millis();
        let beginning = |time: Timestamp| time.millis() - time.millis() % width;
        let last = beginning(now);
        let earliest = |buckets: u64| last.saturating_sub((buckets - 1) * width);
        let first = since.map_or(earliest(length.usual_buckets()), beginning);
        if first > last {
            return Err(Error::query("since", "must not be in the future"));
        }
        if first < earliest(MAX_BUCKETS) {
            let earliest = Timestamp::from_millis(earliest(MAX_BUCKETS)).unwrap_or(now);
            return Err(Error::query(
                "since",
                format!(
                    "must not be before {earliest}: a series has at most {MAX_BUCKETS} buckets, here of one {length} each"
                ),
            ));
        }
        Ok(Self { length, first, count: (last - first) / width + 1 })
    }

    /// The beginnings of the buckets.
    fn times(&self) -> impl Iterator<Item = Timestamp> {
        (0..self.count).filter_map(|it| Timestamp::from_millis(self.first + it * self.length.millis()))
    }
}

/// The figures of one bucket. Late calls are taken off the figures that they were counted with, so the parts of a sum may be
/// negative.
#[derive(Default)]
struct Tally {
    succeeded: i32,
    failed: i32,
    denied: i32,
    durations: StepCounts,
}

impl Tally {
    fn add(&mut self, row: &SeriesRow) -> Result<()> {
        self.succeeded += row.succeeded;
        self.failed += row.failed;
        self.denied += row.denied;
        let durations = serde_json::from_str::<StepCounts>(&row.durations)
            .map_err(|cause| Error::Internal(format!("durations cannot be read: {cause}")))?;
        for (step, count) in durations {
            *self.durations.entry(step).or_default() += count;
        }
        Ok(())
    }

    fn shown(&self, at: Timestamp) -> CallBucket {
        let count = |it: i32| u32::try_from(it).unwrap_or(0);
        CallBucket {
            at,
            success: count(self.succeeded),
            error: count(self.failed),
            denied: count(self.denied),
            p50: quantile(&self.durations, 50),
            p95: quantile(&self.durations, 95),
        }
    }
}

/// The calls of the workspace over time, of one tool or of all, in one round trip.
pub async fn series(
    scope: &Scope,
    length: BucketLength,
    tool: Option<&ToolId>,
    since: Option<Timestamp>,
) -> Result<CallSeries> {
    let now = scope.app().now();
    let span = Span::new(length, since, now)?;
    let first = span.times().next().unwrap_or(now);
    let [rows] = scope.read([store::series::find(scope.workspace(), length, tool, first)]).await?;
    scope.caller().await?.must_be_unbound()?;
    let mut tallies = BTreeMap::<String, Tally>::new();
    for row in store::series::read(&rows)? {
        tallies.entry(row.at.clone()).or_default().add(&row)?;
    }
    let shown = |at| tallies.remove(&store::series::name_of(length, at)).unwrap_or_default().shown(at);
    Ok(CallSeries { bucket: length, since: first, buckets: span.times().map(shown).collect() })
}

/// Corrects totals and series by the calls that have ended late, and adds a bounded number of calls to the series, in one
/// transaction.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn count(app: &App) -> Result<()> {
    use store::{series, totals};
    let now = app.now();
    let batch = [totals::settle(), series::settle(now), totals::forget_late(), series::add(now), series::move_mark()];
    app.db()?.batch(&batch).await?;
    Ok(())
}

/// Deletes a bounded number of buckets that are too old.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn delete_old(app: &App) -> Result<()> {
    let old = BucketLength::ALL.iter().map(|it| store::series::delete_old(*it, app.now())).collect::<Vec<_>>();
    app.db()?.batch(&old).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn ends(length: BucketLength, since: Option<&str>) -> (String, String, usize) {
        let span = Span::new(length, since.map(time), time("2026-11-18T13:08:24.567Z")).unwrap();
        let times = span.times().map(|it| it.to_string()).collect::<Vec<_>>();
        (times[0].clone(), times.last().unwrap().clone(), times.len())
    }

    #[test]
    fn buckets_begin_where_their_minute_hour_or_day_begins() {
        let check = |length, since, first: &str, last: &str, count| {
            assert_eq!(ends(length, since), (format!("{first}:00.000Z"), format!("{last}:00.000Z"), count));
        };
        check(BucketLength::Minute, None, "2026-11-18T12:09", "2026-11-18T13:08", 60);
        check(BucketLength::Hour, None, "2026-11-17T14:00", "2026-11-18T13:00", 24);
        check(BucketLength::Day, None, "2026-10-20T00:00", "2026-11-18T00:00", 30);
        check(BucketLength::Minute, Some("2026-11-18T13:08:59.999Z"), "2026-11-18T13:08", "2026-11-18T13:08", 1);
        check(BucketLength::Hour, Some("2026-11-18T12:59:59.999Z"), "2026-11-18T12:00", "2026-11-18T13:00", 2);
        check(BucketLength::Day, Some("2024-02-28T23:00:00.000Z"), "2024-02-28T00:00", "2026-11-18T00:00", 995);
        check(BucketLength::Minute, Some("2026-11-17T13:09:00.000Z"), "2026-11-17T13:09", "2026-11-18T13:08", 1_440);
    }

    #[test]
    fn a_series_is_neither_too_long_nor_in_the_future() {
        for (length, since, told) in [
            (BucketLength::Minute, "2026-11-17T13:08:59.999Z", "before 2026-11-17T13:09:00.000Z"),
            (BucketLength::Hour, "2026-09-19T13:59:59.999Z", "before 2026-09-19T14:00:00.000Z"),
            (BucketLength::Day, "0001-01-01T00:00:00.000Z", "before 2022-12-10T00:00:00.000Z"),
            (BucketLength::Minute, "2026-11-18T13:09:00.000Z", "in the future"),
            (BucketLength::Day, "9999-12-31T00:00:00.000Z", "in the future"),
        ] {
            let refusal = Span::new(length, Some(time(since)), time("2026-11-18T13:08:24.567Z")).unwrap_err();
            let Error::Invalid(problems) = refusal else { unreachable!("{since}") };
            assert!(problems[0].message.contains(told), "{}", problems[0].message);
        }
    }

    #[test]
    fn what_a_series_may_cover_is_kept() {
        let now = time("2026-11-18T23:59:59.999Z");
        for length in BucketLength::ALL {
            let first = now.millis() - (MAX_BUCKETS - 1) * length.millis();
            assert!(now.days_before(length.kept_days()).millis() < first - first % length.millis(), "{length}");
        }
    }

    #[test]
    fn the_parts_of_a_bucket_are_added_up() {
        let mut tally = Tally::default();
        let row = |succeeded, failed, durations: &str| SeriesRow {
            at: String::new(),
            succeeded,
            failed,
            denied: 0,
            durations: durations.to_owned(),
        };
        tally.add(&row(3, 1, r#"{"4":3,"20":1}"#)).unwrap();
        tally.add(&row(1, -1, r#"{"20":1}"#)).unwrap();
        let shown = tally.shown(time("2026-11-18T13:00:00.000Z"));
        assert_eq!((shown.success, shown.error, shown.denied), (4, 0, 0));
        assert_eq!((shown.p50, shown.p95), (Some(4), Some(71)));
        assert!(tally.add(&row(1, 0, "?")).is_err());
    }
}
