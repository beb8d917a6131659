//! Points in time. They are ISO-8601 UTC text with milliseconds and a `Z`, in the database and in the API. This text
//! sorts in the order of time. D1 has no better type, because it binds every number as REAL.

use chrono::{DateTime, Days, SecondsFormat, TimeDelta, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// Milliseconds since 1970, as JavaScript's clock gives them.
    pub fn from_millis(millis: u64) -> Option<Self> {
        DateTime::from_timestamp_millis(i64::try_from(millis).ok()?).map(Self)
    }

    /// Milliseconds since 1970; 0 for an earlier time.
    pub fn millis(self) -> u64 {
        u64::try_from(self.0.timestamp_millis()).unwrap_or(0)
    }

    /// How many milliseconds have passed since an earlier time; 0 if it is not earlier.
    pub fn millis_since(self, earlier: Self) -> u32 {
        u32::try_from(self.millis().saturating_sub(earlier.millis())).unwrap_or(u32::MAX)
    }

    /// The time this many seconds later.
    pub fn plus_seconds(self, seconds: u32) -> Self {
        Self(self.0 + TimeDelta::seconds(seconds.into()))
    }

    /// The time this many seconds earlier.
    pub fn seconds_before(self, seconds: u32) -> Self {
        Self(self.0 - TimeDelta::seconds(seconds.into()))
    }

    /// The time this many days earlier, but not before 1970.
    pub fn days_before(self, days: u32) -> Self {
        let earlier = self.0.checked_sub_days(Days::new(days.into()));
        Self(earlier.unwrap_or_default().max(DateTime::UNIX_EPOCH))
    }

    /// A time as people give it: also a date alone, which is its first moment in UTC, and a zone whose `+` a query has
    /// turned into a space.
    fn parse_given(text: &str) -> Option<Self> {
        let zone = text.len().checked_sub("+00:00".len()).filter(|it| text.as_bytes().get(*it) == Some(&b' '));
        match zone {
            Some(at) => Self::parse(&format!("{}+{}", text.get(..at)?, text.get(at + 1..)?)),
            None if text.len() == "2026-11-16".len() => Self::parse(&format!("{text}T00:00:00Z")),
            None => Self::parse(text),
        }
    }

    /// A date of HTTP, as the header `Retry-After` may have it: `Sun, 06 Nov 1994 08:49:37 GMT`.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let time = DateTime::parse_from_rfc2822(text).ok()?;
        Self::from_millis(u64::try_from(time.timestamp_millis()).ok()?)
    }

    /// Any RFC 3339 time, in any zone.
    pub fn parse(text: &str) -> Option<Self> {
        let time = DateTime::parse_from_rfc3339(text).ok()?;
        // Cut to milliseconds, as the text has them. Otherwise a time would differ from its own text when it is read
        // again.
        let time = DateTime::from_timestamp_millis(time.timestamp_millis())?;
        // Outside these years the text would not sort in the order of time.
        (0..=9999).contains(&chrono::Datelike::year(&time)).then_some(Self(time))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_given(&text)
            .ok_or_else(|| de::Error::custom("must be an ISO-8601 time such as 2026-11-16T09:30:00Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_zones_and_precisions_are_brought_to_one_form() {
        let check = |input, expected: &str| {
            assert_eq!(Timestamp::parse(input).map(|it| it.to_string()).as_deref(), Some(expected));
        };
        check("2026-11-16T09:30:00Z", "2026-11-16T09:30:00.000Z");
        check("2026-11-16T09:30:00.123456+02:00", "2026-11-16T07:30:00.123Z");
        check("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z");
    }

    #[test]
    fn people_give_dates_and_zones_that_a_query_has_changed() {
        let given = |text: &str| Timestamp::parse_given(text).map(|it| it.to_string());
        assert_eq!(given("2026-11-17T16:42:57 01:00").as_deref(), Some("2026-11-17T15:42:57.000Z"));
        assert_eq!(given("2026-11-17T16:42:57+01:00").as_deref(), Some("2026-11-17T15:42:57.000Z"));
        assert_eq!(given("2026-11-17").as_deref(), Some("2026-11-17T00:00:00.000Z"));
        for text in ["2026-13-17", "äääää", "2026-11-1 01:00", "yesterday!", " 01:00"] {
            assert_eq!(given(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_can_be_added() {
        let time = Timestamp::parse("2026-12-31T23:59:59.500Z").unwrap();
        assert_eq!(time.plus_seconds(90).to_string(), "2027-01-01T00:01:29.500Z");
    }

    #[test]
    fn what_has_passed_is_never_negative() {
        let (first, second) = (Timestamp::from_millis(1_000).unwrap(), Timestamp::from_millis(3_500).unwrap());
        assert_eq!((second.millis_since(first), first.millis_since(second)), (2_500, 0));
        assert_eq!(Timestamp::from_millis(u64::from(u32::MAX) * 2).unwrap().millis_since(first), u32::MAX);
    }

    #[test]
    fn days_are_counted_back_to_1970() {
        let now = Timestamp::parse("2026-11-16T09:30:00Z").unwrap();
        assert_eq!(now.days_before(17).to_string(), "2026-10-30T09:30:00.000Z");
        for days in [100_000, u32::MAX] {
            assert_eq!(now.days_before(days).to_string(), "1970-01-01T00:00:00.000Z");
        }
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        for text in ["", "tomorrow", "2026-13-01T00:00:00Z", "2026-11-16", "+12026-11-16T09:30:00Z"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
