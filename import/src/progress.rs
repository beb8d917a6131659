//! Progress: a bar on a terminal, lines elsewhere.

use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// The time between lines without a terminal, and between updates of the rate with a terminal. indicatif decides how
/// often to draw the bar.
const LINES: Duration = Duration::from_secs(5);
const RATES: Duration = Duration::from_millis(200);

pub struct Progress {
    what: &'static str,
    total: u64,
    begun: Instant,
    /// The position and the time at which this run began: earlier runs tell nothing about its speed.
    from: Option<(u64, Instant)>,
    said: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Progress with a known end.
    pub fn bar(what: &'static str, total: u64) -> Self {
        let template = "{prefix:9} {wide_bar} {percent:>3} %  {msg}  ETA {eta}";
        Self::new(what, total, || ProgressBar::new(total).with_style(style(template)))
    }

    /// Progress of a short step.
    pub fn spinner(what: &'static str) -> Self {
        Self::new(what, 0, || {
            let spinner = ProgressBar::new_spinner().with_style(style("{prefix:9} {spinner}"));
            spinner.enable_steady_tick(Duration::from_millis(100));
            spinner
        })
    }

    fn new(what: &'static str, total: u64, bar: impl FnOnce() -> ProgressBar) -> Self {
        let bar = stderr().is_terminal().then(|| bar().with_prefix(what));
        if bar.is_none() {
            eprintln!("{what}");
        }
        Self { what, total, begun: Instant::now(), from: None, said: None, bar }
    }

    /// Sets how much earlier runs have done. Without this call, the first `at` sets it.
    pub fn starting_at(mut self, position: u64) -> Self {
        self.start(position);
        self
    }

    fn start(&mut self, position: u64) -> (u64, Instant) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            bar.reset_eta();
        }
        *self.from.insert((position, Instant::now()))
    }

    /// `position` of the total; `messages` and `bytes` of this run.
    pub fn at(&mut self, position: u64, messages: u64, bytes: u64) {
        let (from, since) = match self.from {
            Some(from) => from,
            None => self.start(position),
        };
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        }
        let (pause, last) = match &self.bar {
            Some(_) => (RATES, self.said),
            None => (LINES, Some(self.said.unwrap_or(self.begun))),
        };
        if last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        self.said = Some(Instant::now());
        let seconds = since.elapsed().as_secs_f64().max(0.001);
        let rate = rate(messages, bytes, seconds);
        match &self.bar {
            Some(bar) => bar.set_message(rate),
            None => {
                let percent = position * 100 / self.total.max(1);
                let left = HumanDuration(left(position - from, self.total.saturating_sub(from), seconds));
                eprintln!("{} {percent} %, {rate}, about {left} left", self.what);
            }
        }
    }

    pub fn finish(&self, result: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        eprintln!("{}: {result} in {:.1} s", self.what, self.begun.elapsed().as_secs_f64());
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn rate(messages: u64, bytes: u64, seconds: f64) -> String {
    let mut rate = format!("{}/s", HumanCount((messages as f64 / seconds) as u64));
    if bytes > 0 {
        rate += &format!("  {}/s", HumanBytes((bytes as f64 / seconds) as u64));
    }
    rate
}

/// How long the rest takes, if this part of the whole took this long.
fn left(done: u64, whole: u64, seconds: f64) -> Duration {
    let share = done as f64 / whole.max(1) as f64;
    Duration::from_secs_f64((seconds / share.max(0.001) - seconds).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(total: u64) -> Progress {
        let bar = Some(ProgressBar::hidden());
        Progress { what: "testing", total, begun: Instant::now(), from: None, said: None, bar }
    }

    #[test]
    fn each_step_moves_the_bar() {
        let mut progress = hidden(100);
        let bar = progress.bar.clone().unwrap();
        for position in 1..=3 {
            progress.at(position, position, 0);
            assert_eq!(bar.position(), position);
        }
        assert!(bar.message().ends_with("/s"), "{}", bar.message());
    }

    #[test]
    fn what_was_done_before_does_not_count_for_the_time_left() {
        let mut progress = hidden(1_000).starting_at(900);
        assert_eq!(progress.bar.as_ref().unwrap().position(), 900);
        progress.at(950, 50, 0);
        let (from, _) = progress.from.unwrap();
        assert_eq!(left(950 - from, 1_000 - from, 10.0), Duration::from_secs(10));
        assert_eq!(rate(50, 0, 10.0), "5/s");
    }
}
