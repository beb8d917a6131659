//! Points in time. Inside and outside the house they are ISO-8601 UTC text with milliseconds and a
//! `Z`, which sorts as time does; D1 has no better type, for it binds every number as REAL.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// Milliseconds since 1970, as JavaScript's clock gives them.
    pub fn from_millis(millis: u64) -> Option<Self> {
        DateTime::from_timestamp_millis(i64::try_from(millis).ok()?).map(Self)
    }

    /// Any RFC 3339 time, in any zone.
    pub fn parse(text: &str) -> Option<Self> {
        let time = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
        // Outside these years the text would no longer sort as time does.
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
        Self::parse(&text).ok_or_else(|| de::Error::custom("must be an ISO-8601 time such as 2026-11-16T09:30:00Z"))
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
    fn what_is_not_a_time_is_refused() {
        for text in ["", "tomorrow", "2026-13-01T00:00:00Z", "2026-11-16", "+12026-11-16T09:30:00Z"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
