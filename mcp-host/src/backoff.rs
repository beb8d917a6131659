//! How long a server that ended by itself must wait until it is started again.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Backoff {
    /// How often the server ended without having run for long.
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    /// The server has ended, after it ran for some time. A long life forgets earlier failures.
    pub fn fail(&mut self, now: Instant, lived: Duration) {
        self.failures = if lived >= LONGEST { 1 } else { self.failures.saturating_add(1) };
        let wait = FIRST.saturating_mul(1 << (self.failures - 1).min(6)).min(LONGEST);
        self.until = Some(now + wait);
    }

    /// How long the server must still wait; none, if it may start.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        self.until.and_then(|until| until.checked_duration_since(now)).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_minute_and_a_long_life_resets_them() {
        let (mut backoff, now) = (Backoff::default(), Instant::now());
        assert_eq!(backoff.left(now), None);
        for expected in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            backoff.fail(now, Duration::from_secs(3));
            assert_eq!(backoff.left(now), Some(Duration::from_secs(expected)));
        }
        assert_eq!(backoff.left(now + Duration::from_secs(60)), None);
        backoff.fail(now, LONGEST);
        assert_eq!(backoff.left(now), Some(FIRST));
    }
}
