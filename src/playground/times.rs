//! How long the playground waits for what. Tests shorten these times (`CHAT_TIMES`), because they cannot wait for minutes.

use crate::settings::Settings;
use serde::Deserialize;
use std::time::Duration;

#[derive(Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatTimes {
    /// After how long without an event a client gets a comment, so that nothing on the way closes the connection.
    keep_alive_seconds: u32,
    /// How long the model's server may be silent: before its answer begins, and between two pieces of it.
    silence_seconds: u32,
    /// How soon the object looks after a turn whose runtime has crashed, and how often after one that is under way.
    look_after_seconds: u32,
    /// After how long past its deadline a turn counts as hung: calls that run are waited for, and the message is stored.
    grace_seconds: u32,
    /// How soon the object first looks at the approvals of a turn that waits. The word of a decision may have been lost.
    approval_look_seconds: u32,
}

impl Default for ChatTimes {
    fn default() -> Self {
        Self {
            keep_alive_seconds: 15,
            silence_seconds: 120,
            look_after_seconds: 60,
            grace_seconds: 5 * 60,
            approval_look_seconds: 5 * 60,
        }
    }
}

impl ChatTimes {
    /// The times of this deployment.
    pub fn of(settings: &Settings) -> Self {
        let given = settings.chat_times.as_deref().and_then(|it| serde_json::from_str(it).ok());
        given.unwrap_or_default()
    }

    pub fn keep_alive(self) -> Duration {
        seconds(self.keep_alive_seconds)
    }

    pub fn silence(self) -> Duration {
        seconds(self.silence_seconds)
    }

    pub fn look_after(self) -> Duration {
        seconds(self.look_after_seconds)
    }

    pub fn grace(self) -> Duration {
        seconds(self.grace_seconds)
    }

    /// The pause before the next look at a turn that has waited for so long. The pauses grow, so that a turn that waits for
    /// a day is looked at a few times. An approval that is known to expire earlier is looked at then.
    pub fn next_look(self, waited: Duration, expires_in: Option<Duration>) -> Duration {
        let pause = seconds(self.approval_look_seconds).max(3 * waited);
        // A second later, the approval has surely expired.
        expires_in.map_or(pause, |it| pause.min(it + seconds(1)))
    }
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(u64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_may_shorten_any_of_the_times() {
        let usual = ChatTimes::of(&Settings::of_vars(&[]));
        assert_eq!((usual.keep_alive(), usual.silence()), (seconds(15), seconds(120)));
        let short = ChatTimes::of(&Settings::of_vars(&[("CHAT_TIMES", r#"{"silence_seconds": 2}"#)]));
        assert_eq!((short.keep_alive(), short.silence()), (seconds(15), seconds(2)));
        let broken = ChatTimes::of(&Settings::of_vars(&[("CHAT_TIMES", r#"{"silence": 2}"#)]));
        assert_eq!(broken.silence(), seconds(120));
    }

    #[test]
    fn a_turn_that_waits_for_a_day_is_looked_at_a_few_times() {
        let (times, day) = (ChatTimes::default(), seconds(24 * 60 * 60));
        let (mut waited, mut looks) = (Duration::ZERO, Vec::new());
        while waited <= day {
            waited += times.next_look(waited, Some(day.saturating_sub(waited)));
            looks.push(waited.as_secs());
        }
        assert_eq!(looks, [300, 1_200, 4_800, 19_200, 76_800, 86_401]);
        assert_eq!(times.next_look(Duration::ZERO, Some(seconds(2))), seconds(3));
        assert_eq!(times.next_look(seconds(100), None), seconds(300));
    }
}
